"""`rtolab record`: what a server sends to whom, and what a client makes of it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rtolab._rtolab import Error
from rtolab.cli import app
from rtolab.paths.recording import Measurement, Plan, measured_path, protocol, record
from rtolab.paths.recording import client as client_module
from rtolab.paths.recording.analysis import Sent
from rtolab.paths.recording.protocol import Probe, Reply
from rtolab.paths.recording.server import SESSIONS, _Server, listening, serve

TOKEN = "secret"
HERE = ("127.0.0.1", 40000)


class Link:
    """A socket that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[bytes, object]] = []

    def sendto(self, data: bytes, client: object) -> None:
        self.sent.append((data, client))


def server() -> tuple[_Server, Link]:
    link = Link()
    return _Server(link, TOKEN, lambda _: None), link  # type: ignore[arg-type]


def hello(token: str = TOKEN, nonce: bytes = b"12345678", size: int = protocol.GREETING) -> bytes:
    asked = protocol.authenticated(token, protocol.HELLO, nonce)
    return protocol.message(protocol.HELLO, asked, size=size)


def start(cookie: bytes, nonce: bytes = b"12345678") -> bytes:
    asked = protocol.authenticated(TOKEN, protocol.START, nonce, cookie)
    return protocol.message(protocol.START, asked, size=protocol.GREETING)


def session(one: _Server, link: Link, address: object = HERE, nonce: bytes = b"12345678") -> bytes:
    """A session of a client that greets as it should."""
    one.take(hello(nonce=nonce), 0, address)
    cookie = link.sent[-1][0][len(protocol.MAGIC) + 1 + protocol.NONCE :][: protocol.MAC]
    one.take(start(cookie, nonce), 0, address)
    return link.sent[-1][0][len(protocol.MAGIC) + 1 + protocol.NONCE :][:8]


def test_a_message_of_another_protocol_has_the_kind_0() -> None:
    for data in (b"", b"x" * 100, protocol.MAGIC):
        assert protocol.parse(data) == (0, b"")
    assert protocol.parse(protocol.MAGIC + b"\3rest") == (3, b"rest")


def test_a_server_is_silent_to_strangers() -> None:
    one, link = server()
    probe = Probe(0, 0, 0, 1).message(b"12345678")
    for data in (
        b"",
        b"x" * 1200,
        hello("wrong"),
        hello(size=60),  # too small for its answer
        start(b"0" * protocol.MAC),
        probe,
        protocol.fetch(b"12345678", 0),
        protocol.message(protocol.BYE, b"12345678"),
        *(protocol.message(kind, b"\xff" * 100) for kind in range(256)),
    ):
        one.take(data, 0, HERE)
    assert link.sent == []


def test_a_cookie_is_for_one_address_and_a_session_for_one() -> None:
    one, link = server()
    one.take(hello(), 0, HERE)
    cookie = link.sent[-1][0][len(protocol.MAGIC) + 1 + protocol.NONCE :][: protocol.MAC]
    one.take(start(cookie), 0, ("127.0.0.2", 40000))
    assert len(link.sent) == 1
    key = session(one, link)
    sent = len(link.sent)
    one.take(Probe(0, 0, 0, 1).message(key), 0, ("127.0.0.2", 40000))
    assert len(link.sent) == sent
    one.take(Probe(0, 0, 0, 1).message(key), 0, HERE)
    assert len(link.sent) == sent + 1


def test_no_answer_is_larger_than_what_it_answers() -> None:
    one, link = server()
    received = 0

    def take(data: bytes) -> None:
        nonlocal received
        received += len(data)
        one.take(data, 5, HERE)
        assert sum(len(data) for data, _ in link.sent) <= received

    take(hello())
    cookie = link.sent[-1][0][len(protocol.MAGIC) + 1 + protocol.NONCE :][: protocol.MAC]
    take(start(cookie))
    take(start(cookie))
    key = link.sent[-1][0][len(protocol.MAGIC) + 1 + protocol.NONCE :][:8]
    for number in range(100):
        take(Probe(number, 0, 0, 1).message(key))
    for place in range(16):
        take(Probe(100 + place, 1, place, 16).message(key))
    assert len(link.sent) == 3 + 116
    for page in (0, 1, 2, 3, 2**32 - 1):
        take(protocol.fetch(key, page))
    # Copies and probes that are smaller than a reply have none.
    sent = len(link.sent)
    take(Probe(0, 0, 0, 1).message(key))
    take(Probe(999, 0, 0, 1).message(key)[:30])
    take(protocol.fetch(key, 0)[:100])
    assert len(link.sent) == sent


