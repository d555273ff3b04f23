"""The table of links on the engine and on a kernel."""

import io
from types import SimpleNamespace
from typing import Any, cast

from rich.console import Console

from rtolab.emulation.agreement import Case
from rtolab.emulation.comparison import Comparison, Pair, Transfer, check_medians
from rtolab.tables.emulated import agreement


def test_no_heading_is_cut_at_80_columns() -> None:
    engine = Transfer(8.28, 17, 0, 0, 17, 0)
    pairs = [Pair(1, engine, Transfer(9.1, 20, 4, 1, 17, 0))]
    kernel = cast(Any, SimpleNamespace(reports=[], doubts=[[]]))
    done = Comparison("s", "linux", pairs, check_medians(pairs), cast(Any, None), kernel)
    out = io.StringIO()
    Console(file=out, width=80).print(agreement([(Case("kernel-stall", "kernel-stall"), done)]))
    assert "…" not in out.getvalue()
    assert "rexmits" in out.getvalue()
