"""What other senders would have done on the path that a capture shows."""

import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import kernel_runs
import labelled_captures
import program
from rtolab import Error, _rtolab
from rtolab.diagnosis import diagnose
from rtolab.diagnosis.line import Change, Line, Packet, Span
from rtolab.diagnosis.path import Inferred, Reading, infer
from rtolab.diagnosis.what_if import Outcome, WhatIf, of_connection
from rtolab.run import find_scenario

KEPT = Path(__file__).parents[1] / "captures"
"""Of Linux 6.18 on emulated links, without F-RTO, at the sender."""

WITH_FRTO = json.loads((KEPT / "with-frto.json").read_text())
"""What the same kernel did over the same link with F-RTO."""

NO_STALL = ("link.radio.stalls.scripted", "[]")
FORWARD_OUTAGE = ("link.radio.forward.outages.scripted", '[{ at = "5 s", for = "2 s" }]')
FORWARD_STALL = ("link.radio.forward.stalls.scripted", '[{ at = "5 s", for = "3 s" }]')
BACKWARD_STALL = ("link.radio.backward.stalls.scripted", '[{ at = "5 s", for = "3 s" }]')
DROPS = ("link.radio.forward.drops", "[50, 120]")
CLOSE = 0.03
"""Within the time that two data packets take, in seconds."""


def captured(
    folder: Path, sender: str, *set: tuple[str, str], place: str = "sender"
) -> tuple[Path, pl.DataFrame]:
    """A capture of a simulated transfer, and the truth of its connection."""
    path = str(find_scenario("kernel-stall"))
    outcome = _rtolab.simulate(path, set=list(set), senders=[sender], seeds=[1], trace=True)
    file = folder / "capture.pcapng"
    file.write_bytes(outcome.pcapng(0, place))
    return file, pl.DataFrame(outcome.connections)


def inferred(file: Path) -> Inferred:
    return infer(str(file), diagnose(file).worst[0])


def asked(file: Path) -> WhatIf:
    return of_connection(str(file), diagnose(file).worst[0])


def named(outcomes: Sequence[Outcome], sender: str) -> Outcome:
    return next(one for one in outcomes if one.sender == sender)


@pytest.mark.parametrize("sender", ["sack", "newreno+frto", "linux"])
def test_a_stall_of_both_directions_is_inferred(tmp_path: Path, sender: str) -> None:
    found = inferred(captured(tmp_path, sender)[0])
    assert found.line.rate == pytest.approx(1e6, rel=0.001)
    assert found.line.delay == pytest.approx(0.2, abs=0.001)
    for spans in (found.line.forward, found.line.backward):
        [span] = spans
        assert (span.start, span.end) == pytest.approx((5, 8), abs=CLOSE)
    assert not found.drops
    assert not found.outages
    assert found.transfer.size == 1_000_000
    assert found.transfer.window == 65_535


@pytest.mark.parametrize(
    ("set", "stalled"), [(FORWARD_STALL, (True, False)), (BACKWARD_STALL, (False, True))]
)
def test_a_stall_of_one_direction_is_told_from_one_of_the_other(
    tmp_path: Path, set: tuple[str, str], stalled: tuple[bool, bool]
) -> None:
    line = inferred(captured(tmp_path, "sack", NO_STALL, set)[0]).line
    assert (bool(line.forward), bool(line.backward)) == stalled
    [span] = [*line.forward, *line.backward]
    assert (span.start, span.end) == pytest.approx((5, 8), abs=CLOSE)


def test_losses_and_outages_are_inferred(tmp_path: Path) -> None:
    assert inferred(captured(tmp_path, "newreno", NO_STALL, DROPS)[0]).drops == (50, 120)
    [outage] = inferred(captured(tmp_path, "sack", NO_STALL, FORWARD_OUTAGE)[0]).outages
    assert outage.start == pytest.approx(5, abs=CLOSE)
    # No packet came out between the outage's end and the next timeout.
    assert outage.end == pytest.approx(7, abs=0.5)


@pytest.mark.parametrize(
    ("sender", "set"),
    [
        ("sack", ()),
        ("newreno+frto", ()),
        ("linux", ()),
        ("sack", (NO_STALL, FORWARD_OUTAGE)),
        ("newreno", (NO_STALL, DROPS)),
    ],
)
def test_the_replay_agrees_with_what_was_simulated(
    tmp_path: Path, sender: str, set: tuple[tuple[str, str], ...]
) -> None:
    file, truth = captured(tmp_path, sender, *set)
    told = asked(file)
    assert told.captured.agrees(told.nearest)
    assert told.nearest.unneeded == pytest.approx(truth["unneeded"][0], abs=2)
    assert told.nearest.needed == pytest.approx(truth["needed"][0], abs=2)
    assert told.nearest.elapsed_s == pytest.approx(truth["elapsed_s"][0], rel=0.03)


