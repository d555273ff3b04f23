"""Tables of results on the disk, whichever command wrote them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import polars as pl

from rtolab import _rtolab, sweep
from rtolab._rtolab import Error

KEYS = ("run", "seed", "sender", "flow", "flow_sender", "set")
"""Columns that say which run a row is of; those of a sweep's grid come after `sender`."""


class Source(StrEnum):
    """The command that wrote a folder."""

    SWEEP = "a sweep"
    RUN = "runs"
    REPRODUCED = "an experiment"
    CONFORM = "scores of conform"
    DIAGNOSIS = "a diagnosis"


@dataclass(frozen=True)
class Results:
    """The results in a folder.

    Attributes:
        path: the folder, or a JSON file of `diagnose` or `conform`.
        source: the command that wrote it.
        tables: the names of its tables.
    """

    path: Path
    source: Source
    tables: tuple[str, ...]

    @property
    def main(self) -> str:
        """The table that is drawn by default."""
        for name in ("connections", "scenarios", "timeouts"):
            if name in self.tables and (self.source, name) != (Source.DIAGNOSIS, "connections"):
                return name
        return self.tables[0]

    def table(self, name: str | None = None) -> pl.DataFrame:
        """A table.

        Raises:
            Error: there is no such table.
        """
        name = name or self.main
        if name not in self.tables:
            raise Error(f"{self.path}: found no table {name}; expected {self._known(name)}")
        if self.source is Source.SWEEP:
            return sweep.read(self.path, name).collect()
        if self.path.is_file():
            return pl.DataFrame(_rows(_document(self.path), name), infer_schema_length=None)
        return pl.read_parquet(self.path / f"{name}.parquet", glob=False)

    @property
    def is_traced(self) -> bool:
        """Are there packets?"""
        if self.source is not Source.RUN or "segments" not in self.tables:
            return False
        packets = pl.scan_parquet(self.path / "segments.parquet", glob=False)
        return not packets.head(1).collect().is_empty()

    def _known(self, name: str) -> str:
        return _rtolab.suggest(name, [*self.tables])


def read(path: str | Path) -> Results:
    """The results in a folder or file.

    Args:
        path: a folder of `sweep`, `run --out`, `reproduce --out`, `conform --out` or
            `diagnose --parquet`, or a file of `conform --json` or `diagnose --json`.

    Raises:
        Error: there are none.
        OSError: they cannot be read.
    """
    path = Path(path)
    if (path / "conform.json").is_file():
        path /= "conform.json"
    if path.is_file():
        document = _document(path)
        source = Source.CONFORM if "scenarios" in document else Source.DIAGNOSIS
        names = [
            name
            for name in ("scenarios", "connections", "retransmissions", "timeouts", "losses")
            if _rows(document, name)
        ]
        if not names:
            raise Error(f"{path}: found no rows; expected a document of `conform` or `diagnose`")
        return Results(path, source, tuple(names))
    if (path / "manifest.json").is_file():
        tables = sweep.tables(path)
        return Results(path, Source.SWEEP, tables)
    names = sorted(file.stem for file in path.glob("*.parquet"))
    if not names:
        raise Error(f"{path}: found no results; expected {_expected(path)}")
    if (path / "finished.json").is_file():
        return Results(path, Source.REPRODUCED, tuple(names))
    is_run = "disturbances" in names or "segments" in names
    return Results(path, Source.RUN if is_run else Source.DIAGNOSIS, tuple(names))


def _expected(path: Path) -> str:
    """What would be right: a folder below that has results, or what commands write."""
    if not path.is_dir():
        return "a folder that exists" if not path.exists() else "a folder"
    below = sorted(found.parent for found in path.glob("*/*/connections.parquet"))
    below += sorted(found.parent for found in path.glob("*/connections.parquet"))
    if below:
        return f"a folder of one result, such as {below[0]}"
    return "the folder of `rtolab sweep`, `run --out`, `reproduce --out` or `conform --out`"


def _document(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Error(f"{path}: found no JSON ({error}); expected a folder of results") from None
    if not isinstance(found, dict):
        raise Error(f"{path}: found no result; expected a document of `conform` or `diagnose`")
    return found


def _rows(document: dict[str, Any], table: str) -> list[dict[str, Any]]:
    """The rows of a table of a document; those of all connections if each has its own."""
    if table == "scenarios":
        stack = {"stack": document.get("stack")}
        return [stack | _flat(one) for one in document.get("scenarios", [])]
    captures = document.get("captures", [document])
    connections = [one for capture in captures for one in capture.get("connections", [])]
    if table == "connections":
        return [_flat(one) for one in connections]
    return [
        {"connection": one.get("number")} | _flat(row)
        for one in connections
        for row in one.get(table, [])
    ]


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """The values of a row that are numbers, texts or booleans."""
    return {key: value for key, value in row.items() if not isinstance(value, list | dict)}


def together(several: Sequence[Results], table: str | None = None) -> pl.DataFrame:
    """The rows of several results; with more than one, `folder` has the name of each."""
    if len(several) == 1:
        return several[0].table(table)
    frames = [
        one.table(table).with_columns(folder=pl.lit(one.path.name or str(one.path)))
        for one in several
    ]
    return pl.concat(frames, how="diagonal_relaxed")
