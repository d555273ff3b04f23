"""The experiments of "Effect of Delays on TCP Performance"."""

from types import SimpleNamespace
from typing import cast

import pytest

from reproductions import failed, with_traces_swapped
from rtolab.experiments import delays2001
from rtolab.experiments.base import Bounds, Experiment, Variant
from rtolab.experiments.delays2001.gprs import DELAY_AT, off, still_recovering
from rtolab.experiments.delays2001.set_up import SYSTEMS, WINDOWS_98, WINDOWS_NT
from rtolab.experiments.measured import ExperimentRuns
from rtolab.experiments.reproduce import reproduce
from rtolab.run import run

ALL = {experiment.id: experiment for experiment in delays2001.EXPERIMENTS}


@pytest.mark.parametrize("experiment", delays2001.EXPERIMENTS, ids=lambda e: e.id)
def test_failed_checks_are_explained(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1)
    assert len(done.checks) == len(experiment.checks) > 0
    assert [check.name for check in done.checks if check.verdict == "fail" and not check.why] == []
    exact = [check.verdict for check in done.checks if check.kind == "exact"]
    assert exact == ["pass"] * 2 * (experiment.id == "delays2001/section-4.1")


@pytest.mark.parametrize(
    "experiment", [e for e in delays2001.EXPERIMENTS if e.alternatives], ids=lambda e: e.id
)
def test_other_choices_are_accepted(experiment: Experiment) -> None:
    for alternative in experiment.alternatives:
        done = reproduce(experiment, runs=1, seed=1, assume=alternative.set)
        assert len(done.checks) == len(experiment.checks)


def test_a_claim_about_one_of_two_systems_is_judged_on_the_nearer_one() -> None:
    bounds = Bounds(-1, 1)
    assert [off(value, bounds) for value in (-3.0, -1.0, 0.5, 1.5)] == [2.0, 0.0, 0.0, 0.5]
    assert off(0.5, Bounds(low=0.9)) == pytest.approx(0.4)
    done = reproduce(ALL["delays2001/fig3"], runs=1, seed=1)
    (last,) = (c for c in done.checks if c.name.startswith("Windows 98 or NT: last"))
    traces = done.measured.traces if done.measured else {}
    shares = [
        still_recovering(trace, trace.timeouts_from(DELAY_AT)[0])
        for trace in (traces[WINDOWS_98.key], traces[WINDOWS_NT.key])
    ]
    assert last.measured == max(shares) > min(shares)


def test_linux_figures_fail_when_the_traces_are_swapped() -> None:
    assert "fail" in with_traces_swapped(ALL["delays2001/fig8"])


def test_equal_times_are_no_difference() -> None:
    (difference,) = (c for c in ALL["delays2001/fig9"].checks if c.name.startswith("time, Linux"))
    alike = cast("ExperimentRuns", SimpleNamespace(median=lambda *_: 114.6))
    assert difference.measure(alike) == 0
    assert not difference.bounds[1].hold(0)


def test_an_ordinary_timer_is_no_aggressive_one() -> None:
    more = "timeouts in fast recovery, aggressive timer less K of 4"
    assert more in failed(reproduce(ALL["delays2001/section-4.2"], runs=1, seed=1))


def test_a_remedy_has_something_to_avoid() -> None:
    done = reproduce(ALL["delays2001/section-6b"], runs=1, seed=1)
    assert failed(done) == {"spurious fast retransmits that D-SACK avoids"}
    counted = {row.variant.key: row.measured for row in done.rows if row.measured}
    assert {"sack:rfc3517 @ D-SACK receiver", "sack:rfc6675 @ D-SACK receiver"} <= set(counted)


@pytest.mark.parametrize("variant", [*SYSTEMS, WINDOWS_NT], ids=lambda v: v.sender)
def test_a_search_varies_the_system_of_the_variant(variant: Variant) -> None:
    composed = variant.composed
    assert composed
    scenario = "gprs-reselection"
    system = run(scenario, sender=[variant.sender], seed=1, runs=1, trace=True)
    spelled = run(
        scenario, sender=[composed.policies], seed=1, runs=1, set=composed.set, trace=True
    )
    assert system.segments.drop("sender").equals(spelled.segments.drop("sender"))
