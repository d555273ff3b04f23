"""What passed the sender, told from a capture at its receiver: timestamps say when packets left."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from rtolab._rtolab import Error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtolab.diagnosis import Connection

    Row = dict[str, Any]

CLOCKS = (10, 100, 250, 1000)
"""Ticks of a timestamp in a second (RFC 7323 section 5.4 allows 1 to 1000)."""

NEAR = 0.1
"""A clock is one of these if it is off by no larger part."""

LATE = 0.25
"""An acknowledgment that the sender knows so much later than it could was held up, in seconds."""

LEAST_DATA = 1
"""What a FIN takes, in sequence numbers: data take more."""

WRAP = 1 << 32


def at_sender(rows: Sequence[Row], connection: Connection) -> tuple[list[Row], float]:
    """The packets as they passed the sender, and the smallest round trip, in seconds.

    A packet that needed to be repeated has passed there once more, just behind the one before it.

    Raises:
        Error: timestamps do not show when packets left.
    """
    sender = connection["sender"]
    data = [row for row in rows if row["from"] == sender and row["stamps"]]
    answers = [row for row in rows if row["from"] != sender and row["stamps"]]
    if len(data) < 2 or not answers or data[-1]["t"] <= data[0]["t"]:
        raise Error("what if at the receiver needs timestamps, which the capture lacks")
    trip = _round_trip(data, answers)
    left = _departures(data, trip)
    moved = [row | {"t": t} for row, t in zip(data, left, strict=True)]
    heard = _arrivals(answers, (data, left), trip)
    moved += [row | {"t": t} for row, t in zip(answers, heard, strict=True)]
    moved += _lost(moved, connection)
    return sorted(moved, key=lambda row: (row["t"], row["frame"])), trip


def _unwrapped(stamps: Sequence[int]) -> list[int]:
    """Timestamps that go on where they begin anew."""

    def near(before: int, stamp: int) -> int:
        return before + (stamp - before + WRAP // 2) % WRAP - WRAP // 2

    return list(accumulate(stamps, near))


def _round_trip(data: Sequence[Row], answers: Sequence[Row]) -> float:
    """From an acknowledgment to the first packet that echoes its timestamp, the shortest."""
    first: dict[int, float] = {}
    for row in answers:
        first.setdefault(row["stamps"][0], row["t"])
    trips: list[float] = []
    for row in data:
        sent = first.pop(row["stamps"][1], None)
        if sent is not None and row["t"] > sent:
            trips.append(row["t"] - sent)
    if not trips:
        raise Error("what if at the receiver needs echoed timestamps, which the capture lacks")
    return min(trips)


def _departures(data: Sequence[Row], trip: float) -> list[float]:
    """By the sender's clock; the quickest packet took half of the shortest round trip."""
    stamps = _unwrapped([row["stamps"][0] for row in data])
    ticks = (stamps[-1] - stamps[0]) / (data[-1]["t"] - data[0]["t"])
    clock = min(CLOCKS, key=lambda clock: abs(clock / max(ticks, 1e-9) - 1))
    if abs(ticks / clock - 1) > NEAR:
        raise Error("what if at the receiver: the sender's timestamps have no known clock")
    offset = min(row["t"] - stamp / clock for row, stamp in zip(data, stamps, strict=True))
    return list(accumulate((stamp / clock + offset - trip / 2 for stamp in stamps), max))


def _arrivals(
    answers: Sequence[Row], sent: tuple[Sequence[Row], Sequence[float]], trip: float
) -> list[float]:
    """Half a round trip later, or when the sender first shows that it knows it."""
    # A SYN echoes nothing; and a sender with nothing left to send shows nothing.
    knows = [
        (row, t)
        for row, t in zip(*sent, strict=True)
        if row["stamps"][1] and row["len"] > LEAST_DATA
    ]
    data, left = [row for row, _ in knows], [t for _, t in knows]
    echoes = list(accumulate(_unwrapped([row["stamps"][1] for row in data]), max))
    stamps = _unwrapped([row["stamps"][0] for row in answers])
    # Both begin somewhere, perhaps on different sides of a wrap.
    turns = round((echoes[0] - stamps[0]) / WRAP) * WRAP if echoes else 0
    found = []
    for row, stamp in zip(answers, stamps, strict=True):
        soonest = row["t"] + trip / 2
        index = bisect_left(echoes, stamp + turns)
        known = left[index] if index < len(left) else soonest
        found.append(known if known > soonest + LATE else soonest)
    return list(accumulate(found, max))


def _lost(rows: Sequence[Row], connection: Connection) -> list[Row]:
    """The packets that were repeated because they had never come."""
    needed = {one["frame"] for one in connection["retransmissions"] if one["verdict"] == "needed"}
    sender = connection["sender"]
    sent = sorted((row for row in rows if row["from"] == sender), key=lambda row: row["seq"])
    starts = [row["seq"] for row in sent]
    found = []
    for row in rows:
        if row["frame"] in needed and row["len"]:
            index = bisect_left(starts, row["seq"])
            before = min((one["t"] for one in sent[max(0, index - 1) : index]), default=row["t"])
            found.append(row | {"t": min(before, row["t"]), "frame": -row["frame"]})
    return found
