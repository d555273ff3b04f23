"""The detector study: small parts of it, on the simulator itself."""

import importlib.util
import json
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace
from typing import cast

import polars as pl
import pytest
from rich.console import Console

from rtolab import _rtolab
from rtolab.campaign import Settings, key
from rtolab.experiments import find
from rtolab.experiments.base import Cell, Check, Experiment, Table, Variant
from rtolab.experiments.detectors import EXPERIMENTS, carriers, study
from rtolab.experiments.detectors.scores import SENDERS, Score, digest, scores
from rtolab.experiments.documents import document, reproduction
from rtolab.experiments.dualrtt2004.model import GRID
from rtolab.experiments.dualrtt2004.spikes import SPIKES, schedule, spikes_of, timetable
from rtolab.experiments.measured import ExperimentRuns
from rtolab.experiments.reproduce import Reproduction, reproduce
from rtolab.result import Result
from rtolab.stats import Estimate
from rtolab.tables import reproduced as reproduced_tables

STUDY, LOSS, REORDERING, ACK_LOSS, RECOVERIES = EXPERIMENTS
PASSIVE = (STUDY, LOSS, REORDERING, ACK_LOSS)
"""The parts in which detectors watch."""

CORNERS = ((62_400, 0.2, 576), (1_500_000, 0.1, 1500))
"""The configurations that these tests run."""


def small(experiment: Experiment, spikes: int = 4, *, jobs: int | None = None) -> Reproduction:
    """The experiment in two configurations."""
    places = [(f"{bandwidth} bit/s", f"{delay:g} s") for bandwidth, delay, _ in CORNERS]
    sizes = {carriers.network(where)["tcp.mss"] for where in CORNERS}

    def here(variant: Variant) -> bool:
        place = (variant.set["link.path.rate"], variant.set["link.path.delay"])
        return place in places and variant.set["tcp.mss"] in sizes

    few = replace(
        experiment,
        variants=tuple(filter(here, experiment.variants)),
        derive=None,
        checks=(),
        figures=(),
    )
    return reproduce(few, seed=1, jobs=jobs, assume=timetable(spikes))


def table(done: Reproduction, caption: str) -> Table:
    (found,) = [table for table in done.tables if table.caption.startswith(caption)]
    return found


def row(done: Reproduction, caption: str, detector: str) -> tuple[Cell, ...]:
    (found,) = [row for row in table(done, caption).rows if row[0] == detector]
    return found[1:]


def test_the_studys_id_selects_all_its_parts() -> None:
    assert find(["detectors/study"]) == list(EXPERIMENTS) == find(["detectors"])
    assert find(["detectors/study/loss"]) == [LOSS]


def test_every_detector_has_a_sender_in_every_configuration() -> None:
    assert len(GRID) * SPIKES == 50_400
    parts = (carriers.PASSIVE, carriers.FORWARD, tuple(carriers.PART_OF))
    assert sorted(name for part in parts for name in part) == sorted(carriers.DETECTORS)
    for experiment in PASSIVE:
        judged = [
            (variant.set["link.path.rate"], variant.set["link.path.delay"], variant.set["tcp.mss"])
            for variant in experiment.variants
            if variant.sender == carriers.CARRIER
        ]
        assert len(set(judged)) == len(judged) == len(GRID)
        assert len(experiment.variants) == len(GRID) * (1 + len(carriers.FORWARD))
        assert len({variant.key for variant in experiment.variants}) == len(experiment.variants)
        assert experiment.ours


def test_without_losses_nothing_is_genuine_and_eifel_finds_everything() -> None:
    done = small(STUDY)
    said = {str(row[0]): row[2:] for row in table(done, "Chains of spurious").rows}
    assert set(said) == set(carriers.DETECTORS)
    spurious = sum(count for count in said["eifel"] if isinstance(count, int))
    assert spurious >= 8
    assert all(sum(said[name]) == spurious for name in carriers.PASSIVE)  # type: ignore[arg-type]
    assert said["eifel"] == (spurious, 0, 0, 0)
    assert said["frto"][0] > 0, "F-RTO watches a sender that takes its forward step"  # type: ignore[operator]
    assert {score.genuine.height for score in scores(done.measured).values()} == {0}  # type: ignore[arg-type]


