"""Everyday captures: merged from both ends, cut short, of one direction.

Their truth is that of the simulated transfer from which they are made.
"""

import json
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import labelled_captures
import program
from capture_changes import Packet, changed, cut, merged, one_way, parts, shifted, written
from everyday import ends, read, said, stalled
from rtolab.diagnosis import Diagnosis, diagnose, diagnose_pair, limits, tables
from rtolab.run import run as simulated

SYN, ACK = 0x02, 0x10


def verdicts(found: Diagnosis) -> list[tuple[int, str, str]]:
    [one] = found.document["connections"]
    return [(r["seq"], r["trigger"], r["verdict"]) for r in one["retransmissions"]]


def classes(found: Diagnosis) -> list[str]:
    return [t["class"] for one in found.document["connections"] for t in one["timeouts"]]


def run(*arguments: str) -> Any:
    return program.run_here("diagnose", *arguments, text=False)


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
    result = simulated("kernel-stall", sender="linux", seed=1)
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


def test_fail_on_does_not_pass_without_connections(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pcap"
    empty.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    assert run(str(empty)).returncode == 0
    done = run(str(empty), "--fail-on", "spurious>0")
    assert done.returncode == 2
    assert f"{empty}: --fail-on: found no connection to check" in done.stderr.decode()


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


def test_lost_counts_data_that_only_a_pair_shows_to_be_lost(tmp_path: Path) -> None:
    near, far = tmp_path / "near.pcapng", tmp_path / "far.pcapng"
    for file, capture in zip((near, far), ends(stalled()), strict=True):
        file.write_bytes(capture)
    found = diagnose_pair(near, far)
    assert found.count("lost") == 0
    out, back = found.document["pair"]["directions"]
    back["lost"] = 9
    assert found.count("lost") == 0, "acknowledgments are no data"
    out["lost"] = 7
    assert found.count("lost") == 7


def test_two_captures_from_one_place_are_no_pair(tmp_path: Path) -> None:
    whole, _ = ends(stalled())
    one, other = tmp_path / "one.pcapng", tmp_path / "other.pcapng"
    one.write_bytes(whole)
    # Another clock, and a capture that ends earlier.
    head, packets = parts(shifted(whole, 3.0))
    other.write_bytes(written(head, packets[:-100]))
    for second in (one, other):
        done = run(str(one), str(second), "--pair")
        assert done.returncode == 2
        assert b"are from one place: they have" in done.stderr


def statistics(interface_drops: int, system_drops: int) -> bytes:
    """An interface statistics block."""
    options = struct.pack("<HHQHHQHH", 5, 8, interface_drops, 7, 8, system_drops, 0, 0)
    length = 24 + len(options)
    return struct.pack("<IIIII", 5, length, 0, 0, 0) + options + struct.pack("<I", length)


def test_drops_of_the_capture_are_reported(tmp_path: Path) -> None:
    whole, _ = ends(stalled())
    count = len(parts(whole)[1])
    few = read(tmp_path, whole + statistics(1, 0) + statistics(2, 1))
    assert few.lacks == "dropped by the capture: 3 packets"
    assert "lacks" not in said(few)
    many = read(tmp_path, whole + statistics(count // 20, count // 20))
    assert said(many).startswith("The capture lacks 9.")
    assert many.document["answer"]["network"] == "late"
    assert read(tmp_path, whole).lacks == ""


def test_an_answer_says_that_the_capture_lacks_packets(tmp_path: Path) -> None:
    """A capture that lacks a tenth of the packets may lack the retransmissions, too."""
    set = {"link.radio.stalls.scripted": "[]"}
    whole, _ = ends(simulated("kernel-stall", sender="linux", seed=1, set=set))
    assert read(tmp_path, whole).document["answer"]["network"] == "healthy"
    head, packets = parts(whole)
    kept = [one for number, one in enumerate(packets) if number % 10 != 7]
    found = read(tmp_path, written(head, kept))
    assert said(found).startswith("The capture lacks ")
    assert found.document["answer"]["network"] == "unknown"
