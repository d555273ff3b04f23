"""A sweep computes each chunk once, keeps it, and always ends with the same tables."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rtolab
from rtolab import Error, _rtolab, sweep
from rtolab.sweep import Failure, cluster, compute, engine, store
from rtolab.sweep.status import status
from sweep_runs import CHUNKS, CUT, GRID, call, files, run, table, write


def test_the_tables_are_those_of_single_runs_with_their_place_in_the_grid(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (len(done.finished), done.computed, done.failures) == (CHUNKS, CHUNKS, [])
    swept = table(tmp_path)
    assert swept.columns[:5] == [
        "run",
        "seed",
        "sender",
        "link.wireless.delay",
        "link.wireless.delay_s",
    ]
    for delay in ("100 ms", "200 ms"):
        for sender in ("newreno", "sack+frto"):
            mine = swept.filter(
                (pl.col("sender") == sender) & (pl.col("link.wireless.delay") == delay)
            )
            single = rtolab.run(
                "frto2002-delays", sender=sender, runs=12, set={"link.wireless.delay": delay}
            )
            assert mine.drop("link.wireless.delay", "link.wireless.delay_s").equals(
                single.connections
            )


def test_tables_are_identical_for_any_number_of_threads(tmp_path: Path) -> None:
    run(tmp_path / "one", jobs=1)
    run(tmp_path / "two", jobs=2)
    one = files(tmp_path / "one" / "out")
    assert len(one) == CHUNKS
    assert one == files(tmp_path / "two" / "out")


def test_finished_chunks_are_not_computed_again(tmp_path: Path) -> None:
    run(tmp_path)
    again = run(tmp_path)
    assert (len(again.finished), again.computed) == (CHUNKS, 0)
    (gone, *_) = (tmp_path / "out" / "chunks").glob("*/connections.parquet")
    content = gone.read_bytes()
    gone.unlink()
    assert run(tmp_path).computed == 1
    assert gone.read_bytes() == content


GROWN = [
    ("more senders", 'senders = ["newreno"', 'senders = ["sack", "newreno"', 6),
    ("more values", '"200 ms"]', '"200 ms", "300 ms"]', 6),
    ("another order", '"100 ms", "200 ms"', '"200 ms", "100 ms"', 0),
    ("more runs", "runs = 12", "runs = 15", 4),
    ("another seed", "runs = 12", "runs = 12\nseed = 2", 12),
    ("another table", "runs = 12", 'runs = 12\ntables = ["connections", "timeouts"]', 12),
    ("a set key", "[grid]", "[set]\nlink.wireless.loss = 0.01\n[grid]", 12),
    ("a remark", "[grid]", "# of the delays\n[grid]", 0),
]


@pytest.mark.parametrize(
    ("before", "after", "new"), [g[1:] for g in GROWN], ids=[g[0] for g in GROWN]
)
def test_only_new_chunks_are_computed(tmp_path: Path, before: str, after: str, new: int) -> None:
    run(tmp_path)
    changed = run(tmp_path, GRID.replace(before, after))
    assert changed.computed == new
    assert table(tmp_path).height == sum(len(p.chunk.seeds) for p in changed.finished.values())


def test_chunks_that_leave_the_grid_are_set_aside_and_restored(tmp_path: Path) -> None:
    run(tmp_path)
    before = files(tmp_path / "out")
    assert run(tmp_path, GRID.replace(', "200 ms"', "")).computed == 0
    assert len(files(tmp_path / "out")) == len(files(tmp_path / "out", "set-aside")) == 6
    assert table(tmp_path)["link.wireless.delay"].unique().to_list() == ["100 ms"]
    found = status(sweep.load(write(tmp_path, GRID)), tmp_path / "out")
    assert (found.finished, found.total, found.eta_s) == (12, 12, 0.0)
    assert run(tmp_path).computed == 0
    assert files(tmp_path / "out") == before


SCENARIO = Path(__file__).parents[2] / "scenarios" / "mahimahi.toml"
TRACE = SCENARIO.parent / "traces" / "half-second.down"


def with_a_trace(folder: Path, grid: str = "") -> Path:
    """A sweep over a scenario that names a file beside it."""
    (folder / "traces").mkdir()
    (folder / "mine.toml").write_text(SCENARIO.read_text())
    (folder / "traces" / TRACE.name).write_text(TRACE.read_text())
    return write(folder, f'scenario = "mine.toml"\nruns = 2\n{grid}')


def test_the_key_of_a_chunk_depends_on_files_that_the_scenario_names(tmp_path: Path) -> None:
    file = with_a_trace(tmp_path)

    def computed() -> int:
        return sweep.run(sweep.load(file), tmp_path / "out", sweep.Threads(1)).computed

    assert (computed(), computed()) == (1, 0)
    single = rtolab.run(tmp_path / "mine.toml", runs=2).connections
    assert table(tmp_path).equals(single)
    for name in ("mine.toml", f"traces/{TRACE.name}"):
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_text(text + ("# more\n" if name == "mine.toml" else "2001\n"))
        assert (computed(), computed()) == (1, 0), name


def test_files_in_the_grid_are_read_once_and_sent_to_workers(tmp_path: Path) -> None:
    key, slow = "link.cellular.forward.rate_trace", tmp_path / "traces" / "slow.down"
    file = with_a_trace(tmp_path, f'[grid]\n{key} = ["traces/{TRACE.name}", "traces/slow.down"]\n')
    slow.write_text("100\n200\n")
    plan, read = engine.plan_of(sweep.load(file))
    single = rtolab.run(tmp_path / "mine.toml", runs=2, set={key: "traces/slow.down"}).connections
    slow.write_text("1\n")  # An edit now changes nothing.
    fast, slower = (
        compute.compute(read, plan.chunk(cell, 0).chunk).tables["connections"] for cell in (0, 1)
    )
    assert slower.drop(key).equals(single)
    assert fast["acked_segments"].min() > slower["acked_segments"].max()  # type: ignore[operator]


def test_another_version_of_the_program_computes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path)
    monkeypatch.setattr(engine, "program", lambda: ("0.0.0", "another"))
    assert run(tmp_path).computed == CHUNKS


def test_a_worker_that_comes_later_with_another_program_is_refused(tmp_path: Path) -> None:
    plan, read = engine.plan_of(sweep.load(write(tmp_path)))
    with pytest.raises(engine.RefusedError, match="on a worker that came later; expected what is"):
        cluster.on_worker(read, plan.chunk(0, 0).chunk, ("0.0.0", "another"))


class KilledError(BaseException):
    """Stands for the end of the process, after which nothing can be cleaned up."""


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_chunk_exists_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    text = GRID.replace("block = 5", 'block = 50\ntables = ["connections", "timeouts"]')
    write_file = store._write
    written: list[str] = []

    def killed(path: Path, content: Any) -> None:
        if len(written) == at:
            write_file(path, content[: len(content) // 2])
            raise KilledError
        write_file(path, content)
        written.append(path.name)

    monkeypatch.setattr(store, "_write", killed)
    with pytest.raises(KilledError):
        sweep.run(sweep.load(write(tmp_path, text)), tmp_path / "out", sweep.Threads(1))
    assert written == ["connections.parquet", "timeouts.parquet"][:at]
    assert not list((tmp_path / "out" / "chunks").iterdir())
    monkeypatch.setattr(store, "_write", write_file)
    assert run(tmp_path, text).computed == 4
    assert table(tmp_path, "timeouts").height
    assert not (tmp_path / "out" / "unfinished").exists()


@pytest.mark.parametrize("left", [0, 2, 100])
def test_a_chunk_that_a_power_failure_has_cut_off_is_computed_again(
    tmp_path: Path, left: int
) -> None:
    run(tmp_path)
    whole = files(tmp_path / "out")
    damaged = next((tmp_path / "out" / "chunks").glob("*/connections.parquet"))
    os.truncate(damaged, left)
    with pytest.raises(Error, match=rf"{damaged} cannot be read: it is no complete Parquet"):
        sweep.read(tmp_path / "out")
    assert run(tmp_path).computed == 1
    assert files(tmp_path / "out") == whole


class Gone(sweep.Threads):
    """Workers that are all lost at one chunk."""

    def compute(self, inputs: Any, planned: Any, share: int) -> Any:
        if (planned.cell, planned.block) == (3, 2):
            raise engine.RefusedError("gone")
        return super().compute(inputs, planned, share)


def test_a_sweep_without_workers_ends_and_keeps_finished_chunks(tmp_path: Path) -> None:
    run(tmp_path, GRID.replace('"200 ms"]', '"300 ms"]'))
    with pytest.raises(engine.RefusedError, match="gone"):
        sweep.run(sweep.load(write(tmp_path)), tmp_path / "out", Gone(1))
    reported = manifest(tmp_path)
    assert (reported["complete"], len(reported["chunks"])) == (False, CHUNKS - 1)
    assert table(tmp_path).height == 46
    # An interrupted sweep sets nothing aside, because its other chunks may be needed.
    assert len(files(tmp_path / "out")) == CHUNKS - 1 + CHUNKS // 2
    assert run(tmp_path).computed == 1
    assert len(files(tmp_path / "out")) == CHUNKS


def test_a_scenario_of_another_name_is_the_same_work(tmp_path: Path) -> None:
    file = with_a_trace(tmp_path)
    assert sweep.run(sweep.load(file), tmp_path / "out", sweep.Threads(1)).computed == 1
    (tmp_path / "mine.toml").rename(tmp_path / "yours.toml")
    again = write(tmp_path, file.read_text().replace("mine", "yours").replace("= 2", "= 60"))
    assert sweep.run(sweep.load(again), tmp_path / "out", sweep.Threads(1)).failures == []
    assert table(tmp_path).height == 60


class Failing:
    """The simulator, which fails on one sender while `fails` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fails = True
        self._simulate = _rtolab.simulate
        monkeypatch.setattr(_rtolab, "simulate", self)

    def __call__(self, path: Path, **requested: Any) -> Any:
        if self.fails and requested["senders"] == ["newreno"] and 3 in requested["seeds"]:
            raise _rtolab.InternalError("a defect in rtolab, please report it: here")
        return self._simulate(path, **requested)


