"""A sweep that is killed, fills the disk or loses a worker still ends with the same tables."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from prerequisites import lack, small_disk
from program import environment, start, wait_for
from rtolab import Error, sweep
from rtolab.sweep.status import status
from sweep_runs import call, command, files, run, write

MANY = """
scenario = "frto2002-delays"
senders = ["newreno", "sack+frto"]
runs = 1200
block = 20

[grid]
link.wireless.delay = ["100 ms", "200 ms"]
"""
"""Enough chunks that the sweep still runs when it is killed for the tenth time."""
CHUNKS = 240


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of an undisturbed sweep."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert run(folder, MANY).computed == CHUNKS
    return files(folder / "out")


def identities(out: Path) -> dict[str, tuple[int, int]]:
    """The inode and the time of each finished table, which change if it is written again."""
    found = {}
    for table in (out / "chunks").glob("*/connections.parquet"):
        reported = table.stat()
        found[table.parent.name] = (reported.st_ino, reported.st_mtime_ns)
    return found


def finished(out: Path) -> int:
    """How many chunks are finished; much cheaper than `identities`."""
    return len(os.listdir(out / "chunks")) if (out / "chunks").exists() else 0  # noqa: PTH208


def wait_for_more(out: Path, than: int, process: subprocess.Popen[str]) -> None:
    wait_for(lambda: finished(out) > than, process)


@pytest.mark.slow
def test_killed_ten_times_it_computes_nothing_twice(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    file, out = write(tmp_path, MANY), tmp_path / "out"
    chance = random.Random(7)
    seen: dict[str, tuple[int, int]] = {}
    for _ in range(10):
        before = len(seen)
        with start("sweep", file, "--out", out, "--jobs", "2") as process:
            # From before the first chunk to a few after it.
            if chance.random() < 0.8:
                wait_for_more(out, before, process)
            time.sleep(chance.uniform(0, 0.06))
            process.kill()
        now = identities(out)
        assert now.items() >= seen.items()
        seen = now
    assert 0 < len(seen) < CHUNKS
    code, said, _ = command(file, "--out", out)
    assert code == 0
    assert f"{CHUNKS - len(seen)} computed, {len(seen)} kept from before" in said
    assert identities(out).items() >= seen.items()
    assert files(out) == undisturbed
    assert not list((out / "unfinished").glob("*"))


@pytest.mark.slow
def test_an_interrupted_sweep_says_how_to_continue(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    file, out = write(tmp_path, MANY), tmp_path / "out"
    with start("sweep", file, "--out", out, "--jobs", "2") as process:
        wait_for(lambda: finished(out) > 0, process)
        found = status(sweep.load(file), out)
        with pytest.raises(Error, match="another `rtolab sweep` is at work here"):
            run(tmp_path, MANY)
        process.send_signal(signal.SIGINT)
        _, complained = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "the same command continues from there" in complained
    assert found.running == 2
    assert found.eta_s
    left = sweep.read(out).collect().height // 20
    assert 0 < left == len(identities(out)) < CHUNKS
    assert status(sweep.load(file), out).running == 0
    assert run(tmp_path, MANY).computed == CHUNKS - left
    assert files(out) == undisturbed


@pytest.mark.slow
@pytest.mark.root
def test_a_full_disk_is_reported_and_finished_chunks_are_kept(
    tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    file, small = write(tmp_path, MANY), tmp_path / "small"
    out = small / "out"
    with small_disk(small, "2m") as remount:
        code, _, complained = command(file, "--out", out)
        assert code == 2
        assert f"{out}: " in complained
        assert "cannot be written: No space left on device" in complained
        left = files(out)
        assert 0 < len(left) < CHUNKS
        assert left.items() <= undisturbed.items()
        remount("size=64m")
        seen = identities(out)
        code, said, _ = command(file, "--out", out)
        assert code == 0
        assert f"{len(left)} kept from before" in said
        assert identities(out).items() >= seen.items()
        assert files(out) == undisturbed


@pytest.mark.root
def test_a_folder_that_cannot_be_written_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = write(tmp_path, MANY), tmp_path / "plain" / "out"
    out.parent.touch()
    assert call(monkeypatch, file, "--out", out) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{out}: the folder of the sweep cannot be written: Not a directory" in said.err
    with small_disk(tmp_path / "fixed", "1m") as remount:
        remount("ro")
        assert call(monkeypatch, file, "--out", tmp_path / "fixed" / "out") == 2
    reported = capsys.readouterr().err
    assert "the folder of the sweep cannot be written: Read-only file system" in reported


PRELOADED = """
from rtolab.sweep import compute
compute.program = lambda: ("0.0.1", "another")
"""


class Dask:
    """A scheduler, and workers of one thread each, as processes."""

    def __init__(self, folder: Path, processes: ExitStack) -> None:
        self._folder, self._processes = folder, processes
        reported = folder / "scheduler.json"
        plain = ["--port", "0", "--host", "127.0.0.1", "--no-dashboard", "--no-show"]
        self._start("scheduler", *plain, "--scheduler-file", str(reported))
        wait_for(lambda: self._address(reported) is not None)
        self.address = str(self._address(reported))

    def worker(self, *more: str) -> subprocess.Popen[Any]:
        alone = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        return self._start("worker", self.address, *alone, *more)

    def _address(self, reported: Path) -> str | None:
        try:
            return str(json.loads(reported.read_text())["address"])
        except (OSError, ValueError):  # Not there, or not all of it.
            return None

    def _start(self, what: str, *arguments: str) -> subprocess.Popen[Any]:
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self._folder,
            env=environment(),
        )
        self._processes.callback(process.wait)
        self._processes.callback(process.kill)
        return process


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    if find_spec("distributed") is None:
        lack("distributed is missing; install it:  pip install distributed")
    with ExitStack() as processes:
        yield Dask(tmp_path_factory.mktemp("dask"), processes)


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_computes_the_same(
    tmp_path: Path, undisturbed: dict[str, bytes], dask: Dask
) -> None:
    file, out = write(tmp_path, MANY), tmp_path / "out"
    lost, other = dask.worker(), dask.worker()
    how = ["--out", str(out), "--dask", dask.address]
    with start("sweep", file, *how) as process:
        wait_for(lambda: finished(out) >= CHUNKS // 2, process)
        lost.kill()
        at_loss = finished(out)
        said, complained = process.communicate(timeout=600)
    assert (process.returncode, complained) in [(0, ""), (0, waiting_message(dask))]
    assert f"{CHUNKS} chunks are finished: {CHUNKS} computed" in said
    assert at_loss < CHUNKS
    assert files(out) == undisturbed
    other.kill()


def waiting_message(dask: Dask) -> str:
    return f"rtolab: waiting for a worker of {dask.address}\n"


@pytest.mark.slow
def test_workers_with_another_rtolab_are_refused(tmp_path: Path, dask: Dask) -> None:
    preloaded = tmp_path / "preloaded.py"
    preloaded.write_text(PRELOADED)
    other = dask.worker("--preload", str(preloaded))
    code, _, complained = command(
        write(tmp_path, MANY), "--out", tmp_path / "out", "--dask", dask.address
    )
    other.kill()
    assert code == 2
    assert "found rtolab 0.0.1 (extension another) on tcp://127.0.0.1:" in complained
    assert "expected what is here, rtolab" in complained
    assert not (tmp_path / "out").exists()
