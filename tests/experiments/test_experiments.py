import json
import sys
import tomllib
from dataclasses import replace
from importlib import import_module
from typing import Any

import polars as pl
import pytest

import program
from handmade_tables import Outcome, Simulator, Tape, held_window, repetitions, tables
from reproductions import failed, set_in
from rtolab import Error, _rtolab
from rtolab.experiments import EXPERIMENTS, PACKAGES, find
from rtolab.experiments.base import Bounds, Check, Experiment
from rtolab.experiments.documents import document, reproduction
from rtolab.experiments.measured import ExperimentRuns, with_variant
from rtolab.experiments.reproduce import Reproduction, reproduce
from rtolab.experiments.trace import Trace
from rtolab.result import Result

BY_ID = {experiment.id: experiment for experiment in EXPERIMENTS}
TABLES = [BY_ID[f"frto2002/table{number}"] for number in (1, 2, 3)]
FIGURES = [BY_ID[f"frto2002/fig{number}"] for number in (1, 2, 3, 4)]


def medians(experiment: Experiment) -> dict[str, tuple[float, float, float]]:
    """The published medians, or the expected ones where only chance explains the published ones."""
    found = {
        variant.sender: tuple(
            experiment.published[variant.key, name] for name in ("time", "lost", "rexmits")
        )
        for variant in experiment.variants
        if not variant.condition
    }
    if experiment.id == "frto2002/table2":
        found["newreno+eifel"] = (87.0, 38, 27)
    return found  # type: ignore[return-value]


@pytest.fixture
def simulator(monkeypatch: pytest.MonkeyPatch) -> Simulator:
    return Simulator.installed(monkeypatch)


def run(simulator: Simulator, experiment: Experiment, runs: int = 300, **how: Any) -> Reproduction:
    if not experiment.is_trace and not simulator.medians:
        simulator.medians = medians(experiment)
    return reproduce(experiment, runs=runs, seed=1, **how)


@pytest.mark.parametrize("experiment", TABLES, ids=lambda e: e.id)
def test_the_published_table_passes_its_own_checks(
    simulator: Simulator, experiment: Experiment
) -> None:
    done = run(simulator, experiment)
    assert failed(done) == set()
    assert done.verdict == "pass"


SWAPPED = [
    ("frto2002/table1", ("sack", "sack+frto"), "time, Regular / F-RTO, SACK"),
    ("frto2002/table1", ("newreno", "newreno+frto"), "rexmits, Regular / F-RTO, NewReno"),
    ("frto2002/table1", ("sack+eifel", "sack+frto"), "lost, F-RTO - Eifel, SACK"),
    ("frto2002/table2", ("sack", "newreno"), "time, NewReno / SACK, Regular"),
    ("frto2002/table2", ("sack", "sack+eifel"), "time, Eifel / Regular, SACK, 10 % loss"),
    ("frto2002/table3", ("sack", "sack+eifel"), "time, Eifel / Regular, SACK"),
]


@pytest.mark.parametrize(("id_", "pair", "check"), SWAPPED)
def test_swapped_senders_fail_checks(
    simulator: Simulator, id_: str, pair: tuple[str, str], check: str
) -> None:
    simulator.medians = medians(BY_ID[id_])
    found, (one, other) = simulator.medians, pair
    found[one], found[other] = found[other], found[one]
    done = run(simulator, BY_ID[id_])
    assert check in failed(done)
    assert done.verdict == "fail"


@pytest.mark.parametrize("experiment", FIGURES, ids=lambda e: e.id)
def test_a_trace_as_the_report_describes_it_passes(
    simulator: Simulator, experiment: Experiment
) -> None:
    done = run(simulator, experiment)
    assert failed(done) == set()
    assert done.runs == 1


