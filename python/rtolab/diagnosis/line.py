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
        number: among all that the sender sent, pure acknowledgments too, counted from 1.
        refused: whether a full queue did not take it.
    """

    t: float
    seq: int
    end: int
    frame: int
    lost: bool = False
    number: int = 0
    refused: bool = False


@dataclass(frozen=True)
class Answer:
    """An acknowledgment at the sender: when, and of what."""

    t: float
    ack: int


@dataclass(frozen=True)
class Change:
    """From when on a link has another rate: in seconds, and bit/s."""

    at: float
    rate: float


@dataclass(frozen=True)
class Line:
    """A link that is first in, first out, and what befell it.

    Attributes:
        rate: in bit/s, either way, at its beginning.
        delay: of propagation, one way, in seconds.
        overhead: headers of a data packet, in bytes.
        forward: when no data was transmitted.
        backward: when no acknowledgment was.
        silent: when acknowledgments were lost.
        changes: of its rate, the earlier first.
    """

    rate: float
    delay: float
    overhead: int
    forward: Sequence[Span] = ()
    backward: Sequence[Span] = ()
    silent: Sequence[Span] = ()
    changes: Sequence[Change] = ()

    def rate_at(self, t: float) -> float:
        """In bit/s."""
        return next((one.rate for one in reversed(self.changes) if one.at <= t), self.rate)

    def transmission(self, size: int, at: float = 0.0) -> float:
        """Of so many bytes, in seconds."""
        return size * BITS / self.rate_at(at)

    def stalled(self, span: Span, *, forward: bool, backward: bool) -> Line:
        """The same with one more span in which nothing moved in these directions."""
        return replace(
            self,
            forward=[*self.forward, span] if forward else self.forward,
            backward=[*self.backward, span] if backward else self.backward,
        )

    def departures(self, sent: Sequence[Packet]) -> list[float]:
        """When each packet's transmission ends; what a queue refused is gone as it comes."""
        data = _Transmitter(self, self.forward)
        return [
            one.t if one.refused else data.transmit(one.t, one.end - one.seq + self.overhead)
            for one in sent
        ]

    def answers(self, sent: Sequence[Packet]) -> list[Answer]:
        """The acknowledgments, were there one for each packet that arrives, and at once."""
        acks, receiver = _Transmitter(self, self.backward), _Receiver()
        found = []
        for packet, done in zip(sent, self.departures(sent), strict=True):
            if packet.lost:
                continue
            ack = receiver.take(packet)
            leaves = acks.transmit(done + self.delay, BARE_ACK)
            if not any(span.start <= leaves < span.end for span in self.silent):
                found.append(Answer(leaves + self.delay, ack))
        return found


@dataclass
class _Transmitter:
    """One packet at a time, none in stalls."""

    line: Line
    stalls: Sequence[Span]
    free: float = 0.0

    def transmit(self, at: float, size: int) -> float:
        """When as many bytes as came at `at` have left."""
        now, bits = max(at, self.free), float(size * BITS)
        edges = [one.at for one in self.line.changes]
        for stall in sorted(self.stalls, key=lambda span: span.start):
            if stall.end <= now:
                continue
            now, bits = self._until((now, bits), stall.start, edges)
            if bits <= 0:
                break
            now = max(now, stall.end)
        if bits > 0:
            now, _ = self._until((now, bits), float("inf"), edges)
        self.free = now
        return self.free

    def _until(
        self, left: tuple[float, float], end: float, edges: Sequence[float]
    ) -> tuple[float, float]:
        """The time and the bits that are left when all is sent, or this end has come."""
        now, bits = left
        while bits > 0 and now < end:
            edge = min([one for one in edges if one > now], default=float("inf"))
            rate, stop = self.line.rate_at(now), min(end, edge)
            if now + bits / rate <= stop:
                return now + bits / rate, 0.0
            bits -= (stop - now) * rate
            now = stop
        return now, bits


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
