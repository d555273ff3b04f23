"""The outage study: small parts of it, on the simulator itself."""

from dataclasses import replace
from itertools import pairwise

import polars as pl
import pytest

import rtolab
from rtolab.experiments import find
from rtolab.experiments.base import Experiment
from rtolab.experiments.outages import EXPERIMENTS, schedule, study
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
