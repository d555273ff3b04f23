"""Alternatives to assumptions, and their effect on the verdicts."""

from dataclasses import replace
from typing import Any

import pytest

from handmade_tables import PUBLISHED, Simulator
from rtolab.experiments import find
from rtolab.experiments.base import (
    TIME,
    Alternative,
    Bounds,
    Check,
    Experiment,
    Value,
    Variant,
    fitted,
    from_paper,
    interpreted,
    our_own,
)
from rtolab.experiments.documents import document, reproduction
from rtolab.experiments.explanation import reasoned
from rtolab.experiments.measured import derived
from rtolab.experiments.reproduce import PAPERS, Reproduction, reproduce
from rtolab.experiments.summary import summary
from rtolab.stats import Estimate

(TABLE,) = find(["frto2002/table1"])


def below(limit: float, *, runs: int = 1, **parts: Any) -> Check:
    """A check that Regular SACK takes less than `limit` seconds."""
    return Check(
        f"time below {limit:g}",
        "order",
        lambda measured: measured.median("sack", TIME),
        {runs: Bounds(high=limit)},
        **parts,
    )


def with_alternatives(*checks: Check) -> Experiment:
    other = Alternative("an ACK each", {"receiver.ack_every": "1"}, "some receivers do")
    return replace(TABLE, checks=checks, alternatives=(other,), runs=100, quick_runs=10)


