"""The experiments of "The TCP Minimum RTO Revisited"."""

from dataclasses import replace

import pytest

from reproductions import failed
from rtolab.experiments import minrto2007
from rtolab.experiments.base import Experiment, Variant
from rtolab.experiments.minrto2007.causes import DELAYED, Connection, causes
from rtolab.experiments.minrto2007.setup import LINUX, LOWER, MECHANISM, RESYNC, SACK
from rtolab.experiments.minrto2007.steps import trains
from rtolab.experiments.minrto2007.transfers import FEWER_SPURIOUS
from rtolab.experiments.reproduce import reproduce

ALL = {experiment.id.split("/")[1]: experiment for experiment in minrto2007.EXPERIMENTS}
TRACES = [e for e in minrto2007.EXPERIMENTS if e.is_trace and e.id != "minrto2007/concl"]
STATISTICS = [e for e in minrto2007.EXPERIMENTS if e.variants and not e.is_trace]
SHORT = {"duration": "1 s"}


def swapped(experiment: Experiment, sender: str, by: str) -> Experiment:
    """The experiment with one of its senders replaced by another one under the old name."""

    def disguised(variant: object) -> object:
        if getattr(variant, "sender", "") != sender:
            return variant
        key = variant.key  # type: ignore[attr-defined]
        other = type("Disguised", (type(variant),), {"key": key})
        return other(**(vars(variant) | {"sender": by}))

    variants = tuple(disguised(variant) for variant in experiment.variants)
    return replace(experiment, variants=variants)  # type: ignore[arg-type]


WRONG = {
    "minrto2007/fig2": {
        "C(f) by equation 2, as printed (62.5) (about 62.5 is read as a tenth either way)",
        "RTO_min / T(ACK Arr), measured, is not above equation 3's bound",
    },
    "minrto2007/cost": {"C(f), mean of the mechanism less that of the floor of Linux"},
}
"""The claims that measurements contradict."""


@pytest.mark.parametrize("experiment", TRACES, ids=lambda e: e.id)
def test_exact_claims_are_reproduced(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1)
    assert failed(done) == WRONG.get(experiment.id, set())
    assert all(check.why for check in done.checks if check.verdict == "fail")


@pytest.mark.parametrize("experiment", STATISTICS, ids=lambda e: e.id)
def test_every_variant_runs(experiment: Experiment) -> None:
    done = reproduce(experiment, runs=1, seed=1, assume=SHORT)
    assert done.of.keys() == {variant.key for variant in experiment.variants}
    assert len(done.of) == len(experiment.variants), "every variant has a key of its own"


@pytest.mark.parametrize(
    "experiment", [e for e in minrto2007.EXPERIMENTS if e.alternatives], ids=lambda e: e.id
)
def test_other_choices_are_accepted(experiment: Experiment) -> None:
    first = replace(experiment, variants=experiment.variants[:1], checks=(), derive=None)
    for alternative in experiment.alternatives:
        done = reproduce(first, runs=1, seed=1, assume=SHORT | dict(alternative.set))
        assumed = {assumption.name: assumption.value for assumption in done.assumptions}
        assert assumed.items() >= dict(alternative.set).items()


def test_failed_checks_are_explained() -> None:
    done = [reproduce(ALL[name], runs=1, seed=1) for name in ("table2", "concl")]
    fails = [check for each in done for check in each.checks if check.verdict == "fail"]
    assert fails
    assert all(check.why for check in fails), fails


def test_no_floor_gains_more_than_the_mechanism() -> None:
    at_4 = tuple(v for v in ALL["fig7a"].variants if v.condition.endswith("PER 4 %"))
    few = replace(ALL["fig7a"], variants=at_4, checks=(), derive=None)
    done = reproduce(few, runs=5, seed=1, assume={"duration": "20 s"})
    medians = {
        row.variant.label: row.measured.median
        for row in done.rows
        if row.metric.name == "goodput" and row.measured
    }
    assert medians["None"] > medians["Proposed"] > medians["IETF"]
    assert medians["Solaris"] > medians["IETF"]


