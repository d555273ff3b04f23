"""Results of sweeps and of `reproduce`, in the folders named on the command line.

The server looks for them once, and numbers them and their files. Clients name only numbers.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from rtolab._rtolab import Error
from rtolab.run_values import run_values

Row = dict[str, Any]

MANIFEST, RECORD = "manifest.json", "finished.json"
DEEPEST = 4
"""The depth to which a folder is searched for results."""
TYPES = {
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".pcapng": "application/octet-stream",
    ".pkt": "text/plain; charset=utf-8",
}
SHOWN = (".png", ".svg")
OWN_COLUMNS = ("run", "seed", "sender", "flow", "flow_sender", "set")
"""Columns of `connections` that are not measures."""
MOST_CELLS = 2000
LARGEST_RECORD = 64_000_000
"""The largest manifest or record, in bytes; the server reads them itself."""


@dataclass(frozen=True)
class ResultEntry:
    """A sweep or an experiment.

    Attributes:
        kind: "sweep" or "experiment".
        name: shown to the user.
        folder: its files.
        files: those that clients may download, by number.
    """

    kind: str
    name: str
    folder: Path
    files: tuple[Path, ...] = ()


@dataclass
class ResultBrowser:
    """The results that were found, by number."""

    found: list[ResultEntry] = field(default_factory=list)

    @classmethod
    def of(cls, folders: Sequence[Path]) -> ResultBrowser:
        """Searches these folders.

        Raises:
            Error: one of them has no results.
        """
        browser = cls()
        for folder in folders:
            mine = list(_results(folder, DEEPEST))
            if not mine:
                raise Error(
                    f"{folder}: found no results; expected the folder of a sweep, of reproduce, or "
                    "one that holds such folders"
                )
            browser.found += mine
        return browser

    def titles(self) -> list[Row]:
        """The results with their numbers."""
        return [
            {"number": number, "kind": one.kind, "name": one.name}
            for number, one in enumerate(self.found)
        ]


def _results(folder: Path, depth: int) -> Iterator[ResultEntry]:
    if "chunks" in (found := _json(folder / MANIFEST)):
        yield ResultEntry("sweep", folder.name, folder)
        return
    found = _json(folder / RECORD)
    if isinstance(found.get("document"), dict) and "experiment" in found["document"]:
        yield _experiment(folder, found)
    if depth == 0 or not folder.is_dir():
        return
    for inner in sorted(folder.iterdir()):
        if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
            yield from _results(inner, depth - 1)


def _experiment(folder: Path, record: Mapping[str, Any]) -> ResultEntry:
    named = record.get("files")
    lists = named.values() if isinstance(named, dict) else ()
    names = [name for names in lists if isinstance(names, list) for name in names]
    paths = [(folder / name).resolve() for name in names if _is_path(name)]
    # An edited record must not name files outside of the folder.
    inside = [path for path in paths if path.is_relative_to(folder.resolve()) and path.is_file()]
    files = tuple(path for path in inside if path.suffix in TYPES)
    return ResultEntry("experiment", str(record["document"]["experiment"]), folder, files)


def _is_path(name: object) -> bool:
    """Can a file have this name? The system takes no null character and no lone surrogate."""
    return isinstance(name, str) and name.isprintable()


def experiment(found: ResultEntry) -> Row:
    """The outcome of an experiment, and its files by number."""
    document = _json(found.folder / RECORD).get("document", {})
    document = document if isinstance(document, dict) else {}
    files = [
        {"number": number, "name": path.name, "shown": path.suffix in SHOWN}
        for number, path in enumerate(found.files)
    ]
    kept = ("experiment", "title", "source", "note", "runs", "rows", "tables", "checks", "verdict")
    return {"kind": found.kind, "files": files} | {key: document.get(key) for key in kept}


def sweep(request: Mapping[str, Any]) -> bytes:
    """The cells of a sweep: median and quartiles of a measure at each point of its grid.

    `runs` counts all runs, `finished` those whose connections have all ended, and `values` those
    with a value; see `run_values`, which figures use, too.

    Raises:
        Error: it cannot be read, or has no such measure.
    """
    from rtolab.sweep.store import read  # noqa: PLC0415  (not every worker is asked for one)

    connections = read(request["folder"])
    try:
        schema = connections.collect_schema()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise Error(f"a chunk of the sweep cannot be read: {str(error).splitlines()[0]}") from None
    measures = [name for name, kind in schema.items() if kind.is_numeric() and _is_measure(name)]
    # A quantity has a column of numbers beside its text.
    grid = [name for name in schema if "." in name and name.rpartition("_")[0] not in schema]
    measure = request["measure"] or "elapsed_s"
    if measure not in measures:
        raise Error(f"no measure {measure[:60]!r}; there are {', '.join(measures)}")
    value, point = pl.col(measure), [*grid, "sender"]
    cells = (
        run_values(connections, [*point, "run"], measure)
        .group_by(point, maintain_order=True)
        .agg(
            runs=pl.len(),
            finished=pl.col("finished").sum(),
            values=value.count(),
            median=value.median(),
            low=value.quantile(0.25, "linear"),
            high=value.quantile(0.75, "linear"),
        )
        .head(MOST_CELLS)
        .collect()
    )
    document = {
        "kind": "sweep",
        "measure": measure,
        "measures": measures,
        "grid": grid,
        "cells": cells.to_dicts(),
    }
    return json.dumps(document, allow_nan=False, default=str).encode()


def _is_measure(name: str) -> bool:
    return name not in OWN_COLUMNS and "." not in name


def _json(path: Path) -> Row:
    """A record; empty if it is none, too large, or a link, which could lead out of the folder."""
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_RECORD:
            return {}
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
