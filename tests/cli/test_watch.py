"""`rtolab watch` on the command line, with a stand-in for the source of the verdicts."""

import io
import json
import os
import re
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as older_text

import program
from rtolab import _rtolab, watching
from rtolab._rtolab import WatchError
from rtolab.watching import WatchState, kernel
from rtolab.watching.metrics import exposition, families, serving
from rtolab.watching.view import _kernel

ENDS = {"client": "10.0.0.1:40000", "server": "10.0.0.2:443"}
COST = {"time_lost": 2.5}
LINES: list[dict[str, Any]] = [
    ENDS | {"row": "retransmission", "from": "client", "verdict": "unneeded", "trigger": "timeout"},
    ENDS
    | {"row": "timeout", "from": "client", "class": "spurious", "handshake": False, "backoff": 0},
    ENDS
    | {"row": "timeout", "from": "client", "class": "spurious", "handshake": False, "backoff": 1},
    ENDS | {"row": "timeout", "from": "client", "class": "genuine", "handshake": True},
    ENDS | {"row": "episode", "from": "client", "cost": COST},
    ENDS | {"row": "silence", "end": "server", "wait": "network"},
]
TOTALS = {
    "began": 1e9,
    "ended": 1e9 + 60,
    "packets": 1234,
    "connections": 7,
    "open": 3,
    "evicted": 0,
    "retransmissions": {"timeout": {"unneeded": 1}, "fast": {"needed": 4, "unknown": 1}},
    "timeouts": {"spurious": 1, "genuine": 2, "unknown": 1},
    "handshake_timeouts": {"genuine": 1},
    "unneeded_bytes": 1448,
    "time_lost": 2.5,
    "late_acks": 1,
    "unreported": 0,
    "kernel_drops": 0,
}


class StandIn:
    """A watcher that returns `LINES`, and then calls `on_poll`."""

    def __init__(self, on_poll: Callable[[], object]) -> None:
        self.on_poll = on_poll
        self.found = list(map(json.dumps, LINES))
        self.is_finished = False

    def poll(self, _seconds: float) -> list[str]:
        if not self.found:
            self.on_poll()
        found, self.found = self.found, []
        return found

    def finish(self) -> list[str]:
        self.is_finished = True
        return [json.dumps(LINES[0])]

    def totals(self) -> str:
        return json.dumps(TOTALS)


def interrupt() -> None:
    raise KeyboardInterrupt


def go_down() -> None:
    raise WatchError("interface `eth9` went down or disappeared")