def floored(experiment: Experiment, floor: Variant) -> Experiment:
    """The experiment with a plain floor in the mechanism's place, under its name."""
    variants = tuple(
        replace(one, runs=floor.sender, set=dict(one.set) | dict(floor.set))
        if one.sender == MECHANISM.sender
        else one
        for one in experiment.variants
    )
    return replace(experiment, variants=variants)


def test_a_lower_floor_is_not_the_mechanism() -> None:
    """It has the mechanism's gains over systems' floors, but not its protection."""
    at_4 = tuple(v for v in ALL["fig7a"].variants if v.condition.endswith("PER 4 %"))
    few = replace(ALL["fig7a"], variants=at_4, checks=(FEWER_SPURIOUS,), derive=None)
    assume = {"duration": "10 s"}
    assert not failed(reproduce(few, runs=5, seed=1, assume=assume))
    lower = reproduce(floored(few, LOWER), runs=5, seed=1, assume=assume)
    assert failed(lower) == {FEWER_SPURIOUS.name}


def test_a_lower_floor_saves_nothing_over_itself() -> None:
    pages = floored(ALL["table2"], LOWER)
    over = "mechanism over plain floor 180 ms, %, low end of the interval"
    assert over in failed(reproduce(pages, runs=10, seed=1, assume={"duration": "20 s"}))


def test_the_steps_choose_the_packets_whose_cost_is_compared() -> None:
    """The timeout itself does not: with R under all packets, the others cost more than nothing."""
    done = reproduce(floored(ALL["cost"], Variant(SACK, "", "", {"tcp.rto.min": "500 ms"})), seed=1)
    (others,) = [check for check in done.checks if check.name == "C(f), otherwise"]
    assert others.measured is not None
    assert others.measured > 10


def test_a_sender_without_the_mechanism_fails_checks() -> None:
    plain = swapped(ALL["fig6b"], MECHANISM.sender, LINUX.sender)
    done = reproduce(plain, runs=1, seed=1, assume={"tcp.rto.min": "200 ms"})
    assert failed(done) == {"timeouts: Proposed"}


def test_a_resynchronised_parity_closes_the_gap() -> None:
    alone = replace(ALL["gap"], variants=(MECHANISM,), checks=ALL["gap"].checks[:1])
    done = reproduce(swapped(alone, MECHANISM.sender, RESYNC.sender), runs=1, seed=1)
    assert failed(done) == {"spurious timeouts with the paper's parity"}


def test_a_sender_that_does_not_follow_the_steps_fails() -> None:
    done = reproduce(swapped(ALL["fig3"], MECHANISM.sender, LINUX.sender), runs=1, seed=1)
    assert "packets whose timeout is not what the steps say" in failed(done)


def test_a_longer_round_trip_moves_the_ack_of_figure_6() -> None:
    done = reproduce(ALL["fig6a"], runs=1, seed=1, assume={"link.wireless.delay": "9 ms"})
    assert failed(done) == {"ACK after the timeout, s: Linux, floor 200 ms"}


def test_a_fine_clock_fails_figure_1() -> None:
    fine = {"tcp.rto.granularity": "10 ms", "tcp.timestamp.tick": "10 ms"}
    done = reproduce(ALL["fig1a"], runs=1, seed=1, assume=fine)
    assert failed(done) == {"smallest RTO in s", "C(f)"}


def test_trains_take_the_step_of_their_length() -> None:
    done = reproduce(ALL["fig4"], runs=1, seed=1)
    state = 1
    for train in trains(done.of[MECHANISM.key]):
        odd = len(train.seqs) % 2 == 1
        assert train.step == {(1, False): 2, (1, True): 3, (2, False): 4, (2, True): 5}[state, odd]
        state = 3 - state if odd else state
        assert train.state == state


def test_the_timeout_of_a_lone_packet_covers_the_delayed_ack() -> None:
    done = reproduce(ALL["fig6a"], runs=1, seed=1)
    assert causes(done.of[LINUX.key]) == {DELAYED: 1}


def test_a_second_packet_counts_as_lost_from_its_transmission_on() -> None:
    sent = Connection(ends={0: 100, 100: 200}, lost={100: 5.0})
    assert sent.has_lost_after(0, 5.1)
    assert not sent.has_lost_after(0, 4.9)
    assert not sent.has_lost_after(100, 9.0)
