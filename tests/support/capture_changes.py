"""Turns captures into those that operators have: merged, cut short, of one direction only.

It reads and writes the pcapng files of the simulator: little-endian, raw IPv4, nanoseconds.
"""

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

ENHANCED_PACKET = 6
ACK = 0x10
NOP, SACK, TIMESTAMPS = 1, 5, 8
"""Kinds of TCP options."""
HEAD = struct.Struct("<IIIIIII")
"""Block type and length, interface, the two halves of the time, captured and original length."""


@dataclass(frozen=True)
class Packet:
    """A packet of a capture: its time in nanoseconds, its bytes, and how many it had."""

    at: int
    body: bytes
    original: int

    @property
    def source(self) -> bytes:
        return self.body[12:16]

    @property
    def tcp(self) -> bytes:
        return self.body[20:]

    @property
    def flags(self) -> int:
        return self.tcp[13]

    def with_tcp(self, at: int, value: bytes) -> "Packet":
        """With other bytes from an offset in the TCP header on; checksums are not corrected."""
        start = 20 + at
        return replace(self, body=self.body[:start] + value + self.body[start + len(value) :])


def parts(capture: bytes) -> tuple[bytes, list[Packet]]:
    """The blocks before the first packet, and the packets."""
    head, packets = b"", []
    for block in _blocks(capture):
        if block[:4] != ENHANCED_PACKET.to_bytes(4, "little"):
            head += block
            continue
        _, _, _, high, low, captured, original = HEAD.unpack_from(block)
        packets.append(Packet(high << 32 | low, block[28 : 28 + captured], original))
    return head, packets


def written(head: bytes, packets: Iterable[Packet]) -> bytes:
    """A capture of these packets."""
    return head + b"".join(_block(packet) for packet in packets)


def merged(*captures: bytes) -> bytes:
    """One capture with the packets of all by time, as `mergecap` makes it."""
    head, _ = parts(captures[0])
    packets = [packet for capture in captures for packet in parts(capture)[1]]
    return written(head, sorted(packets, key=lambda packet: packet.at))


def changed(capture: bytes, change: Callable[[Packet], Packet | None]) -> bytes:
    """Each packet changed, or left out."""
    head, packets = parts(capture)
    return written(head, (new for one in packets if (new := change(one)) is not None))


def cut(capture: bytes, snaplen: int) -> bytes:
    """The capture with a snaplen, counted from the IP header."""
    return changed(capture, lambda packet: replace(packet, body=packet.body[:snaplen]))


def one_way(capture: bytes, *, of_client: bool) -> bytes:
    """Only the packets of the client or of the server; the client sends the first packet."""
    client = parts(capture)[1][0].source
    return changed(capture, lambda one: one if (one.source == client) == of_client else None)


def shifted(capture: bytes, seconds: float) -> bytes:
    """The capture of a host whose clock is ahead."""
    return changed(capture, lambda one: replace(one, at=one.at + round(seconds * 1e9)))


def renumbered(packet: Packet, *, seq: int, ack: int, value: int, echo: int) -> Packet:
    """With these numbers added to its sequence numbers and timestamps, modulo 2**32.

    SACK blocks are of the data that `ack` acknowledges.
    """
    tcp = bytearray(packet.tcp)
    _add(tcp, 4, seq)
    if packet.flags & ACK:
        _add(tcp, 8, ack)
    at, end = 20, (tcp[12] >> 4) * 4
    while at < end and tcp[at] != 0:
        kind, length = tcp[at], 1 if tcp[at] == NOP else tcp[at + 1]
        if kind == TIMESTAMPS:
            _add(tcp, at + 2, value)
            if packet.flags & ACK:
                _add(tcp, at + 6, echo)
        elif kind == SACK:
            for block in range(at + 2, at + length, 4):
                _add(tcp, block, ack)
        at += length
    return replace(packet, body=packet.body[:20] + bytes(tcp))


def _add(octets: bytearray, at: int, more: int) -> None:
    (number,) = struct.unpack_from(">I", octets, at)
    struct.pack_into(">I", octets, at, (number + more) % 2**32)


def merged_by_offload(
    packets: Iterable[Packet], within: int, most: int = 65_000, *, by_sender: bool = False
) -> list[Packet]:
    """The packets as TSO or GRO shows them: segments in a row are one super-segment.

    Args:
        packets: in the order of their times.
        within: the longest time from the first segment to the last, in nanoseconds.
        most: the largest super-segment, in bytes with its headers.
        by_sender: is it TSO? A sender does not put new data behind what it retransmits.
    """
    found: list[Packet] = []
    firsts: dict[bytes, int] = {}
    ends: dict[bytes, int] = {}
    new: dict[bytes, bool] = {}
    for one in packets:
        at = firsts.get(one.source)
        last = found[at] if at is not None else None
        head = 20 + (one.tcp[12] >> 4) * 4
        payload = one.original - head
        seq = int.from_bytes(one.tcp[4:8], "big")
        is_new = (seq - ends.get(one.source, seq)) % 2**32 < 2**31
        if is_new:
            ends[one.source] = (seq + payload) % 2**32
        is_apart = by_sender and is_new != new.get(one.source, is_new)
        new[one.source] = is_new
        is_soon = last is not None and one.at - last.at <= within
        if last and payload > 0 and _continues(last, one) and is_soon and not is_apart:
            size = last.original + payload
            if size <= most and at is not None:
                body = last.body[:2] + struct.pack(">H", size) + last.body[4:]
                found[at] = replace(last, body=body, original=size)
                continue
        firsts[one.source] = len(found)
        found.append(one)
    return found


def _continues(first: Packet, second: Packet) -> bool:
    """Do two segments differ only by their numbers, and follow each other without a gap?"""
    head = 20 + (first.tcp[12] >> 4) * 4
    payload = first.original - head
    following = (int.from_bytes(first.tcp[4:8], "big") + payload) % 2**32
    is_next = following == int.from_bytes(second.tcp[4:8], "big")
    is_alike = (
        first.tcp[8:14] == second.tcp[8:14]
        and first.tcp[20 : head - 20] == (second.tcp[20 : head - 20])
    )
    return payload > 0 and is_next and is_alike


def as_udp(packet: Packet) -> Packet:
    """The packet as one of UDP."""
    return replace(packet, body=packet.body[:9] + bytes([17]) + packet.body[10:])


def _blocks(capture: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(capture):
        length = int.from_bytes(capture[at + 4 : at + 8], "little")
        yield capture[at : at + length]
        at += length


def _block(packet: Packet) -> bytes:
    body = packet.body + bytes(-len(packet.body) % 4)
    length = 32 + len(body)
    fields = (0, packet.at >> 32, packet.at & 0xFFFF_FFFF, len(packet.body), packet.original)
    return HEAD.pack(ENHANCED_PACKET, length, *fields) + body + struct.pack("<I", length)
