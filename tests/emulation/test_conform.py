"""Stacks scored on scenarios. Some tests need Linux, root and /dev/net/tun."""

import json
import os
import struct
import sys
import tomllib
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import program
import rtolab
from conform_results import CLEAN, NEEDED_S, PATH, TWIN, measured, scored
from rtolab.conform import Scenario, Stack, Suite, conform, overall, suite
from rtolab.conform.measure import TransferOutcome, _overlap, command
from rtolab.conform.run import SEVERAL, _complete, problem
from rtolab.conform.scenario import Spans
from rtolab.conform.score import UndisturbedTransfer, score

SERVER = """
import socket, sys
with socket.create_server(("0.0.0.0", 8000)) as server:
    while True:
        with server.accept()[0] as connection:
            connection.sendall(bytes(20_000))
"""
CLIENT = """
import socket, sys
with socket.create_connection((sys.argv[1], 8000)) as connection:
    got = 0
    while part := connection.recv(65536):
        got += len(part)
sys.exit(got != int(sys.argv[2]))
"""


def test_there_are_fifty_scenarios_that_repeat_by_seed() -> None:
    every = suite()
    assert len({one.id for one in every}) == 50
    assert every == suite()
    assert [one.id for one in every] == [one.id for one in suite(seed=2)]
    assert all(one.seed != other.seed for one, other in zip(every, suite(seed=2), strict=True))
    stalls, losses = suite(Suite.STALLS), suite(Suite.LOSSES)
    assert {one.id for one in stalls} | {one.id for one in losses} == {one.id for one in every}
    lengths = [one.spans[0][1] for one in stalls if one.id.startswith("stall-")]
    assert (min(lengths), max(lengths)) == (0.3, 15)


@pytest.mark.parametrize("which", [Suite.FIFTY, Suite.TODAY])
def test_every_scenario_and_every_reference_run_can_be_run(which: Suite, tmp_path: Path) -> None:
    references = set()
    for one in suite(which):
        again = sum(at + length for at, length in one.spans[-1:])
        for number, each in enumerate((one, one.reference)):
            if each.id in references:
                continue
            references |= {each.id} if number else set()
            path = tmp_path / f"{one.id}-{number}.toml"
            each.write(path, 90, (14, 15) if each.tail else ())
            result = rtolab.run(path, sender="linux", seed=each.seed)
            rows = result.connections.to_dicts()
            assert len(rows) == each.flows
            assert all(row["completed"] for row in rows), each.id
            if number == 0 and one.spans and one.kind is Spans.STALLS:
                # A stall holds back the last data until it ends.
                assert rows[0]["end_s"] > again, one.id
            for row in rows if number == 1 else ():
                assert row["retransmissions"] + row["timeouts"] == 0, one.id


FILES = {
    (Suite.FIFTY, 2): "35e06fca2a5de087",
    (Suite.TODAY, 2): "877dec8bf4c8bb5b",
}
"""The digest of all files of a suite in a version, without their titles."""


@pytest.mark.parametrize("which", [Suite.FIFTY, Suite.TODAY])
def test_another_file_makes_another_version(which: Suite, tmp_path: Path) -> None:
    file, digest = tmp_path / "scenario.toml", sha256()
    for one in suite(which):
        for each in (one, one.reference):
            each.write(file, 60)
            trace = file.with_suffix(".delays")
            lines = file.read_text().splitlines()
            words = [f"{each.id} {each.seed} {each.tail}"]
            words += ["closing"] if each.closing else []
            words += [line for line in lines if not line.startswith(("title", "#"))]
            words += [trace.read_text()] if each.round_trips else []
            digest.update("\n".join(words).encode())
    assert digest.hexdigest()[:16] == FILES[which, which.version]