@pytest.fixture
def watch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Watch the stand-in. Returns the exit status, standard output and standard error."""

    def run(*arguments: str, on_poll: Callable[[], object] = interrupt) -> tuple[int, str, str]:
        monkeypatch.setattr(_rtolab, "Watcher", lambda *_, **__: StandIn(on_poll))
        status = program.call(monkeypatch, "watch", "eth9", *arguments)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


def test_each_verdict_is_a_line_of_json_and_the_summary_is_the_last(watch: Any) -> None:
    status, out, err = watch("--json")
    *lines, last, summary = map(json.loads, out.splitlines())
    assert (status, err) == (0, "")
    assert (lines, last) == (LINES, LINES[0])
    assert (summary["row"], summary["interface"], summary["packets"]) == ("summary", "eth9", 1234)
    assert set(summary["kernel"]) == set(kernel.counters())


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_interrupts_no_line(
    watch: Any, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    """The signal arrives while the first lines are written."""

    class Interrupted(io.StringIO):
        def write(self, text: str) -> int:
            os.kill(os.getpid(), number)
            return super().write(text)

    written = Interrupted()
    monkeypatch.setattr(sys, "stdout", written)
    assert watch("--json", on_poll=lambda: pytest.fail("it goes on"))[0] == status
    assert [json.loads(line)["row"] for line in written.getvalue().splitlines()] == [
        *(line["row"] for line in LINES),
        LINES[0]["row"],
        "summary",
    ]


@pytest.mark.parametrize("is_blocking", [True, False])
def test_a_full_pipe_cuts_no_line(
    watch: Any, monkeypatch: pytest.MonkeyPatch, is_blocking: bool
) -> None:
    """The signal arrives while a write waits for the reader, and Python does not buffer."""
    main_thread, is_over, read = threading.get_ident(), threading.Event(), []
    source, sink = os.pipe()
    os.set_blocking(sink, is_blocking)

    def reader() -> None:
        read.append(os.read(source, 1))
        if not is_over.wait(0.3):  # Meanwhile the pipe fills up.
            signal.pthread_kill(main_thread, signal.SIGTERM)
        time.sleep(0.1)
        while part := os.read(source, 1 << 16):
            read.append(part)

    thread = threading.Thread(target=reader, daemon=True)
    thread.start()
    many = [LINES[0] | {"number": number, "padding": 500 * "x"} for number in range(1000)]
    monkeypatch.setitem(globals(), "LINES", many)
    with io.TextIOWrapper(os.fdopen(sink, "wb", 0), write_through=True) as written:
        monkeypatch.setattr(sys, "stdout", written)
        try:
            assert watch("--json", on_poll=lambda: pytest.fail("it goes on"))[0] == 143
        finally:
            is_over.set()
    thread.join(10)
    os.close(source)
    *lines, last, summary = map(json.loads, b"".join(read).decode().splitlines())
    assert [line["number"] for line in lines] == list(range(1000))
    assert (last["number"], summary["row"]) == (0, "summary")


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_the_summary_is_printed_when_the_interface_disappears(watch: Any, option: Any) -> None:
    status, out, err = watch(*option, on_poll=go_down)
    assert status == 2
    assert "interface `eth9` went down or disappeared" in err
    assert "1234" in out.replace(",", "")


def test_the_summary_names_the_worst_paths(watch: Any) -> None:
    status, out, err = watch()
    assert status == 0
    assert err == "rtolab: watching eth9; Ctrl-C ends it\n"
    words = " ".join(out.split())
    assert "eth9: 1,234 packets in 60 s, 7 connections, 3 open" in words.replace("1234", "1,234")
    assert "4 timeouts: 1 spurious, 2 genuine, 1 unknown (33% of those known); 2.5 s lost" in words
    # Handshakes do not count as timeouts of the path; the retransmission came twice.
    assert "10.0.0.1 10.0.0.2 2 2 2 2 2.5" in words


def test_the_kernels_own_counts_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel counts an episode once, however often the timer expired."""
    counted = iter(range(0, 1000, 5))

    def counters() -> dict[str, int]:
        grown = next(counted)
        return {"TCPTimeouts": 4 * grown, "TCPLossUndo": 3 * grown, "TCPSpuriousRTOs": grown}

    monkeypatch.setattr(watching, "counters", counters)
    watched = WatchState(StandIn(interrupt), "eth9", before=counters())
    watched.poll(0)
    assert _kernel(watched) == (
        "this kernel, all interfaces: 20 timeouts, 15 undone, 5 of these by F-RTO; "
        "1 spurious in this watch without repeated ones"
    )


def test_drops_and_limits_are_reported(watch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOTALS, "kernel_drops", 3)
    monkeypatch.setitem(TOTALS, "evicted", 1)
    words = " ".join(watch()[1].split())
    assert "the kernel dropped 3 packets: verdicts may be wrong" in words
    assert "1 connection ended by a limit (--connections, --memory)" in words


def test_the_number_of_paths_is_bounded() -> None:
    one = WatchState(StandIn(interrupt), "eth9")
    for number in range(3 * watching.MOST_PATHS):
        client = {"client": f"10.{number >> 8}.{number & 255}.1:1"}
        one._count(LINES[4] | client | {"cost": {"time_lost": float(number)}})
    assert len(one.paths) <= watching.MOST_PATHS
    assert one.worst[0].time_lost == 3 * watching.MOST_PATHS - 1


def samples(text: str, parse: Any) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in parse(text)
        for sample in family.samples
    }


