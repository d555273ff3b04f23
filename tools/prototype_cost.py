"""Measures the CPU time of calls of prototypes: a stage for each frame, a detector for each ACK.

python tools/prototype_cost.py
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median
from typing import ClassVar

import rtolab
from rtolab import Detector, Stage
from rtolab._rtolab import Ack, Episode, Frame

TIMES = 5
"""How often each run is measured; the medians count."""
LINK = {
    "flow.transfer.bytes": "100 MB",
    "link.wire.rate": "100 Mbit/s",
    "duration": "600 s",
}


class Pass(Stage):
    """Passes every frame."""

    calls: ClassVar[int] = 0

    def on_frame(self, _: Frame) -> None:
        """Count the call."""
        Pass.calls += 1


class Open(Detector):
    """Never decides."""

    calls: ClassVar[int] = 0

    def on_ack(self, _ack: Ack, _episode: Episode) -> None:
        """Count the call."""
        Open.calls += 1


def cpu_time_s(run: Callable[[], object]) -> float:
    """The median CPU time of a run, in seconds."""
    found = []
    for _ in range(TIMES):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return median(found)


def report(name: str, calls: int, before_s: float, with_s: float) -> None:
    """Print the time of a call and its share of the run."""
    more_s = with_s - before_s
    sys.stdout.write(
        f"{name}: {calls} calls, {1e6 * more_s / calls:.2f} us each, "
        f"{100 * more_s / with_s:.0f} % of {with_s:.2f} s\n"
    )


def main() -> None:
    """Measure a stage and a detector."""
    staged = {**LINK, "link.wire.stage": Pass.name}
    one = {"sender": "sack", "seed": 1}
    without = cpu_time_s(lambda: rtolab.run("single-link", set=LINK, **one))
    own = cpu_time_s(lambda: rtolab.run("single-link", set=staged, prototypes=[Pass], **one))
    report("stage", Pass.calls // TIMES, without, own)

    # The first detector of a run has a copy of the run continue after each timeout.
    delays = {"sender": "sack", "runs": 100, "jobs": 1}
    without = cpu_time_s(lambda: rtolab.run("frto2002-delays", judge=["eifel"], **delays))
    own = cpu_time_s(lambda: rtolab.run("frto2002-delays", judge=["eifel", Open], **delays))
    report("detector", Open.calls // TIMES, without, own)


if __name__ == "__main__":
    main()
