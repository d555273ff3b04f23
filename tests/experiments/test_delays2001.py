"""The experiments of "Effect of Delays on TCP Performance"."""

import pytest

from reproductions import with_traces_swapped
from rtolab.experiments import delays2001
from rtolab.experiments.base import Experiment, Variant
from rtolab.experiments.delays2001.set_up import SYSTEMS, WINDOWS_NT
from rtolab.experiments.reproduce import reproduce
from rtolab.run import run

ALL = {experiment.id: experiment for experiment in delays2001.EXPERIMENTS}


@pytest.mark.parametrize("experiment", delays2001.EXPERIMENTS, ids=lambda e: e.id)
def test_failed_checks_are_explained(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1)
    assert len(done.checks) == len(experiment.checks) > 0
    assert [check.name for check in done.checks if check.verdict == "fail" and not check.why] == []
    exact = [check.verdict for check in done.checks if check.kind == "exact"]
    assert exact == ["pass"] * (experiment.id == "delays2001/section-4.1")


@pytest.mark.parametrize(
    "experiment", [e for e in delays2001.EXPERIMENTS if e.alternatives], ids=lambda e: e.id
)
def test_other_choices_are_accepted(experiment: Experiment) -> None:
    for alternative in experiment.alternatives:
        done = reproduce(experiment, runs=1, seed=1, assume=alternative.set)
        assert len(done.checks) == len(experiment.checks)


def test_linux_figures_fail_when_the_traces_are_swapped() -> None:
    assert "fail" in with_traces_swapped(ALL["delays2001/fig8"])


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