def test_a_user_defined_detector_is_one_more_row(monkeypatch: pytest.MonkeyPatch) -> None:
    own = {"name": "early", "about": "", "source": ""}
    known = [*_rtolab.detectors(), own]
    monkeypatch.setattr(_rtolab, "detectors", lambda: known)
    spec = importlib.util.find_spec(carriers.__name__)
    assert spec and spec.loader  # noqa: PT018
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    assert (*carriers.PASSIVE, "early") == again.PASSIVE
    assert "early" in again.carrier(CORNERS[0]).judges
    assert again.sender_of("early") == carriers.CARRIER


def test_the_first_timeout_decides_a_chain_and_those_before_the_first_spike_do_not_count() -> None:
    begin, _ = schedule(1)[0]
    rows = [
        # at, seq, truth, verdict
        (1.0, 1, "spurious", "spurious"),
        (begin + 2, 1001, "genuine", "genuine"),
        (begin + 4, 1001, "spurious", "genuine"),
        (begin + 9, 2001, "spurious", "spurious"),
    ]
    verdicts = pl.DataFrame(rows, schema=["at_s", "seq", "truth", "verdict"], orient="row")
    common = {"run": 0, "end": "sender", "kind": "timeout", "delay_s": 0.5}
    common |= {"detector": "eifel", "sender": carriers.CARRIER}
    verdicts = verdicts.with_columns(**{name: pl.lit(value) for name, value in common.items()})
    kept = digest(cast("Result", SimpleNamespace(verdicts=verdicts)))
    assert kept["spurious"].to_list() == [False, True]
    assert kept["verdict"].to_list() == ["genuine", "spurious"]
    elsewhere = verdicts.with_columns(sender=pl.lit("sack+frto+none"))
    assert digest(cast("Result", SimpleNamespace(verdicts=elsewhere))).is_empty()


def test_tables_survive_a_round_trip_through_the_document() -> None:
    done = small(LOSS)
    written = json.loads(json.dumps(document(done)))
    assert reproduction(done.experiment, written).tables == done.tables
    shown = Console(width=200, record=True, file=StringIO())
    shown.print(reproduced_tables.reproduction(done))
    assert "dsack:causes" in shown.export_text()


def test_detectors_with_a_forward_step_are_blind_on_the_common_carrier() -> None:
    lone = replace(carriers.carrier(CORNERS[0]), judges=("eifel", "frto"))
    every = lambda result: result.verdicts  # noqa: E731
    few = replace(STUDY, variants=(lone,), derive=None, tables=None, checks=(), digest=every)
    done = reproduce(few, seed=1, assume=timetable(2))
    said = done.of[lone.key].digest
    frto = said.filter(said["detector"] == "frto")
    assert set(frto["verdict"]) == {"blind"}
    assert set(frto["why"]) == {"the sender did otherwise"}


@pytest.mark.parametrize("experiment", [LOSS, ACK_LOSS], ids=lambda e: e.id)
def test_the_number_of_threads_changes_nothing(experiment: Experiment) -> None:
    one, two = small(experiment, 2, jobs=1), small(experiment, 2, jobs=2)
    assert one.tables == two.tables


def test_variants_give_the_same_results_when_run_together() -> None:
    few = replace(STUDY, variants=STUDY.variants[: 8 * 12], derive=None, checks=(), figures=())
    one, two = (reproduce(few, seed=1, jobs=jobs, assume=timetable(1)) for jobs in (1, 2))
    assert one.tables == two.tables


