"""Computing a chunk, in this process."""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.prototype import made
from rtolab.sweep.chunks import Chunk
from rtolab.sweep.inputs import Inputs

Progress = Callable[[int, int], object]

TRACED = {"segments", "disturbances", "duplicates"}
"""Tables that need a trace."""
TYPES = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
"""Types of the grid's columns, which must be the same in every chunk."""


@dataclass(frozen=True)
class ChunkTables:
    """The tables of a chunk, by name, and the seconds that they took."""

    tables: dict[str, pl.DataFrame]
    seconds: float

    def packed(self) -> ChunkFiles:
        """The same in the form that is stored."""
        return ChunkFiles(
            {name: _parquet(table) for name, table in self.tables.items()}, self.seconds
        )


@dataclass(frozen=True)
class ChunkFiles:
    """The tables of a chunk as Parquet files, by name, and the seconds that they took."""

    files: dict[str, memoryview]
    seconds: float


@cache
def program() -> tuple[str, str]:
    """The version of rtolab, and a hash of its extension."""
    extension = Path(_rtolab.__file__).read_bytes()
    return _rtolab.__version__, hashlib.sha256(extension).hexdigest()[:16]


def compute(
    inputs: Inputs, chunk: Chunk, *, jobs: int = 1, progress: Progress | None = None
) -> ChunkTables:
    """Computes the tables of a chunk, with a column for each key of the grid.

    Args:
        inputs: the scenario.
        chunk: the work.
        jobs: the number of threads; the tables do not depend on it.
        progress: called from time to time; an exception that it raises ends the runs.

    Raises:
        Error: the scenario or a sender cannot be run.
    """
    began = time.monotonic()
    try:
        outcome = _rtolab.simulate(
            inputs.unpacked(),
            set=list(chunk.set),
            senders=[chunk.sender] if chunk.sender else [],
            seeds=chunk.seeds,
            trace=not TRACED.isdisjoint(chunk.tables),
            windows="windows" in chunk.tables,
            judges=list(chunk.judge),
            what_if=list(chunk.what_if),
            prototypes=made(source.load() for source in chunk.prototypes),
            jobs=jobs,
            progress=progress,
        )
    except Error as error:
        raise type(error)(inputs.place(str(error))) from error.__cause__
    tables = {name: _placed(pl.DataFrame(outcome.table(name)), chunk) for name in chunk.tables}
    return ChunkTables(tables, time.monotonic() - began)


def _placed(frame: pl.DataFrame, chunk: Chunk) -> pl.DataFrame:
    """The table with the columns of the point; run numbers continue from block to block."""
    run, seed, sender, *rest = frame.get_columns()
    point = [
        pl.Series(key, [value], TYPES[type(value)]).new_from_index(0, frame.height)
        for key, value in (*chunk.columns, *chunk.numbers)
    ]
    return pl.DataFrame([run + chunk.first, seed, sender, *point, *rest])


def _parquet(table: pl.DataFrame) -> memoryview:
    file = io.BytesIO()
    table.write_parquet(file)
    return file.getbuffer()
