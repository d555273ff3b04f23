"""DualRTT's figures, on the simulator itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtolab.experiments.base import Experiment, Variant
from rtolab.experiments.dualrtt2004 import EXPERIMENTS
from rtolab.experiments.reproduce import Reproduction, reproduce

FIG2, FIG3 = EXPERIMENTS


def with_sender(experiment: Experiment, sender: str) -> Experiment:
    """The experiment's checks on another sender's run, under the name of its own."""
    (variant,) = experiment.variants

    class Disguised(Variant):
        key = variant.key

    disguised = Disguised(sender, variant.label)
    return replace(experiment, variants=(disguised,))


def failed(done: Reproduction) -> list[str]:
    return [check.name for check in done.checks if check.verdict == "fail"]


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.id)
def test_a_figure_comes_out_as_printed(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1)
    assert failed(done) == []
    assert done.verdict == "pass"
    assert all(row.measured is not None for row in done.rows), "endless runs count, too"


def test_a_sender_that_does_otherwise_turns_checks_red() -> None:
    careful = reproduce(with_sender(FIG2, "reno:careful"), runs=1, seed=1)
    assert "Reno: fast retransmits in vain" in failed(careful)
    detects = reproduce(with_sender(FIG2, "reno:no-bugfix+frto"), runs=1, seed=1)
    assert "Reno: held segments resent in vain" in failed(detects)
    reckless = reproduce(with_sender(FIG3, "reno:no-bugfix"), runs=1, seed=1)
    assert failed(reckless) == ["Reno, careful bugfix: fast retransmits"]


def test_another_hold_turns_times_red() -> None:
    later = {"link.path.forward.stalls.scripted": '[{ at = "30.9 s", for = "13 s" }]'}
    done = reproduce(FIG2, runs=1, seed=1, assume=later)
    assert "Reno: ACK of the original, s" in failed(done)
