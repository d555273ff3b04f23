"""Series of one-way delays whose clocks differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import median

WINDOWS = 12
"""The windows of a measurement, each with its own least delay."""
SURE = 4
"""A drift counts if it exceeds this number of times its median error."""

Series = Sequence[tuple[float, float]]


def remove_clock(there: Series, back: Series) -> tuple[list[tuple[float, float]], ...]:
    """One-way delays, as far as they can be known without a common clock.

    Both directions get half of the least round trip as their least delay, and the linear drift
    between the clocks is removed. A change of the path that lengthens one direction as it shortens
    the other looks like drift; only a steady one over the whole measurement is mistaken for it.

    Args:
        there: for each probe when it was sent (s), and arrival minus departure (ms), by the clocks
            of both ends.
        back: the same of the other direction.

    Returns:
        The delays of both directions in ms.
    """
    drift = _drift(there, back)
    there = [(at, delay - drift * at) for at, delay in there]
    back = [(at, delay + drift * at) for at, delay in back]
    least = [min(delay for _, delay in series) for series in (there, back)]
    offset = (least[0] - least[1]) / 2
    return (
        [(at, max(0.0, delay - offset)) for at, delay in there],
        [(at, max(0.0, delay + offset)) for at, delay in back],
    )


def _drift(there: Series, back: Series) -> float:
    """The drift of the clocks in ms/s, by the estimator of Theil and Sen; 0 if it is not sure."""
    end = max(there[-1][0], back[-1][0])
    lows = [_least(series, end) for series in (there, back)]
    offsets = [
        ((number + 0.5) * end / WINDOWS, (lows[0][number] - lows[1][number]) / 2)
        for number in range(WINDOWS)
        if number in lows[0] and number in lows[1]
    ]
    if end <= 0 or len(offsets) < WINDOWS // 2:
        return 0.0
    pairs = combinations(offsets, 2)
    slope = median((later[1] - one[1]) / (later[0] - one[0]) for one, later in pairs)
    level = median(offset - slope * at for at, offset in offsets)
    error = median(abs(offset - slope * at - level) for at, offset in offsets)
    return slope if abs(slope) * end > SURE * error else 0.0


def _least(series: Series, end: float) -> dict[int, float]:
    """The least delay of each window."""
    least: dict[int, float] = {}
    for at, delay in series:
        number = min(int(at / end * WINDOWS), WINDOWS - 1) if end > 0 else 0
        least[number] = min(delay, least.get(number, delay))
    return least
