"""The slots in which a sender's timers expire, as those of Linux do, told by when they did.

Linux puts a timer into a slot that is the longer, the longer the timer is to run: of 32 ms from
252 ms on and of 256 ms from 2 s on, where a second has 250 ticks (`calc_wheel_index`). What was
waited for may come within that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtolab.diagnosis import Connection

TICKS = {"wheel-250": 0.004, "wheel-1000": 0.001}
"""Lengths of a tick in seconds, by what a scenario calls the timer."""

LOWEST = 63
COARSER = 8
LEVELS = 4
"""Ticks that the lowest level reaches; a slot of a level in slots of the one below; levels."""

LATE = 0.002
"""How far from each other timers of one slot may expire, in seconds."""


@dataclass(frozen=True)
class Wheel:
    """Slots of timers.

    Attributes:
        timer: as `tcp.rto.timer` has it.
        offset: of a slot's end from the beginning of the capture's connection, in seconds; the
            longest slot seen is longer than that.
        slot: the longest seen, in seconds.
    """

    timer: str
    offset: float
    slot: float

    @property
    def shift(self) -> float:
        """So much later a slot ends at a multiple of its length, in seconds."""
        return -self.offset % self.slot


def told(connection: Connection) -> Wheel | None:
    """The wheel that a sender's timeouts fit; nothing if there are none, or they fit none."""
    expired = [
        (one["t"] - connection["start"], one["after"])
        for one in connection["timeouts"]
        if one["from"] == connection["sender"] and not one["handshake"] and one["after"]
    ]
    found = [wheel for timer in TICKS if (wheel := _of(timer, expired))]
    return max(found, key=lambda wheel: wheel.slot, default=None)


def _of(timer: str, expired: Sequence[tuple[float, float]]) -> Wheel | None:
    """Of when timers expired and how long they had run, in seconds."""
    slots = [(_slot(ran, TICKS[timer]), t) for t, ran in expired]
    if not slots:
        return None
    slot, offset = max(slots)
    apart = [(t - offset + LATE) % each for each, t in slots]
    return Wheel(timer, offset % slot, slot) if max(apart) <= 2 * LATE else None


def _slot(ran: float, tick: float) -> float:
    """How long the slots of timers are that run so long."""
    level = sum(ran >= tick * LOWEST * COARSER**level for level in range(LEVELS))
    return float(tick * COARSER**level)
