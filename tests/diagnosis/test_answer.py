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
from rtolab.diagnosis import Diagnosis, diagnose, diagnose_pair, tables
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
            [": the link was probably full, as some 2", "Losses of a full link are no fault"],
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
    assert "outage" not in said(found)
    assert "look for what holds packets" in said(found)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_an_outage_is_called_an_outage(tmp_path: Path, seed: int) -> None:
    set = {
        "link.radio.stalls.scripted": "[]",
        "link.radio.outages.scripted": '[{ at = "5 s", for = "3 s" }]',
    }
    found = read(tmp_path, ends(simulated("kernel-stall", sender="linux", seed=seed, set=set))[0])
    assert found.document["summary"]["totals"]["held"]["count"] == 0
    assert said(found).startswith("Nothing ")
    assert "Look for an outage of the path." in said(found)


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


LINK = """
title = "{0}"
duration = "120 s"
[[link]]
name = "path"
between = ["near", "far"]
rate = "{1} Mbit/s"
delay = "20 ms"
queue = "{2} kB"
{3}
[[flow]]
name = "transfer"
from = "near"
to = "far"
bytes = "{4}"
"""
LARGE_WINDOW = """
[tcp]
window_scale = 7
[receiver]
buffer = "2 MB"
"""
ROUTES = """
[[link]]
name = "slow"
between = ["near", "between"]
rate = "10 Mbit/s"
delay = "300 ms"
queue = "200 kB"
[[link]]
name = "rest"
between = ["between", "far"]
rate = "10 Mbit/s"
delay = "1 ms"
queue = "200 kB"
[[route]]
from = "near"
to = "far"
links = ["path"]
[[route]]
from = "far"
to = "near"
links = ["path"]
[[route]]
from = "near"
to = "far"
at = "2 s"
links = ["slow", "rest"]
[[route]]
from = "far"
to = "near"
at = "2 s"
links = ["rest", "slow"]
"""


def over(tmp_path: Path, *link: object, sender: str = "linux", at: int = 0) -> Diagnosis:
    """The diagnosis of a transfer over such a link, at the sender (0) or the receiver (1)."""
    file = tmp_path / "path.toml"
    file.write_text(LINK.format("a path", *link))
    return read(tmp_path, ends(simulated(file, sender=sender, seed=1))[at])


def test_an_outage_leads_although_a_queue_overflowed(tmp_path: Path) -> None:
    """Nothing passes for 4 s, and before that the queue is full."""
    outage = '[link.outages]\nscripted = [{ at = "4 s", for = "4 s" }]'
    text = said(over(tmp_path, 2, 40, outage, "3 MB"))
    assert text.startswith("Nothing came back for "), text
    assert "the link is full" in text
    assert "Look for an outage of the path." in text
    assert "Only a faster link would help" not in text


def test_a_short_queue_is_not_excluded(tmp_path: Path) -> None:
    """The queue drops all, but is shorter than 30 % of a round trip."""
    text = said(over(tmp_path, 10, 15, LARGE_WINDOW, "4 MB"))
    assert "% of the data segments" in text
    assert "a short queue would not show" in text


def test_a_pair_shows_the_growth_of_a_short_queue(tmp_path: Path) -> None:
    file = tmp_path / "path.toml"
    file.write_text(LINK.format("a path", 10, 15, LARGE_WINDOW, "4 MB"))
    files = [tmp_path / name for name in ("near.pcapng", "far.pcapng")]
    for one, capture in zip(files, ends(simulated(file, sender="linux", seed=1)), strict=True):
        one.write_bytes(capture)
    text = said(diagnose_pair(*files))
    assert "one-way delays to the receiver grow by 1" in text
    assert "a short queue may have dropped these packets" in text


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ((10, 2000, LARGE_WINDOW, "6 MB"), "acknowledgments waited in a queue"),
        ((10, 200, '[link.backward]\nrate = "60 kbit/s"', "3 MB"), "waited in a queue"),
        ((10, 200, ROUTES, "3 MB"), " at once and stayed long: packets took another route"),
    ],
    ids=["queue", "acknowledgments", "route"],
)
def test_round_trips_that_grow_are_named(
    tmp_path: Path, link: tuple[object, ...], sentence: str
) -> None:
    text = said(over(tmp_path, *link))
    assert sentence in text, text
    assert "Neither losses nor delays" not in text
    assert "losses and delays are not the reason" not in text


def test_round_trips_that_do_not_grow_are_not_named(tmp_path: Path) -> None:
    text = said(over(tmp_path, 10, 200, "", "1 MB"))
    assert "round trip" not in text
    assert "Neither losses nor delays" in text


@pytest.mark.parametrize("at", [0, 1], ids=["sender", "receiver"])
def test_reordering_is_named(tmp_path: Path, at: int) -> None:
    reorders = 'order = "free"\n[link.forward]\njitter = { uniform = ["0 ms", "30 ms"] }'
    found = over(tmp_path, 20, 1000, reorders, "3 MB", at=at)
    assert "The network reorders packets" in said(found)
    [one] = [one for one in found.document["answer"]["sentences"] if "extent" in one["figures"]]
    assert one["figures"]["reordered"] >= 100
    assert one["figures"]["extent"] > 3
    assert "reorders" not in said(over(tmp_path, 20, 1000, "", "3 MB", at=at))


