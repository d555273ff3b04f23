"""What this process does with its signals and its standard streams."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def ends_in_order() -> Iterator[None]:
    """What is told to end here, ends in order: SIGTERM and SIGHUP raise SystemExit."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    asked = [getattr(signal, name) for name in names]
    # Who runs us under nohup has the signal ignored.
    handled = [number for number in asked if signal.getsignal(number) == signal.SIG_DFL]
    for number in handled:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


@contextmanager
def stdout_is_stderr() -> Iterator[None]:
    """For programs started here: what they print goes to standard error."""
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(ours, 1)
        os.close(ours)
