"""Routes and round-trip times of Hypatia.

Kassing and others, "Exploring the 'Internet from space' with Hypatia", IMC 2020.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rtolab._rtolab import Error
from rtolab.paths.measured import MeasuredPath, OneWay
from rtolab.paths.text import numbered, wrong
from rtolab.text import counted

RTT = re.compile(r"^(\d{1,18}),(\d{1,15}(?:\.\d+)?)$")
ROUTE = re.compile(r"^(\d{1,18}),(\d+(?:-\d+)*|Unreachable)$")


def read_hypatia(files: Sequence[Path]) -> MeasuredPath:
    """A path from `networkx_rtt_A_to_B.txt` and, if there is one, `networkx_path_A_to_B.txt`.

    Packets on a shorter new route overtake those on the old one. Without a route (a round trip of
    0 ns) the link has an outage.

    Raises:
        Error: a line is invalid, the times are not in order, or fewer than two round trips.
    """
    rtts = _round_trips(files[0])
    step = rtts[1][0] - rtts[0][0]
    end = rtts[-1][0] + step
    outages: list[tuple[float, float]] = []
    for (at, rtt), (until, _) in zip(rtts, [*rtts[1:], (end, 0.0)], strict=True):
        if rtt == 0 and outages and sum(outages[-1]) == at:
            outages[-1] = (outages[-1][0], until - outages[-1][0])
        elif rtt == 0:
            outages.append((at, until - at))
    delays = [(at, rtt) for at, rtt in rtts if rtt > 0]
    if len(delays) <= 1:
        raise Error(f"{files[0]}: found no route; expected two round trips above 0 at least")
    # Before the first route nothing arrives, whatever the delay.
    delays[0] = (0.0, delays[0][1])
    routes = ", ".join(path.name for path in files)
    changes = f" with {counted(_changes(files[1]), 'change')} of its route" if files[1:] else ""
    return MeasuredPath(
        title=f"A satellite path of Hypatia{changes}",
        origin=[
            f"Imported from {routes}: round trips that Hypatia computed, not measured.",
            "The series shows neither the rate nor the queue.",
        ],
        duration_s=end,
        both=OneWay(delays=delays, round_trip=True, outages=outages, reorders=True),
    )


def _round_trips(path: Path) -> list[tuple[float, float]]:
    """Times in seconds and round trips in milliseconds; 0: no route."""
    rtts: list[tuple[float, float]] = []
    for number, line in numbered(path):
        found = RTT.match(line)
        if not found:
            expected = "nanoseconds and the round trip in nanoseconds such as 100000000,26229870.3"
            raise wrong(path, number, line, expected)
        at = int(found[1]) / 1e9
        if rtts and at <= rtts[-1][0]:
            raise wrong(path, number, line, "each time later than the one before it")
        rtts.append((at, float(found[2]) / 1e6))
    if len(rtts) <= 1:
        raise Error(f"{path}: found fewer than two round trips; expected networkx_rtt_A_to_B.txt")
    begin = rtts[0][0]
    return [(at - begin, rtt) for at, rtt in rtts]


def _changes(path: Path) -> int:
    """The number of changes of the route."""
    routes: list[str] = []
    for number, line in numbered(path):
        found = ROUTE.match(line)
        if not found:
            expected = "nanoseconds and the route such as 100000000,1590-331-332-1604"
            raise wrong(path, number, line, expected)
        if not routes or found[2] != routes[-1]:
            routes.append(found[2])
    if not routes:
        raise Error(f"{path}: found no route; expected networkx_path_A_to_B.txt")
    return len(routes) - 1