@pytest.mark.parametrize("other", ["sack+eifel", "newreno+frto"])
def test_others_are_as_they_are_on_the_path_itself(tmp_path: Path, other: str) -> None:
    """Inferred from a capture of a sender that goes back, and told of one that does not."""
    told = asked(captured(tmp_path, "sack")[0])
    truth = captured(tmp_path, other)[1]
    found = named(told.senders, other)
    assert told.captured.unneeded > 40
    assert found.unneeded == pytest.approx(truth["unneeded"][0], abs=2)
    assert found.elapsed_s == pytest.approx(truth["elapsed_s"][0], rel=0.03)
    assert found.detected_s is not None


def test_what_captures_do_not_show_is_said(tmp_path: Path) -> None:
    file, _ = captured(tmp_path, "sack", place="receiver")
    with pytest.raises(Error, match="at the receiver needs timestamps"):
        inferred(file)


@pytest.mark.parametrize("sender", ["sack+eifel", "linux"])
def test_with_timestamps_a_stall_is_inferred_from_a_capture_at_the_receiver(
    tmp_path: Path, sender: str
) -> None:
    stamps = ("kernel.timestamps", "true") if sender == "linux" else ("tcp.timestamps", "true")
    file, _ = captured(tmp_path, sender, stamps, place="receiver")
    line = inferred(file).line
    assert line.rate == pytest.approx(1e6, rel=0.01)
    assert line.delay == pytest.approx(0.2, abs=0.005)
    spans = [*line.forward, *line.backward]
    assert spans
    assert max(span.end for span in spans) == pytest.approx(8, abs=0.1)
    told = asked(file)
    near = asked(captured(tmp_path, sender, stamps)[0])
    for other in ("sack", "sack+frto", "sack+eifel"):
        here, there = named(told.senders, other), named(near.senders, other)
        assert here.unneeded == pytest.approx(there.unneeded, abs=2), other
        assert here.elapsed_s == pytest.approx(there.elapsed_s, rel=0.03), other


def test_a_change_of_the_rate_is_inferred(tmp_path: Path) -> None:
    outcome = _rtolab.simulate(
        str(find_scenario("rate-drop")), senders=["sack+frto"], seeds=[1], trace=True
    )
    file = tmp_path / "capture.pcapng"
    file.write_bytes(outcome.pcapng(0, "sender"))
    line = infer(str(file), diagnose(file).worst[0], Reading(steady=False)).line
    assert line.rate == pytest.approx(1e6, rel=0.01)
    [change] = line.changes
    assert change.at == pytest.approx(5, abs=0.2)
    assert change.rate == pytest.approx(28_800, rel=0.01)
    assert line.delay == pytest.approx(0.1, abs=0.002)


def test_a_steady_link_has_no_change_of_its_rate(tmp_path: Path) -> None:
    for sender in ("sack", "newreno+frto"):
        file, _ = captured(tmp_path, sender)
        assert not infer(str(file), diagnose(file).worst[0], Reading(steady=False)).line.changes


FULL_QUEUE = ("link.radio.queue", "30 kB")
FALLS = ("link.radio.rate_changes", '[{ at = "5 s", rate = "200 kbit/s" }]')
FALLS_AND_RISES = (
    "link.radio.rate_changes",
    '[{ at = "4 s", rate = "200 kbit/s" }, { at = "12 s", rate = "1 Mbit/s" }]',
)
OF_LINUX = ("receiver.profile", "linux")
D_SACK = ("receiver.dsack", "true")
UNSTEADY = Reading(steady=False)


@pytest.mark.parametrize(
    ("sender", "set"),
    [("linux", (OF_LINUX,)), ("sack", (D_SACK,)), ("newreno", ()), ("rack+prr", ())],
)
def test_the_queue_that_overflows_as_a_rate_falls_is_inferred(
    tmp_path: Path, sender: str, set: tuple[tuple[str, str], ...]
) -> None:
    file, truth = captured(tmp_path, sender, NO_STALL, FULL_QUEUE, FALLS, *set)
    found = infer(str(file), diagnose(file).worst[0], UNSTEADY)
    assert truth["needed"][0] > 10
    [change] = found.line.changes
    assert change.at == pytest.approx(5, abs=CLOSE)
    assert change.rate == pytest.approx(200_000, rel=0.01)
    # Between the longest that was taken and the shortest that was not is a packet's room.
    assert found.queue == pytest.approx(30_000, abs=1500)
    assert len(found.drops) <= 2
    assert not found.outages


def test_a_rate_that_falls_and_rises_again_is_inferred_with_its_queue(tmp_path: Path) -> None:
    file, _ = captured(tmp_path, "sack", NO_STALL, FULL_QUEUE, FALLS_AND_RISES)
    found = infer(str(file), diagnose(file).worst[0], UNSTEADY)
    down, up = found.line.changes
    assert (down.at, up.at) == pytest.approx((4, 12), abs=CLOSE)
    assert (down.rate, up.rate) == pytest.approx((200_000, 1_000_000), rel=0.01)
    assert found.queue == pytest.approx(30_000, abs=1500)


