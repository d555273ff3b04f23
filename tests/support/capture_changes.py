"""Changes captures as operators come by them: merged, cut short, of one direction only.

It reads and writes the pcapng files of the simulator: little-endian, raw IPv4, nanoseconds.
"""

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

ENHANCED_PACKET = 6
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
    """As captured with a snaplen, of IP and what it carries."""
    return changed(capture, lambda packet: replace(packet, body=packet.body[:snaplen]))


def one_way(capture: bytes, *, of_client: bool) -> bytes:
    """What client or server sent alone; the client sends the first packet."""
    client = parts(capture)[1][0].source
    return changed(capture, lambda one: one if (one.source == client) == of_client else None)


def shifted(capture: bytes, seconds: float) -> bytes:
    """As captured by a host whose clock is ahead."""
    return changed(capture, lambda one: replace(one, at=one.at + round(seconds * 1e9)))


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