def test_a_train_is_answered_as_a_train_and_an_incomplete_one_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, link = server()
    key = session(one, link)
    for place in (0, 1, 3):
        one.take(Probe(place, 1, place, 4).message(key), 1000 + place, HERE)
    assert len(link.sent) == 2
    monkeypatch.setattr("rtolab.paths.recording.server.INCOMPLETE_S", -1.0)
    one.tick()
    replies = [Reply.read(protocol.parse(data)[1]) for data, _ in link.sent[2:]]
    found = [(key, reply.number, reply.received) for key, reply in filter(None, replies)]
    assert found == [(key, 0, 1000), (key, 1, 1001), (key, 3, 1003)]


def test_sessions_are_limited_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    one, link = server()
    for number in range(SESSIONS + 1):
        session(one, link, ("127.0.0.1", 1000 + number), number.to_bytes(8))
    assert len(one.sessions) == SESSIONS
    monkeypatch.setattr("rtolab.paths.recording.server.IDLE_S", -1.0)
    one.tick()
    assert not one.sessions
    assert not one.begun


def test_the_probes_of_all_sessions_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rtolab.paths.recording.server.MOST_LOGGED", 10)
    one, link = server()
    keys = [session(one, link, ("127.0.0.1", 1000 + n), n.to_bytes(8)) for n in range(3)]
    sent = len(link.sent)
    for number in range(8):
        for place, key in enumerate(keys):
            one.take(Probe(number, 0, 0, 1).message(key), 0, ("127.0.0.1", 1000 + place))
    assert len(link.sent) == sent + 10
    one.take(protocol.message(protocol.BYE, keys[0]), 0, ("127.0.0.1", 1000))
    one.take(Probe(9, 0, 0, 1).message(keys[1]), 0, ("127.0.0.1", 1001))
    assert len(link.sent) == sent + 11


def test_a_client_takes_no_more_of_a_log_than_it_has_sent() -> None:
    measurement = Measurement("here", 28)
    measurement.sent += [Sent(0, 0, 0, 1) for _ in range(60)]
    one = client_module._Client(None, "here", TOKEN, measurement)  # type: ignore[arg-type]
    log = [Reply(0, 1, 1), Reply(59, 1, 1), Reply(60, 1, 1), Reply(2**32 - 1, 1, 1)]
    one._page(0, 2**32 - 1, log)
    one._page(5, 3, log)
    assert (one.count, one.pages) == (None, {})
    one._page(7, 2, log)
    one._page(1, 2, log)
    assert (one.count, one.pages) == (2, {1: log[:2]})


def test_the_log_is_complete_in_pages() -> None:
    log = [Reply(number, number * 10, number * 11) for number in range(120)]
    pages = [protocol.page_of(b"12345678", number, log) for number in range(4)]
    assert max(map(len, pages)) <= protocol.TRAIN
    read = [protocol.read_page(protocol.parse(page)[1]) for page in pages]
    assert [reply for page in read[:3] if page for reply in page[3]] == log
    assert read[3] == (b"12345678", 3, 3, [])
    assert protocol.read_page(b"short") is None


@contextmanager
def running(token: str = TOKEN) -> Iterator[str]:
    """A server in a thread, for one measurement; its address."""
    with listening(free()) as link:
        address = f"127.0.0.1:{link.getsockname()[1]}"
        settings = {"report": lambda _: None, "once": True}
        thread = threading.Thread(target=serve, args=(link, token), kwargs=settings, daemon=True)
        thread.start()
        yield address
        thread.join(10)
        assert not thread.is_alive()


