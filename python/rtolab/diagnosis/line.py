"""A link in one's head: when packets that left at given times would be answered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

BITS = 8
BARE_ACK = 40
"""IP and TCP headers without options, in bytes."""


@dataclass(frozen=True)
class Span:
    """From when to when something was so, in seconds."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """In seconds."""
        return self.end - self.start


@dataclass(frozen=True)
class Packet:
    """What the sender sent.

    Attributes:
        t: when it left, in seconds.
        seq: its first sequence number.
        end: the one behind its last.
        frame: its number in the capture.
        lost: whether it never arrived.
    """

    t: float
    seq: int
    end: int
    frame: int
    lost: bool = False


@dataclass(frozen=True)
class Answer:
    """An acknowledgment at the sender: when, and of what."""

    t: float
    ack: int


@dataclass(frozen=True)
class Line:
    """A link that is first in, first out, and what befell it.

    Attributes:
        rate: in bit/s, either way.
        delay: of propagation, one way, in seconds.
        overhead: headers of a data packet, in bytes.
        forward: when no data was transmitted.
        backward: when no acknowledgment was.
        silent: when acknowledgments were lost.
    """

    rate: float
    delay: float
    overhead: int
    forward: Sequence[Span] = ()
    backward: Sequence[Span] = ()
    silent: Sequence[Span] = ()

    def transmission(self, size: int) -> float:
        """Of so many bytes, in seconds."""
        return size * BITS / self.rate

    def stalled(self, span: Span, *, forward: bool, backward: bool) -> Line:
        """The same with one more span in which nothing moved in these directions."""
        return replace(
            self,
            forward=[*self.forward, span] if forward else self.forward,
            backward=[*self.backward, span] if backward else self.backward,
        )

    def departures(self, sent: Sequence[Packet]) -> list[float]:
        """When each packet's transmission ends."""
        data = _Transmitter(self.forward)
        sizes = ((one.t, one.end - one.seq + self.overhead) for one in sent)
        return [data.transmit(t, self.transmission(size)) for t, size in sizes]

    def answers(self, sent: Sequence[Packet]) -> list[Answer]:
        """The acknowledgments, were there one for each packet that arrives, and at once."""
        acks, receiver = _Transmitter(self.backward), _Receiver()
        found = []
        for packet, done in zip(sent, self.departures(sent), strict=True):
            if packet.lost:
                continue
            ack = receiver.take(packet)
            leaves = acks.transmit(done + self.delay, self.transmission(BARE_ACK))
            if not any(span.start <= leaves < span.end for span in self.silent):
                found.append(Answer(leaves + self.delay, ack))
        return found


@dataclass
class _Transmitter:
    """One packet at a time, none in stalls."""

    stalls: Sequence[Span]
    free: float = 0.0

    def transmit(self, at: float, takes: float) -> float:
        """When what came at `at` has left."""
        now = max(at, self.free)
        left = takes
        for stall in sorted(self.stalls, key=lambda span: span.start):
            if stall.end <= now:
                continue
            if stall.start >= now + left:
                break
            left -= max(0.0, stall.start - now)
            now = stall.end
        self.free = now + left
        return self.free


@dataclass
class _Receiver:
    """What has arrived in order, and what waits behind a gap."""

    next: int | None = None
    waiting: list[tuple[int, int]] = field(default_factory=list)

    def take(self, packet: Packet) -> int:
        """What is acknowledged then."""
        self.next = packet.seq if self.next is None else self.next
        self.waiting.append((packet.seq, packet.end))
        self.waiting.sort()
        while self.waiting and self.waiting[0][0] <= self.next:
            self.next = max(self.next, self.waiting.pop(0)[1])
        return self.next
