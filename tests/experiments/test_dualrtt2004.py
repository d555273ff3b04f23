"""DualRTT's tables and figures, on the simulator itself."""

from dataclasses import replace

import numpy as np
import pytest

from reproductions import with_verdict
from rtolab.experiments.base import Experiment, Variant
from rtolab.experiments.dualrtt2004 import EXPERIMENTS, spikes
from rtolab.experiments.dualrtt2004.detection import KEPT
from rtolab.experiments.dualrtt2004.protection import AcksAfterTimeout
from rtolab.experiments.reproduce import reproduce

ALL = {experiment.id.split("/")[1]: experiment for experiment in EXPERIMENTS}
TRACES = [experiment for experiment in EXPERIMENTS if experiment.is_trace]
ARITHMETIC = [experiment for experiment in EXPERIMENTS if not experiment.variants]
SHORT = [ALL[name] for name in ("table4", "table5", "section-v-c-loss", "fig13", "fig14", "fig15")]
SHORT.append(ALL["congested"])

NOT_AS_PRINTED = {
    "table3": {"NRTT of 131 as defined, s"},
    "table5-phys": {"rows explained, 1500 B"},
    "eq6": {
        (
            "printed model, 1.5M - 31.2K: it falls as Table V "
            "(with ln; with any other logarithm the sign is the same)"
        ),
        "error of the printed model with ln / of a constant, Table V",
        "error of the printed model with log10 / of a constant, Table V",
    },
}
"""The checks on which the paper contradicts itself, by experiment."""

FAILS = {
    "table2": {"ACK at 52.704, measured - printed, ms"},
    "table5-phys": {"rows explained, 576 B"},
}
"""The checks that fail, by experiment."""


def with_sender(experiment: Experiment, sender: str) -> Experiment:
    """The experiment's checks on another sender's run, under the name of its first."""
    variant, *others = experiment.variants

    class Disguised(Variant):
        key = variant.key

    # The variant sets a value that the scenario has already, so that it is not merged with another.
    apart = {**variant.set, "duration": "77.9 s"}
    disguised = Disguised(sender, variant.label, set=apart)
    return replace(experiment, variants=(disguised, *others))


@pytest.mark.parametrize("experiment", TRACES + ARITHMETIC, ids=lambda e: e.id)
def test_exact_claims_are_reproduced_or_contradict_each_other(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1)
    name = experiment.id.split("/")[1]
    assert with_verdict(done, "fail") == FAILS.get(name, set())
    assert all(check.why for check in done.checks if check.verdict == "fail")
    assert "unstated" not in {check.standing for check in done.checks}
    contradicted = NOT_AS_PRINTED.get(name, set())
    assert with_verdict(done, "not reproducible") == contradicted
    assert all(row.measured is not None for row in done.rows), "a row without a measured value"


@pytest.mark.parametrize("experiment", SHORT, ids=lambda e: e.id)
def test_every_variant_runs_with_few_spikes(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1, assume=experiment.quick_set)
    assert len(done.rows) == len(experiment.variants) * len(experiment.metrics)
    assert all(row.measured is not None for row in done.rows)


@pytest.mark.parametrize(
    ("name", "undecided"),
    [
        ("table4", {"found of 300: 31.2K, 576 B", "found of 300: 31.2K, 1500 B"}),
        ("table5", {"of 300, at 0.6: 31.2K"}),
    ],
)
def test_few_spikes_decide_no_share_of_them(name: str, undecided: set[str]) -> None:
    done = reproduce(ALL[name], seed=1, quick=True)
    assert with_verdict(done, "undecidable") == undecided
    assert with_verdict(done, "fail") == set()
    assert f"{len(undecided)} cannot be decided by 1 run" in done.tally()


def test_the_document_counts_fewer_spikes() -> None:
    table = ALL["table4"]
    done = reproduce(table, runs=1, seed=1, assume=spikes.timetable(10))
    assert {spikes.spikes_of(runs) for runs in done.of.values()} == {10}


def test_spikes_follow_section_vii_b() -> None:
    times = np.array(spikes.schedule(300))
    between = times[1:, 0] - times[:-1].sum(axis=1)
    assert times[:, 1].min() >= 3
    assert times[:, 1].max() <= 15
    assert between.min() >= 19.99
    assert between.max() <= 40.01
    assert spikes.schedule(30) == spikes.schedule(300)[:30]


def test_thresholds_are_those_of_table_v_except_in_one_row() -> None:
    done = reproduce(ALL["table5"], runs=1, seed=1, assume=spikes.timetable(10))
    assert not any(name.startswith("smallest") for name in with_verdict(done, "fail"))
    assert with_verdict(done, "not reproducible") == {"smallest threshold that finds: 130K"}


def test_packets_of_the_headings_size_fail_table_v() -> None:
    few = spikes.timetable(10) | spikes.packet(1500)
    done = reproduce(ALL["table5"], runs=1, seed=1, assume=few)
    failed = [name for name in with_verdict(done, "fail") if name.startswith("smallest")]
    assert len(failed) >= 4


def test_another_sender_fails_checks() -> None:
    figure2, figure3, figure4 = (ALL[name] for name in ("fig2", "fig3", "fig4"))
    careful = reproduce(with_sender(figure2, "reno:careful"), runs=1, seed=1)
    assert "Reno: spurious fast retransmits" in with_verdict(careful, "fail")
    detects = reproduce(with_sender(figure2, "reno:no-bugfix+frto"), runs=1, seed=1)
    assert "Reno: held segments resent unneeded" in with_verdict(detects, "fail")
    reckless = reproduce(with_sender(figure3, "reno:no-bugfix"), runs=1, seed=1)
    assert "Reno, careful bugfix: fast retransmits" in with_verdict(reckless, "fail")
    plain = reproduce(with_sender(figure4, "reno:careful"), runs=1, seed=1)
    assert "Eifel, with timestamps: held segments resent unneeded" in with_verdict(plain, "fail")


def test_too_low_a_threshold_fails_figure_5() -> None:
    insensitive = replace(KEPT, set=dict(KEPT.set) | {"tcp.dualrtt.threshold": "0.025"})
    done = reproduce(
        replace(ALL["ex"], variants=(ALL["ex"].variants[0], insensitive)), runs=1, seed=1
    )
    assert with_verdict(done, "fail") == {f"{KEPT.title}: timeouts found spurious"}


def test_a_later_hold_fails_the_checks_of_times() -> None:
    later = {"link.path.forward.stalls.scripted": '[{ at = "30.9 s", for = "13 s" }]'}
    done = reproduce(ALL["fig2"], runs=1, seed=1, assume=later)
    assert "Reno: ACK of the original, s" in with_verdict(done, "fail")


@pytest.mark.slow
def test_without_spikes_no_sender_beats_reno() -> None:
    without_spikes = {
        "flow.mobile.access.forward.stalls.random.good": '{ uniform = ["200 s", "400 s"] }'
    }
    done = reproduce(ALL["fig14"], runs=20, seed=1, assume=without_spikes)
    failed = with_verdict(done, "fail")
    assert {name for name in failed if name.startswith("Eifel / Reno")}


def test_only_the_last_round_trip_confuses_a_queue_with_a_hold() -> None:
    acks = AcksAfterTimeout(needed=True, nrtt=0.5, smallest=0.5, last=1.5)
    assert acks.is_called(0.6, "last")
    assert not acks.is_called(0.6, "smallest")
    at_the_threshold = replace(acks, nrtt=0.9)
    assert not at_the_threshold.is_called(0.6, "last")
