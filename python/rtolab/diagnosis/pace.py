"""How fast acknowledgments come, and when that changes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from rtolab._rtolab import Error
from rtolab.diagnosis.line import BITS, Answer, Change

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST = 12
"""Of so many acknowledgments at least one rate is told from another."""

MOST_CHANGES = 8
"""Changes of a rate told of at most."""

APART = 1.5
"""A rate is another one if it is so many times as much, or as little."""

WORTH = 0.5
"""By such a part at least a change must bring the paces nearer to the rates."""


@dataclass(frozen=True)
class Pace:
    """From an acknowledgment to the next: when it came in seconds, bit/s, and bytes between."""

    at: float
    rate: float
    weight: int


def delivered(acks: Sequence[Answer], payload: int) -> list[Answer]:
    """What had passed the link at each acknowledgment, duplicates too, instead of what it says.

    Behind a gap each packet is told of by a duplicate. What fills the gap is one packet more,
    however much is acknowledged with it.
    """
    found = []
    total = told = highest = repeated = 0
    for ack in acks:
        acked = ack.ack - highest
        if acked <= 0:
            repeated += 1
            told += payload
            total += payload
        else:
            if not repeated and acked <= 2 * payload:
                told = 0
            fresh = max(acked - told, min(acked, payload))
            told -= acked - fresh
            total += fresh
            highest, repeated = ack.ack, 0
        found.append(Answer(ack.t, total))
    return found


def paces(answers: Sequence[Answer], payload: int, overhead: int) -> list[Pace]:
    """Of all acknowledgments but the first, headers of what they acknowledge included."""
    found = []
    for before, after in pairwise(answers):
        acked = after.ack - before.ack
        packets = -(-acked // payload)
        if before.ack > 1 and after.t > before.t:
            bits = BITS * (acked + packets * overhead)
            found.append(Pace(before.t, bits / (after.t - before.t), acked))
    return found


def median(seen: Sequence[Pace]) -> float:
    """Half of all bytes were acknowledged no faster.

    Raises:
        Error: there is nothing.
    """
    half = sum(one.weight for one in seen) / 2
    for one in sorted(seen, key=lambda one: one.rate):
        half -= one.weight
        if half <= 0:
            return one.rate
    raise Error("what if needs acknowledgments that advance, of which there are none")


def changes(seen: Sequence[Pace]) -> list[Change]:
    """The rates that explain the paces, and from when on each holds, the first from the start."""
    parts = [list(seen)]
    while len(parts) <= MOST_CHANGES:
        split = max(((_split(part), at) for at, part in enumerate(parts)), default=None)
        if split is None or split[0][0] <= 0:
            break
        (_, index), at = split
        part = parts[at]
        parts[at : at + 1] = [part[:index], part[index:]]
    return [Change(part[0].at if part else 0.0, median(part)) for part in parts]


def _split(part: Sequence[Pace]) -> tuple[float, int]:
    """How much nearer two rates would be than one, and from where on the second holds."""
    whole = _error(part)
    best = (0.0, 0)
    for index in range(FEWEST, len(part) - FEWEST, max(1, len(part) // 200)):
        before, after = part[:index], part[index:]
        apart = abs(math.log(median(before) / median(after)))
        if apart < math.log(APART):
            continue
        gain = whole - _error(before) - _error(after)
        if gain > whole * WORTH and gain > best[0]:
            best = (gain, index)
    return best


def _error(part: Sequence[Pace]) -> float:
    """How far paces are from the rate that they have, by bytes."""
    rate = median(part)
    return sum(abs(math.log(one.rate / rate)) * one.weight for one in part)
