"""Traces of mahimahi: Netravali and others, "Mahimahi", USENIX ATC 2015."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rtolab._rtolab import Error
from rtolab.paths.measured import MeasuredPath, OneWay
from rtolab.paths.text import numbered, wrong

MOST_MS = 10**9


def read_opportunities(path: Path) -> list[int]:
    """The delivery opportunities of a trace, in milliseconds.

    Raises:
        Error: a line is no whole number, the times are not in order, or there is none above zero.
    """
    at: list[int] = []
    for number, line in numbered(path):
        if not (line.isascii() and line.isdecimal() and int(line[:20]) <= MOST_MS):
            expected = f"a time in whole milliseconds such as 120, at most {MOST_MS}"
            raise wrong(path, number, line, expected)
        time = int(line)
        if at and time < at[-1]:
            raise wrong(path, number, line, f"no time before {at[-1]}, the one of the line above")
        at.append(time)
    if not at or at[-1] == 0:
        found = "no time above zero" if at else "no line"
        expected = "lines of milliseconds, the last of them the trace's length"
        raise Error(f"{path}: found {found}; expected {expected}")
    return at


def read_mahimahi(files: Sequence[Path]) -> MeasuredPath:
    """A path from an uplink and a downlink trace, in the order of `mm-link`, or from one trace."""
    traces = [read_opportunities(path) for path in files]
    up, down = traces[0], traces[-1]
    names = " and ".join(path.name for path in files)
    return MeasuredPath(
        title=f"A path replayed from mahimahi's {names}",
        origin=[
            f"Imported from {names}: delivery opportunities of mahimahi, one line for each 1500 B.",
            "The traces show neither the propagation delay nor the queue.",
        ],
        duration_s=max(up[-1], down[-1]) / 1000,
        forward=OneWay(opportunities=down),
        backward=OneWay(opportunities=up),
    )
