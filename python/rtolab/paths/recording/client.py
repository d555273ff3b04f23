"""The end of a path that sends probes and writes down what came of them."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from statistics import median

from rtolab._rtolab import Error
from rtolab.paths.recording import protocol
from rtolab.paths.recording.analysis import Measurement, Sent
from rtolab.paths.recording.protocol import PORT, Probe, Reply

ANSWER_S = 5.0
"""The time for the server's answer to HELLO and START."""
RETRY_S = 0.5
LATE_S = 2.0
"""The time after the last probe for replies that are late."""
LOG_S = 5.0
"""The time for the server's log."""
LOG_AHEAD = 8
"""The pages that are requested at a time."""
BUSY = 10
"""A train follows the one before it after at least this number of times a train's length."""
LAST = 5
"""The trains whose median length counts for that."""


ANSWERS = {
    protocol.HELLO: (protocol.COOKIE, protocol.MAC),
    protocol.START: (protocol.ACCEPT, 8),
}
"""The answer to each greeting, and the bytes of its content after the nonce."""


@dataclass(frozen=True)
class Plan:
    """What is sent.

    Attributes:
        duration_s: the length of the measurement, in seconds.
        interval_s: the time between single probes, in seconds.
        train_every_s: the time between trains, in seconds.
        train: the probes of a train; 0 for no trains.
    """

    duration_s: float = 30.0
    interval_s: float = 0.02
    train_every_s: float = 0.5
    train: int = 16