def free() -> str:
    """An address with a port that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{link.getsockname()[1]}"


def test_a_measurement_over_loopback_from_the_command(tmp_path: Path) -> None:
    out = tmp_path / "path.toml"
    with running() as address:
        options = ["--token", TOKEN, "--duration", "1", "--out", str(out)]
        result = CliRunner().invoke(app, ["record", address, *options])
    assert result.exit_code == 0, result.output
    assert "Of " in result.output
    assert {path.name for path in tmp_path.iterdir()} == {
        "path.toml",
        "path.forward.delays",
        "path.backward.delays",
    }


def test_an_interrupted_measurement_is_kept() -> None:
    calls: list[int] = []

    def interrupt(done: int, _: int) -> None:
        calls.append(done)
        if len(calls) > 30:
            raise KeyboardInterrupt

    with running() as address:
        measurement = record(address, TOKEN, Plan(20.0), interrupt)
    path = measured_path(measurement)
    assert measurement.complete
    assert "It was interrupted." in path.origin
    assert 0.3 < path.duration_s < 5


def test_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "ANSWER_S", 0.6)
    plan = Plan(1.0)
    with pytest.raises(Error, match="nothing listens there; run `rtolab record --serve`"):
        record(free(), TOKEN, plan, lambda *_: None)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        with pytest.raises(Error, match=r"no answer in 1 s; is `rtolab record --serve` running"):
            record(f"127.0.0.1:{silent.getsockname()[1]}", TOKEN, plan, lambda *_: None)
    with pytest.raises(Error, match=r"no address of `no.such.host.invalid` is known"):
        record("no.such.host.invalid", TOKEN, plan, lambda *_: None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "HOST or --serve: found neither; expected one of them"),
        (["HOST", "--serve"], "HOST or --serve: found both; expected one of them"),
        (["HOST"], "--token: found none; expected the one"),
        (["HOST", "--once"], "--once: only with --serve"),
        (["HOST:0", "--token", "t"], "HOST HOST:0: expected a port from 1 to 65535"),
        (["HOST", "--token", "t", "--out", "path"], "--out path: expected the name of a scenario"),
        (["HOST", "--token", "t", "--out", "/no/a.toml"], "--out /no/a.toml: found no folder /no"),
        (["--serve", "--listen", "192.0.2.1:9"], "--listen 192.0.2.1:9: Cannot assign"),
        (["--serve", "--token", ""], "--token: found an empty one"),
    ],
)
def test_invalid_arguments(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["record", *arguments])
    assert isinstance(result.exception, Error), result.output
    assert message in str(result.exception)


def measurement_of(
    delays: list[tuple[float | None, float | None]],
    *,
    offset: int = 10**15,
    interval: float = 0.02,
) -> Measurement:
    """Single probes with these delays there and back in ms; None: lost."""
    measurement = Measurement("host:9436", 28, complete=True)
    for number, (there, back) in enumerate(delays):
        at = int(number * interval * 1e9)
        measurement.sent.append(Sent(at, number, 0, 1))
        if there is None:
            continue
        received = at + int(there * 1e6) + offset
        measurement.log[number] = Reply(number, received, received + 1000)
        if back is not None:
            measurement.arrived[number] = received + 1000 - offset + int(back * 1e6)
    return measurement


def test_losses_and_outages_have_their_direction() -> None:
    delays: list[tuple[float | None, float | None]] = [(20.0, 10.0)] * 200
    delays[10] = (None, None)
    delays[20] = delays[22] = (20.0, None)
    delays[50:60] = [(None, None)] * 10
    path = measured_path(measurement_of(delays))
    assert path.backward.loss == pytest.approx(1 / 190)
    assert path.forward.loss == pytest.approx(2 / 189)
    assert path.backward.outages == [pytest.approx((1.0, 0.2))]
    assert path.forward.outages == []
    for series in (path.forward.delays, path.backward.delays):
        assert [ms for _, ms in series] == pytest.approx([15] * len(series), abs=0.01)


def test_reordering_and_trains() -> None:
    delays: list[tuple[float | None, float | None]] = [(20.0, 10.0)] * 100
    delays[10] = (70.0, 10.0)
    measurement = measurement_of(delays)
    # Trains of 1228 B: 10 Mbit/s there, faster than they left back.
    gap = int(1228 * 8 / 10e6 * 1e9)
    for train in range(5):
        for place in range(16):
            number = len(measurement.sent)
            at = int((0.305 + train * 0.3) * 1e9) + place * 1000
            measurement.sent.append(Sent(at, 1000 + train, place, 16))
            received = at + 20_000_000 + place * gap + 10**15
            left = received + 16 * gap
            measurement.log[number] = Reply(number, received, left)
            measurement.arrived[number] = left - 10**15 + 10_000_000
    path = measured_path(measurement)
    assert path.backward.reorders
    assert not path.forward.reorders
    ((_, rate),) = path.backward.rates
    assert rate == pytest.approx(10e6, rel=0.01)
    assert path.forward.rates == []


def test_a_rate_that_varies_is_a_series() -> None:
    measurement = measurement_of([(20.0, 10.0)] * 500)
    for train in range(16):
        gap = int(1228 * 8 / (10e6 if train < 8 else 2e6) * 1e9)
        for place in range(16):
            number = len(measurement.sent)
            at = int((0.305 + train * 0.5) * 1e9) + place * 1000
            measurement.sent.append(Sent(at, 1000 + train, place, 16))
            received = at + 20_000_000 + place * gap + 10**15
            measurement.log[number] = Reply(number, received, received)
            measurement.arrived[number] = received - 10**15 + 10_000_000
    rates = measured_path(measurement).backward.rates
    assert len(rates) == 16
    assert rates[2][1] == pytest.approx(10e6, rel=0.01)
    assert rates[-1][1] == pytest.approx(2e6, rel=0.01)


def test_too_few_probes_make_no_path() -> None:
    with pytest.raises(Error, match="found 9 complete round trips of 9 probes; expected 10"):
        measured_path(measurement_of([(20.0, 10.0)] * 9))
