"""Experiments with common runs have the same results as if each simulated all of its own."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from polars.testing import assert_frame_equal

from rtolab import run
from rtolab.experiments import EXPERIMENTS, find
from rtolab.experiments import reproduce as reproducing
from rtolab.experiments.sharing import FAMILIES, SharedRuns, families, is_order_free

reproduce = reproducing.reproduce

(TABLE1,) = find(["frto2002/table1"])
FIRST = replace(TABLE1, variants=TABLE1.variants[:4], checks=())
"""Four senders."""
SECOND = replace(TABLE1, variants=TABLE1.variants[2:], checks=())
"""Two of these, and two more."""


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The senders of each call of the simulator."""
    calls: list[Sequence[str]] = []

    def noted(*scenario: Any, sender: Sequence[str], **settings: Any) -> Any:
        calls.append(sender)
        return run(*scenario, sender=sender, **settings)

    monkeypatch.setattr(reproducing, "run", noted)
    return calls


def test_common_runs_are_simulated_once_with_the_same_results(
    simulated: list[Sequence[str]],
) -> None:
    alone = reproduce(SECOND, seed=3, runs=4)
    simulated.clear()
    shared = SharedRuns()
    reproduce(FIRST, seed=3, runs=5, shared=shared)
    together = reproduce(SECOND, seed=3, runs=4, shared=shared)
    senders = [variant.sender for variant in TABLE1.variants]
    assert simulated == [senders[:4], senders[4:]]
    assert together.rows == alone.rows
    for key, mine in alone.of.items():
        for table in ("every_connection", "timeouts", "links"):
            assert_frame_equal(getattr(together.of[key], table), getattr(mine, table))


@pytest.mark.parametrize(
    ("runs", "seed", "assume", "changes"),
    [
        pytest.param(6, 3, {}, {}, id="more runs"),
        pytest.param(5, 4, {}, {}, id="another seed"),
        pytest.param(5, 3, {"tcp.rto.min": "2 s"}, {}, id="another setting"),
        pytest.param(5, 3, {}, {"judges": ("eifel",)}, id="detectors"),
        pytest.param(5, 3, {}, {"windows": True}, id="windows"),
        pytest.param(5, 3, {}, {"digest": lambda result: result.links}, id="a digest"),
    ],
)
def test_other_runs_are_not_shared(
    simulated: list[Sequence[str]],
    *,
    runs: int,
    seed: int,
    assume: dict[str, str],
    changes: dict[str, Any],
) -> None:
    shared = SharedRuns()
    reproduce(FIRST, seed=3, runs=5, shared=shared)
    simulated.clear()
    other = replace(FIRST, **changes)
    reproduce(other, seed=seed, runs=runs, assume=assume, shared=shared)
    assert simulated == [[variant.sender for variant in FIRST.variants]]


@pytest.mark.parametrize(
    ("keys", "is_free"),
    [
        (("tcp.rto.min", "tcp.rto.max", "tcp.rtos"), True),
        (("tcp.rto", "tcp.rto.min"), False),
        (("link.w.stalls", "link.w.stalls[0].at"), False),
    ],
)
def test_settings_of_one_place_depend_on_their_order(keys: tuple[str, ...], is_free: bool) -> None:
    assert is_order_free(dict.fromkeys(keys, "1 s")) is is_free


def test_a_family_stays_together_in_its_order() -> None:
    (first, second, *_), *_ = FAMILIES
    lone = "frto2002/table1"
    assert families([second, lone, first, second]) == [[first, second], [lone]]


def test_a_family_has_experiments_of_one_scenario() -> None:
    known = {experiment.id: experiment for experiment in EXPERIMENTS}
    for family in FAMILIES:
        assert len({known[id_].scenario for id_ in family}) == 1, family


def cells(id_: str, *, quick: bool) -> dict[Any, int]:
    """The cells that an experiment would share, with its number of runs."""
    (experiment,) = find([id_])
    assumptions = {one.name: one.value for one in experiment.assumptions if one.is_key}
    if quick:
        assumptions |= experiment.quick_set
    how = reproducing._RunParameters(
        experiment, assumptions, 1, 1, reproducing._TotalProgress(None, 0), SharedRuns()
    )
    runs = reproducing.runs_of(experiment, None, quick=quick)
    found = [how._cell(one, {**assumptions, **one.set}) for one in experiment.variants]
    return dict.fromkeys((cell for cell in found if cell), runs)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family[0])
def test_each_member_of_a_family_shares_runs(family: tuple[str, ...]) -> None:
    kept: dict[Any, tuple[str, int]] = {}
    sharing = set()
    for id_ in family:
        for cell, runs in cells(id_, quick=False).items():
            first, count = kept.get(cell, ("", 0))
            if count >= runs:
                sharing |= {first, id_}
            else:
                kept[cell] = (id_, runs)
    assert sharing == set(family)


def test_a_digest_leaves_no_runs_to_others(simulated: list[Sequence[str]]) -> None:
    shared = SharedRuns()
    reproduce(replace(FIRST, digest=lambda result: result.links), seed=3, runs=5, shared=shared)
    simulated.clear()
    reproduce(SECOND, seed=3, runs=4, shared=shared)
    assert simulated == [[variant.sender for variant in SECOND.variants]]
