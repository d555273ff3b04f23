"""How fast acknowledgments come, and when that changes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rtolab._rtolab import Error
from rtolab.diagnosis.line import BITS, Change

if TYPE_CHECKING:
    from collections.abc import Sequence

FEWEST = 12
"""Of so many acknowledgments at least one rate is told from another."""

MOST_CHANGES = 8
"""Changes of a rate told of at most."""

APART = 1.5
"""A rate is another one if it is so many times as much, or as little."""

FINE = 1.1
"""Rates are looked for so many times apart."""

WORTH = 0.05
"""By such a part at least a change must bring the paces nearer to the rates."""


@dataclass(frozen=True)
class Ack:
    """An acknowledgment, or what had passed the link when it came.

    Attributes:
        t: when, in seconds.
        ack: of what.
        idle: whether what it answers left no sooner than the one before came, so that the time
            between them tells nothing of the link's rate.
    """

    t: float
    ack: int
    idle: bool


@dataclass(frozen=True)
class Pace:
    """From an acknowledgment to the next: when it came in seconds, bit/s, and bytes between."""

    at: float
    rate: float
    weight: int


def delivered(acks: Sequence[Ack], payload: int) -> list[Ack]:
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
        found.append(replace(ack, ack=total))
    return found


def paces(passed: Sequence[Ack], payload: int, overhead: int) -> list[Pace]:
    """Of all acknowledgments but the first, headers included; only where the link was busy.

    Where it never was for long, they are of all.
    """
    found, busy = [], []
    for before, after in pairwise(passed):
        acked = after.ack - before.ack
        packets = -(-acked // payload)
        if before.ack > 1 and after.t > before.t:
            bits = BITS * (acked + packets * overhead)
            found.append(Pace(before.t, bits / (after.t - before.t), acked))
            if not after.idle:
                busy.append(found[-1])
    return busy if len(busy) >= FEWEST else found


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
    parts = _parts(seen)
    if len(parts) > MOST_CHANGES + 1:
        parts = [seen]
    return [Change(part[0].at if part else 0.0, median(part)) for part in parts]


def _parts(seen: Sequence[Pace]) -> list[Sequence[Pace]]:
    """The paces, cut where that costs less than what they are off otherwise, rates apart."""
    if len(seen) < 2 * FEWEST:
        return [seen]
    least = sum(sorted(one.weight for one in seen)[-FEWEST:]) * math.log(APART)
    cuts = [0, *_cuts(seen, least + WORTH * _error(seen)), len(seen)]
    parts = [seen[first:last] for first, last in pairwise(cuts) if last - first >= FEWEST]
    joined: list[Sequence[Pace]] = []
    for part in parts:
        alike = joined and abs(math.log(median(part) / median(joined[-1]))) < math.log(APART)
        joined.append([*joined.pop(), *part] if alike else part)
    return joined or [seen]


def _cuts(seen: Sequence[Pace], price: float) -> list[int]:
    """Before which paces another of some rates is the better one, each cut having this price."""
    logs = [math.log(one.rate) for one in seen]
    count = int((max(logs) - min(logs)) / math.log(FINE)) + 1
    levels = [min(logs) + at * math.log(FINE) for at in range(count)]
    costs = [0.0] * count
    came: list[list[int]] = []
    for one, log in zip(seen, logs, strict=True):
        cheapest = min(range(count), key=costs.__getitem__)
        limit = costs[cheapest] + price
        came.append([at if costs[at] <= limit else cheapest for at in range(count)])
        costs = [
            min(cost, limit) + abs(level - log) * one.weight
            for cost, level in zip(costs, levels, strict=True)
        ]
    at, cuts = min(range(count), key=costs.__getitem__), []
    for index in range(len(seen) - 1, 0, -1):
        before = came[index][at]
        if before != at:
            cuts.append(index)
        at = before
    return cuts[::-1]


def _error(part: Sequence[Pace]) -> float:
    """How far paces are from the rate that they have, by bytes."""
    rate = median(part)
    return sum(abs(math.log(one.rate / rate)) * one.weight for one in part)
