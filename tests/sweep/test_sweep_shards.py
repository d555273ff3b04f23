"""Shards in one folder, killed or not, leave the tables of the whole sweep."""

import errno
import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from program import start, wait_for
from rtolab import Error, sweep
from rtolab.sweep import engine, store
from rtolab.sweep.status import status
from sweep_runs import CHUNKS, GRID, call, files, run, write

MANY = GRID.replace("runs = 12", "runs = 1200").replace("block = 5", "block = 20")
BLOCKS = 240


def shard(folder: Path, text: str, number: int, of: int) -> sweep.SweepOutcome:
    """Compute a shard of a sweep."""
    part = sweep.Shard(number, of)
    definition = sweep.load(write(folder, text))
    return sweep.run(definition, folder / "out", sweep.Threads(2), shard=part)


def everything(out: Path) -> dict[str, bytes]:
    """All tables and the manifest, byte by byte."""
    return files(out) | {"manifest.json": (out / "manifest.json").read_bytes()}


def finished(out: Path) -> int:
    return sum(1 for _ in (out / "chunks").glob("*")) if (out / "chunks").exists() else 0


@pytest.mark.slow
def test_killed_and_restarted_shards_leave_the_bytes_of_the_whole_sweep(tmp_path: Path) -> None:
    assert run(tmp_path / "whole", MANY).computed == BLOCKS
    file, out = write(tmp_path, MANY), tmp_path / "out"
    ours: list[list[str | Path]] = [
        ["sweep", file, "--out", out, "--jobs", "1", "--shard", f"{number}/2"] for number in (1, 2)
    ]
    for _ in range(2):
        before = finished(out)
        with start(*ours[0]) as one, start(*ours[1]) as two:
            wait_for(lambda: finished(out) > before + 5, one)  # noqa: B023
            one.kill()
            two.kill()
        assert before < finished(out) < BLOCKS
    with start(*ours[0]) as one, start(*ours[1]) as two:
        said = [one.communicate(timeout=600), two.communicate(timeout=600)]
    assert [process.returncode for process in (one, two)] == [0, 0]
    assert all("120 chunks are finished" in printed for printed, _ in said)
    assert "this was shard 1/2; after the last one, the same command without --shard" in said[0][0]
    assert not (out / "manifest.json").exists()
    with pytest.raises(Error, match=r"found no manifest\.json; .* whose shards are joined"):
        sweep.read(out)
    assert run(tmp_path, MANY).computed == 0
    assert everything(out) == everything(tmp_path / "whole" / "out")
    assert not (out / "unfinished").exists()


def test_the_whole_sweep_computes_what_lost_shards_have_not(tmp_path: Path) -> None:
    run(tmp_path / "whole")
    assert shard(tmp_path, GRID, 2, 3).computed == CHUNKS // 3
    done = run(tmp_path)
    assert (done.computed, len(done.finished)) == (CHUNKS - CHUNKS // 3, CHUNKS)
    assert everything(tmp_path / "out") == everything(tmp_path / "whole" / "out")


@pytest.mark.parametrize("of", [1, 2, 5, CHUNKS, 50])
def test_every_block_is_in_one_shard(of: int) -> None:
    blocks = [(cell, block) for cell in range(4) for block in range(3)]
    parts = [sweep.Shard(number, of).part(blocks) for number in range(1, of + 1)]
    assert sorted(block for part in parts for block in part) == blocks
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_a_shard_has_blocks_from_everywhere() -> None:
    blocks = [(cell, 0) for cell in range(1000)]
    senders = [cell % 4 for cell, _ in sweep.Shard(1, 4).part(blocks)]
    assert all(30 < senders.count(sender) < 100 for sender in range(4))


def test_shards_of_different_numbers_may_compute_the_same_chunk(tmp_path: Path) -> None:
    plan, read = engine.plan_of(sweep.load(write(tmp_path)))
    planned = plan.chunk(0, 0)
    packed = sweep.Threads(1).compute(read, planned, 1)
    stores = [store.Store(tmp_path / "out", sweep.Shard(1, of)) for of in (2, 3)]
    with stores[0].opened(1), stores[1].opened(1):
        for one in stores:
            one.write(planned, packed)
    assert len(files(tmp_path / "out")) == 1
    assert run(tmp_path).computed == CHUNKS - 1


UNTIL = """
scenario = "frto2002-delays"
senders = ["sack", "sack+frto"]
until = { measure = "elapsed_s", relative = 0.2, max_runs = 100 }
block = 15
"""


def test_with_until_a_shard_has_whole_cells(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", UNTIL)
    parts = [shard(tmp_path, UNTIL, number, 2) for number in (1, 2)]
    assert sorted(cell for part in parts for cell in part.settled) == [0, 1]
    assert len({part.settled[cell].runs for part in parts for cell in part.settled}) == 2
    joined = run(tmp_path, UNTIL)
    assert (joined.computed, joined.settled) == (0, whole.settled)
    assert everything(tmp_path / "out") == everything(tmp_path / "whole" / "out")


def test_a_shard_and_its_folder_belong_to_one_process(tmp_path: Path) -> None:
    definition, out = sweep.load(write(tmp_path)), tmp_path / "out"
    one, two = (store.Store(out, sweep.Shard(number, 2)) for number in (1, 2))
    with one.opened(3):
        assert status(definition, out).running == 3
        with two.opened(4):
            assert status(definition, out).running == 7
        with pytest.raises(Error, match="another process computes shard 1/2 here"):
            shard(tmp_path, GRID, 1, 2)
        with pytest.raises(Error, match=r"another `rtolab sweep` is at work here$"):
            run(tmp_path)
    with (
        store.Store(out).opened(1),
        pytest.raises(Error, match="another `rtolab sweep` is at work here, without --shard"),
    ):
        shard(tmp_path, GRID, 1, 2)
    assert status(definition, out).running == 0


@pytest.mark.parametrize("part", [None, sweep.Shard(1, 2)])
def test_a_file_system_without_locks_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: sweep.Shard | None
) -> None:
    def without(*_: Any) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", without)
    definition = sweep.load(write(tmp_path))
    with pytest.raises(Error, match="lock: Function not implemented; expected a file system with"):
        sweep.run(definition, tmp_path / "out", sweep.Threads(1), shard=part)


@pytest.mark.parametrize(
    "wrong", ["3/2", "0/0", "a/b", "0/2", "", "1", "1/2/3", "-1/2", "1/2 ", "1/9999999", "٣/٨"]
)
def test_a_wrong_shard_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wrong: str
) -> None:
    assert call(monkeypatch, write(tmp_path), "--out", tmp_path / "out", f"--shard={wrong}") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"--shard: found {wrong!a}; expected " in said.err
    assert not (tmp_path / "out").exists()


def test_the_command_reports_its_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours: list[str | Path] = [write(tmp_path), "--out", tmp_path / "out", "--shard", "2/3"]
    assert call(monkeypatch, *ours, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["shard"] == {"number": 2, "of": 3}
    assert (document["chunks"], document["computed"]) == (CHUNKS // 3, CHUNKS // 3)
    assert call(monkeypatch, *ours, "--status") == 2
    assert "--shard: found with --status, which reports on the whole" in capsys.readouterr().err
