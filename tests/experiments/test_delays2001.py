"""The experiments of "Effect of Delays on TCP Performance"."""

import pytest

from rtolab.experiments import delays2001
from rtolab.experiments.base import Experiment
from rtolab.experiments.measured import Measured
from rtolab.experiments.reproduce import reproduce
from rtolab.experiments.trace import Trace

ALL = {experiment.id: experiment for experiment in delays2001.EXPERIMENTS}


@pytest.mark.parametrize("experiment", delays2001.EXPERIMENTS, ids=lambda e: e.id)
def test_what_fails_is_explained(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1)
    assert [check.name for check in done.checks if check.verdict == "fail" and not check.why] == []
    assert {check.verdict for check in done.checks if check.kind == "exact"} <= {"pass"}


@pytest.mark.parametrize(
    "experiment", [e for e in delays2001.EXPERIMENTS if e.alternatives], ids=lambda e: e.id
)
def test_other_choices_are_accepted(experiment: Experiment) -> None:
    for alternative in experiment.alternatives:
        done = reproduce(experiment, runs=1, seed=1, assume=alternative.set)
        assert len(done.checks) == len(experiment.checks)


def test_linux_figures_fail_when_the_traces_are_swapped() -> None:
    figure = ALL["delays2001/fig8"]
    done = reproduce(figure, runs=1, seed=1)
    traces = [Trace.of(runs.result, runs.first) for runs in done.of.values()]
    swapped = dict(zip(done.of, reversed(traces), strict=True))
    measured = Measured(figure, 1, done.of, swapped)
    assert "fail" in {check.judge(measured).verdict for check in figure.checks}