@pytest.mark.parametrize(
    ("accept", "parse"),
    [
        ("application/openmetrics-text", open_metrics),
        ("text/plain", older_text),
    ],
)
def test_metrics_are_read_by_a_parser_of_prometheus(accept: str, parse: Any) -> None:
    with serving(("127.0.0.1", 0), lambda: families(TOTALS, 'a"b\\c')) as port:
        url = f"http://127.0.0.1:{port}/metrics"
        request = urllib.request.Request(url, headers={"Accept": accept})
        with urllib.request.urlopen(request) as answer:
            assert answer.headers["Content-Type"].startswith(accept)
            found = samples(answer.read().decode(), parse)
    own = ("interface", 'a"b\\c')
    spurious = frozenset([own, ("phase", "data"), ("class", "spurious")])
    assert found["rtolab_watch_timeouts_total", spurious] == 1
    assert found["rtolab_watch_connections_open", frozenset([own])] == 3
    assert found["rtolab_watch_time_lost_seconds_total", frozenset([own])] == 2.5
    if kernel.counters():
        assert ("rtolab_kernel_tcp_total", frozenset([("counter", "TCPTimeouts")])) in found


def test_the_number_of_series_does_not_grow_with_traffic() -> None:
    busy = TOTALS | {"packets": 10**12, "connections": 10**9, "open": 10**5}
    text, later = (exposition(families(one, "e"), open_metrics=True) for one in (TOTALS, busy))
    assert [line.split()[0] for line in text.splitlines()] == [
        line.split()[0] for line in later.splitlines()
    ]


def test_no_label_comes_from_a_packet() -> None:
    """However many hosts send whatever, the series stay those of the first packet."""
    one = WatchState(StandIn(interrupt), "e")
    before = exposition(families(one.totals, "e"), open_metrics=True)
    for number in range(3000):
        ends = {"client": f"10.{number >> 8}.{number & 255}.1:{number}", "server": "[::1]:1"}
        for line in LINES:
            one._count(line | ends)
    after = exposition(families(one.totals, "e"), open_metrics=True)
    assert [line.split()[0] for line in before.splitlines()] == [
        line.split()[0] for line in after.splitlines()
    ]
    assert "::1" not in after


def test_the_server_has_no_page_but_the_metrics() -> None:
    with (
        serving(("127.0.0.1", 0), lambda: families(TOTALS, "e")) as port,
        pytest.raises(urllib.error.HTTPError, match="expected /metrics"),
    ):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/")


def test_a_port_that_is_in_use_is_named(watch: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        place = f"127.0.0.1:{busy.getsockname()[1]}"
        status, out, err = watch("--metrics", place)
    assert (status, out) == (2, "")
    assert f"{place}: Address already in use" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--metrics", "9435"), "--metrics 9435: expected ADDR:PORT, such as 127.0.0.1:9435"),
        (("--metrics", ":99999"), "--metrics :99999: expected ADDR:PORT"),
        (("--metrics", ":9436"), "--metrics :9436: expected ADDR:PORT, such as 127.0.0.1:9435"),
        (("--host", "no such host"), "--host no such host: no address of `no such host` is known"),
        (("--port", "0"), "Invalid value for '--port'"),
        (("--duration", "nan"), "Invalid value for '--duration'"),
    ],
)
def test_an_invalid_option_is_explained(watch: Any, arguments: Any, said: str) -> None:
    status, out, err = watch(*arguments)
    assert (status, out) == (2, "")
    assert said in " ".join(err.split())


def test_without_the_capability_the_message_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same holds on a system other than Linux."""

    def refuse(*_: object, **__: object) -> None:
        raise WatchError("`watch` needs the right to receive packets (CAP_NET_RAW)")

    monkeypatch.setattr(_rtolab, "Watcher", refuse)
    assert program.call(monkeypatch, "watch", "eth9") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "CAP_NET_RAW" in printed.err
    assert "Traceback" not in printed.err


def test_counters_that_the_kernel_lacks_are_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "TcpExt: TCPTimeouts Unknown TCPSpuriousRTOs\nTcpExt: 3 4 5\nIpExt: InPkts\nIpExt: 1\n"
    monkeypatch.setattr(Path, "read_text", lambda *_: text)
    assert kernel.counters() == {"TCPTimeouts": 3, "TCPSpuriousRTOs": 5}
    assert kernel.grown({"TCPTimeouts": 1}, {"TCPTimeouts": 3, "TCPLossUndo": 2}) == {
        "TCPTimeouts": 2,
        "TCPLossUndo": 2,
    }


def test_help_of_each_counter_is_one_line() -> None:
    text = exposition(families(TOTALS, "e"), open_metrics=True)
    (about,) = re.findall(r"# HELP rtolab_kernel_tcp (.*)", text) or [""]
    assert all(name in about for name in kernel.counters())
