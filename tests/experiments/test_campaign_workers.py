"""Experiments in several processes give the same results as in one."""

import json
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest

import program
from prerequisites import require_linux
from rtolab.campaign import Campaign, Settings
from rtolab.campaign_workers import FEWEST, Workers
from rtolab.experiments import find
from rtolab.experiments.sharing import families

IDS = ["frto2002/fig1", "frto2002/claim-c", "dualrtt2004/ex", "arq2002/eq", "delays2001/f1"]


def reproduce(out: Path, *options: str) -> tuple[str, str]:
    """What `rtolab reproduce --quick` prints, and the report, without times."""
    ran = program.run("reproduce", *IDS, "--quick", "--out", out, *options)
    assert ran.returncode in {0, 1}, ran.stderr
    page = (out / "report.html").read_text(encoding="utf-8")
    said = re.sub(r"[0-9.]+ s$", "", ran.stdout.replace(str(out), "OUT"), flags=re.MULTILINE)
    return said, re.sub(r'<span class="wall">[0-9.]+ s</span>', "", page)


@pytest.mark.slow
def test_several_processes_have_the_output_and_the_report_of_one(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    assert reproduce(alone, "--jobs", "1") == reproduce(together, "--jobs", "2")


@pytest.mark.slow
def test_workers_run_every_experiment(tmp_path: Path) -> None:
    campaign, experiments = Campaign(tmp_path, Settings(quick=True), 2), find(IDS)
    with Workers(campaign, experiments) as workers:
        parts = [workers.part(experiment, lambda _done, _all: None) for experiment in experiments]
        assert workers.finished == len(IDS)
    assert [part.reproduction.experiment.id for part in parts if part] == IDS
    for id_ in IDS:
        assert json.loads((tmp_path / id_ / "finished.json").read_text())["document"]


@pytest.mark.slow
def test_experiments_with_common_runs_have_the_results_of_one_alone(tmp_path: Path) -> None:
    ids = ["arq2002/fig4", "arq2002/fig6", "arq2002/fig5", "arq2002/claim"]
    (shared,) = families(ids)
    assert shared == ids
    campaign, alone = (Campaign(tmp_path / name, Settings(quick=True), 2) for name in "ab")
    with Workers(campaign, find(ids)) as workers:
        for experiment in find(ids):
            part = workers.part(experiment, lambda _done, _all: None)
            assert part, experiment.id
            lone = alone.run(experiment).reproduction
            assert part.reproduction.rows == lone.rows
            assert part.reproduction.checks == lone.checks


@pytest.mark.parametrize(("jobs", "ids"), [(1, IDS), (2, IDS[: FEWEST - 1])])
def test_one_core_or_few_experiments_need_no_workers(
    tmp_path: Path, jobs: int, ids: list[str]
) -> None:
    with Workers(Campaign(tmp_path, Settings(quick=True), jobs), find(ids)) as workers:
        assert workers.part(find(ids)[0], lambda _done, _all: None) is None
        assert workers._processes == []


def test_a_worker_ends_with_its_parent(tmp_path: Path) -> None:
    with Workers(Campaign(tmp_path, Settings(quick=True), 2), find(IDS)) as workers:
        (process, *_) = workers._processes
        assert process.stdin
        # As if the parent were killed.
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        process.stdin = None


def test_an_error_in_a_worker_is_reported_as_without_workers(tmp_path: Path) -> None:
    wrong = ("--assume", "tcp.rto.min=soon", "--jobs", "2", "--out", str(tmp_path))
    ran = program.run("reproduce", *IDS, "--quick", *wrong)
    assert ran.returncode == 2
    assert "tcp.rto.min" in ran.stderr


LONG = ("frto2002/table1", "frto2002/table2", "--runs", "1000", "--quick", "--jobs", "2")


def children(pid: int) -> list[int]:
    """The processes that this one started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    """Does the process run? A zombie does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_do_not_outlive_their_parent(tmp_path: Path, how: signal.Signals) -> None:
    require_linux()
    with program.start("reproduce", *IDS, *LONG, "--out", tmp_path) as process:
        program.wait_for((tmp_path / IDS[0] / "finished.json").exists, process)
        workers = children(process.pid)
        assert len(workers) == 2
        process.send_signal(how)
        _, words = process.communicate(timeout=60)
    if how is signal.SIGINT:
        assert process.returncode == 130
        assert "the same command continues from there" in words
    program.wait_for(lambda: not any(map(is_running, workers)), within_s=60)
