"""Everyday captures: merged from both ends, cut short, of one direction; and the answer in words.

Their truth is that of the simulated transfer from which they are made.
"""

import json
import struct
from dataclasses import replace
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import labelled_captures
import program
from capture_changes import Packet, as_udp, changed, cut, merged, one_way, parts, shifted, written
from rtolab.diagnosis import Diagnosis, diagnose, diagnose_pair, limits, tables
from rtolab.result import Result
from rtolab.run import run as simulated

SYN, ACK, FIN, RST = 0x02, 0x10, 0x01, 0x04


@cache
def stalled() -> Result:
    """Linux over a link that stalls for 3 s."""
    return simulated("kernel-stall", sender="linux", seed=1)


def numbered(packet: Packet) -> Packet:
    """The packet with an IP identification that counts from 1, because 0 carries no information."""
    number = int.from_bytes(packet.body[4:6], "big") + 1
    return replace(packet, body=packet.body[:4] + struct.pack(">H", number) + packet.body[6:])


def ends(result: Result) -> tuple[bytes, bytes]:
    at_sender, at_receiver = result.pcapng(0, "sender"), result.pcapng(0, "receiver")
    return changed(at_sender, numbered), changed(at_receiver, numbered)


def read(tmp_path: Path, capture: bytes) -> Diagnosis:
    file = tmp_path / "capture.pcapng"
    file.write_bytes(capture)
    return diagnose(file)


def verdicts(found: Diagnosis) -> list[tuple[int, str, str]]:
    [one] = found.document["connections"]
    return [(r["seq"], r["trigger"], r["verdict"]) for r in one["retransmissions"]]


def classes(found: Diagnosis) -> list[str]:
    return [t["class"] for one in found.document["connections"] for t in one["timeouts"]]


def said(found: Diagnosis) -> str:
    return " ".join(one["text"] for one in found.document["answer"]["sentences"])


def run(*arguments: str) -> Any:
    return program.run("diagnose", *arguments, text=False)


@pytest.mark.parametrize("scenario", ["kernel-stall", "frto2002-loss", "outage", "tail"])
@pytest.mark.parametrize("sender", ["linux", "sack"])
def test_a_capture_merged_from_both_ends_has_the_diagnosis_of_the_senders(
    tmp_path: Path, scenario: str, sender: str
) -> None:
    at_sender, at_receiver = ends(simulated(scenario, sender=sender, seed=1))
    alone = read(tmp_path, at_sender)
    both = read(tmp_path, merged(at_sender, at_receiver))
    assert verdicts(both) == verdicts(alone)
    assert classes(both) == classes(alone)
    [one] = both.document["connections"]
    assert one["vantage"] == "sender"
    assert one["captured_twice"] > one["packets"] / 3


def test_a_merged_capture_with_clocks_apart_has_the_same_diagnosis(tmp_path: Path) -> None:
    at_sender, at_receiver = ends(stalled())
    early = shifted(at_receiver, -0.5)
    both = read(tmp_path, merged(at_sender, early))
    assert verdicts(both) == verdicts(read(tmp_path, at_sender))


@pytest.mark.parametrize("snaplen", [44, 52, 56])
def test_a_snaplen_that_cuts_the_options_of_a_syn_leaves_windows_unknown(
    tmp_path: Path, snaplen: int
) -> None:
    result = simulated("kernel-stall", sender="linux", seed=1, set={"tcp.window_scale": 10})
    whole, _ = ends(result)
    found = read(tmp_path, cut(whole, snaplen))
    [one] = found.document["connections"]
    assert one["options"] is None
    assert "window-overrun" not in {habit["habit"] for habit in one["habits"]}
    assert one["stack"] is None


def test_acknowledgments_alone_are_no_healthy_transfer(tmp_path: Path) -> None:
    whole, _ = ends(stalled())
    found = read(tmp_path, one_way(whole, of_client=False))
    assert found.document["connections"][0]["only_from"] == "server"
    assert found.document["answer"]["network"] == "unknown"
    assert said(found).startswith("Only one direction of this connection was captured")