def test_a_check_beside_a_table_of_means_says_that_it_is_of_medians() -> None:
    (experiment,) = find(["detectors/study/recoveries"])
    shorter = {"flow.transfer.bytes": "50 kB"}
    variants = tuple(replace(one, set={**one.set, **shorter}) for one in experiment.variants)
    done = reproduce(replace(experiment, variants=variants), seed=1, runs=2)
    assert {table.caption.partition(": ")[2][:15] for table in done.tables} == {"means of 2 runs"}
    assert {check.statistic for check in done.checks} == {"medians"}
    assert "(medians; 95 %: " in done.checks[0].measured_text()
    written = json.loads(json.dumps(document(done)))
    assert reproduction(done.experiment, written).checks == done.checks
    once = reproduce(done.experiment, seed=1, runs=1)
    assert {check.statistic for check in once.checks} == {""}


def test_losses_are_genuine_and_eifel_calls_none_spurious() -> None:
    done = small(LOSS, 8)
    found, genuine, nothing, blind = row(done, "Chains of genuine", "eifel")[1:]
    assert (found, nothing, blind) == (0, 0, 0)
    assert genuine > 0  # type: ignore[operator]


def test_replacing_a_detector_changes_only_its_row() -> None:
    disguised = {"dualrtt:0.6": "dualrtt:0.01"}

    def swapped(variant: Variant) -> Variant:
        return replace(variant, judges=tuple(disguised.get(name, name) for name in variant.judges))

    cells = {name: row(small(STUDY), "DualRTT by", name) for name in ("0.6", "0.1")}
    few = small(replace(STUDY, variants=tuple(map(swapped, STUDY.variants))))
    assert row(few, "DualRTT by", "0.6")[0] is None, "no detector has this name any more"
    assert row(few, "DualRTT by", "0.1") == cells["0.1"]
    assert cells["0.6"][0] is not None


def test_packets_that_are_late_are_not_lost() -> None:
    done = small(REORDERING)
    said = row(done, "Chains of spurious", "eifel")
    assert sum(said[1:]) > 0  # type: ignore[arg-type]
    assert {score.genuine.height for score in scores(done.measured).values()} == {0}  # type: ignore[arg-type]


def test_when_all_experiments_run_the_study_has_a_tenth_of_its_spikes() -> None:
    assert STUDY.whole_set == timetable(SPIKES // 10)
    named, among_all = Settings(), Settings(whole=True)
    assert key(STUDY, named) != key(STUDY, among_all)
    assert key(LOSS, named) == key(LOSS, among_all), (
        "this part has the same key, so its record is used"
    )
    lone = replace(STUDY, variants=STUDY.variants[:1], derive=None, tables=None, checks=())
    shorter = replace(lone, whole_set=timetable(2))
    done = reproduce(shorter, seed=1, whole=True)
    assert spikes_of(done.of[lone.variants[0].key]) == 2


@pytest.mark.parametrize("experiment", PASSIVE, ids=lambda e: e.id)
def test_detectors_that_find_nothing_fail(
    experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are never wrong about a genuine timeout, so TMS alone does not notice them."""
    rows = pl.DataFrame({"spike": [1, 2], "spurious": [True, False], "verdict": ["genuine"] * 2})
    dead = {name: Score(name, rows) for name in SENDERS}
    monkeypatch.setattr(study, "scores", lambda _measured: dead)
    judged = [check for check in experiment.checks if check.name.startswith("SMT, ")]
    alone = [check for check in judged if " - " not in check.name]
    missed = [check.name for check in alone if not holds(check)]
    assert missed == [check.name for check in alone]
    wary = {check.name.split()[1] for check in experiment.checks if check.name.startswith("TMS, ")}
    wary = {name for name in wary if f"TMS, {name}" in {check.name for check in experiment.checks}}
    assert wary <= {check.name.split()[1] for check in alone}


def holds(check: Check) -> bool:
    """Is what the check measures, without any runs, within its bounds?"""
    found = check.measure(cast("ExperimentRuns", None))
    return isinstance(found, Estimate) and check.bounds[1].hold(found.value)
