"""The outage study: small parts of it, on the simulator itself."""

import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import program
import rtolab
from guests import require_kernel
from rtolab.experiments import find
from rtolab.experiments.base import Experiment
from rtolab.experiments.outages import EXPERIMENTS, endless, guests, schedule, study
from rtolab.experiments.outages.policies import POLICIES
from rtolab.experiments.reproduce import Reproduction, reproduce

STUDY, SLOWER = EXPERIMENTS

FEW = 12
"""Outages of these tests."""


def small(experiment: Experiment, round_trip: float = 0.3) -> Reproduction:
    """The study at one round trip with few outages."""
    few = replace(
        experiment,
        variants=tuple(study.variant(policy, round_trip) for policy in POLICIES),
        tables=None,
        checks=(),
        figures=(),
    )
    return reproduce(few, seed=1, assume=schedule.timetable(FEW))


def test_the_studys_id_selects_both_parts() -> None:
    assert find(["outages"]) == list(EXPERIMENTS)
    assert find(["outages/slower-path"]) == [SLOWER]


def test_lengths_cover_the_range_evenly_and_breaks_are_long_enough() -> None:
    spans = schedule.schedule()
    lengths = sorted(length for _, length in spans)
    assert len(spans) == schedule.OUTAGES == 1000
    assert lengths[0] == pytest.approx(0.1, rel=0.01)
    assert lengths[-1] == pytest.approx(60, rel=0.01)
    assert lengths[500] == pytest.approx((0.1 * 60) ** 0.5, rel=0.02)
    for (at, length), (later, _) in pairwise(spans):
        assert later - at - length >= schedule.BREAK + 1.2 * length - 0.01


def test_the_key_figures_of_the_study() -> None:
    done = small(STUDY)
    assert done.measured is not None
    found: dict[str, dict[str, float]] = {}
    for policy in POLICIES:
        row = study.summary(study.outages_of(done.measured, policy, 0.3))
        found[policy.label] = {name: value for name, value in row.items() if value is not None}
    assert {label: row["open"] for label, row in found.items()} == dict.fromkeys(found, 0)
    doubling, capped = found["doubling to 120 s"], found["cap of 2 s"]
    assert capped["resume"] < 0.6 * doubling["resume"]
    assert capped["probes"] > 1.5 * doubling["probes"]
    assert found["path hint"]["resume"] < capped["resume"]
    assert found["path hint"]["probes"] == pytest.approx(doubling["probes"], rel=0.25)
    assert found["ICMP (LCD)"]["resume"] < doubling["resume"]


def test_karns_rule_without_back_off_starves() -> None:
    done = reproduce(SLOWER, seed=1)
    assert [check.verdict for check in done.checks] == ["pass"] * len(SLOWER.checks)


def test_a_run_shows_its_outages() -> None:
    result = rtolab.run("outage", sender=["sack", "sack+backoff:linear"])
    rows = result.outages
    assert rows.height == 2
    assert rows["length_s"].to_list() == [2.0, 2.0]
    assert rows.filter(pl.col("resume_s").is_null()).is_empty()
    assert rows.filter(pl.col("full_rate_s") < pl.col("resume_s")).is_empty()


THIN, ICMP, QUIC = guests.POLICIES[2], guests.POLICIES[4], guests.POLICIES[7]


@pytest.mark.parametrize("policy", [THIN, ICMP, QUIC], ids=lambda one: one.label)
def test_packets_show_the_same_resumptions_as_the_simulator(
    policy: guests.GuestPolicy, tmp_path: Path
) -> None:
    path = tmp_path / "path.toml"
    path.write_text(guests.scenario(policy, 0.3, routed=not policy.recipe))
    result = rtolab.run(path, sender=policy.sender, set=policy.set, trace=True)
    found = guests.resumptions(result, 0.3)
    table = result.outages
    assert [one.length_s for one in found] == pytest.approx(table["length_s"].to_list())
    assert [one.resume_s for one in found] == pytest.approx(table["resume_s"].to_list(), abs=1e-6)
    assert [one.probes for one in found] == table["probes"].to_list()


def test_outages_of_guests_cover_the_range_and_leave_time_to_resume() -> None:
    spans = guests.spans()
    assert len(spans) == 12
    assert (spans[0][1], spans[-1][1]) == (0.2, 25.0)
    for (at, length), (later, _) in pairwise(spans):
        assert later - at - length >= guests.BREAK + 1.2 * length - 0.01


def test_the_message_of_a_router_quotes_the_packet() -> None:
    packet = bytes(range(60))
    message = endless.unreachable(packet)
    kind, code, _, unused = struct.unpack("!BBHI", message[:8])
    assert (kind, code, unused, message[8:]) == (3, 1, 0, packet[:28])
    assert endless.checksum(message) == 0


def test_guests_of_the_study_need_the_virtual_clock(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.call(monkeypatch, "reproduce", "outages", "--on", "kernel") == 2
    assert "add --virtual" in capsys.readouterr().err


@pytest.mark.parametrize("policy", [THIN, ICMP], ids=lambda one: one.label)
def test_a_kernel_has_the_policy_of_the_engine(policy: guests.GuestPolicy) -> None:
    row = guests.measure(policy, 0.1, require_kernel(), seed=1)
    doubling = guests.measure(guests.POLICIES[1], 0.1, require_kernel(), seed=1)
    probes = [sum(one.probes for one in side) for side in (row.guest, row.engine, doubling.guest)]
    assert probes[0] == pytest.approx(probes[1], rel=0.1)
    assert probes[0] > 1.5 * probes[2]
    assert [one.resume_s is None for one in row.guest] == [False] * guests.OUTAGES
