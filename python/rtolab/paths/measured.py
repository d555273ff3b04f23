"""What a measurement says about a path, independent of the format of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

OUTAGE_PROBES = 3
"""The minimum number of consecutive lost probes that counts as an outage."""


@dataclass
class OneWay:
    """One direction of a path, or both.

    Attributes:
        delays: the time from which on each delay applies, in seconds, and the delay in ms.
        round_trip: are the delays round-trip times, of which each direction takes half?
        opportunities: delivery opportunities of 1500 bytes, in milliseconds, in order.
        light: delivery opportunities of the first packets after an idle time (CellReplay), in
            milliseconds: the time from which on they apply, and the offset of each from the first
            packet.
        rates: the time from which on each rate applies, in seconds, and the rate in bit/s.
        loss: the probability of a loss outside outages.
        outages: start and length of each outage, in seconds.
        reorders: may packets overtake each other?
    """

    delays: list[tuple[float, float]] = field(default_factory=list)
    round_trip: bool = False
    opportunities: list[int] = field(default_factory=list)
    light: list[tuple[int, list[int]]] = field(default_factory=list)
    rates: list[tuple[float, float]] = field(default_factory=list)
    loss: float = 0.0
    outages: list[tuple[float, float]] = field(default_factory=list)
    reorders: bool = False


@dataclass
class MeasuredPath:
    """A path between a server and a client; forward is towards the client.

    Attributes:
        title: the title of the scenario.
        origin: lines that say where the measurement comes from, and what it does not show.
        duration_s: the length of the measurement, in seconds.
    """

    title: str
    origin: list[str]
    duration_s: float
    both: OneWay = field(default_factory=OneWay)
    forward: OneWay = field(default_factory=OneWay)
    backward: OneWay = field(default_factory=OneWay)


def split_losses(
    probes: Sequence[tuple[float, bool]],
) -> tuple[float, list[tuple[float, float]]]:
    """The probability of a loss outside outages, and the start and length of each outage.

    A run of `OUTAGE_PROBES` lost probes or more is an outage, from the first of them to the next
    probe that arrived.

    Args:
        probes: when each probe was sent, in seconds, and whether it was lost, in order.
    """
    outages: list[tuple[float, float]] = []
    single = counted = begin = 0
    while begin < len(probes):
        at, lost = probes[begin]
        end = begin + 1
        while end < len(probes) and lost and probes[end][1]:
            end += 1
        if lost and end - begin >= OUTAGE_PROBES:
            back = probes[end][0] if end < len(probes) else probes[-1][0]
            outages.append((at, back - at))
        else:
            counted += end - begin
            single += (end - begin) * lost
        begin = end
    return (single / counted if counted else 0.0), outages
