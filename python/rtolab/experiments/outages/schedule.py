"""The outages of the study: their lengths and times, the same for every policy."""

from functools import cache

import numpy as np

SHORTEST, LONGEST = 0.1, 60.0
"""The lengths of outages, in s: evenly distributed over their logarithms."""

OUTAGES = 1000
"""Outages of each policy and round trip."""

FIRST = 30.0
"""When the first outage begins, in s."""

BREAK, JITTER = 20.0, 5.0
"""From the path's return to the next outage, in s: this, up to `JITTER` more, and 1.2 times the
outage, because a doubling timer may wait as long again."""

SEED = 1
"""The seed of the schedule."""


@cache
def schedule() -> tuple[tuple[float, float], ...]:
    """When all outages begin and how long they last, in s. Fewer are the first of them."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    quantiles = (np.arange(OUTAGES) + 0.5) / OUTAGES
    lengths = rng.permutation(SHORTEST * (LONGEST / SHORTEST) ** quantiles)
    at, spans = FIRST, []
    for length in lengths:
        spans.append((round(at, 3), round(float(length), 3)))
        at += BREAK + JITTER * float(rng.random()) + 2.2 * float(length)
    return tuple(spans)


@cache
def scripted(outages: int) -> str:
    """The first outages as a value of a scenario key."""
    spans = schedule()[:outages]
    return (
        "[" + ", ".join(f'{{ at = "{at:.3f} s", for = "{span:g} s" }}' for at, span in spans) + "]"
    )


def timetable(outages: int) -> dict[str, str]:
    """The settings of a transfer with this number of outages, by scenario key."""
    at, length = schedule()[outages - 1]
    return {
        "link.radio.outages.scripted": scripted(outages),
        "duration": f"{at + 2.2 * length + BREAK:.0f} s",
    }