@pytest.mark.parametrize("experiment", FIGURES[1:], ids=lambda e: e.id)
def test_swapped_traces_fail_checks(simulator: Simulator, experiment: Experiment) -> None:
    swapped = {"sack": "sack+frto", "sack+frto": "sack"}
    variants = tuple(replace(v, sender=swapped[v.sender]) for v in experiment.variants)
    done = run(simulator, experiment)
    traces = {
        v.key: Trace.of(w.result, w.first) for v, w in zip(variants, located(done), strict=True)
    }
    measured = ExperimentRuns(experiment, 1, {}, traces)
    checks = [check for check in experiment.checks if "did not complete" not in check.name]
    verdicts = {check.judge(measured).verdict for check in checks}
    assert "fail" in verdicts


def located(done: Reproduction) -> list[Any]:
    return [done.of[variant.key] for variant in done.experiment.variants]


def test_an_unfinished_transfer_fails_the_experiment(simulator: Simulator) -> None:
    experiment = BY_ID["frto2002/table1"]
    simulator.medians = medians(experiment)
    simulate = simulator.__call__

    def one_hangs(path: Any, **requested: Any) -> Outcome:
        outcome = simulate(path, **requested)
        frame = outcome.frames["connections"]
        completed = frame["run"] != 7
        outcome.frames["connections"] = frame.with_columns(completed=completed)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_rtolab, "simulate", one_hangs)
        done = run(simulator, experiment)
    assert failed(done) == {"transfers that did not complete"}
    assert {row.measured.n for row in done.rows if row.measured} == {299, 300}


def test_the_bounds_depend_on_the_number_of_runs() -> None:
    check = Check("x", "ratio", lambda _: 1.4, {300: Bounds(1.1, 1.3), 30: Bounds(1.0, 1.5)})

    def judge(runs: int) -> tuple[str, str]:
        found = check.judge(ExperimentRuns(BY_ID["frto2002/table1"], runs, {}))
        return found.verdict, found.expected

    assert judge(300) == ("fail", "1.1 to 1.3 (300 runs or more)")
    assert judge(299) == ("pass", "1 to 1.5 (30 to 299 runs)")
    assert judge(30) == ("pass", "1 to 1.5 (30 to 299 runs)")
    assert judge(29) == ("undecidable", "1 to 1.5 from 30 runs on; 29 cannot decide")


def test_thirty_runs_cannot_decide_slightly_better(simulator: Simulator) -> None:
    done = run(simulator, BY_ID["frto2002/table1"], runs=30)
    claim = next(c for c in done.checks if c.name.startswith("time, F-RTO / Eifel, SACK"))
    assert claim.verdict == "undecidable"
    assert "slightly better" in claim.name
    assert done.verdict == "pass"
    assert "cannot be decided by 30 runs" in done.tally()


def test_three_runs_decide_nothing(simulator: Simulator) -> None:
    assert run(simulator, BY_ID["frto2002/table1"], runs=3).verdict == "undecidable"


def test_bounds_include_their_ends_unless_strict() -> None:
    assert Bounds(1, 2).hold(1)
    assert Bounds(1, 2).hold(2)
    assert not Bounds(1, 2).hold(2.1)
    assert Bounds(low=3).hold(4)
    assert not Bounds(low=3).hold(2)
    assert not Bounds(high=0, strict=True).hold(0)
    assert [str(b) for b in (Bounds(1, 1), Bounds(low=3.5), Bounds(high=0, strict=True))] == [
        "1",
        "at least 3.5",
        "below 0",
    ]


def test_a_document_has_exactly_the_documented_keys(simulator: Simulator) -> None:
    written = document(run(simulator, BY_ID["frto2002/table1"]))
    assert list(written) == [
        *("experiment", "title", "source", "note", "runs", "seed", "quick", "rows", "derived"),
        *("tables", "checks", "assumptions", "alternatives", "verdict", "wall_s"),
    ]
    row = written["rows"][0]
    assert list(row) == ["variant", "label", "metric", "published", "measured", "band"]
    assert (row["variant"], row["label"]) == ("sack+eifel", "Eifel w/ SACK")
    assert (row["metric"], row["published"]) == ("time", 77.94)
    assert list(row["measured"]) == ["n", "median", "q1", "q3", "min", "max"]
    assert row["measured"]["n"] == 300
    assert row["measured"]["median"] == pytest.approx(77.94)
    assert list(written["checks"][0]) == [
        *("name", "kind", "expected", "measured", "interval", "verdict", "why"),
        *("shown_by", "basis", "fitted", "statistic"),
    ]
    assert list(written["assumptions"][0]) == ["name", "value", "stated", "why", "is_key"]


