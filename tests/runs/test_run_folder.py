"""The folder of `rtolab run --out`."""

import json
from pathlib import Path

import polars as pl
import pytest

import program
from rtolab.plot import Folder
from rtolab.result import TABLES

TABLE_FILES = {f"{name}.parquet" for name in TABLES}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> None:
    assert program.call(monkeypatch, "run", "hold", *arguments) == 0


def test_a_folder_has_the_files_of_its_last_run_and_those_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "kept.svg"
    run(monkeypatch, "-s", "sack", "-s", "newreno", "--out", out)
    assert (out / "run-1-newreno-sender.pcapng").is_file()
    own = {"mine.svg", "run-1-mine.pcapng", "notes.txt"}
    for name in own:
        (out / name).write_text("not of rtolab")
    elsewhere.write_text("not in the folder")
    listed = json.loads((out / "run.json").read_text())["files"]
    (out / "run.json").write_text(json.dumps({"files": [*listed, "../kept.svg", "notes.txt", 3]}))
    run(monkeypatch, "-s", "rack", "--out", out)
    ends = ("sender", "receiver")
    captures = {f"run-0-rack-{end}.pcapng" for end in ends} | {f"rack-{end}.svg" for end in ends}
    assert {path.name for path in out.iterdir()} == {"run.json"} | own | TABLE_FILES | captures
    assert elsewhere.is_file()
    again = json.loads((out / "run.json").read_text())["files"]
    assert set(again) == TABLE_FILES | captures
    (out / "run.json").write_text("broken")
    run(monkeypatch, "-s", "sack", "--out", out)
    assert (out / "sack-sender.svg").is_file()


def test_several_seeds_have_no_table_of_packets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--out", tmp_path)
    assert "records packets" not in capsys.readouterr().out
    assert pl.read_parquet(tmp_path / "segments.parquet").height > 0
    run(monkeypatch, "--runs", "2", "--out", tmp_path)
    assert "no captures and figures of 2 seeds; --runs 1 records packets" in capsys.readouterr().out
    names = {path.name for path in tmp_path.iterdir()}
    assert names == (TABLE_FILES | {"run.json"}) - {"segments.parquet"}
    with pytest.raises(Exception, match="with one seed, which records packets"):
        _ = Folder(tmp_path).segments
