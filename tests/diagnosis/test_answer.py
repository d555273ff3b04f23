"""The answer in words: stalls, losses, queues, outages, full listen queues, idle connections.

The truth is that of the simulated transfer from which a capture is made.
"""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from capture_changes import Packet, as_udp, changed, parts, written
from everyday import ends, read, said, stalled
from rtolab.diagnosis import Diagnosis, diagnose, tables
from rtolab.run import run as simulated

RST = 0x04


def shown(found: Diagnosis) -> str:
    console = Console(width=100, file=StringIO(), color_system=None)
    console.print(tables.diagnosis(found, 10))
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_the_answer_begins_with_the_stall(tmp_path: Path) -> None:
    found = read(tmp_path, ends(stalled())[0])
    answer = found.document["answer"]
    assert answer["network"] == "late"
    assert answer["loss"]["share"] == 0
    assert said(found).startswith("This path loses nothing, but delayed packets once. ")
    assert "Nothing was acknowledged for 3.0 s, from 5." in said(found)
    assert "look for what holds packets" in said(found)
    assert all(one["figures"] for one in answer["sentences"])
    text = shown(found).split("\n")
    assert text[4].startswith("This path loses nothing, but delayed packets once. [0 of ")


@pytest.mark.parametrize(("loss", "seed"), [(0.01, 1), (0.01, 2), (0.03, 3), (0.03, 4)])
def test_the_interval_of_the_loss_rate_holds_the_true_one(
    tmp_path: Path, loss: float, seed: int
) -> None:
    set = {"link.radio.stalls.scripted": "[]", "link.radio.forward.loss": loss}
    result = simulated("kernel-stall", sender="linux", seed=seed, set=set)
    found = read(tmp_path, ends(result)[0]).document["answer"]
    assert found["network"] in ("loses", "loses-and-late")
    assert found["loss"]["low"] <= loss <= found["loss"]["high"]


@pytest.mark.parametrize(
    ("set", "sentences"),
    [
        (
            {"link.radio.loss": 0.02, "link.radio.queue": "40 kB"},
            ["% of the data segments, and delayed others once.", "The delay cost the transfer 3."],
        ),
        (
            {"link.radio.stalls.scripted": "[]", "link.radio.queue": "24 kB"},
            [": the link is full, and its queue of some 2", "Such losses are no fault"],
        ),
        (
            {"link.radio.stalls.scripted": "[]", "link.radio.loss": 0.02},
            ["% of the data segments.", "All losses were repaired without a timeout."],
        ),
        ({"link.radio.stalls.scripted": "[]"}, ["This path loses nothing.", "`app_limited`"]),
    ],
    ids=["loss and stall", "queue", "loss", "healthy"],
)
def test_the_answer_tells_faults_from_a_full_link(
    tmp_path: Path, set: dict[str, Any], sentences: list[str]
) -> None:
    found = read(tmp_path, ends(simulated("kernel-stall", sender="linux", seed=11, set=set))[0])
    assert [one for one in sentences if one not in said(found)] == []


def test_a_pause_of_the_application_is_not_blamed_on_the_network(tmp_path: Path) -> None:
    """A capture whose later half is 4 s later: nothing was outstanding in between."""
    set = {"link.radio.stalls.scripted": "[]", "flow.transfer.bytes": "30 kB"}
    whole, _ = ends(simulated("kernel-stall", sender="linux", seed=1, set=set))
    head, packets = parts(whole)
    data = [at for at, one in enumerate(packets) if one.original > 100]
    pause = data[0]
    moved = [
        Packet(one.at + (4 * 10**9 if at >= pause else 0), one.body, one.original)
        for at, one in enumerate(packets)
    ]
    found = read(tmp_path, written(head, moved))
    [silence] = found.document["connections"][0]["silences"]
    assert (silence["wait"], silence["for"]) == ("application", "client")
    assert silence["length"] == pytest.approx(4.0, abs=0.5)
    assert "the client sent nothing because its application had nothing to send" in said(found)


def test_a_capture_without_tcp_says_so(tmp_path: Path) -> None:
    whole, _ = ends(stalled())
    found = read(tmp_path, changed(whole, as_udp))
    assert found.document["answer"]["network"] == "no-tcp"
    assert said(found).startswith("This capture holds no TCP that rtolab can read")
    assert "no TCP" in shown(found)
    assert json.dumps(found.document["answer"])


def test_a_full_listen_queue_is_no_loss_of_the_path() -> None:
    """40 clients over loopback, where nothing is lost (tools/listen-queue)."""
    found = diagnose(Path(__file__).parents[1] / "captures" / "listen-queue.pcapng.gz")
    answer = found.document["answer"]
    assert answer["network"] not in ("loses", "loses-and-late")
    assert answer["loss"] is None
    assert "a server whose listen queue is full" in said(found)
    assert "net.core.somaxconn" in said(found)


def test_losses_of_the_path_are_not_called_a_full_listen_queue(tmp_path: Path) -> None:
    """Every fifth packet of a hundred short transfers is lost, SYNs included."""
    result = simulated(
        "kernel-stall",
        sender="linux",
        seed=1,
        set={
            "link.radio.stalls.scripted": "[]",
            "link.radio.forward.loss": 0.2,
            "flow.transfer.bytes": "20 kB",
            "flow.transfer.count": 100,
            "flow.transfer.stagger": "500 ms",
        },
    )
    found = read(tmp_path, result.pcapng(place="sender"))
    answer = found.document["answer"]
    assert answer["network"] in ("loses", "loses-and-late")
    assert "listen queue" not in said(found)


