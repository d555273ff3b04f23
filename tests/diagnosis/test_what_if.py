"""`diagnose --what-if`: other senders on the path that a capture shows."""

import json
import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import frto_pairs
import kernel_runs
import labelled_captures
import program
from capture_changes import as_udp, changed
from frto_pairs import with_frto
from guests import require_kernel
from rtolab import _rtolab
from rtolab.diagnosis import diagnose
from rtolab.diagnosis.what_if import what_if
from rtolab.run import find_scenario

KEPT = Path(__file__).parents[1] / "captures"
"""Captures at the sender, of Linux 6.18 without F-RTO on emulated links."""

WITH_FRTO = json.loads((KEPT / "with-frto.json").read_text())
"""The transfers of the same kernel over the same link with F-RTO."""

NO_STALL = ("link.radio.stalls.scripted", "[]")
FORWARD_OUTAGE = ("link.radio.forward.outages.scripted", '[{ at = "5 s", for = "2 s" }]')
FORWARD_STALL = ("link.radio.forward.stalls.scripted", '[{ at = "5 s", for = "3 s" }]')
BACKWARD_STALL = ("link.radio.backward.stalls.scripted", '[{ at = "5 s", for = "3 s" }]')
DROPS = ("link.radio.forward.drops", "[50, 120]")
STALLED = "stall-3s-sack-frto-off.sender"
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
    return file, pl.DataFrame(outcome.table("connections"))


def prediction(file: Path) -> dict[str, Any]:
    return what_if(diagnose(file))


def number(quantity: str) -> float:
    """The value in bytes, bit/s or seconds."""
    value, unit = quantity.split()
    return float(value) * (1e-6 if unit == "us" else 1)


