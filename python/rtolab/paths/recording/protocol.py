"""The messages between both ends, and the sockets that carry them.

A server never sends more than it received, and nothing at all before a client has shown that it
knows the token and receives what is sent to its address:

    client                       server
    HELLO nonce, token's MAC ->
                              <- COOKIE nonce, cookie, MAC
    START nonce, cookie, MAC ->
                              <- ACCEPT nonce, session, MAC
    PROBE session, number    ->
                              <- REPLY session, number, when it came, when the answer left
    FETCH session, page      ->
                              <- PAGE session, page, pages, the same of 50 probes
    BYE session              ->

The server answers each probe with one reply of the same size. It answers a train of probes once
it is complete, so that the replies are a train as well.
"""

from __future__ import annotations

import errno
import hmac
import socket
import struct
import sys
import time
from dataclasses import dataclass
from typing import Any

from rtolab._rtolab import Error

PORT = 9436
MAGIC = b"rtolab\x01"
HELLO, COOKIE, START, ACCEPT, PROBE, REPLY, FETCH, PAGE, BYE = range(1, 10)
NONCE, MAC = 8, 16
GREETING = 128
"""The size of HELLO and START, above that of their answers."""
SINGLE, TRAIN = 100, 1200
"""The payload of a single probe, and of a probe in a train."""
HEADERS = {socket.AF_INET: 28, socket.AF_INET6: 48}
"""The bytes of the IP and UDP headers."""
ENTRIES = 50
"""The probes on a page of the server's log."""
LARGEST = 2048

Address = Any
"""An address as the socket module has it."""

_PROBE = struct.Struct("!8sIIBB")
_REPLY = struct.Struct("!8sIQQ")
_PAGE = struct.Struct("!8sIII")
_ENTRY = struct.Struct("!IQQ")


def message(kind: int, *parts: bytes, size: int = 0) -> bytes:
    """A message, padded to `size` bytes."""
    return b"".join((MAGIC, bytes([kind]), *parts)).ljust(size, b"\0")


def parse(data: bytes) -> tuple[int, bytes]:
    """The kind of a message, and its content; the kind is 0 if it is none of ours."""
    begin = len(MAGIC)
    if len(data) <= begin or data[:begin] != MAGIC:
        return 0, b""
    return data[begin], data[begin + 1 :]


def authenticated(token: str, kind: int, *parts: bytes) -> bytes:
    """The parts of a message, and their MAC under the token."""
    content = b"".join(parts)
    return content + _mac(token.encode(), bytes([kind]) + content)


def verified(token: str, kind: int, content: bytes, size: int) -> bytes | None:
    """The first `size` bytes of a message, if their MAC follows them; else None."""
    plain, found = content[:size], content[size : size + MAC]
    expected = _mac(token.encode(), bytes([kind]) + plain)
    return plain if hmac.compare_digest(found, expected) else None


def _mac(key: bytes, content: bytes) -> bytes:
    return hmac.digest(key, content, "sha256")[:MAC]


def cookie(secret: bytes, address: Address, nonce: bytes, slot: int) -> bytes:
    """The cookie for an address and a nonce in a span of time."""
    return _mac(secret, repr((address[:2], slot)).encode() + nonce)


@dataclass(frozen=True)
class Probe:
    """A probe: the place in its train counts from 0; a single one is a train of one."""

    number: int
    train: int
    place: int
    length: int

    def message(self, session: bytes) -> bytes:
        """The message of this probe."""
        packed = _PROBE.pack(session, self.number, self.train, self.place, self.length)
        return message(PROBE, packed, size=SINGLE if self.length == 1 else TRAIN)

    @staticmethod
    def read(content: bytes) -> tuple[bytes, Probe] | None:
        """The session and the probe of a message."""
        if len(content) < _PROBE.size:
            return None
        session, *fields = _PROBE.unpack_from(content)
        return session, Probe(*fields)


