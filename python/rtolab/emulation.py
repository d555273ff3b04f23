"""When a link in real time can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rtolab._rtolab import EmulationReport

PING = ("ping", "-c", "5", "{peer}")
"""What runs over the link unless something else is asked for."""

UNNOTICED_S = 1e-3
UNNOTICED_SHARE = 0.05


def allowed_lateness_s(report: EmulationReport) -> float:
    """How late 1 packet in 100 may be: 1 ms or 5 % of the round trip, whichever is larger.

    The round trip is that of the link alone: its delays both ways, in seconds.
    """
    return max(UNNOTICED_S, UNNOTICED_SHARE * report["round_trip_s"])


def doubts(report: EmulationReport) -> list[str]:
    """What this machine, rather than the link, could have changed; nothing for a good run."""
    found = []
    late_s, allowed_s = report["lateness"]["p99_s"], allowed_lateness_s(report)
    if late_s >= allowed_s:
        found.append(
            f"1 packet in 100 was {late_s * 1e3:.3g} ms late or more, and less than "
            f"{allowed_s * 1e3:.3g} ms is good: lateness could have changed the result"
        )
    if report["refused"]:
        found.append(
            f"the kernel did not take {report['refused']} packets that came out of the link: "
            "their loss could have changed the result"
        )
    return found