def slower_with_an_ack_each(simulator: Simulator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in whose results depend on the settings."""

    class Sensitive(Simulator):
        def __call__(self, path: Any, **requested: Any) -> Any:
            changed = dict(requested["set"])["receiver.ack_every"] == "1"
            self.medians = PUBLISHED | ({"sack": (120, 9, 57)} if changed else {})
            return super().__call__(path, **requested)

    stand_in = Sensitive({}, simulator.requested)
    monkeypatch.setattr("rtolab._rtolab.simulate", stand_in)


def test_alternatives_are_checked_on_fewer_runs(
    simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    slower_with_an_ack_each(simulator, monkeypatch)
    experiment = with_alternatives(below(100), below(200), below(100, runs=50), below(200, runs=50))
    done = reproduce(experiment, seed=1, sensitivity=True)
    assert [requested["seeds"] for requested in simulator.requested] == [
        range(1, 101),
        range(1, 21),
    ]
    assert done.verdict == "pass"
    (tried,) = done.alternatives
    assert [check.survival for check in tried.checks] == [
        *("changed", "kept", "undecided", "undecided"),
    ]
    assert [check.leaning for check in tried.checks] == ["fail", "pass", "fail", "pass"]
    assert [check.becomes() for check in tried.otherwise()] == [
        *("pass becomes fail", "pass leans to fail"),
    ]
    assert tried.tally() == (
        "1 of 4 checks keep their verdict, 1 change, "
        "2 cannot be decided by 20 runs (1 of them lean the same way)"
    )
    assert reproduction(experiment, document(done)).alternatives == done.alternatives


def test_without_sensitivity_nothing_else_is_run(simulator: Simulator) -> None:
    done = reproduce(with_alternatives(below(100)), seed=1)
    assert (len(simulator.requested), done.alternatives) == (1, ())


def test_an_alternative_replaces_a_variants_own_value(simulator: Simulator) -> None:
    experiment = with_alternatives(below(100))
    own = replace(experiment.variants[2], set={"receiver.ack_every": "3"})
    reproduce(replace(experiment, variants=(own,)), seed=1, runs=10, sensitivity=True)
    assert [dict(requested["set"])["receiver.ack_every"] for requested in simulator.requested] == [
        "3",
        "1",
    ]


def test_quick_has_its_own_runs_and_values(simulator: Simulator) -> None:
    experiment = replace(with_alternatives(below(100)), quick_set={"flow.transfer.bytes": "10 kB"})
    done = reproduce(experiment, seed=1, quick=True)
    (requested,) = simulator.requested
    assert (done.runs, requested["seeds"]) == (10, range(1, 11))
    assert dict(requested["set"])["flow.transfer.bytes"] == "10 kB"
    assert reproduce(experiment, seed=1, quick=True, runs=3).runs == 3


def test_variants_with_different_settings_run_separately(simulator: Simulator) -> None:
    one, other = TABLE.variants[:2]
    apart = replace(TABLE, variants=(one, replace(other, set={"tcp.mss": "100 B"})), checks=())
    reproduce(apart, seed=1, runs=3)
    found = [
        (requested["senders"], dict(requested["set"])["tcp.mss"])
        for requested in simulator.requested
    ]
    assert found == [([one.sender], "256 B"), ([other.sender], "100 B")]


def test_an_assumption_without_a_key_is_not_set(simulator: Simulator) -> None:
    experiment = replace(
        TABLE, assumptions=(*TABLE.assumptions, interpreted("load", "one", "simple"))
    )
    reproduce(experiment, seed=1, runs=3)
    assert "load" not in dict(simulator.requested[0]["set"])


ARITHMETIC = Experiment(
    id="dualrtt2004/table9",
    title="Efficiency",
    source="Table IX",
    checks=(
        *from_paper(
            derived("efficiency", "exact", {1: Bounds(0.5, 0.5)}),
            derived(
                "gain",
                "ratio",
                {1: Bounds(2)},
                not_reproducible=reasoned("no condition is printed"),
            ),
        ),
        *our_own(
            derived("gain", "ratio", {1: Bounds(1)}, not_reproducible=reasoned("but it does hold"))
        ),
    ),
    derive=lambda _: [
        Value("efficiency", "Efficiency", 32 / 64, 0.5),
        Value("gain", "Gain", Estimate(1.5, 1.2, 1.8)),
        Value("infinite", "Infinite", float("inf")),
    ],
)


def test_an_experiment_without_runs_has_verdicts(simulator: Simulator) -> None:
    done = reproduce(ARITHMETIC, seed=1)
    assert simulator.requested == []
    assert (done.runs, done.rows) == (1, ())
    assert [check.verdict for check in done.checks] == ["pass", "not reproducible", "pass"]
    assert (done.checks[1].why, done.checks[2].why) == ("no condition is printed", "")
    assert done.verdict == "pass"
    assert done.tally() == (
        "1 of 2 of the paper's checks pass, 1 of 1 ours, 1 not reproducible as printed"
    )
    written = document(done)
    assert [value["measured"] for value in written["derived"]] == [0.5, 1.5, None]
    assert reproduction(ARITHMETIC, written).derived[:2] == done.derived[:2]


def judged(*checks: Check) -> Reproduction:
    return reproduce(replace(ARITHMETIC, checks=checks), seed=1)


def test_one_failed_check_fails_an_experiment() -> None:
    passes, never, _ = ARITHMETIC.checks
    fails = replace(never, not_reproducible=None, failure_cause=reasoned("the queue is unknown"))
    assert judged().verdict == "nothing to judge"
    assert judged(never).verdict == "not reproducible"
    assert judged(never, passes).verdict == "pass"
    assert judged(never, passes, fails).verdict == "fail"
    assert judged(fails).checks[0].why == "the queue is unknown"


def test_the_summary_counts_checks_by_paper_and_kind(simulator: Simulator) -> None:
    checks = from_paper(below(100), *fitted("the rate", below(10)))
    table = reproduce(with_alternatives(*checks), seed=1, runs=3)
    lines = summary([table, reproduce(ARITHMETIC, seed=1)])
    assert [(line.paper, line.experiments, line.of_standing(*PAPERS)) for line in lines] == [
        *(("frto2002", 1, (1, 2)), ("dualrtt2004", 1, (1, 2))),
        ("", 2, (2, 4)),
    ]
    assert lines[0].of_kind("order") == (1, 2)
    assert lines[2].of_kind("ratio") == (0, 1)
    assert [lines[2].with_verdict(v) for v in ("pass", "fail", "not reproducible")] == [2, 1, 1]
    assert [lines[2].of_standing(one) for one in ("before", "after", "ours", "unstated")] == [
        *((2, 3), (0, 1), (1, 1), (0, 0)),
    ]
    assert len(summary([table])) == 1
    assert simulator.requested


def test_a_check_counts_as_the_papers_only_if_it_says_so() -> None:
    check = ARITHMETIC.checks[0]

    def standing(check: Check, *, ours: bool = False) -> str:
        experiment = replace(ARITHMETIC, checks=(check,), ours=ours)
        (judged,) = reproduce(experiment, seed=1).checks
        assert reproduction(experiment, document(reproduce(experiment, seed=1))).checks == (judged,)
        return judged.standing

    assert standing(replace(check, basis="unstated")) == "unstated"
    assert standing(*from_paper(check)) == "before"
    assert standing(*fitted("the packet's size", *from_paper(check))) == "after"
    assert standing(*our_own(check)) == "ours"
    # An experiment that the paper does not have checks nothing of the paper's.
    assert standing(*from_paper(check), ours=True) == "ours"


def test_many_points_are_a_sweep() -> None:
    points = tuple(Variant("sack", "SACK", f"{x}", x=float(x)) for x in range(13))
    assert replace(TABLE, variants=points).is_sweep
    assert not replace(TABLE, variants=points[:12]).is_sweep
    assert not find(["frto2002/table2"])[0].is_sweep