@dataclass
class _Client:
    link: socket.socket
    place: str
    token: str
    measurement: Measurement
    session: bytes = b""
    pages: dict[int, list[Reply]] = field(default_factory=dict)
    count: int | None = None
    train_s: dict[int, float] = field(default_factory=dict)

    def greet(self) -> None:
        """Begin a session."""
        nonce = os.urandom(protocol.NONCE)
        cookie = self._ask(protocol.HELLO, nonce, b"")
        self.session = self._ask(protocol.START, nonce, cookie)

    def _ask(self, kind: int, nonce: bytes, content: bytes) -> bytes:
        answer, size = ANSWERS[kind]
        asked = protocol.authenticated(self.token, kind, nonce, content)
        end = time.monotonic() + ANSWER_S
        refused = False
        while time.monotonic() < end:
            self._send(protocol.message(kind, asked, size=protocol.GREETING))
            again = min(end, time.monotonic() + RETRY_S)
            while (left := again - time.monotonic()) > 0:
                try:
                    select.select([self.link], [], [], left)
                    datagram = protocol.receive(self.link)
                except ConnectionRefusedError:
                    refused = True
                    time.sleep(min(left, 0.1))
                    continue
                found, rest = protocol.parse(datagram[0]) if datagram else (0, b"")
                length = protocol.NONCE + size
                plain = protocol.verified(self.token, answer, rest, length)
                if found == answer and plain is not None and plain[: protocol.NONCE] == nonce:
                    return plain[protocol.NONCE :]
        if refused:
            raise Error(
                f"{self.place}: nothing listens there; run `rtolab record --serve` on that host"
            )
        if kind == protocol.START:
            raise Error(f"{self.place}: the server has too many measurements at a time; try later")
        raise Error(
            f"{self.place}: no answer in {ANSWER_S:.0f} s; is `rtolab record --serve` running "
            "there, is --token the one that it printed, and does no firewall drop UDP to this port?"
        )

    def _send(self, data: bytes) -> bool:
        """Send a message; False if this host has no room for it now."""
        while True:
            try:
                self.link.send(data)
            except ConnectionRefusedError:
                # An answer to an earlier message; this one has not left.
                continue
            except BlockingIOError:
                return False
            except OSError as error:
                raise protocol.unsendable(error, self.place) from None
            return True

    def probe(self, plan: Plan, progress: Callable[[int, int], object]) -> None:
        """Send all probes, and take what comes back."""
        begin = time.monotonic()
        heard = begin
        due = _due(plan)
        at, length = next(due)
        train = 0
        train_from = 0.0
        while at < plan.duration_s:
            now = time.monotonic() - begin
            if now < at:
                select.select([self.link], [], [], at - now)
            elif length > 1 and now < train_from:
                at, length = next(due)
            else:
                train += 1
                self._probe(train, length)
                if length > 1:
                    train_from = now + BUSY * median([0.0, *self.train_s.values()][-LAST:])
                at, length = next(due)
                progress(int(now), int(plan.duration_s))
            if self.take():
                heard = time.monotonic()
            elif time.monotonic() - heard > self._patience(plan):
                self.measurement.notes.append("The server fell silent before the end.")
                return

    @staticmethod
    def _patience(plan: Plan) -> float:
        return max(30.0, 3 * plan.interval_s)

    def _probe(self, train: int, length: int) -> None:
        sent = self.measurement.sent
        for place in range(length):
            probe = Probe(len(sent), train, place, length)
            data = probe.message(self.session)
            sent.append(Sent(time.time_ns(), train, place, length))
            if not self._send(data):
                sent[-1].left = False

    def take(self) -> bool:
        """Take what has arrived; was there a reply?"""
        found = False
        while True:
            try:
                datagram = protocol.receive(self.link)
            except ConnectionRefusedError:
                continue
            if datagram is None:
                return found
            data, at, _ = datagram
            kind, content = protocol.parse(data)
            if content[:8] != self.session:
                continue
            if kind == protocol.REPLY and (read := Reply.read(content)) is not None:
                found = True
                self._reply(read[1], at)
            elif kind == protocol.PAGE and (page := protocol.read_page(content)) is not None:
                self._page(*page[1:])

    def _page(self, number: int, count: int, log: list[Reply]) -> None:
        """Keep a page of the server's log, which holds no more than what was sent."""
        sent = len(self.measurement.sent)
        if count > -(-sent // protocol.ENTRIES):
            return
        self.count = count
        if number < count:
            self.pages[number] = [reply for reply in log if reply.number < sent]

    def _reply(self, reply: Reply, at: int) -> None:
        measurement = self.measurement
        if reply.number >= len(measurement.sent) or reply.number in measurement.arrived:
            return
        measurement.arrived[reply.number] = at
        measurement.log[reply.number] = reply
        sent = measurement.sent[reply.number]
        if sent.length > 1 and sent.place:
            first = measurement.arrived.get(reply.number - sent.place)
            there = measurement.log.get(reply.number - sent.place)
            back_s = (at - first) / 1e9 if first is not None else 0.0
            there_s = (reply.received - there.received) / 1e9 if there is not None else 0.0
            self.train_s[sent.train] = max(self.train_s.get(sent.train, 0.0), back_s, there_s)

    def finish(self) -> None:
        """Wait for late replies, and fetch the server's log, which knows of those that got lost."""
        self._wait(LATE_S, lambda: len(self.measurement.arrived) == len(self.measurement.sent))
        end = time.monotonic() + LOG_S
        while time.monotonic() < end:
            wanted = range(1) if self.count is None else range(self.count)
            missing = [page for page in wanted if page not in self.pages]
            if self.count is not None and not missing:
                break
            self._fetch(missing[:LOG_AHEAD])
        self._send(protocol.message(protocol.BYE, self.session))
        complete = self.count is not None and len(self.pages) >= self.count
        self.measurement.complete = complete
        for log in self.pages.values():
            self.measurement.log.update({reply.number: reply for reply in log})

    def _fetch(self, pages: list[int]) -> None:
        for page in pages:
            self._send(protocol.fetch(self.session, page))
        self._wait(RETRY_S, lambda: all(page in self.pages for page in pages))

    def _wait(self, seconds: float, done: Callable[[], bool]) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not done():
            select.select([self.link], [], [], min(left, 0.1))
            self.take()


def _due(plan: Plan) -> Iterator[tuple[float, int]]:
    """When each probe or train is due, in seconds, and its number of probes."""
    # The first train is a little later than the first single probes.
    single, train = 0, 0
    while True:
        at = single * plan.interval_s
        next_train = (train + 0.5) * plan.train_every_s
        if plan.train > 1 and next_train < at:
            train += 1
            yield next_train, plan.train
        else:
            single += 1
            yield at, 1


def connected(server: str) -> tuple[socket.socket, str]:
    """A socket to HOST or HOST:PORT, and how messages call it.

    Raises:
        Error: no address of the host is known, or none can be reached.
    """
    host, port = protocol.endpoint("HOST", server)
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        raise Error(f"{shown}: no address of `{host}` is known ({error})") from None
    problem = ""
    for family, _, _, _, address in found:
        link = socket.socket(family, socket.SOCK_DGRAM)
        try:
            link.connect(address)
        except OSError as error:
            link.close()
            problem = error.strerror or str(error)
            continue
        protocol.prepare(link)
        return link, shown
    raise Error(f"{shown}: {problem}")


def record(
    server: str, token: str, plan: Plan, progress: Callable[[int, int], object]
) -> Measurement:
    """Measure the path to a server; Ctrl-C ends it, and keeps what was measured.

    Args:
        server: HOST or HOST:PORT; the port is 9436 by default.
        token: the token that the server printed.
        plan: what is sent.
        progress: called with the seconds done and those of all.

    Raises:
        Error: the server does not answer, or this host cannot send.
    """
    link, place = connected(server)
    with link:
        measurement = Measurement(place, protocol.HEADERS[link.family])
        client = _Client(link, place, token, measurement)
        client.greet()
        try:
            client.probe(plan, progress)
        except KeyboardInterrupt:
            measurement.notes.append("It was interrupted.")
        except Error as error:
            if len(measurement.arrived) <= 1:
                raise
            measurement.notes.append(f"It ended early: {error}.")
        with suppress(Error, KeyboardInterrupt):
            client.finish()
    return measurement


__all__ = ["PORT", "Plan", "connected", "record"]