def test_data_alone_is_half_a_connection(tmp_path: Path) -> None:
    whole, _ = ends(stalled())
    found = read(tmp_path, one_way(whole, of_client=True))
    assert found.document["connections"][0]["only_from"] == "client"
    assert {verdict for _, _, verdict in verdicts(found)} <= {"unknown"}
    assert said(found).startswith("Only one direction of this connection was captured")


def test_fail_on_takes_unknowns_percentages_and_time(tmp_path: Path) -> None:
    whole, _ = ends(stalled())
    half, all_ = tmp_path / "half.pcapng", tmp_path / "all.pcapng"
    half.write_bytes(one_way(whole, of_client=False))
    all_.write_bytes(whole)
    assert run(str(half), "--fail-on", "spurious>0").returncode == 0
    assert run(str(half), "--fail-on", "unknown>0").returncode == 1
    assert run(str(all_), "--fail-on", "unknown>0").returncode == 0
    assert run(str(all_), "--fail-on", "spurious>99%").returncode == 1
    assert run(str(all_), "--fail-on", "lost-time>2s").returncode == 1
    assert run(str(all_), "--fail-on", "lost-time>9.5 s").returncode == 0
    wrong = run(str(all_), "--fail-on", "lost-time>2")
    assert wrong.returncode == 2
    assert b"only lost-time is in seconds" in wrong.stderr
    [limit] = limits(["unneeded > 2.5%"])
    assert (limit.what, limit.most, limit.unit) == ("unneeded", 2.5, "%")


def handshake(capture: bytes, copies: list[tuple[str, float]]) -> bytes:
    """The capture with more copies of SYN and SYN-ACK, the latter with identification 0."""
    head, packets = parts(capture)
    syn = next(one for one in packets if one.flags & (SYN | ACK) == SYN)
    syn_ack = next(one for one in packets if one.flags & (SYN | ACK) == SYN | ACK)
    packets.remove(syn_ack)
    rest = [one for one in packets if one is not syn]
    first = syn_ack.at
    made = []
    for number, (which, after) in enumerate([("syn-ack", 0.0), *copies]):
        one, name = (syn, 7000 + number) if which == "syn" else (syn_ack, 0)
        body = one.body[:4] + struct.pack(">H", name) + one.body[6:]
        made.append(Packet(first + round(after * 1e9), body, one.original))
    # The capture is the server's: the rest follows once the handshake is over.
    late = max(after for _, after in copies)
    later = [Packet(one.at + round(late * 1e9), one.body, one.original) for one in rest]
    return written(head, [syn, *made, *later])


def test_a_syn_ack_that_answers_a_second_syn_is_no_timeout_and_no_copy(tmp_path: Path) -> None:
    set = {"tcp.timestamps": False, "link.radio.stalls.scripted": "[]"}
    _, at_server = ends(simulated("kernel-stall", sender="sack", seed=1, set=set))
    again = [("syn", 1.0), ("syn-ack", 1.00005), ("syn-ack", 1.00008)]
    found = read(tmp_path, handshake(at_server, again))
    [one] = found.document["connections"]
    assert one["captured_twice"] == 0
    assert one["timeouts"] == []
    answers = [r["trigger"] for r in one["retransmissions"] if r["from"] == "server"]
    assert answers == ["syn-answer", "syn-answer"]


def test_a_receivers_capture_lists_no_timeouts_of_syns() -> None:
    file = Path(__file__).parents[1] / "captures/kernel"
    name = "A_synhold2s_cubic_frto2_ts1_sack1_dsack1_r0.rcv.pcap.gz"
    found = diagnose(file / name)
    [one] = found.document["connections"]
    assert one["vantage"] == "receiver"
    assert [timeout for timeout in one["timeouts"] if timeout["from"] == one["sender"]] == []
    assert tables.classes_of(one) == "-"