def test_with_a_queue_inferred_others_fill_it_as_they_do_on_the_path_itself(tmp_path: Path) -> None:
    """Told of a sender that is not the captured one, whose packets another number of them meet."""
    set = (NO_STALL, FULL_QUEUE, FALLS, OF_LINUX)
    told = asked(captured(tmp_path, "linux", *set)[0])
    assert told.captured.agrees(told.nearest)
    for other in ("sack", "rack+prr", "sack+eifel"):
        truth = captured(tmp_path, other, *set)[1]
        found = named(told.senders, other)
        assert found.needed == pytest.approx(truth["needed"][0], abs=2), other
        assert found.elapsed_s == pytest.approx(truth["elapsed_s"][0], rel=0.03), other


@pytest.mark.parametrize("set", [(DROPS,), (FORWARD_OUTAGE,)])
def test_what_is_lost_otherwise_is_no_queue(tmp_path: Path, set: tuple[tuple[str, str]]) -> None:
    for sender in ("sack", "newreno"):
        file, _ = captured(tmp_path, sender, NO_STALL, *set)
        assert inferred(file).queue is None


@pytest.mark.parametrize(("timer", "slot"), [("wheel-250", 0.032), ("wheel-1000", 0.064)])
def test_the_slots_of_timers_are_told_by_when_they_expire(
    tmp_path: Path, timer: str, slot: float
) -> None:
    stall = ("link.radio.stalls.scripted", '[{ at = "4 s", for = "6 s" }]')
    without = ("kernel.timestamps", "false")
    start = ("flow.transfer.start", "13 ms")
    set = (stall, without, start, ("tcp.rto.timer", timer))
    file, _ = captured(tmp_path, "linux", *set)
    wheel = inferred(file).wheel
    assert wheel is not None
    # What fits both is a coincidence of a few timeouts.
    assert wheel.slot >= slot
    assert wheel.shift % slot == pytest.approx(0.013, abs=0.004)


def test_a_line_transmits_at_the_rate_of_the_time() -> None:
    line = Line(8000, 0.0, 0, changes=[Change(1.0, 800), Change(3.0, 80_000)])
    sent = [Packet(0.5, 0, 500, 1), Packet(0.5, 500, 700, 2), Packet(10, 700, 1700, 3)]
    # Of 1600 bits 800 leave in the last tenth of the first second, and 800 in the next second.
    assert line.departures([Packet(0.9, 0, 200, 1)]) == pytest.approx([2.0])
    assert line.departures(sent) == pytest.approx([1.0, 3.0, 10.1])
    stalled = line.stalled(Span(0.6, 0.8), forward=True, backward=False)
    assert stalled.departures(sent[:1]) == pytest.approx([3.0])


def test_the_command_tells_it_and_writes_the_scenario(tmp_path: Path) -> None:
    file, _ = captured(tmp_path, "sack")
    scenario = tmp_path / "path.toml"
    command = ("diagnose", file, "--what-if")
    done = program.run(*command, "--json", check=True)
    told = json.loads(done.stdout)["what_if"]
    assert told["agrees"]
    assert {one["sender"] for one in told["senders"]} >= {"sack", "sack+frto"}
    assert {one["setting"] for one in told["linux"]} >= {"as captured", "tcp_timestamps=1"}
    shown = program.run(*command, "--scenario-out", scenario, check=True).stdout
    assert all(one["setting"] in shown for one in told["linux"])
    assert "True" not in shown
    assert "False" not in shown
    assert scenario.read_text() == told["scenario"]
    _rtolab.check(scenario)


def with_frto(told: WhatIf) -> Outcome:
    return told.knobs.get("tcp_frto=2", told.knobs["as captured"])


@pytest.mark.parametrize("name", WITH_FRTO)
def test_of_kept_captures_without_frto_it_tells_what_frto_does(name: str) -> None:
    told = asked(KEPT / f"{name}.pcapng.gz")
    assert told.captured.agrees(told.nearest)
    assert told.captured.unneeded > 10
    assert with_frto(told).unneeded == pytest.approx(WITH_FRTO[name]["unneeded"], abs=2)
    assert with_frto(told).elapsed_s == pytest.approx(WITH_FRTO[name]["elapsed_s"], rel=0.01)


@pytest.mark.parametrize("name", WITH_FRTO)
def test_of_kept_captures_nothing_is_found_that_is_not_so(name: str) -> None:
    found = labelled_captures.compared(KEPT, name)
    assert found.total() > 10
    assert not {key for key in found if key[2] != key[3]}


def test_of_kernels_without_frto_it_tells_what_frto_does(tmp_path: Path) -> None:
    kernel_runs.require()
    result = kernel_runs.frto_pairs()
    real = {row["sender"]: row["unneeded"] for row in result.connections.to_dicts()}
    wrong = []
    for run, name in enumerate(kernel_runs.FRTO_PAIRS):
        if not name.endswith("off"):
            continue
        file = tmp_path / f"{run}.pcapng"
        file.write_bytes(result.pcapng(run, "sender"))
        predicted = with_frto(asked(file)).unneeded
        sent = real[name.removesuffix("off") + "on"]
        if abs(predicted - sent) > 2:
            wrong.append(f"{name}: {predicted} predicted, {sent} sent")
    assert len(wrong) <= len(kernel_runs.FRTO_PAIRS) / 2 * 0.1, wrong