def test_a_document_is_read_back_as_it_was_written(simulator: Simulator) -> None:
    for id_ in ("frto2002/table1", "frto2002/fig2"):
        done = run(simulator, BY_ID[id_], assume={"receiver.ack_every": "1"})
        written = document(done)
        back = reproduction(BY_ID[id_], json.loads(json.dumps(written)))
        assert (back.rows, back.checks, back.assumptions) == (
            *(done.rows, done.checks),
            done.assumptions,
        )
        assert document(back) == written


def test_every_claim_is_of_a_known_kind() -> None:
    kinds = {check.kind for experiment in EXPERIMENTS for check in experiment.checks}
    assert kinds <= {"exact", "ratio", "order", "shape", "count"}


def test_variants_are_in_the_papers_order(simulator: Simulator) -> None:
    done = run(simulator, BY_ID["frto2002/table3"])
    labels = list(dict.fromkeys(row["label"] for row in document(done)["rows"]))
    assert labels == [
        *("Eifel w/ SACK", "F-RTO w/ SACK", "Regular SACK", "Regular NewReno"),
        *("F-RTO w/ NewReno", "Eifel w/ NewReno"),
    ]


def test_table_2_runs_three_loss_rates_with_the_same_seeds(simulator: Simulator) -> None:
    done = run(simulator, BY_ID["frto2002/table2"])
    losses = [dict(requested["set"])["link.wireless.loss"] for requested in simulator.requested]
    assert losses == ["0.05", "0.02", "0.10"]
    assert {requested["seeds"] for requested in simulator.requested} == {range(1, 301)}
    unpublished = [row for row in done.rows if row.variant.condition == "2 % loss"]
    assert {row.published for row in unpublished} == {None}
    assert unpublished[0].variant.key == "sack+eifel @ 2 % loss"


def test_the_assumptions_are_set_in_the_scenario(simulator: Simulator) -> None:
    done = run(simulator, BY_ID["frto2002/table1"])
    assert dict(simulator.requested[0]["set"]) == {a.name: a.value for a in done.assumptions}


def test_one_set_of_assumptions_serves_every_table() -> None:
    shared = [set(e.assumptions) for e in TABLES]
    common = shared[0] & shared[1] & shared[2]
    own = [{a.name.split(".")[2] for a in s - common} for s in shared]
    assert own == [{"spikes"}, {"loss"}, {"outages"}]


@pytest.mark.parametrize("experiment", TABLES, ids=lambda e: e.id)
def test_a_tables_scenario_has_the_assumed_values(experiment: Experiment) -> None:
    assert len(experiment.assumptions) > 3
    for assumption in experiment.assumptions:
        found = set_in(experiment.scenario, assumption.name)
        assert found == toml(assumption.value), assumption.name