def test_an_outage_is_not_called_a_full_listen_queue(tmp_path: Path) -> None:
    """A hundred short transfers, one every half second; for 5 s nothing passes."""
    set = {
        "link.radio.stalls.scripted": "[]",
        "link.radio.outages.scripted": '[{ at = "20 s", for = "5 s" }]',
        "flow.transfer.bytes": "60 kB",
        "flow.transfer.count": 100,
        "flow.transfer.stagger": "500 ms",
    }
    result = simulated("kernel-stall", sender="linux", seed=1, set=set)
    found = read(tmp_path, result.pcapng(place="sender"))
    assert found.document["answer"]["network"] in ("loses", "loses-and-late")
    assert "listen queue" not in said(found)


def test_a_path_that_loses_and_holds_has_no_outage(tmp_path: Path) -> None:
    """2 % are lost, a short queue overflows, and for 3 s everything is held.

    In this run losses do not hide the hold; in most runs of other seeds they do.
    """
    set = {"link.radio.forward.loss": 0.02, "link.radio.queue": "20 kB"}
    result = simulated("kernel-stall", sender="linux", seed=6, set=set)
    assert {"genuine", "spurious"} <= {*result.timeouts["truth"]}
    found = read(tmp_path, ends(result)[0])
    assert found.document["answer"]["network"] == "loses-and-late"
    assert found.document["summary"]["totals"]["held"]["longest"] == pytest.approx(3.0, abs=0.2)
    assert "Once nothing came back for 3.0 s" in said(found)
    assert "look for an outage" not in said(found)
    assert "look for what holds packets" in said(found)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_outage_is_called_an_outage(tmp_path: Path, seed: int) -> None:
    set = {
        "link.radio.stalls.scripted": "[]",
        "link.radio.outages.scripted": '[{ at = "5 s", for = "3 s" }]',
    }
    found = read(tmp_path, ends(simulated("kernel-stall", sender="linux", seed=seed, set=set))[0])
    assert found.document["summary"]["totals"]["held"]["count"] == 0
    assert "look for an outage" in said(found)


IDLE = """
title = "a device on the path that forgets idle connections"
duration = "1100 s"

[[link]]
name = "path"
between = ["client", "server"]
rate = "20 Mbit/s"
delay = "10 ms"
outages.scripted = [{{ at = "{at} s", for = "3h" }}]

[[flow]]
name = "requests"
from = "server"
to = "client"
requests = {{ request = "400 B", response = "20 kB", think = {{ constant = "350 s" }} }}
"""


def requests(tmp_path: Path, at: int) -> bytes:
    """Requests at 0 s, 350 s and 700 s, seen at the client; from `at` on nothing passes."""
    scenario = tmp_path / "idle.toml"
    scenario.write_text(IDLE.format(at=at))
    return simulated(str(scenario), sender="linux", seed=1).pcapng(place="receiver")


def test_an_idle_connection_that_the_path_forgets(tmp_path: Path) -> None:
    found = read(tmp_path, requests(tmp_path, 500))
    [one] = found.document["connections"]
    forgotten = one["idle_timeout"]
    assert forgotten["from"] == "server"
    assert forgotten["idle"] == pytest.approx(350, abs=0.1)
    assert not forgotten["reset"]
    assert forgotten["retransmissions"] >= 3
    assert said(found).startswith("The first data after a silence of 350 s was never answered.")
    assert "TCP_KEEPIDLE" in said(found)
    [row] = found.tables()["connections"].to_dicts()
    assert {key: row[f"idle_timeout_{key}"] for key in forgotten} == forgotten
    assert "whether anything was lost" not in said(found)


def test_an_idle_connection_that_is_reset(tmp_path: Path) -> None:
    """A device answers the third request in the name of the other host."""
    head, packets = parts(requests(tmp_path, 500))
    start = packets[0].at
    data = next(at for at, one in enumerate(packets) if one.at - start > 690 * 10**9)
    request = packets[data]
    answer = next(one for one in reversed(packets[:data]) if one.source != request.source)
    reset = replace(answer, at=request.at + 20_000_000).with_tcp(13, bytes([RST]))
    reset = reset.with_tcp(4, request.tcp[8:12])
    found = read(tmp_path, written(head, [*packets[: data + 1], reset]))
    forgotten = found.document["connections"][0]["idle_timeout"]
    assert (forgotten["reset"], forgotten["retransmissions"]) == (True, 0)
    assert "The first data after a silence of 350 s was answered by a reset." in said(found)


def test_an_idle_connection_that_goes_on_is_not_forgotten(tmp_path: Path) -> None:
    found = read(tmp_path, requests(tmp_path, 2000))
    [one] = found.document["connections"]
    assert len(one["silences"]) == 3
    assert "idle_timeout" not in one
    assert found.tables()["connections"]["idle_timeout_idle"].to_list() == [None]
    assert "TCP_KEEPIDLE" not in said(found)


def test_an_outage_without_a_silence_before_it_is_not_that_of_an_idle_connection(
    tmp_path: Path,
) -> None:
    set = {
        "link.radio.stalls.scripted": "[]",
        "link.radio.outages.scripted": '[{ at = "5 s", for = "1h" }]',
    }
    found = read(tmp_path, ends(simulated("kernel-stall", sender="linux", seed=1, set=set))[0])
    assert "idle_timeout" not in found.document["connections"][0]
    assert "TCP_KEEPIDLE" not in said(found)