@dataclass(frozen=True)
class Reply:
    """When the server received a probe, and when its reply left, in ns of the server's clock."""

    number: int
    received: int
    left: int

    def message(self, session: bytes, size: int) -> bytes:
        """The message of this reply, in `size` bytes."""
        packed = _REPLY.pack(session, self.number, self.received, self.left)
        return message(REPLY, packed, size=size)

    @staticmethod
    def read(content: bytes) -> tuple[bytes, Reply] | None:
        """The session and the reply of a message."""
        if len(content) < _REPLY.size:
            return None
        session, *fields = _REPLY.unpack_from(content)
        return session, Reply(*fields)


def fetch(session: bytes, page: int) -> bytes:
    """A request for a page of the log, as large as the largest page."""
    return message(FETCH, session, page.to_bytes(4), size=TRAIN)


def page_of(session: bytes, number: int, log: list[Reply]) -> bytes:
    """A page of the log."""
    pages = -(-len(log) // ENTRIES)
    part = log[number * ENTRIES : (number + 1) * ENTRIES]
    entries = b"".join(_ENTRY.pack(one.number, one.received, one.left) for one in part)
    return message(PAGE, _PAGE.pack(session, number, pages, len(part)), entries)


def read_page(content: bytes) -> tuple[bytes, int, int, list[Reply]] | None:
    """The session, the number of a page, the number of pages, and the entries of this one."""
    if len(content) < _PAGE.size:
        return None
    session, number, pages, count = _PAGE.unpack_from(content)
    entries = content[_PAGE.size :]
    if len(entries) < count * _ENTRY.size or count > ENTRIES:
        return None
    log = [Reply(*_ENTRY.unpack_from(entries, index * _ENTRY.size)) for index in range(count)]
    return session, number, pages, log


SO_TIMESTAMPNS = getattr(socket, "SO_TIMESTAMPNS", 35)
_STAMP = struct.Struct("@ll")
BUFFER = 4 << 20


def prepare(link: socket.socket) -> None:
    """Have the kernel stamp what arrives, with room for what waits."""
    link.setblocking(False)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
    if sys.platform == "linux":
        link.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)


def receive(link: socket.socket) -> tuple[bytes, int, Address] | None:
    """A datagram, when it arrived in ns by the wall clock, and its source; None: none is there.

    Raises:
        ConnectionRefusedError: nobody listens at the other end of a connected socket.
    """
    try:
        data, ancillary, flags, source = link.recvmsg(LARGEST, 64)
    except BlockingIOError:
        return None
    if flags & socket.MSG_TRUNC:
        data = b""
    for level, kind, stamp in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS) and len(stamp) >= _STAMP.size:
            seconds, nanoseconds = _STAMP.unpack_from(stamp)
            return data, seconds * 10**9 + nanoseconds, source
    return data, time.time_ns(), source


def endpoint(option: str, text: str) -> tuple[str, int]:
    """The host and the port of HOST, HOST:PORT or [ADDRESS]:PORT; by default port 9436."""
    host, port = text, PORT
    if text.startswith("[") or text.count(":") == 1:
        host, colon, number = text.rpartition(":")
        if not colon or text.endswith("]"):
            host, number = text, str(PORT)
        if not (number.isascii() and number.isdecimal() and 0 < int(number[:6]) < 1 << 16):
            raise Error(f"{option} {text}: expected a port from 1 to 65535 after the colon")
        port = int(number)
    host = host.removeprefix("[").removesuffix("]")
    if not host:
        raise Error(f"{option} {text}: expected HOST or HOST:PORT, such as 192.0.2.1:{PORT}")
    return host, port


def unsendable(error: OSError, place: str) -> Error:
    """The message for a datagram that this host does not send."""
    if error.errno in {errno.EPERM, errno.EACCES}:
        return Error(f"{place}: this host's firewall does not let UDP out ({error.strerror})")
    if error.errno == errno.EMSGSIZE:
        return Error(f"{place}: the path takes no packets of {TRAIN + 48} B ({error.strerror})")
    return Error(f"{place}: {error.strerror}")