def test_suites_share_no_scenario_and_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = [(one.id, which) for which in (Suite.FIFTY, Suite.TODAY) for one in suite(which)]
    assert len({name for name, _ in every}) == len(every)
    assert program.call(monkeypatch, "conform", "--list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["conform"]
    assert [(row["id"], row["suite"]) for row in rows] == every
    assert {row["suite_version"] for row in rows} == {2}
    assert [row["part"] for row in rows].count("losses") == len(suite(Suite.LOSSES)) == 16
    assert program.call(monkeypatch, "conform", "--list") == 0
    text = capsys.readouterr().out
    assert all(one.id in text for one in (*suite(), *suite(Suite.TODAY)))


def test_a_path_may_change_its_delay(tmp_path: Path) -> None:
    (steps,) = [one for one in suite(Suite.TODAY) if one.id == "starlink-steps"]
    (link,) = written(steps, tmp_path)["link"]
    assert link["delay_trace"] == {"file": "starlink-steps.delays", "of": "round-trip"}
    lines = [line.split() for line in (tmp_path / "starlink-steps.delays").read_text().splitlines()]
    first, second = (float(at) for at, _ in lines[1:])
    assert second - first == pytest.approx(15)
    assert [delay for _, delay in lines] == ["40", "60", "35"]
    spans = link["outages"]["scripted"]
    assert [span["at"] for span in spans] == [f"{first:.3f} s", f"{second:.3f} s"]


def test_an_incast_shares_a_short_queue_and_fetches_at_once(tmp_path: Path) -> None:
    (incast,) = [one for one in suite(Suite.TODAY) if one.id == "dc-incast-8"]
    found, reference = written(incast, tmp_path), written(incast.reference, tmp_path)
    assert found["link"][0]["backward"] == {"queue": "128000 B"}
    assert "backward" not in reference["link"][0]
    assert found["flow"][0]["count"] == reference["flow"][0]["count"] == 8
    # 125 kB are under way, and the queue has 128 kB.
    assert incast.capacity == 253_000
    # A late millisecond would be ten round trips.
    assert found["emulation"]["lateness"] == "5 us"
    said = tmp_path / "said"
    script = f'echo "$1" >> {said}; [ "$1" = fine ] || exit 3'
    for word, code in (("fine", 0), ("wrong", 3)):
        words = ["sh", "-c", SEVERAL, "sh", "8", "sh", "-c", script, "sh", word]
        assert program.execute(*words, timeout=60).returncode == code
    assert said.read_text() == "fine\n" * 8 + "wrong\n" * 8


def test_only_scenarios_of_losses_lose_packets() -> None:
    for one in suite(Suite.STALLS):
        assert one.kind == "stalls"
        assert not one.tail
        assert "loss" not in one.keys or "arq" in one.keys
    for one in suite(Suite.LOSSES):
        assert one.kind == "outages" or not one.spans
        assert one.tail or one.spans or "loss" in one.keys


def written(scenario: Scenario, folder: Path) -> dict[str, Any]:
    """The scenario's file as TOML has it."""
    file = folder / f"{scenario.id}.toml"
    scenario.write(file, 60)
    return tomllib.loads(file.read_text())


def test_times_begin_with_the_first_packet(tmp_path: Path) -> None:
    (hold,) = [one for one in suite() if one.id == "syn-hold-3s"]
    found = written(hold, tmp_path)
    assert found["emulation"] == {"begin": "first-packet"}
    (span,) = found["link"][0]["stalls"]["scripted"]
    assert span["at"] == "0.000 s"
    assert float(span["for"].split()[0]) == pytest.approx(3.1, abs=0.1)


def test_a_link_that_becomes_slow_takes_longer_itself() -> None:
    # 1 s at 2 Mbit/s was done of 2.1 s less the round trip: 1 s more, at a quarter 4 s.
    slow = Scenario("slow", Suite.STALLS, "slow", 600_000, rates=((1.0, 500_000),))
    assert slow.slower_s(2.1) == pytest.approx(3.0)
    assert slow.slower_s(0.6) == 0
    # A client that runs on after its 600 kB (2.52 s of the link) is not delayed further.
    assert slow.slower_s(9.0) == pytest.approx(3 * (2.52 + 0.3 - 1))
    dip = Scenario("dip", Suite.STALLS, "dip", 600_000, rates=((1.0, 500_000), (2.0, 2_000_000)))
    assert dip.slower_s(2.1) == pytest.approx(0.75)
    assert CLEAN.slower_s(2.1) == 0


def test_a_perfect_transfer_scores_100_and_one_that_hangs_0() -> None:
    assert scored(measured()).score == 100
    # Time that the link held data costs no points, and being faster gains none.
    held = scored(measured(took_s=NEEDED_S + 3, held_s=3.0))
    assert (held.score, held.excess_s, held.link_s) == pytest.approx((100, 3.0, 3.0))
    assert scored(measured(took_s=NEEDED_S + 2.5, held_s=3.0)).score == pytest.approx(100)
    assert scored(measured(took_s=2 * NEEDED_S + 3, held_s=3.0)).score == pytest.approx(50)
    assert scored(measured(unneeded=PATH)).score == pytest.approx(50)
    assert scored(measured(took_s=2 * NEEDED_S, unneeded=PATH)).score == pytest.approx(25)
    for ended in (TransferOutcome.HUNG, TransferOutcome.FAILED):
        assert scored(measured(ended=ended)).score == 0
    assert overall([scored(measured()), scored(measured(ended=TransferOutcome.HUNG))]) == 50


def test_the_path_needs_a_handshake_slow_start_and_its_rate() -> None:
    # 1.26 MB at 2 Mbit/s are 5.04 s; two round trips, and 40 ms of the first without data.
    assert pytest.approx(5.28) == NEEDED_S
    # 21 kB: 15 kB in the first round trip, then 6 kB.
    assert Scenario("s", Suite.STALLS, "", 20_000).path_s == pytest.approx(0.324)
    slow = {one.transfer: one.path_s for one in suite(Suite.TODAY)}
    # 26.25 MB at 100 Mbit/s are 2.1 s, and eight rounds of slow start at 200 ms carry 3.8 MB.
    assert slow["long 25000 kB"] == pytest.approx(0.2 + 8 * 0.2 + (26.25 - 3.825) * 0.08 + 0.2)
    assert slow["dc 8 x 256 kB"] < slow["dc 16 x 256 kB"]


def test_a_slow_stack_scores_less_than_a_fast_one_that_loses_as_much() -> None:
    slow = replace(TWIN, took_s=26.0, spread_s=(26.0, 26.0))
    lost = score(CLEAN, [measured(took_s=36.0)], slow)
    assert lost.score == pytest.approx(100 * NEEDED_S / 36)
    assert (lost.undisturbed_s, lost.path_s, lost.excess_s) == (26.0, NEEDED_S, 10.0)
    assert scored(measured(took_s=NEEDED_S + 10)).score > lost.score
    # Being slow on purpose never gains a point.
    assert score(CLEAN, [measured(took_s=26.0)], slow).score == pytest.approx(100 * NEEDED_S / 26)


def test_the_part_of_the_link_is_a_part_of_the_excess() -> None:
    # Data goes on while acknowledgments are held.
    acks = scored(measured(took_s=NEEDED_S + 0.83, held_s=1.0))
    assert acks.excess_s == acks.link_s == pytest.approx(0.83)
    faster = scored(measured(took_s=NEEDED_S - 0.5, held_s=1.0))
    assert (faster.excess_s, faster.link_s, faster.score) == (0, 0, 100)
    # A stack that is slower than the slower link is not slowed.
    drop = Scenario("drop", Suite.STALLS, "", 600_000, rates=((1.0, 500_000),))
    slow = replace(TWIN, took_s=13.0, spread_s=(13.0, 13.0))
    assert score(drop, [measured(took_s=13.0)], slow).link_s == 0
    broken = scored(measured(took_s=3.0, ended=TransferOutcome.FAILED))
    assert (broken.excess_s, broken.link_s) == (None, None)
    # Rounding does not show as -0.0000.
    short = Scenario("short", Suite.STALLS, "", 20_000)
    assert f"{short.slower_s(0.2):.4f}" == "0.0000"


def test_a_disturbance_that_is_missed_is_doubted() -> None:
    stall = Scenario("stall", Suite.STALLS, "held", spans=((2.0, 3.0),))
    assert scored(measured(took_s=8.0, held_s=3.0), stall).doubts == ()
    assert (
        "of 3.00 s in which the link was disturbed 1.00 s fell"
        in (scored(measured(took_s=6.0, held_s=1.0), stall).doubts[0])
    )


def test_without_tcp_bytes_are_compared_with_the_reference_runs() -> None:
    assert scored(measured(unneeded=None)).unneeded_bytes == 0
    assert scored(measured(unneeded=None, arrived=1_230_000)).unneeded_bytes == 30_000
    assert scored(measured(unneeded=None, arrived=1_190_000)).unneeded_bytes == 0


def test_spans_of_both_directions_count_once() -> None:
    assert _overlap([(1, 2), (1, 2)], (0, 9)) == 1
    assert _overlap([(3, 5), (1, 4)], (0, 9)) == 4
    assert _overlap([(0, 3), (8, 20)], (2, 9)) == 2
    assert _overlap([], (0, 9)) == 0


def test_the_median_of_several_runs_counts() -> None:
    runs = [measured(took_s=took_s) for took_s in (7.3, 7.1, 7.2)]
    found = score(CLEAN, runs, TWIN)
    assert (found.took_s, found.doubts) == (7.2, ())
    assert found.runs == pytest.approx([100 * NEEDED_S / one for one in (7.3, 7.2, 7.1)])
    # A doubted run does not count if there are others.
    late = measured(took_s=7.1, doubts=("late",))
    assert score(CLEAN, [late, runs[0]], TWIN).took_s == 7.3
    assert score(CLEAN, [late], TWIN).doubts == ("late",)


def test_scattered_scores_are_doubted() -> None:
    hung = measured(ended=TransferOutcome.HUNG)
    (doubt,) = score(CLEAN, [measured(), hung, measured()], TWIN).doubts
    assert doubt == "3 runs on the same seed had scores of 0 to 100"
    # The reference runs' own scatter matters as far as it makes another score: that of the
    # link's part.
    unsteady = replace(TWIN, spread_s=(5.0, 8.0))
    (doubt,) = score(CLEAN, [measured(took_s=9.0, held_s=3.0)], unsteady).doubts
    assert "undisturbed the transfer took 5.00 to 8.00 s (quartiles)" in doubt
    assert "scores of 66 to 88" in doubt
    assert score(CLEAN, [measured(took_s=9.0)], unsteady).doubts == ()
    assert score(CLEAN, [measured(took_s=50.0, held_s=3.0)], unsteady).doubts == ()


def capture(heads: list[bytes]) -> bytes:
    """A capture with packets of these first bytes."""
    found = struct.pack("<II", 0x0A0D0D0A, 28) + bytes(20)
    for head in heads:
        padded = head + bytes(-len(head) % 4)
        length = 32 + len(padded)
        words = (6, length, 0, 0, 0, len(head), 1500)
        found += struct.pack("<7I", *words) + padded + struct.pack("<I", length)
    return found


def tables(sender: str, lengths: list[int], contents: str = "abcde") -> Any:
    """A transfer of datagrams of these lengths from server to client, one of which is lost.

    Each letter of `contents` is the content of a datagram.
    """
    # The headers of IPv4 differ, as of copies.
    heads = [bytes([n] * 28) + contents[n].encode() * 92 for n in range(len(lengths))]
    at_s = [0.1 * number for number in range(len(lengths))]
    fates = ["delivered", "queue", *["delivered"] * len(lengths)][: len(lengths)]
    rows = {
        "event": "sent",
        "place": "sender",
        "copy": range(len(lengths)),
        "at_s": at_s,
        "len": lengths,
        "bytes": [length + 28 for length in lengths],
        "fate": fates,
        "fate_at_s": [at + 0.05 for at in at_s],
        "unneeded": [number == 2 for number in range(len(lengths))],
    }
    spans = {"kind": ["stall"], "from_s": [0.5], "to_s": [3.0]}
    return SimpleNamespace(
        reports=[{"elapsed_s": 2.0}],
        segments=pl.DataFrame({**rows, "copy": list(rows["copy"])}),
        connections=pl.DataFrame({"flow_sender": [sender]}),
        disturbances=pl.DataFrame(spans),
        doubts=[[]],
        pcapng=lambda _, place: capture(heads if place == "sender" else []),
    )


def test_datagrams_are_classified_by_their_fates() -> None:
    run = command(tables("udp", [1200, 1200, 1200, 60, 40]), 0)
    assert (run.ended, run.took_s, run.held_s) == (TransferOutcome.RECOVERED, 2.0, 1.5)
    assert (run.sent_bytes, run.arrived_bytes) == (3840, 2612)
    # Small datagrams carry no data, and a retransmission cannot be recognised.
    assert (run.tail, run.unneeded_bytes) == (3, None)
    assert run.resume_s is None
    run = command(tables("linux", [1200, 1200, 1200, 60, 0]), 124)
    assert (run.ended, run.tail, run.unneeded_bytes) == (TransferOutcome.HUNG, 4, 1228)


def test_equal_datagrams_are_copies_also_if_a_queue_drops_them() -> None:
    lengths = [1200, 1200, 1200, 1200, 60]
    assert command(tables("udp", lengths), 0).copied_bytes == 0
    # The queue drops the second datagram. Of the copies, that of the first was unneeded.
    run = command(tables("udp", lengths, "abab-"), 0)
    assert run.copied_bytes == 1228
    # A copy that the queue drops changes nothing: the next one is unneeded, too.
    assert command(tables("udp", lengths, "aaab-"), 0).copied_bytes == 2 * 1228
    # A copy that the queue drops is unneeded, too, and did not arrive.
    run = command(tables("udp", lengths, "aabc-"), 0)
    assert (run.copied_bytes, run.arrived_bytes) == (1228, 3 * 1228 + 88)
    lossless = replace(TWIN, arrived_bytes=run.arrived_bytes)
    assert score(CLEAN, [run], lossless).unneeded_bytes == 1228
    # The content of datagrams that are all equal says nothing.
    equal = replace(lossless, copied_bytes=run.arrived_bytes)
    assert score(CLEAN, [run], equal).unneeded_bytes == 0
    # Acknowledgments are often equal.
    assert command(tables("udp", [60] * 5, "aaaaa"), 0).copied_bytes == 0


def test_a_transfer_resumes_with_the_first_data_after_an_outage() -> None:
    found = tables("udp", [1200, 1200, 1200, 1200, 60])
    found.disturbances = pl.DataFrame(
        {"kind": ["outage", "outage"], "from_s": [0.0, 0.2], "to_s": [0.0, 0.22]}
    )
    # The packets leave every 0.1 s and take 0.05 s; the second is lost.
    assert command(found, 0).resume_s == pytest.approx(0.05)
    found.disturbances = pl.DataFrame({"kind": ["outage"], "from_s": [0.0], "to_s": [0.07]})
    assert command(found, 0).resume_s == pytest.approx(0.18)
    found.disturbances = pl.DataFrame({"kind": ["outage"], "from_s": [0.0], "to_s": [9.0]})
    assert command(found, 0).resume_s is None


def test_reference_runs_are_medians_and_must_end() -> None:
    runs = [measured(took_s=took_s) for took_s in (5.0, 9.0, 6.0)]
    assert (UndisturbedTransfer.of(runs).took_s, UndisturbedTransfer.of(runs).spread_s) == (
        6.0,
        (5.0, 9.0),
    )
    five = [measured(took_s=took_s) for took_s in (5.0, 9.0, 6.0, 7.0, 8.0)]
    assert UndisturbedTransfer.of(five).spread_s == (6.0, 8.0)
    short = Scenario("t", Suite.STALLS, "", 20_000)
    hung = problem(short, measured(ended=TransferOutcome.HUNG), 5)
    assert hung.startswith("the transfer of 20 kB that nothing disturbs did not end within 5 s")
    assert "raise --limit" in hung
    assert "--only" in hung
    failed = replace(measured(ended=TransferOutcome.FAILED), exit_status=7, said="no")
    assert "failed with exit status 7: the client must end with 0" in problem(short, failed, 5)
    assert "of 20000 B that the client was to fetch 60 B" in problem(short, measured(arrived=60), 5)
    assert problem(short, measured(), 5) == ""


def test_a_client_that_ends_with_0_too_early_has_failed() -> None:
    scenario = Scenario("x", Suite.STALLS, "", bytes=1000)
    assert (
        _complete(scenario, measured(took_s=5.0, arrived=1200)).ended is TransferOutcome.RECOVERED
    )
    exact = _complete(scenario, measured(took_s=5.0, arrived=1000))
    assert exact.ended is TransferOutcome.RECOVERED
    early = _complete(scenario, measured(took_s=5.0, arrived=999))
    assert early.ended is TransferOutcome.FAILED
    assert early.said == "the client ended with 0 after 999 B of 1000 B passed the link"
    twice = replace(scenario, flows=2)
    assert _complete(twice, measured(took_s=5.0, arrived=1200)).ended is TransferOutcome.FAILED


def test_the_end_of_a_connection_is_lost_in_a_scenario(tmp_path: Path) -> None:
    (close,) = [one for one in suite(Suite.TODAY) if one.closing]
    assert close.drops(17, 19) == (18, 19)
    assert close.drops(17, 17) == ()
    assert close.drops(0, 0) == ()
    assert replace(close, closing=False, tail=2).drops(17, 19) == (16, 17)
    file = tmp_path / "close.toml"
    close.write(file, 60, close.drops(17, 19))
    assert tomllib.loads(file.read_text())["link"][0]["backward"]["drops"] == [18, 19]


@pytest.mark.usefixtures("hosts")
def test_an_old_kernel_retransmits_unneeded_data() -> None:
    stall = Scenario("stall", Suite.STALLS, "held", 200_000, spans=((0.6, 1.5),))
    old = {"kernel.frto": 0, "kernel.timestamps": False}
    (now,), (then,) = (conform(Stack(set=set_), [stall]) for set_ in ({}, old))
    assert (now.ended, then.ended) == ("recovered", "recovered")
    assert now.unneeded_bytes <= 6_000
    assert then.unneeded_bytes >= 30_000
    assert now.link_s == pytest.approx(1.5, abs=0.05)
    assert now.excess_s == pytest.approx(1.5, abs=0.3)
    assert now.score > then.score + 10


@pytest.mark.usefixtures("hosts")
def test_the_command_compares_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def called(*words: str) -> tuple[int, dict[str, Any]]:
        how = ("--only", "tail-2", "--json", "--out", tmp_path)
        code = program.call(monkeypatch, "conform", *how, *words)
        return code, json.loads(capsys.readouterr().out)

    code, found = called()
    (tail,) = found["scenarios"]
    assert (code, tail["ended"], tail["unneeded_bytes"]) == (0, "recovered", 0)
    assert tail["excess_s"] > 0.2
    stored = tmp_path / "stored.json"
    better = {**found, "stack": "better", "scenarios": [{**tail, "score": 99.0}]}
    stored.write_text(json.dumps(better))
    code, found = called("--baseline", str(stored), "--beside", str(stored))
    good = not found["scores_in_doubt"]
    assert (found["changes"][0]["verdict"], code) == ("worse" if good else "undecidable", int(good))
    assert found["baseline"]["differs"] == ["stack"]
    assert "<th>kernel</th><th>better</th>" in (tmp_path / "conform.html").read_text()
    assert (tmp_path / "conform.xml").read_text().count("<failure") == code


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_a_dead_server_and_a_failing_client_have_different_errors() -> None:
    hold = next(one for one in suite() if one.id == "syn-hold-1.5s")
    client = ["sh", "-c", "echo nobody answers; exit 1"]
    gone = Stack("gone", {}, "echo no certificate >&2; exit 3", client, 0.5)
    with pytest.raises(rtolab.Error) as raised:
        conform(gone, [hold])
    assert str(raised.value).endswith("the server ended with exit code 3: no certificate")
    with pytest.raises(rtolab.Error) as raised:
        conform(Stack("there", {}, "exec sleep 60", client, 0.5), [hold])
    assert str(raised.value).endswith("; the last line of client and server: nobody answers")


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_a_client_and_a_server_are_scored(tmp_path: Path) -> None:
    for name, text in (("server.py", SERVER), ("client.py", CLIENT)):
        (tmp_path / name).write_text(text)
    client = [sys.executable, str(tmp_path / "client.py"), "{server}", "{bytes}"]
    stack = Stack("sockets", {}, f"exec {sys.executable} {tmp_path / 'server.py'}", client, 10.0)
    done: list[tuple[int, int]] = []
    hold = next(one for one in suite() if one.id == "syn-hold-1.5s")
    (found,) = conform(stack, [hold], progress=lambda *reported: done.append(reported))
    assert (found.ended, found.said) == ("recovered", "")
    # The hold begins with the first packet, however long the client takes to start.
    assert found.excess_s is not None
    held_s = min(hold.disturbed_s, found.excess_s)
    assert found.link_s == pytest.approx(held_s, abs=0.001)
    assert found.excess_s == pytest.approx(found.link_s, abs=0.4)
    assert found.sent_bytes > 20_000
    assert done[-1] == (6, 6)
    mine = [path.name for path in Path("/run/netns").glob("rtolab-*")]
    assert not any(name.startswith(f"rtolab-{os.getpid()}-") for name in mine)
