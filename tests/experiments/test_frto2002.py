"""The F-RTO report's sections, claims and fairness, and the false detections of its Table 3."""

import pytest

from reproductions import failed, with_traces_swapped
from rtolab.experiments import frto2002
from rtolab.experiments.base import Experiment
from rtolab.experiments.reproduce import reproduce

ALL = {experiment.id: experiment for experiment in frto2002.EXPERIMENTS}
NEW = (*frto2002.BURSTS, *frto2002.SECTIONS, *frto2002.FAIRNESS, *frto2002.CLAIMS)
TRACES = [experiment for experiment in NEW if experiment.is_trace]
STATISTICS = [experiment for experiment in NEW if not experiment.is_trace]
STATISTICS += frto2002.CHANNEL


@pytest.mark.parametrize("experiment", TRACES, ids=lambda e: e.id)
def test_a_packet_trace_passes_the_reports_checks(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1)
    assert len(done.checks) > 0
    assert failed(done) == set()


@pytest.mark.parametrize("experiment", STATISTICS, ids=lambda e: e.id)
def test_few_runs_are_accepted_and_decide_no_statistic(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=2, seed=1)
    assert len(done.checks) == len(experiment.checks)
    assert done.checks or experiment.note.startswith("not reproducible")
    assert {check.verdict for check in done.checks} <= {"pass", "undecidable"}
    assert len(done.rows) == len(experiment.variants) * len(experiment.metrics)


def test_bursty_losses_deceive_eifel_and_not_the_others() -> None:
    done = reproduce(ALL["frto2002/table3x"], runs=100, seed=1)
    rows = (row for row in done.rows if row.metric.name == "false_detections")
    false = {row.variant.key: row.measured for row in rows if row.measured}
    assert false["sack+eifel"].median >= 3
    assert false["sack+eifel @ every timestamp echoed"].max <= 1
    assert false["sack"].max == 0


def test_a_claim_fails_when_the_traces_are_swapped() -> None:
    assert with_traces_swapped(ALL["frto2002/claim-b"]) == {"fail"}