class Inferred:
    """The path that a scenario describes, in seconds, bytes and bit/s."""

    def __init__(self, scenario: str) -> None:
        self.scenario = tomllib.loads(scenario)
        [self.link] = self.scenario["link"]
        self.rate = number(self.link["rate"])
        self.delay = number(self.link["delay"])
        self.size = number(self.scenario["flow"][0]["bytes"])
        self.drops = self.link.get("forward", {}).get("drops", [])
        changes = self.link.get("rate_changes", [])
        self.changes = [(number(one["at"]), number(one["rate"])) for one in changes]

    def spans(self, direction: str, kind: str) -> list[tuple[float, float]]:
        """Beginning and end of each stall or outage."""
        found = self.link.get(direction, {}).get(kind, {"scripted": []})["scripted"]
        times = [(number(one["at"]), number(one["for"])) for one in found]
        return [(at, at + length) for at, length in times]

    @property
    def stalls(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """The stalls of data, and of acknowledgments."""
        return self.spans("forward", "stalls"), self.spans("backward", "stalls")

    @property
    def queue(self) -> float | None:
        """The capacity of the queue, in bytes."""
        queue = self.link.get("forward", {}).get("queue")
        return queue and number(queue)


def inferred(file: Path, *, steady: bool = True) -> Inferred:
    connection = diagnose(file).worst[0]["number"]
    return Inferred(_rtolab.infer_scenario(file, connection, steady=steady))


def named(reported: dict[str, Any], sender: str) -> dict[str, Any]:
    return next(one for one in reported["senders"] if one["sender"] == sender)


@pytest.mark.parametrize("sender", ["sack", "newreno+frto", "linux"])
def test_a_stall_of_both_directions_is_inferred(tmp_path: Path, sender: str) -> None:
    found = inferred(captured(tmp_path, sender)[0])
    assert found.rate == pytest.approx(1e6, rel=0.001)
    assert found.delay == pytest.approx(0.2, abs=0.001)
    for spans in found.stalls:
        [span] = spans
        assert span == pytest.approx((5, 8), abs=CLOSE)
    assert not found.drops
    assert not found.spans("forward", "outages")
    assert found.size == 1_000_000
    assert found.scenario["receiver"]["buffer"] == "65535 B"


@pytest.mark.parametrize(
    ("set", "stalled"), [(FORWARD_STALL, (True, False)), (BACKWARD_STALL, (False, True))]
)
def test_the_direction_of_a_stall_is_inferred(
    tmp_path: Path, set: tuple[str, str], stalled: tuple[bool, bool]
) -> None:
    forward, backward = inferred(captured(tmp_path, "sack", NO_STALL, set)[0]).stalls
    assert (bool(forward), bool(backward)) == stalled
    [span] = [*forward, *backward]
    assert span == pytest.approx((5, 8), abs=CLOSE)


def test_losses_and_outages_are_inferred(tmp_path: Path) -> None:
    assert inferred(captured(tmp_path, "newreno", NO_STALL, DROPS)[0]).drops == [50, 120]
    found = inferred(captured(tmp_path, "sack", NO_STALL, FORWARD_OUTAGE)[0])
    [(start, end)] = found.spans("forward", "outages")
    assert start == pytest.approx(5, abs=CLOSE)
    # No packet came out between the outage's end and the next timeout.
    assert end == pytest.approx(7, abs=0.5)


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
    reported = prediction(file)
    assert reported["agrees"]
    assert reported["nearest"]["unneeded"] == pytest.approx(truth["unneeded"][0], abs=2)
    assert reported["nearest"]["needed"] == pytest.approx(truth["needed"][0], abs=2)
    assert reported["nearest"]["elapsed_s"] == pytest.approx(truth["elapsed_s"][0], rel=0.03)


@pytest.mark.parametrize("other", ["sack+eifel", "newreno+frto"])
def test_other_senders_do_the_same_as_on_the_real_path(tmp_path: Path, other: str) -> None:
    """The capture is of a sender with go-back-N, and the prediction is for senders without it."""
    reported = prediction(captured(tmp_path, "sack")[0])
    truth = captured(tmp_path, other)[1]
    found = named(reported, other)
    assert reported["captured"]["unneeded"] > 40
    assert found["unneeded"] == pytest.approx(truth["unneeded"][0], abs=2)
    assert found["elapsed_s"] == pytest.approx(truth["elapsed_s"][0], rel=0.03)
    assert found["detected_s"] is not None


@pytest.mark.parametrize("change", [(), (DROPS,)], ids=["stall", "stall and losses"])
def test_a_bbr_sender_is_replayed_by_bbr(tmp_path: Path, change: tuple[tuple[str, str]]) -> None:
    file, truth = captured(tmp_path, "linux", ("kernel.congestion", "bbr"), *change)
    reported = prediction(file)
    nearest = reported["nearest"]
    assert (nearest["sender"], nearest["set"]["kernel.congestion"]) == ("linux", "bbr")
    assert reported["agrees"]
    assert nearest["elapsed_s"] == pytest.approx(truth["elapsed_s"][0], rel=0.01)


def test_missing_information_is_reported(tmp_path: Path) -> None:
    file, _ = captured(tmp_path, "sack", place="receiver")
    assert "at the receiver needs timestamps" in prediction(file)["error"]


@pytest.mark.parametrize("sender", ["sack+eifel", "linux"])
def test_with_timestamps_a_stall_is_inferred_from_a_capture_at_the_receiver(
    tmp_path: Path, sender: str
) -> None:
    stamps = ("kernel.timestamps", "true") if sender == "linux" else ("tcp.timestamps", "true")
    file, _ = captured(tmp_path, sender, stamps, place="receiver")
    reported = prediction(file)
    found = Inferred(reported["scenario"])
    assert found.rate == pytest.approx(1e6, rel=0.01)
    assert found.delay == pytest.approx(0.2, abs=0.005)
    forward, backward = found.stalls
    assert max(end for _, end in [*forward, *backward]) == pytest.approx(8, abs=0.1)
    near = prediction(captured(tmp_path, sender, stamps)[0])
    for other in ("sack", "sack+frto", "sack+eifel"):
        here, there = named(reported, other), named(near, other)
        assert here["unneeded"] == pytest.approx(there["unneeded"], abs=2), other
        assert here["elapsed_s"] == pytest.approx(there["elapsed_s"], rel=0.03), other


def test_a_change_of_the_rate_is_inferred(tmp_path: Path) -> None:
    outcome = _rtolab.simulate(
        str(find_scenario("rate-drop")), senders=["sack+frto"], seeds=[1], trace=True
    )
    file = tmp_path / "capture.pcapng"
    file.write_bytes(outcome.pcapng(0, "sender"))
    found = inferred(file, steady=False)
    assert found.rate == pytest.approx(1e6, rel=0.01)
    [(at, rate)] = found.changes
    assert at == pytest.approx(5, abs=0.2)
    assert rate == pytest.approx(28_800, rel=0.01)
    assert found.delay == pytest.approx(0.1, abs=0.002)


def test_a_steady_link_has_no_change_of_its_rate(tmp_path: Path) -> None:
    for sender in ("sack", "newreno+frto"):
        assert not inferred(captured(tmp_path, sender)[0], steady=False).changes


FULL_QUEUE = ("link.radio.queue", "30 kB")
FALLS = ("link.radio.rate_changes", '[{ at = "5 s", rate = "200 kbit/s" }]')
FALLS_AND_RISES = (
    "link.radio.rate_changes",
    '[{ at = "4 s", rate = "200 kbit/s" }, { at = "12 s", rate = "1 Mbit/s" }]',
)
OF_LINUX = ("receiver.profile", "linux")
D_SACK = ("receiver.dsack", "true")


@pytest.mark.parametrize(
    ("sender", "set"),
    [("linux", (OF_LINUX,)), ("sack", (D_SACK,)), ("newreno", ()), ("rack+prr", ())],
)
def test_a_queue_that_overflows_when_the_rate_falls_is_inferred(
    tmp_path: Path, sender: str, set: tuple[tuple[str, str], ...]
) -> None:
    file, truth = captured(tmp_path, sender, NO_STALL, FULL_QUEUE, FALLS, *set)
    found = inferred(file, steady=False)
    assert truth["needed"][0] > 10
    [(at, rate)] = found.changes
    assert at == pytest.approx(5, abs=CLOSE)
    assert rate == pytest.approx(200_000, rel=0.01)
    # The longest accepted queue and the shortest refused one differ by a packet.
    assert found.queue == pytest.approx(30_000, abs=1500)
    assert len(found.drops) <= 2
    assert not found.spans("forward", "outages")


def test_a_rate_that_falls_and_rises_again_is_inferred_with_its_queue(tmp_path: Path) -> None:
    file, _ = captured(tmp_path, "sack", NO_STALL, FULL_QUEUE, FALLS_AND_RISES)
    found = inferred(file, steady=False)
    times, rates = zip(*found.changes, strict=True)
    assert times == pytest.approx((4, 12), abs=CLOSE)
    assert rates == pytest.approx((200_000, 1_000_000), rel=0.01)
    assert found.queue == pytest.approx(30_000, abs=1500)


def test_other_senders_fill_the_inferred_queue_as_on_the_real_path(tmp_path: Path) -> None:
    """The queue drops different packets of other senders."""
    set = (NO_STALL, FULL_QUEUE, FALLS, OF_LINUX)
    reported = prediction(captured(tmp_path, "linux", *set)[0])
    assert reported["agrees"]
    for other in ("sack", "rack+prr", "sack+eifel"):
        truth = captured(tmp_path, other, *set)[1]
        found = named(reported, other)
        assert found["needed"] == pytest.approx(truth["needed"][0], abs=2), other
        assert found["elapsed_s"] == pytest.approx(truth["elapsed_s"][0], rel=0.03), other


@pytest.mark.parametrize("set", [(DROPS,), (FORWARD_OUTAGE,)])
def test_losses_with_another_cause_are_not_attributed_to_a_queue(
    tmp_path: Path, set: tuple[tuple[str, str]]
) -> None:
    for sender in ("sack", "newreno"):
        file, _ = captured(tmp_path, sender, NO_STALL, *set)
        assert inferred(file).queue is None


@pytest.mark.parametrize(("timer", "slot"), [("wheel-250", 0.032), ("wheel-1000", 0.064)])
def test_timer_slots_are_inferred_from_the_times_of_expiry(
    tmp_path: Path, timer: str, slot: float
) -> None:
    stall = ("link.radio.stalls.scripted", '[{ at = "4 s", for = "6 s" }]')
    without = ("kernel.timestamps", "false")
    later = ("flow.transfer.start", "13 ms")
    set = (stall, without, later, ("tcp.rto.timer", timer))
    file, _ = captured(tmp_path, "linux", *set)
    # The flow starts as much later as slots do: what fits both clocks is a coincidence.
    start = number(inferred(file).scenario["flow"][0]["start"])
    assert start % slot == pytest.approx(0.013, abs=0.004)


def test_the_command_reports_the_prediction_and_writes_the_scenario(tmp_path: Path) -> None:
    file, _ = captured(tmp_path, "sack")
    scenario = tmp_path / "path.toml"
    command = ("diagnose", file, "--what-if")
    done = program.run_here(*command, "--json", check=True)
    reported = json.loads(done.stdout)["what_if"]
    assert reported["agrees"]
    assert {one["sender"] for one in reported["senders"]} >= {"sack", "sack+frto"}
    assert {one["setting"] for one in reported["linux"]} >= {"defaults", "tcp_timestamps=1"}
    shown = program.run_here(*command, "--scenario-out", scenario, check=True).stdout
    assert all(one["setting"] in shown for one in reported["linux"])
    assert "True" not in shown
    assert "False" not in shown
    assert scenario.read_text() == reported["scenario"]
    _rtolab.check(scenario)


@pytest.mark.parametrize("name", WITH_FRTO)
def test_the_effect_of_frto_is_predicted_from_stored_captures(name: str) -> None:
    reported = prediction(KEPT / f"{name}.pcapng.gz")
    assert reported["agrees"]
    assert reported["captured"]["unneeded"] > 10
    found = with_frto(reported)
    assert found["unneeded"] == pytest.approx(WITH_FRTO[name]["unneeded"], abs=2)
    assert found["elapsed_s"] == pytest.approx(WITH_FRTO[name]["elapsed_s"], rel=0.01)


@pytest.mark.parametrize("name", WITH_FRTO)
def test_stored_captures_give_no_false_inference(name: str) -> None:
    found = labelled_captures.compared(KEPT, name)
    assert found.total() > 10
    assert not {key for key in found if key[2] != key[3]}


@pytest.mark.slow
@pytest.mark.usefixtures("hosts")
def test_the_effect_of_frto_is_predicted_for_kernels(tmp_path: Path) -> None:
    result = kernel_runs.frto_pairs()
    real = {row["sender"]: row["unneeded"] for row in result.connections.to_dicts()}
    wrong = []
    for run, name in enumerate(kernel_runs.FRTO_PAIRS):
        if not name.endswith("off"):
            continue
        file = tmp_path / f"{run}.pcapng"
        file.write_bytes(result.pcapng(run, "sender"))
        predicted = with_frto(prediction(file))["unneeded"]
        sent = real[name.removesuffix("off") + "on"]
        if abs(predicted - sent) > 2:
            wrong.append(f"{name}: {predicted} predicted, {sent} sent")
    assert len(wrong) <= len(kernel_runs.FRTO_PAIRS) / 2 * 0.1, wrong


def test_the_effect_of_frto_is_predicted_for_guests(tmp_path: Path) -> None:
    """`tools/pairs --virtual` does this for all pairs, without root."""
    built = require_kernel()
    chosen = [pair for pair in frto_pairs.pairs() if pair.link in {"3 s", "short", "fast"}]
    frto_pairs.make(tmp_path, built, chosen)
    found = frto_pairs.compared(tmp_path)
    assert found["matters"].any()
    assert found.filter(~pl.col("near")).is_empty(), list(frto_pairs.table(found))


def test_a_capture_without_tcp_has_nothing_to_replay(tmp_path: Path) -> None:
    """The message names what is missing, and the path is not written."""
    file, _ = captured(tmp_path, "linux")
    file.write_bytes(changed(file.read_bytes(), as_udp))
    path = tmp_path / "path.toml"
    done = program.run_here("diagnose", str(file), "--what-if", "--scenario-out", str(path))
    assert done.returncode == 0, done.stderr
    assert "Nothing was replayed: the capture has no TCP connection." in done.stdout
    assert not path.exists()


def test_the_nearest_sender_is_described_by_names_of_linux() -> None:
    shown = program.run_here("diagnose", str(KEPT / f"{STALLED}.pcapng.gz"), "--what-if").stdout
    assert "What if: connection #1" in shown
    assert "tcp_timestamps=0" in shown
    assert "kernel." not in shown
    assert "…" not in shown


def test_no_setting_is_recommended_for_the_unknown_end_of_an_outage(tmp_path: Path) -> None:
    """A probe and two retransmissions of the last segment are lost, by their numbers."""
    drops = ("link.radio.forward.drops", "[36, 37, 38, 39, 40]")
    file, _ = captured(tmp_path, "linux", NO_STALL, drops, ("flow.transfer.bytes", "50 kB"))
    predicted = prediction(file)
    assert predicted["agrees"]
    texts = [one["text"] for one in predicted["advice"]]
    assert [text for text in texts if "sysctl" in text] == []
    assert texts[0].startswith("No setting would have helped for certain")