def test_a_failed_chunk_is_recorded_and_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulator = Failing(monkeypatch)
    done = run(tmp_path)
    assert (done.computed, len(done.failures)) == (CHUNKS - 2, 2)
    reported = [failure.error for failure in done.failures]
    assert reported == ["InternalError: a defect in rtolab, please report it: here"] * 2
    assert done.failures[0].about == "link.wireless.delay=100 ms, newreno, seeds 1 to 5"
    requested = sweep.load(write(tmp_path))
    found = status(requested, tmp_path / "out")
    assert (found.finished, found.total) == (CHUNKS - 2, CHUNKS)
    assert by_key(found.failures) == by_key(done.failures)
    assert not manifest(tmp_path)["complete"]
    simulator.fails = False
    assert (run(tmp_path).computed, status(requested, tmp_path / "out").failures) == (2, ())
    assert manifest(tmp_path)["complete"]


def by_key(failures: Any) -> dict[str, Failure]:
    return {failure.key: failure for failure in failures}


def manifest(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out" / "manifest.json").read_text())
    return found


def test_the_command_reports_its_work_and_exits_with_1_if_a_chunk_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    simulator = Failing(monkeypatch)
    file, out = write(tmp_path), tmp_path / "out"
    assert call(monkeypatch, file, "--out", out, "--status") == 0
    assert "0 of 12 chunks are finished; no worker running" in capsys.readouterr().out
    assert not out.exists()
    assert call(monkeypatch, file, "--out", out) == 1
    said = capsys.readouterr().out
    assert "10 chunks are finished: 10 computed, 0 kept from before" in said
    assert "link.wireless.delay=100 ms, newreno, seeds 1 to 5: InternalError" in said
    assert call(monkeypatch, file, "--out", out, "--status") == 0
    said = capsys.readouterr().out
    assert "10 of 12 chunks are finished" in said
    assert "the rest takes about" in said
    assert "2 chunks failed" in said
    simulator.fails = False
    assert call(monkeypatch, file, "--out", out, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["chunks"], document["computed"], document["failed"]) == (12, 2, [])
    assert call(monkeypatch, file, "--out", out, "--status", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["finished"], document["total"], document["eta_s"]) == (12, 12, 0.0)


def test_the_command_has_help_with_an_example(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "--help") == 0
    assert "Example: rtolab sweep" in capsys.readouterr().out


def test_tables_of_other_kinds_are_kept(tmp_path: Path) -> None:
    kinds = 'tables = ["verdicts", "segments", "windows"]\njudge = ["dualrtt"]\nblock = 1\n[grid]'
    run(tmp_path, GRID.replace("block = 5\n\n[grid]", kinds).replace("runs = 12", "runs = 1"))
    for name in ("verdicts", "segments", "windows"):
        assert table(tmp_path, name).height, name
    assert set(table(tmp_path, "verdicts")["detector"]) == {"dualrtt"}
    with pytest.raises(Error, match="no table `connections`: the sweep keeps"):
        table(tmp_path)


ADAPTIVE = """
scenario = "frto2002-delays"
senders = ["sack", "sack+frto"]
until = { measure = "elapsed_s", relative = 0.13, max_runs = 100, of = "OF" }
block = 15
"""


def test_a_run_with_an_unfinished_flow_has_no_value_for_until(tmp_path: Path) -> None:
    (tmp_path / "cut.toml").write_text(CUT)
    text = 'scenario = "cut.toml"\nblock = 40\n'
    text += 'until = { measure = "elapsed_s", relative = 9, max_runs = 40 }\n'
    [state] = run(tmp_path, text).settled.values()
    runs = table(tmp_path).group_by("run").agg(pl.mean("elapsed_s"), pl.col("completed").all())
    finished = runs.filter("completed")
    assert 10 <= finished.height <= 30, "some runs finish and others do not"
    assert state.estimate is not None
    assert state.estimate.value == finished["elapsed_s"].median()


def narrow_at(values: list[float], of: str) -> int | None:
    """After how many runs, in blocks of 15, the interval is narrow: the rule, reimplemented."""
    for runs in (15, 30, 45, 60, 75, 90, 100):
        sample = np.array(values[:runs])
        picks = (np.random.Generator(np.random.PCG64(0)).random((1000, runs)) * runs).astype(int)
        middle = np.median if of == "median" else np.mean
        low, high = np.quantile(middle(sample[picks], axis=1), [0.025, 0.975])
        if high - low <= 0.13 * middle(sample):
            return runs
    return None


@pytest.mark.parametrize("of", ["median", "mean"])
def test_runs_are_repeated_until_the_interval_is_narrow(tmp_path: Path, of: str) -> None:
    text = ADAPTIVE.replace("OF", of)
    done = run(tmp_path, text)
    every = rtolab.run("frto2002-delays", sender=["sack", "sack+frto"], runs=100).connections
    stops = [
        narrow_at(every.filter(pl.col("sender") == sender)["elapsed_s"].to_list(), of)
        for sender in ("sack", "sack+frto")
    ]
    assert [settled.runs for _, settled in sorted(done.settled.items())] == [
        stop or 100 for stop in stops
    ]
    assert [settled.narrow for _, settled in sorted(done.settled.items())] == [
        stop is not None for stop in stops
    ]
    assert len({*stops}) == 2  # They differ, and so it is the interval that decides.
    assert table(tmp_path).equals(
        every.filter(pl.col("seed") <= pl.col("sender").replace_strict(ends(stops))).with_columns(
            run=(pl.col("seed") - 1).cast(pl.UInt32)
        )
    )
    again = run(tmp_path, text, jobs=1)
    assert (again.computed, again.settled) == (0, done.settled)
    found = status(sweep.load(write(tmp_path, text)), tmp_path / "out")
    assert (found.finished, found.settled, found.eta_s) == (len(done.finished), 2, 0.0)


def ends(stops: list[int | None]) -> dict[str, int]:
    return dict(zip(("sack", "sack+frto"), (stop or 100 for stop in stops), strict=True))


def test_a_tighter_interval_continues_from_where_a_wider_one_stopped(tmp_path: Path) -> None:
    wide = run(tmp_path, ADAPTIVE.replace("OF", "mean").replace("0.13", "0.5"))
    assert [settled.runs for settled in wide.settled.values()] == [15, 15]
    tight = run(tmp_path, ADAPTIVE.replace("OF", "mean").replace("0.13", "0.0001"))
    assert [(one.runs, one.narrow) for one in tight.settled.values()] == [(100, False)] * 2
    assert (len(tight.finished), tight.computed) == (14, 12)
    assert run(tmp_path, ADAPTIVE.replace("OF", "mean").replace("0.13", "0.5")).computed == 0
    assert table(tmp_path).height == 30


def test_too_few_values_give_no_interval(tmp_path: Path) -> None:
    few = ADAPTIVE.replace("OF", "mean").replace("0.13", "1000").replace("block = 15", "block = 4")
    assert [settled.runs for settled in run(tmp_path, few).settled.values()] == [12, 12]