def test_a_gap_may_be_reported_by_a_duplicate_with_another_window(tmp_path: Path) -> None:
    """A lost segment is not unneeded because the duplicate acknowledgments change the window."""
    set = {
        "link.radio.stalls.scripted": "[]",
        "link.radio.forward.drops": [200],
        "tcp.timestamps": False,
        "receiver.sack": False,
    }
    result = simulated("kernel-stall", sender="newreno", seed=1, set=set)
    whole, _ = ends(result)
    window = iter(range(20_000, 1_000_000))
    client = parts(whole)[1][0].source

    def update(packet: Packet) -> Packet:
        if packet.source == client or packet.flags & SYN:
            return packet
        return packet.with_tcp(14, struct.pack(">H", next(window) % 60_000))

    found = read(tmp_path, changed(whole, update))
    truth = {
        one["seq"]: one["verdict"]
        for one in read(tmp_path, whole).document["connections"][0]["retransmissions"]
    }
    assert "needed" in truth.values()
    for seq, _, verdict in verdicts(found):
        assert verdict in (truth[seq], "unknown")


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
    assert said(found) == "This capture holds no TCP, and rtolab judges nothing else."
    assert "no TCP" in shown(found)
    assert json.dumps(found.document["answer"])


@pytest.mark.parametrize("scenario", ["frto2002-loss", "outage", "ack-outage", "kernel-stall"])
@pytest.mark.parametrize("sender", ["newreno", "linux"])
def test_two_captures_of_one_transfer_show_the_truth(
    tmp_path: Path, scenario: str, sender: str
) -> None:
    result = simulated(scenario, sender=sender, seed=2)
    near, far = tmp_path / "near.pcapng", tmp_path / "far.pcapng"
    near.write_bytes(ends(result)[0])
    far.write_bytes(shifted(ends(result)[1], 7.5))
    found = diagnose_pair(near, far)
    assert found.document["pair"]["clock_offset"] == pytest.approx(7.5, abs=0.2)
    verdicts = {
        ("verdict", r["frame"]): r["verdict"]
        for one in found.document["connections"]
        for r in one["retransmissions"]
    }
    classes = {
        ("timeout", t["frame"]): t["class"]
        for one in found.document["connections"]
        for t in one["timeouts"]
    }
    reported = verdicts | classes
    truth = labelled_captures.labels(labelled_captures.Labelled("one", result, 0), "sender")
    assert truth.height
    wrong = [
        (what, frame, true, reported.get((what, frame)))
        for what, frame, true in truth.iter_rows()
        if (what, frame) in reported and reported[what, frame] != true
    ]
    assert not wrong
    # In either order.
    assert diagnose_pair(far, near).document["connections"] == found.document["connections"]


def test_a_pair_says_where_packets_were_lost_and_held(tmp_path: Path) -> None:
    near, far = tmp_path / "near.pcapng", tmp_path / "far.pcapng"
    for file, capture in zip((near, far), ends(stalled()), strict=True):
        file.write_bytes(capture)
    done = run(str(near), str(far), "--pair", "--json")
    document = json.loads(done.stdout)
    there, back = document["pair"]["directions"]
    assert there["lost"] == back["lost"] == 0
    assert there["held"] > 0
    assert there["delay"][0] == pytest.approx(0.2, abs=0.05)
    assert there["delay"][3] > 3
    text = " ".join(one["text"] for one in document["answer"]["sentences"])
    assert "Between the two captures, from the sender to the receiver, nothing was lost" in text
    alone = run(str(near), "--pair")
    assert alone.returncode == 2
    other = tmp_path / "other.pcapng"
    other.write_bytes(
        changed(
            near.read_bytes(),
            lambda one: replace(
                one, body=one.body[:15] + bytes([one.body[15] ^ 1]) + one.body[16:]
            ),
        )
    )
    apart = run(str(near), str(other), "--pair")
    assert apart.returncode == 2
    assert b"no connection in common" in apart.stderr


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
