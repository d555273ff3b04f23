"""Sweeps that tests write, and what they leave."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from rtolab import cli, sweep

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

GRID = """
scenario = "frto2002-delays"
senders = ["newreno", "sack+frto"]
runs = 12
block = 5

[grid]
link.wireless.delay = ["100 ms", "200 ms"]
"""
"""Two points, two senders, three blocks each."""
CHUNKS = 12
SCRATCH = tempfile.mkdtemp(prefix="rtolab-tests-")
"""For what processes that are killed leave."""
atexit.register(shutil.rmtree, SCRATCH, ignore_errors=True)


def write(folder: Path, text: str = GRID) -> Path:
    """The file of a sweep."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "sweep.toml"
    file.write_text(text)
    return file


def run(folder: Path, text: str = GRID, *, jobs: int = 2) -> sweep.Done:
    """Run a sweep into a folder."""
    return sweep.run(sweep.load(write(folder, text)), folder / "out", sweep.Threads(jobs))


def table(folder: Path, name: str = "connections") -> pl.DataFrame:
    """A table of a sweep that was run into a folder."""
    return sweep.read(folder / "out", name).collect()


def files(out: Path, within: str = "chunks") -> dict[str, bytes]:
    """Every table of every finished chunk, byte by byte."""
    tables = sorted((out / within).glob("*/*.parquet"))
    return {path.relative_to(out / within).as_posix(): path.read_bytes() for path in tables}


def environment() -> dict[str, str]:
    """Where processes find what tests find, and leave what is nobody's."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": SCRATCH}


def start(*arguments: str | Path, **how: Any) -> subprocess.Popen[str]:
    """A program of Python's as a process of its own, which finds what tests find."""
    return subprocess.Popen(
        [sys.executable, "-m", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        **how,
    )


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    """`rtolab sweep` in this process; how it exits."""
    monkeypatch.setattr(sys, "argv", ["rtolab", "sweep", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return int(ended.value.code or 0)


def command(*arguments: str | Path) -> tuple[int, str, str]:
    """`rtolab sweep` as a process of its own: how it ended, and what it printed."""
    with start("rtolab.cli", "sweep", *arguments) as process:
        said, complained = process.communicate(timeout=120)
    return process.returncode, said, complained
