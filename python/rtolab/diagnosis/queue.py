"""The queue before a link: how much it holds, told by how long it was when something was lost."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from rtolab.diagnosis.line import Line, Packet

FEWEST = 2
"""From fewer packets lost before a full queue none is inferred."""

MOST_ROUNDS = 8
"""What a queue refuses makes it shorter: it is looked at again so often at most."""

SHARE = 0.5
"""Of what was lost so much at least must have met a full queue."""

ASTRAY = 0.1
"""Of what met a full queue so many packets at most may speak against it."""


JUST = 0.25
"""What leaves so soon, as a part of the time that a packet takes, leaves before what comes now.

Packets come as acknowledgments do, and those as packets left: at the times when others leave.
"""


@dataclass(frozen=True)
class Queue:
    """A queue and what it did.

    Attributes:
        room: for what waits, in bytes.
        sent: the packets, with those that it refused.
    """

    room: int
    sent: Sequence[Packet]


@dataclass(frozen=True)
class _Met:
    """A packet and how long it would make the queue, in bytes; nothing if it need not wait."""

    packet: Packet
    size: int
    length: int

    def is_refused(self, room: int, untold: Set[int]) -> bool:
        """Is it too much, or was it lost where a packet less would have been?"""
        # Where one leaves just as another comes, nobody knows which was first.
        lost = self.packet.lost and self.length > room - self.size
        return lost or (self.packet.frame in untold and self.length > room)


def fitted(line: Line, sent: Sequence[Packet], untold: Set[int]) -> Queue | None:
    """The queue that explains most of what was lost; nothing if none does.

    Args:
        line: the link behind it.
        sent: what came to it.
        untold: frames of which nobody knows whether they arrived, as they were in vain.
    """
    lost, met = sum(packet.lost for packet in sent), list[_Met]()
    tried = [replace(packet, refused=packet.lost) for packet in sent]
    for _ in range(MOST_ROUNDS):
        met = list(_met(line, tried))
        room = _room([one for one in met if one.packet.frame not in untold])
        again = [replace(one.packet, refused=one.is_refused(room, untold)) for one in met]
        if again == tried:
            break
        tried = again
    refused = sum(packet.refused and packet.lost for packet in tried)
    astray = sum(not one.packet.refused and one.length - one.size > room for one in met)
    if refused < max(FEWEST, SHARE * lost) or astray > ASTRAY * refused:
        return None
    return Queue(room, tried)


def _met(line: Line, sent: Sequence[Packet]) -> Iterable[_Met]:
    """What each packet met: those before it whose transmission had not begun yet."""
    waiting: deque[tuple[float, int]] = deque()
    length, free = 0, 0.0
    for packet, leaves in zip(sent, line.departures(sent), strict=True):
        size = packet.end - packet.seq + line.overhead
        near = packet.t + JUST * line.transmission(size, packet.t)
        while waiting and waiting[0][0] <= near:
            length -= waiting.popleft()[1]
        waits = free > packet.t
        yield _Met(packet, size, length + size if waits else 0)
        if packet.refused:
            continue
        if waits:
            waiting.append((free, size))
            length += size
        free = leaves


def _room(met: Sequence[_Met]) -> int:
    """Where what was lost is told best from what was not."""
    ordered = sorted(met, key=lambda one: one.length)
    # A room for nothing leaves astray all that waited and was not lost.
    astray = sum(not one.packet.lost and one.length > 0 for one in ordered)
    found = (astray, 0)
    for at, one in enumerate(ordered):
        if one.length == 0:
            continue
        astray += 1 if one.packet.lost else -1
        follows = ordered[at + 1].length if at + 1 < len(ordered) else one.length
        if astray < found[0]:
            found = (astray, (one.length + follows) // 2)
    return found[1]
