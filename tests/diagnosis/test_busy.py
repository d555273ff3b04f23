"""Captures of hours, and of hundreds of connections beside UDP.

Each is made of simulated transfers, whose truth is known, with other ports, times, sequence numbers
and timestamps.
"""

import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import long_captures
from capture_changes import Packet, as_udp, parts, renumbered, written
from labelled_captures import Labelled, labels
from peak_memory import peak
from rtolab.diagnosis import diagnose
from rtolab.result import Result
from rtolab.run import run as simulated

HOUR = 3600 * 10**9
"""In nanoseconds."""

REQUESTS = """
title = "requests now and then, over a path that loses and delays"
duration = "{duration}"

[[link]]
name = "path"
between = ["server", "client"]
rate = "4 Mbit/s"
delay = "30 ms"
queue = "100 packets"
forward.loss = {loss}
forward.spikes = {{ probability = {spikes}, length = {{ constant = "2 s" }}, holds = "service" }}

[[flow]]
name = "requests"
from = "server"
to = "client"

[flow.requests]
request = "400 B"
response = "{response}"
think = {{ exponential = "{think}" }}
{more}
"""


def requests(folder: Path, seeds: int, **values: str) -> Result:
    """A connection for each seed."""
    file = folder / "requests.toml"
    file.write_text(REQUESTS.format(**values))
    return simulated(str(file), sender="linux", runs=seeds, trace=True)


@dataclass(frozen=True)
class Busy:
    """A capture of many connections.

    Attributes:
        capture: pcapng.
        truth: by what it is about and frame.
        frames: all frames with data of the servers.
    """

    capture: bytes
    truth: dict[tuple[str, int], str]
    frames: frozenset[int]


def busy(result: Result, change: Callable[[int, Packet, bool], Packet]) -> Busy:
    """All runs in one capture at the server, each packet changed, and UDP beside them.

    `change` is called with the number of the run, the packet, and whether the server sent it.
    """
    packets: list[tuple[Packet, int, int]] = []
    truth: dict[tuple[int, str, int], str] = {}
    own = set()
    runs = {name: by_run(getattr(result, name)) for name in ("segments", "timeouts")}
    for run in range(result.connections.height):
        head, of_run = parts(result.pcapng(run, "sender"))
        server = next(one.source for one in of_run if one.original > 1000)
        for frame, one in enumerate(of_run, 1):
            is_own = one.source == server
            packets.append((change(run, one, is_own), run, frame))
            if is_own:
                own.add((run, frame))
        mine: Any = SimpleNamespace(**{name: rows(run) for name, rows in runs.items()})
        for frame, what, true in labels(Labelled("", mine, run), "sender").iter_rows():
            truth[run, what, frame] = true
    packets.sort(key=lambda one: one[0].at)
    written_ones, at = [], {}
    for index, (packet, run, frame) in enumerate(packets):
        if index % 7 == 0:
            written_ones.append(as_udp(packet))
        written_ones.append(packet)
        at[run, frame] = len(written_ones)
    known = {(what, at[run, frame]): true for (run, what, frame), true in truth.items()}
    return Busy(written(head, written_ones), known, frozenset(at[one] for one in own))


def by_run(rows: pl.DataFrame) -> Callable[[int], pl.DataFrame]:
    """The rows of a run: quicker than a filter for each of hundreds of runs."""
    parts = rows.partition_by("run", as_dict=True)
    return lambda run: parts.get((run,), rows.clear())


def with_port(packet: Packet, port: int, *, is_own: bool) -> Packet:
    """With another port of the client."""
    return packet.with_tcp(2 if is_own else 0, struct.pack(">H", port))


def compared(document: dict[str, Any], one: Busy) -> Counter[tuple[str, str, str]]:
    """How often what is true meets what is found, of data that servers sent."""
    resent = [row for of in document["connections"] for row in of["retransmissions"]]
    of_data = {row["frame"] for row in resent if row["len"] > 0} & one.frames
    found = {
        (what, row["frame"]): row[key]
        for connection in document["connections"]
        for rows, what, key in (
            ("retransmissions", "verdict", "verdict"),
            ("timeouts", "timeout", "class"),
        )
        for row in connection[rows]
        if row["frame"] in of_data
    }
    return Counter(
        (key[0], one.truth.get(key, "neither"), found.get(key, "missed"))
        for key in found.keys() | one.truth.keys()
    )


