"""The end of a path that answers probes."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rtolab._rtolab import Error
from rtolab.paths.recording import protocol
from rtolab.paths.recording.protocol import Address, Probe, Reply

SESSIONS = 16
"""The most sessions at a time."""
LONGEST_LOG = 1_000_000
"""The most probes of a session."""
MOST_LOGGED = 2_000_000
"""The most probes of all sessions at a time, which take some 200 bytes each."""
IDLE_S = 20.0
"""A session ends after this time without a message."""
INCOMPLETE_S = 0.05
"""An incomplete train is answered after this time without another of its probes."""
SLOT_S = 30
"""The span of time of a cookie; it is valid in the next one, too."""


@dataclass
class _Train:
    """The probes of a train that have arrived, and when each of them did."""

    probes: list[tuple[Probe, int, int]] = field(default_factory=list)
    last: float = 0.0


@dataclass
class _Session:
    client: Address
    last: float
    log: list[Reply] = field(default_factory=list)
    trains: dict[int, _Train] = field(default_factory=dict)
    numbers: set[int] = field(default_factory=set)


@dataclass
class _Server:
    link: socket.socket
    token: str
    report: Callable[[str], None]
    secret: bytes = field(default_factory=lambda: os.urandom(32))
    sessions: dict[bytes, _Session] = field(default_factory=dict)
    begun: dict[tuple[Address, bytes], bytes] = field(default_factory=dict)
    ended: int = 0

    def take(self, data: bytes, at: int, client: Address) -> None:
        """Answer a message that arrived at `at`, in ns."""
        kind, content = protocol.parse(data)
        if kind == protocol.HELLO:
            self._greet(content, len(data), client)
        elif kind == protocol.START:
            self._start(content, len(data), client)
        elif kind in {protocol.PROBE, protocol.FETCH, protocol.BYE}:
            session = self.sessions.get(content[:8])
            if session is None or session.client != client:
                return
            session.last = time.monotonic()
            if kind == protocol.PROBE:
                self._probe(session, data, content, at)
            elif kind == protocol.FETCH and len(data) >= protocol.TRAIN:
                number = int.from_bytes(content[8:12])
                self._send(protocol.page_of(content[:8], number, session.log), client)
            elif kind == protocol.BYE:
                self._end(content[:8])

    def _greet(self, content: bytes, size: int, client: Address) -> None:
        nonce = protocol.verified(self.token, protocol.HELLO, content, protocol.NONCE)
        if nonce is not None and size >= protocol.GREETING:
            now = int(time.time() // SLOT_S)
            cookie = protocol.cookie(self.secret, client, nonce, now)
            answer = protocol.authenticated(self.token, protocol.COOKIE, nonce, cookie)
            self._send(protocol.message(protocol.COOKIE, answer), client)

    def _start(self, content: bytes, size: int, client: Address) -> None:
        length = protocol.NONCE + protocol.MAC
        plain = protocol.verified(self.token, protocol.START, content, length)
        if plain is None or size < protocol.GREETING:
            return
        nonce, found = plain[: protocol.NONCE], plain[protocol.NONCE :]
        now = int(time.time() // SLOT_S)
        if all(found != protocol.cookie(self.secret, client, nonce, now - ago) for ago in (0, 1)):
            return
        if (client, nonce) not in self.begun:
            if len(self.sessions) >= SESSIONS:
                return
            session = os.urandom(8)
            self.begun[client, nonce] = session
            self.sessions[session] = _Session(client, time.monotonic())
            self.report(f"{client[0]} measures the path to here")
        session = self.begun[client, nonce]
        answer = protocol.authenticated(self.token, protocol.ACCEPT, nonce, session)
        self._send(protocol.message(protocol.ACCEPT, answer), client)

    def _probe(self, session: _Session, data: bytes, content: bytes, at: int) -> None:
        read = Probe.read(content)
        if read is None or read[1].number in session.numbers:
            return
        known = sum(len(one.numbers) for one in self.sessions.values())
        if len(session.numbers) >= LONGEST_LOG or known >= MOST_LOGGED:
            return
        key, probe = read
        session.numbers.add(probe.number)
        if probe.length <= 1:
            self._answer(key, probe, at, len(data))
            return
        train = session.trains.setdefault(probe.train, _Train())
        train.probes.append((probe, at, len(data)))
        train.last = time.monotonic()
        if len(train.probes) >= probe.length:
            self._answer_train(key, session, probe.train)

    def _answer_train(self, key: bytes, session: _Session, number: int) -> None:
        for probe, at, size in session.trains.pop(number).probes:
            self._answer(key, probe, at, size)

    def _answer(self, key: bytes, probe: Probe, at: int, size: int) -> None:
        session = self.sessions[key]
        reply = Reply(probe.number, at, time.time_ns())
        session.log.append(reply)
        answer = reply.message(key, size)
        if len(answer) <= size:
            self._send(answer, session.client)

    def _send(self, data: bytes, client: Address) -> None:
        try:
            self.link.sendto(data, client)
        except OSError:
            # As if the network had lost it; the client notices.
            return

    def tick(self) -> float:
        """Do what is due, and return the time until something may be, in seconds."""
        now = time.monotonic()
        wait = 1.0
        for key, session in list(self.sessions.items()):
            for number, train in list(session.trains.items()):
                left = train.last + INCOMPLETE_S - now
                if left <= 0:
                    self._answer_train(key, session, number)
                else:
                    wait = min(wait, left)
            if now - session.last > IDLE_S:
                self._end(key)
        return wait

    def _end(self, key: bytes) -> None:
        session = self.sessions.pop(key)
        self.begun = {who: begun for who, begun in self.begun.items() if begun != key}
        self.ended += 1
        self.report(f"{session.client[0]} is done: {len(session.log)} probes answered")


def listening(listen: str | None) -> socket.socket:
    """A socket at this address and port; by default at all addresses.

    Raises:
        Error: no such address, it is in use, or the port is not permitted.
    """
    host, port = protocol.endpoint("--listen", listen) if listen else (None, protocol.PORT)
    shown = listen or f"port {port}"
    try:
        if host is None and socket.has_dualstack_ipv6():
            link = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            link.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            address: Address = ("::", port)
        else:
            found = socket.getaddrinfo(host or "0.0.0.0", port, type=socket.SOCK_DGRAM)[0]  # noqa: S104
            link, address = socket.socket(found[0], socket.SOCK_DGRAM), found[4]
    except (OSError, UnicodeError) as error:
        raise Error(f"--listen {shown}: no such address of this host ({error})") from None
    try:
        link.bind(address)
    except OSError as error:
        link.close()
        needs = "; ports below 1024 need root" if isinstance(error, PermissionError) else ""
        raise Error(f"--listen {shown}: {error.strerror}{needs}") from None
    protocol.prepare(link)
    return link


def serve(
    link: socket.socket, token: str, *, report: Callable[[str], None], once: bool = False
) -> None:
    """Answer probes until interrupted, or until a session has ended if `once`."""
    server = _Server(link, token, report)
    while not (once and server.ended):
        select.select([link], [], [], server.tick())
        while (datagram := protocol.receive(link)) is not None:
            server.take(*datagram)
