"""An interface of Wireshark: packets with the verdicts of a watch as their comments.

Wireshark starts this as a program of its own, with options that it defines (doc/extcap.adoc there).
A verdict settles after its packet has passed. Therefore packets are held for a while, and written
with what is known of them then.
"""

from __future__ import annotations

import argparse
import json
import signal
import socket
import struct
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.diagnosis.comments import comments

if TYPE_CHECKING:
    from types import FrameType

    from rtolab.watching import VerdictSource

PREFIX = "rtolab-"
"""Before the names of interfaces, so that Wireshark does not take them for its own."""
DELAY_S = 10.0
SNAP = 160
"""The bytes that are kept of a packet: its headers with all options."""
MOST_HELD = 1 << 20
RAW_IP = 101
NANOSECONDS = 9
SO_TIMESTAMPNS, PACKET_OUTGOING, LOOPBACK, ALL = 35, 4, 772, 3
TCP = 6
SAME_S = 1e-3
"""A verdict's time and its packet's differ by less than this."""

Key = tuple[str, str, int]


@dataclass
class PendingPacket:
    """A packet until it is written.

    Attributes:
        number: its number in Wireshark, from 1.
        at_ns: when it passed, in nanoseconds since 1970-01-01 00:00 UTC.
        length: its length on the link, of which `data` is the beginning.
    """

    number: int
    at_ns: int
    data: bytes
    length: int
    key: Key
    facts: list[str] = field(default_factory=list)


def tcp_key(data: bytes) -> Key | None:
    """Sender, receiver and sequence number of a TCP segment; `None` for other packets."""
    version = data[0] >> 4 if data else 0
    if version == 4 and len(data) >= 20 and data[9] == TCP:
        header, source, target = 4 * (data[0] & 15), data[12:16], data[16:20]
        if int.from_bytes(data[6:8]) & 0x1FFF:
            return None
    elif version == 6 and len(data) >= 40 and data[6] == TCP:
        header, source, target = 40, data[8:24], data[24:40]
    else:
        return None
    if len(data) < header + 20:
        return None
    from_port, to_port, seq = struct.unpack_from("!HHI", data, header)
    return _end(source, from_port), _end(target, to_port), seq


def _end(address: bytes, port: int) -> str:
    shown = ip_address(address)
    return f"[{shown}]:{port}" if shown.version == 6 else f"{shown}:{port}"


class Annotator:
    """Packets that are held, and the verdicts on them."""

    def __init__(self) -> None:
        self.held: deque[PendingPacket] = deque()
        self.by_key: defaultdict[Key, list[PendingPacket]] = defaultdict(list)
        self.taken = 0
        self.episodes = 0

    def take(self, data: bytes, length: int, at_ns: int) -> None:
        """Hold a packet, if it is TCP."""
        key = tcp_key(data)
        if key is None:
            return
        self.taken += 1
        one = PendingPacket(self.taken, at_ns, data[:SNAP], length, key)
        self.held.append(one)
        self.by_key[key].append(one)

    def note(self, lines: Iterable[str]) -> None:
        """Note verdicts on the packets that they are about."""
        rows: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        for line in map(json.loads, lines):
            rows[line["connection"]].append(line)
        for found in rows.values():
            self._note(found)

    def _note(self, rows: list[dict[str, Any]]) -> None:
        """Note the verdicts on a connection, whose frames count from the start of the watch."""
        about = {row["frame"]: one for row in rows if (one := self._packet(row))}
        if not about:
            return
        later = {one.number - frame for frame, one in about.items()}
        shift = min(later, key=abs)
        known: dict[str, list[dict[str, Any]]] = {
            name: [] for name in ("retransmissions", "timeouts", "episodes", "habits")
        }
        for row in rows:
            if f"{row['row']}s" in known:
                known[f"{row['row']}s"].append(_shifted(row, shift))
        by_number = {one.number: one for one in about.values()}
        for number, text in comments({"connections": [known]}, self.episodes).items():
            if number in by_number:
                by_number[number].facts.append(text)
        self.episodes += len(known["episodes"])

    def _packet(self, row: Mapping[str, Any]) -> PendingPacket | None:
        """The packet of a retransmission."""
        if row["row"] not in ("retransmission", "timeout"):
            return None
        other = {"client": "server", "server": "client"}[row["from"]]
        near = self.by_key.get((row[row["from"]], row[other], row["seq"]), [])
        best = min(near, key=lambda one: abs(one.at_ns / 1e9 - row["at"]), default=None)
        return best if best and abs(best.at_ns / 1e9 - row["at"]) < SAME_S else None

    def release(self, before_ns: int) -> Iterator[PendingPacket]:
        """The packets from before this time, which need no longer be held."""
        while self.held and (self.held[0].at_ns < before_ns or len(self.held) > MOST_HELD):
            one = self.held.popleft()
            same = self.by_key[one.key]
            same.remove(one)
            if not same:
                del self.by_key[one.key]
            yield one