def wrong(counts: Counter[tuple[str, str, str]]) -> dict[tuple[str, str, str], int]:
    """What is found otherwise than it is, without what is left unknown.

    The truth lacks timers other than the retransmission timer, such as that of RACK. The diagnosis
    may take one of these for a genuine timeout.
    """
    allowed = {("timeout", "neither", "genuine")}
    return {
        key: count
        for key, count in counts.items()
        if key[2] not in (key[1], "unknown") and key not in allowed
    }


def test_a_capture_of_hours(tmp_path: Path) -> None:
    """Twenty connections of some six hours, with pauses of minutes.

    Their sequence numbers and timestamps wrap, and the second ten have the ports of the first.
    """
    result = requests(
        tmp_path,
        20,
        duration="6h",
        loss="0.01",
        spikes="0.0005",
        response="100 kB",
        think="900 s",
        more="",
    )
    later = 7 * HOUR
    firsts = [first(result, run) for run in range(20)]

    def change(run: int, packet: Packet, is_own: bool) -> Packet:
        moved = Packet(packet.at + later * (run // 10), packet.body, packet.original)
        moved = with_port(moved, 40_000 + run % 10, is_own=is_own)
        # The server's numbers wrap after one to twenty responses, its timestamps after an hour.
        server, client = 2**32 - firsts[run] - 100_000 * (run + 1), 2**32 - 2000
        value, echo = 2**32 - 4_000_000, 2**31
        if not is_own:
            server, client, value, echo = client, server, echo, value
        return renumbered(moved, seq=server, ack=client, value=value, echo=echo)

    one = busy(result, change)
    file = tmp_path / "hours.pcapng"
    file.write_bytes(one.capture)
    document = diagnose(file).document
    assert document["summary"]["connections"] == 20
    assert document["summary"]["ended"] - document["summary"]["began"] > 12 * 3600
    assert document["skipped"]["other"] > 1000
    counts = compared(document, one)
    for what in ("needed", "unneeded"):
        assert counts["verdict", what, what] > 30, counts
    assert counts["timeout", "spurious", "spurious"] > 20, counts
    assert wrong(counts) == {}
    answer = document["answer"]
    assert answer["network"] == "loses-and-late"
    assert answer["loss"]["low"] <= 0.01 <= answer["loss"]["high"]


def test_memory_does_not_grow_with_hours(tmp_path: Path) -> None:
    """Connections of three hours, idle for minutes at a time: of a day, and of ten days."""
    values = {"duration": "3h", "loss": "0.0", "spikes": "0.0", "think": "300 s"}
    result = requests(tmp_path, 1, response="30 kB", more="", **values)
    once = result.pcapng(0, "sender")
    packets = len(parts(once)[1])
    day, days = (list(long_captures.repeated(once, count * packets)) for count in (8, 80))
    (tmp_path / "days.pcapng").write_bytes(b"".join(days))
    document = diagnose(tmp_path / "days.pcapng").document
    summary = document["summary"]
    assert summary["ended"] - summary["began"] > 5 * 24 * 3600
    assert summary["connections"] >= 80
    assert document["answer"]["network"] == "healthy"
    assert peak(days) - peak(day) < 20_000_000


def first(result: Result, run: int) -> int:
    """The server's initial sequence number."""
    _, packets = parts(result.pcapng(run, "sender"))
    syn = next(one for one in packets if one.flags & 0x12 == 0x12)
    return int.from_bytes(syn.tcp[4:8], "big")


@pytest.mark.parametrize("loss", ["0.0", "0.02"])
def test_hundreds_of_connections_beside_udp(tmp_path: Path, loss: str) -> None:
    """Two hundred connections of five requests each, as web pages cause them."""
    values = {"duration": "300 s", "spikes": "0.0", "response": "15 kB", "think": "200 ms"}
    result = requests(tmp_path, 200, loss=loss, more="count = 5", **values)

    def change(run: int, packet: Packet, is_own: bool) -> Packet:
        moved = Packet(packet.at + run * 50_000_000, packet.body, packet.original)
        return with_port(moved, 20_000 + run, is_own=is_own)

    one = busy(result, change)
    file = tmp_path / "busy.pcapng"
    file.write_bytes(one.capture)
    document = diagnose(file).document
    assert document["summary"]["connections"] == 200
    assert document["skipped"]["other"] > 1000
    counts = compared(document, one)
    assert wrong(counts) == {}
    answer = document["answer"]
    assert answer["network"] == ("healthy" if loss == "0.0" else "loses")
    assert answer["loss"]["low"] <= float(loss) <= answer["loss"]["high"]