def test_at_the_receiver_the_sender_decides_about_retransmissions(tmp_path: Path) -> None:
    """The receiver's capture shows unneeded retransmissions, and not why the sender sent them."""
    for timestamps, said_of in (("false", "F-RTO and timestamps are on"), ("true", "F-RTO is on")):
        set = {"tcp.timestamps": timestamps}
        result = simulated("kernel-stall", sender="newreno", seed=1, set=set)
        text = said(read(tmp_path, ends(result)[1]))
        assert "No setting of TCP's retransmission would save time" not in text
        assert f"look there whether {said_of}" in text


def test_what_is_on_already_is_not_recommended(tmp_path: Path) -> None:
    """This sender performs go-back-N although both ends use timestamps."""
    for timestamps, advised in (("true", False), ("false", True)):
        set = {"tcp.timestamps": timestamps}
        found = read(tmp_path, ends(simulated("kernel-stall", sender="sack", seed=1, set=set))[0])
        assert "net.ipv4.tcp_frto=2" in said(found)
        assert ("net.ipv4.tcp_timestamps=1" in said(found)) == advised


def test_f_rto_is_not_recommended_without_new_data() -> None:
    """The path held the last segments of a kernel's transfer with F-RTO."""
    name = "A_tail30k_cubic_frto2_ts0_sack1_dsack1_r0.snd.pcap.gz"
    text = said(diagnose(Path(__file__).parents[1] / "captures" / "kernel" / name))
    assert "F-RTO needs new data to prevent that" in text
    assert "net.ipv4.tcp_frto=2" not in text


def paused(tmp_path: Path, size: str, pause_ns: int, *, at: int) -> Diagnosis:
    """A healthy transfer whose later two thirds are later by a pause."""
    set = {"link.radio.stalls.scripted": "[]", "flow.transfer.bytes": size}
    whole = ends(simulated("kernel-stall", sender="linux", seed=1, set=set))[at]
    head, packets = parts(whole)
    data = [number for number, one in enumerate(packets) if one.original > 100]
    cut = data[10]
    moved = [
        Packet(one.at + (pause_ns if number >= cut else 0), one.body, one.original)
        for number, one in enumerate(packets)
    ]
    return read(tmp_path, written(head, moved))


def test_silences_at_the_receiver_are_not_blamed_on_the_application(tmp_path: Path) -> None:
    text = said(paused(tmp_path, "30 kB", 4 * 10**9, at=1))
    assert "a capture there shows whether" in text
    assert "look at the application" not in text


def test_the_average_rate_leaves_out_idle_time(tmp_path: Path) -> None:
    """Most of the time nothing was outstanding."""
    text = said(paused(tmp_path, "300 kB", 40 * 10**9, at=1))
    assert "These silences took 40." in text
    assert "s; outside them it ran at " in text
    assert "the link is the limit" not in text


def test_a_receiver_with_many_losses_names_its_missing_round_trips(tmp_path: Path) -> None:
    set = {"link.radio.stalls.scripted": "[]", "link.radio.forward.loss": 0.05}
    found = read(tmp_path, ends(simulated("kernel-stall", sender="linux", seed=1, set=set))[1])
    assert "too few to tell" not in said(found)
    assert "does not show the round trips at these losses" in said(found)


@pytest.mark.parametrize(("sender", "seed"), [("linux", 1), ("newreno", 2), ("sack", 3)])
def test_many_independent_losses_are_no_outage(tmp_path: Path, sender: str, seed: int) -> None:
    file = tmp_path / "path.toml"
    file.write_text(LINK.format("a path", 2, 20, "loss = 0.15", "1 MB"))
    text = said(read(tmp_path, ends(simulated(file, sender=sender, seed=seed))[0]))
    assert "% of the data segments" in text
    assert "outage" not in text


def test_an_outage_of_many_connections_is_one(tmp_path: Path) -> None:
    set = {
        "link.radio.outages.scripted": '[{ at = "3 s", for = "4 s" }]',
        "flow.transfer.count": 20,
    }
    set |= {"link.radio.stalls.scripted": "[]"}
    found = read(tmp_path, simulated("kernel-stall", sender="linux", seed=1, set=set).pcapng())
    assert found.document["summary"]["connections"] == 20
    assert said(found).startswith("Nothing "), said(found)
    assert "an outage of the path" in said(found)


def test_a_reduction_after_a_loss_is_no_mark(tmp_path: Path) -> None:
    """With ECN, a sender sets CWR after a loss, too."""
    set = {"tcp.ecn": True, "link.radio.forward.loss": 0.02, "link.radio.stalls.scripted": "[]"}
    text = said(read(tmp_path, ends(simulated("kernel-stall", sender="sack", seed=1, set=set))[0]))
    assert "% of the data segments" in text
    assert "marked" not in text