def toml(value: str) -> Any:
    """A value as `--set` reads it: TOML if it is valid TOML, otherwise the bare text."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def test_another_assumption_is_set_and_shown(simulator: Simulator) -> None:
    done = run(
        simulator,
        BY_ID["frto2002/table1"],
        assume={"receiver.delayed_ack": "100 ms", "tcp.recovery.dupthresh": "2"},
    )
    changed = dict(simulator.requested[0]["set"])
    assert (changed["receiver.delayed_ack"], changed["tcp.recovery.dupthresh"]) == ("100 ms", "2")
    shown = {a.name: a for a in done.assumptions}
    assert shown["receiver.delayed_ack"].why.startswith("given with --assume; else 200 ms")
    assert not shown["tcp.recovery.dupthresh"].stated


def test_figures_6_to_8_use_the_runs_of_the_tables() -> None:
    assert [e.id for e in find(["frto2002/fig7", "frto2002/table2"])] == ["frto2002/table2"]


def test_a_paper_names_all_its_experiments() -> None:
    papers = dict.fromkeys(experiment.paper for experiment in EXPERIMENTS)
    assert [e for paper in papers for e in find([paper])] == find([]) == list(EXPERIMENTS)
    assert {experiment.paper for experiment in find(["frto2002/"])} == {"frto2002"}


def test_ids_begin_with_the_module_that_declares_them() -> None:
    for package in PACKAGES:
        declared = import_module(f"rtolab.experiments.{package}").EXPERIMENTS
        assert {id_.split("/")[0] for e in declared for id_ in (e.id, *e.aliases)} == {package}


def test_one_experiment_loads_no_module_of_another_paper() -> None:
    words = "from rtolab.experiments import find; find(['frto2002/table1']); import sys"
    code = f"{words}; print(*(name for name in sys.modules if '2004' in name or '2001' in name))"
    ran = program.execute(sys.executable, "-c", code, env=program.environment())
    assert (ran.stdout, ran.stderr) == ("\n", "")


def test_tables_of_variants_become_one_with_their_keys() -> None:
    tables = {key: pl.DataFrame({"a": list(range(n))}) for key, n in (("x", 2), ("y", 0), ("z", 1))}
    whole = with_variant(tables)
    assert whole.to_dict(as_series=False) == {"a": [0, 1, 0], "variant": ["x", "x", "z"]}
    assert whole.schema["variant"] == pl.Enum(["x", "y", "z"])
    assert with_variant(tables, as_enum=False).schema["variant"] == pl.String


def test_an_unknown_experiment_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(Error, match=r"found no experiment .*such as frto2002/table1, "):
        find(["frto2002/tabel1"])


def trace(tape: Tape) -> Trace:
    return Trace.of(Result("x", Outcome(tables(tape)), runs=1, traced=True), 0)  # type: ignore[arg-type]


def test_a_trace_is_counted_as_by_hand() -> None:
    found = trace(held_window("sack", frto=False))
    timeout = found.timeouts[0]
    assert (timeout.at, timeout.seq, timeout.needed) == (2.5, 1, False)
    assert len(found.outstanding(timeout)) == 8
    acks = found.acks_after(timeout)
    assert [len(ack.released) for ack in acks] == [2, 2, 2, 1, 1, 1, 1, 2, 0, 0, 1, 0]
    assert [len(ack.new) for ack in acks[3:5]] == [0, 1]
    assert len(found.retransmitted(2.5)) == 9
    window = found.window_at(6.25)
    assert window is not None
    assert window["cwnd"] == 3 * 256
    assert found.window_at(-1) is None


def test_handmade_repetitions_have_the_given_medians() -> None:
    frame = tables(*repetitions("sack", (80, 10, 20), range(1, 31)))["connections"]
    assert frame["elapsed_s"].median() == pytest.approx(80)
    assert (frame["lost"].median(), frame["retransmissions"].median()) == (10, 20)


@pytest.mark.parametrize("experiment", FIGURES, ids=lambda e: e.id)
def test_the_simulator_reproduces_the_figures(experiment: Experiment) -> None:
    assert failed(reproduce(experiment, runs=1, seed=1)) == set()


@pytest.mark.parametrize(
    ("id_", "fails"),
    [
        ("frto2002/table1", set()),
        ("frto2002/table3", {"lost, share of medians of 30 up to the published: Eifel w/ NewReno"}),
    ],
)
def test_the_simulator_reproduces_the_tables(id_: str, fails: set[str]) -> None:
    assert failed(reproduce(BY_ID[id_], runs=300, seed=1)) == fails


def test_the_number_of_threads_changes_nothing() -> None:
    one, two = (reproduce(BY_ID["frto2002/table3"], runs=5, seed=9, jobs=jobs) for jobs in (1, 2))
    assert one.rows == two.rows
    assert one.checks == two.checks
