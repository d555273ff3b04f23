"""Finished experiments are kept, and an interrupted campaign resumes."""

import json
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import program
from handmade_tables import Simulator
from program import wait_for
from rtolab import _rtolab, campaign
from rtolab.campaign import RECORD, Campaign, Settings
from rtolab.experiments import find
from rtolab.experiments.base import Alternative

pytestmark = pytest.mark.usefixtures("simulator")
TABLE, TRACE = find(["frto2002/table1", "frto2002/fig2"])


def quick(out: Path, **settings: Any) -> Campaign:
    return Campaign(out, Settings(quick=True, **settings))


def drawn(out: Path) -> Campaign:
    """With the files of traces, which `--quick` leaves out."""
    return Campaign(out, Settings())


def test_a_finished_experiment_is_kept(simulator: Simulator, tmp_path: Path) -> None:
    assert quick(tmp_path).finished(TABLE) is None
    first = quick(tmp_path).run(TABLE)
    requested = len(simulator.requested)
    again = quick(tmp_path).finished(TABLE)
    assert again is not None
    assert (first.kept, again.kept) == (False, True)
    assert again.reproduction == first.reproduction
    assert (again.figures, list(again.files)) == (first.figures, list(first.files))
    assert len(simulator.requested) == requested
    assert Campaign(tmp_path, Settings(quick=True), fresh=True).finished(TABLE) is None


OTHER: list[dict[str, Any]] = [
    {"seed": 2},
    {"runs": 5},
    {"assume": {"receiver.ack_every": "1"}},
    {"quick": False},
]


@pytest.mark.parametrize("other", OTHER, ids=lambda other: next(iter(other)))
def test_other_parameters_are_computed_again(tmp_path: Path, other: dict[str, Any]) -> None:
    quick(tmp_path).run(TABLE)
    changed = Settings(**({"quick": True} | other))
    assert Campaign(tmp_path, changed).finished(TABLE) is None


def test_the_key_of_a_record_depends_on_alternatives() -> None:
    with_other = replace(TABLE, alternatives=(Alternative("x", {"receiver.ack_every": "1"}),))
    tried, not_tried = Settings(sensitivity=True), Settings(sensitivity=False)
    assert campaign.key(with_other, tried) != campaign.key(with_other, not_tried)
    without = replace(TABLE, alternatives=())
    assert campaign.key(without, tried) == campaign.key(without, not_tried)


def test_another_version_of_the_program_computes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(tmp_path).run(TABLE)
    monkeypatch.setattr(campaign, "_program", lambda: "another")
    assert quick(tmp_path).finished(TABLE) is None


DAMAGED = ["", "{", "[]", "{}", '{"key": 1}']


@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_record_is_ignored(tmp_path: Path, damaged: str) -> None:
    quick(tmp_path).run(TABLE)
    (tmp_path / TABLE.id / RECORD).write_text(damaged)
    assert quick(tmp_path).finished(TABLE) is None


def test_a_missing_file_is_made_again(tmp_path: Path) -> None:
    part = drawn(tmp_path).run(TRACE)
    part.files.captures[0].unlink()
    assert drawn(tmp_path).finished(TRACE) is None


def test_quick_traces_leave_only_their_document(tmp_path: Path) -> None:
    part = quick(tmp_path).run(TRACE)
    assert [path.name for path in part.files] == ["result.json"]
    assert {path.name for path in (tmp_path / TRACE.id).iterdir()} == {"result.json", RECORD}
    assert len(part.figures) == 2


def test_files_of_an_earlier_run_are_removed_and_other_files_stay(tmp_path: Path) -> None:
    captured = drawn(tmp_path).run(TRACE).files.captures
    folder, outside = tmp_path / TRACE.id, tmp_path / "outside"
    for mine in (folder / "mine", outside):
        mine.touch()
    record = json.loads((folder / RECORD).read_text())
    record["files"]["data"].append("../../outside")
    (folder / RECORD).write_text(json.dumps(record))
    (sack, _) = TRACE.variants
    left = drawn(tmp_path).run(replace(TRACE, variants=(sack,), checks=())).files
    assert len(left.captures) == 2
    assert [path.exists() for path in captured] == [True, True, False, False]
    assert (folder / "mine").exists()
    assert outside.exists()


def test_an_interrupted_experiment_leaves_no_record(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(tmp_path).run(TABLE)
    simulate = simulator.__call__

    def interrupted(*requested: Any, **how: Any) -> Any:
        simulate(*requested, **how)
        raise KeyboardInterrupt

    monkeypatch.setattr(_rtolab, "simulate", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quick(tmp_path).run(TABLE)
    assert not (tmp_path / TABLE.id / RECORD).exists()


def test_traces_of_several_results_do_not_overwrite_each_other(tmp_path: Path) -> None:
    sack, frto = TRACE.variants
    apart = replace(frto, condition="apart")
    files = drawn(tmp_path).run(replace(TRACE, variants=(sack, apart), checks=())).files
    assert len(set(files)) == len(list(files))
    folders = {path.parent.name for path in files.captures}
    assert folders == {"sack", "sack+frto-apart"}


IDS = ["frto2002/fig1", "frto2002/fig3", "frto2002/table1"]
MANY = "1000"
"""Enough runs that the table is still being measured when the first figure is finished."""


def start(out: Path) -> subprocess.Popen[str]:
    """`rtolab reproduce` as a process of its own."""
    how = ["--quick", "--runs", MANY, "--out", str(out)]
    return program.start("reproduce", *IDS, *how)


def records(out: Path) -> set[str]:
    return {id_ for id_ in IDS if (out / id_ / RECORD).exists()}


def stopped_in_the_middle(out: Path, how: signal.Signals) -> tuple[int, str]:
    """Start it and stop it once an experiment is finished. Returns its status and its messages."""
    with start(out) as process:
        wait_for(lambda: bool(records(out)), process)
        process.send_signal(how)
        _, words = process.communicate(timeout=600)
    return process.returncode, words


def without_wall(out: Path) -> list[str]:
    """The report and the documents without durations."""
    page = (out / "report.html").read_text(encoding="utf-8")
    documents = [json.loads((out / id_ / "result.json").read_text()) for id_ in IDS]
    reported = [json.dumps(document | {"wall_s": 0}) for document in documents]
    return [re.sub(r'<span class="wall">[0-9.]+ s</span>', "", page), *reported]


@pytest.mark.slow
def test_a_killed_campaign_resumes_to_the_same_report(tmp_path: Path) -> None:
    killed, interrupted, complete = (
        tmp_path / name for name in ("killed", "interrupted", "complete")
    )
    stopped_in_the_middle(killed, signal.SIGKILL)
    left = records(killed)
    assert left
    assert left != set(IDS)
    code, words = stopped_in_the_middle(interrupted, signal.SIGINT)
    assert code == 130
    assert "the same command continues from there" in words
    for out in (killed, interrupted, complete):
        kept = len(records(out))
        with start(out) as process:
            said, _ = process.communicate(timeout=600)
        assert process.returncode in {0, 1}, "measured, and a check may fail"
        assert said.count("kept from an earlier run") == kept
    assert without_wall(killed) == without_wall(interrupted) == without_wall(complete)
