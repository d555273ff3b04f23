"""Sweeps for tests, and their results."""

from pathlib import Path

import polars as pl
import pytest

import program
from rtolab import sweep

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
CUT = """
title = "A long transfer that the end of the run often cuts, and a short one"
duration = "11 s"
[[link]]
name = "radio"
between = ["a", "b"]
rate = "1 Mbit/s"
delay = "20 ms"
loss = 0.03
[[flow]]
name = "long"
from = "a"
to = "b"
bytes = "800 kB"
[[flow]]
name = "short"
from = "a"
to = "b"
bytes = "20 kB"
"""
"""A scenario for sweeps."""


def write(folder: Path, text: str = GRID) -> Path:
    """The file of a sweep."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "sweep.toml"
    file.write_text(text)
    return file


def run(folder: Path, text: str = GRID, *, jobs: int = 2) -> sweep.SweepOutcome:
    """Run a sweep into a folder."""
    return sweep.run(sweep.load(write(folder, text)), folder / "out", sweep.Threads(jobs))


def table(folder: Path, name: str = "connections") -> pl.DataFrame:
    """A table of a sweep that was run into a folder."""
    return sweep.read(folder / "out", name).collect()


def files(out: Path, within: str = "chunks") -> dict[str, bytes]:
    """Every table of every finished chunk, byte by byte."""
    tables = sorted((out / within).glob("*/*.parquet"))
    return {path.relative_to(out / within).as_posix(): path.read_bytes() for path in tables}


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    """`rtolab sweep` in this process; how it exits."""
    return program.call(monkeypatch, "sweep", *arguments)


def command(*arguments: str | Path) -> tuple[int, str, str]:
    """`rtolab sweep` as a process of its own: how it ended, and what it printed."""
    done = program.run("sweep", *arguments, env=program.environment(), timeout=600)
    return done.returncode, done.stdout, done.stderr