def _shifted(row: Mapping[str, Any], shift: int) -> dict[str, Any]:
    """The row with Wireshark's numbers in place of the watch's."""

    def moved(pieces: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [piece | {"frame": piece["frame"] + shift} for piece in pieces]

    new = dict(row)
    if "frame" in row:
        new["frame"] = row["frame"] + shift
    if "frames" in row:
        new["frames"] = [frame + shift for frame in row["frames"]]
    for key in ("evidence", "against"):
        if key in row:
            new[key] = moved(row[key])
    return new


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def header() -> bytes:
    """The beginning of a pcapng file: a section, and an interface of raw IP."""
    section = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    options = _option(9, bytes([NANOSECONDS])) + _option(0, b"")
    return section + _block(1, struct.pack("<HHI", RAW_IP, 0, 0) + options)


def packet_block(one: PendingPacket) -> bytes:
    """A packet of a pcapng file, with its comment."""
    high, low = divmod(one.at_ns, 1 << 32)
    body = struct.pack("<IIIII", 0, high, low, len(one.data), one.length)
    body += one.data + bytes(-len(one.data) % 4)
    if one.facts:
        body += _option(1, " ".join(one.facts).encode()[:65535]) + _option(0, b"")
    return _block(6, body)


def packets(interface: str, annotator: Annotator, lock: threading.Lock) -> None:
    """Take the packets of the interface, for as long as the process runs."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL)) as raw:
        raw.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 25)
        if interface != "any":
            raw.bind((interface, ALL))
        while True:
            data, ancillary, flags, sender = raw.recvmsg(SNAP, 64, socket.MSG_TRUNC)
            if sender[2] == PACKET_OUTGOING and sender[3] == LOOPBACK:
                continue  # It passes once more.
            seconds, nanoseconds = struct.unpack("qq", ancillary[0][2])
            with lock:
                length = len(data) if not flags & socket.MSG_TRUNC else _length(data)
                annotator.take(data, length, seconds * 10**9 + nanoseconds)


def _length(data: bytes) -> int:
    """The length of an IP packet by its header."""
    if data[0] >> 4 == 4:
        return max(len(data), int.from_bytes(data[2:4]))
    return max(len(data), int.from_bytes(data[4:6]) + 40)


def capture(interface: str, watcher: VerdictSource, out: BinaryIO, delay_s: float) -> None:
    """Write the packets with their verdicts until SIGTERM or SIGINT."""
    over = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    annotator, lock = Annotator(), threading.Lock()
    taking = threading.Thread(target=packets, args=(interface, annotator, lock), daemon=True)
    taking.start()
    out.write(header())
    out.flush()

    def write(lines: list[str], before_ns: int) -> None:
        with lock:
            annotator.note(lines)
            found = list(annotator.release(before_ns))
        out.write(b"".join(map(packet_block, found)))
        out.flush()

    while not over.is_set():
        write(watcher.poll(0.2), time.time_ns() - int(delay_s * 1e9))
    write(watcher.finish(), 1 << 63)


def interfaces() -> str:
    """The interfaces that Wireshark lists."""
    lines = ["extcap {version=1.0}{display=rtolab watch}\n"]
    for _, name in socket.if_nameindex():
        lines.append(f"interface {{value={PREFIX}{name}}}{{display=rtolab watch: {name}}}\n")
    return "".join(lines)


CONFIGURATION = (
    "arg {number=0}{call=--delay}{display=Delay (s)}{type=double}{range=0,60}"
    f"{{default={DELAY_S:g}}}{{tooltip=How long packets wait for their verdicts}}\n"
    "arg {number=1}{call=--host}{display=Host}{type=string}"
    "{tooltip=Verdicts only on packets from or to this address}\n"
    "arg {number=2}{call=--port}{display=Port}{type=unsigned}{range=1,65535}"
    "{tooltip=Verdicts only on packets from or to this port}\n"
)


def main() -> None:
    """Answer Wireshark."""
    parser = argparse.ArgumentParser(description="Packets of an interface with rtolab's verdicts.")
    for name in ("interfaces", "dlts", "config"):
        parser.add_argument(f"--extcap-{name}", action="store_true")
    for name in ("version", "interface", "capture-filter", "reload-option"):
        parser.add_argument(f"--extcap-{name}", default="")
    parser.add_argument("--capture", action="store_true")
    parser.add_argument("--fifo", type=Path)
    parser.add_argument("--delay", type=float, default=DELAY_S)
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    given, _ = parser.parse_known_args()
    if given.extcap_interfaces:
        sys.stdout.write(interfaces())
    elif given.extcap_dlts:
        sys.stdout.write(f"dlt {{number={RAW_IP}}}{{name=RAW}}{{display=IP}}\n")
    elif given.extcap_config:
        sys.stdout.write(CONFIGURATION)
    elif given.capture and given.fifo:
        try:
            with given.fifo.open("wb") as out:
                name = given.extcap_interface.removeprefix(PREFIX)
                host, port = given.host or None, given.port or None
                capture(name, _rtolab.Watcher(name, host=host, port=port), out, given.delay)
        except Error as error:
            sys.exit(f"rtolab: {error}")
        except BrokenPipeError:
            pass  # Wireshark has stopped.
    else:
        parser.error("expected --extcap-interfaces, --extcap-dlts, --extcap-config or --capture")
