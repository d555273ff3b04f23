"""The numbers of figures of repeated runs: groups, medians, quartiles, finished runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.plot.results import KEYS
from rtolab.plot.views import number
from rtolab.run_values import run_values
from rtolab.stats import Summary, summarise
from rtolab.sweep.quantities import base_number, canonical
from rtolab.text import counted

MOST_GROUPS = 12
BASE = ("_s", "_bps", "_bytes")
SCALES: dict[str, tuple[tuple[float, float, str], ...]] = {
    "_s": ((1.0, 1.0, "s"), (0.0, 1e3, "ms")),
    "_bps": ((1e9, 1e-9, "Gbit/s"), (1e6, 1e-6, "Mbit/s"), (0.0, 1e-3, "kbit/s")),
    "_bytes": ((1e6, 1e-6, "MB"), (1e3, 1e-3, "kB"), (0.0, 1.0, "bytes")),
}
"""For each suffix of columns: from which value on which factor gives which unit."""
NAMES = {
    "elapsed_s": "completion time",
    "goodput_bps": "goodput",
    "unneeded": "unneeded retransmissions",
    "needed": "needed retransmissions",
    "lost": "lost packets",
    "after": "time until the timeout",
}


@dataclass(frozen=True)
class Quantity:
    """A column as it is shown.

    Attributes:
        column: its name.
        factor: shown values are this many times those of the column.
        label: its name and unit.
    """

    column: str
    factor: float
    label: str

    @classmethod
    def of(cls, table: pl.DataFrame, column: str, label: str | None = None) -> Quantity:
        """The quantity of a column of numbers."""
        suffix = _suffix(column)
        largest = number(table[column].cast(pl.Float64, strict=False).abs().max())
        _, factor, unit = next(
            (one for one in SCALES.get(suffix, ()) if largest >= one[0]),
            (0.0, 1.0, ""),
        )
        bare = column.removesuffix(suffix)
        name = NAMES.get(column, bare if "." in bare else bare.replace("_", " "))
        shown = name if "." in name else name[:1].upper() + name[1:]
        return cls(column, factor, label or (f"{shown} ({unit})" if unit else shown))


@dataclass(frozen=True)
class Cell:
    """The runs of one group at one place of an axis.

    Attributes:
        group: the values of the columns that distinguish groups.
        x: the place, a number or a text; None without an axis.
        values: one per run, in the shown unit; unfinished runs may have none.
        finished: the number of finished runs.
        runs: the number of runs.
    """

    group: tuple[Any, ...]
    x: Any
    values: tuple[float, ...]
    finished: int
    runs: int

    @property
    def summary(self) -> Summary | None:
        """The five numbers of the values."""
        return summarise(self.values)

    @property
    def is_whole(self) -> bool:
        """Has every run finished?"""
        return self.finished == self.runs

    @property
    def said(self) -> str:
        """The finished runs of all."""
        return f"{self.finished}/{self.runs}"


@dataclass(frozen=True)
class Choice:
    """What is drawn of a table.

    Attributes:
        y: the measure.
        x: the column of the horizontal axis; None without one.
        by: the columns that distinguish lines or boxes.
    """

    y: str
    x: str | None
    by: tuple[str, ...]


def axes(table: pl.DataFrame) -> list[str]:
    """The columns of the grid that vary, by their numbers where they have some."""
    after = table.columns
    grid = [name for name in after if "." in name or name in ("folder", "variant", "stack")]
    numbers = {name.rpartition("_")[0] for name in grid if name.endswith(BASE)}
    return [name for name in grid if name not in numbers and table[name].n_unique() > 1]


def measure(table: pl.DataFrame, asked: str | None) -> str:
    """The column of the measure: that asked for, or the first one with values."""
    if asked is not None:
        return _column(table, asked)
    preferred = ("elapsed_s", "goodput_bps", "score", "after", "confidence")
    for name in preferred:
        if name in table.columns and table[name].null_count() < table.height:
            return name
    known = [name for name in table.columns if table[name].dtype.is_numeric() and name not in KEYS]
    if not known:
        raise Error("found no column of numbers; name a table that has one")
    return known[0]


def choose(
    table: pl.DataFrame, y: str | None, x: str | None, by: Sequence[str], *, over: bool
) -> Choice:
    """The columns to draw: those asked for, or the obvious ones.

    Args:
        table: the rows.
        y: the measure.
        x: the horizontal axis, if `over`.
        by: what distinguishes lines or boxes.
        over: is there a horizontal axis of a column?

    Raises:
        Error: there is no such column, or no axis.
    """
    varying = axes(table)
    y = measure(table, y)
    if over and x is None:
        numeric = [name for name in varying if table[name].dtype.is_numeric()]
        found = sorted(numeric or varying, key=lambda name: -table[name].n_unique())
        if not found:
            raise Error("found no key that varies; expected a sweep with a grid")
        x = found[0]
    x = _column(table, _numbered(table, x)) if x is not None else None
    if by:
        # A column that is given twice distinguishes no more.
        groups = tuple(dict.fromkeys(_column(table, _numbered(table, one)) for one in by))
        if x in groups:
            raise Error(
                f"{x}: found it as the horizontal axis and as what distinguishes lines; expected "
                "different columns (--over, --by)"
            )
        return Choice(y, x, groups)
    lines = [name for name in varying if name != x]
    senders = [name for name in ("sender",) if name in table.columns and name != x]
    names = [name for name in senders if table[name].n_unique() > 1 and "variant" not in lines]
    return Choice(y, x, (*names, *lines) or tuple(senders))


def _numbered(table: pl.DataFrame, name: str) -> str:
    """The column with the numbers of a key whose values have units."""
    if name in table.columns and not table[name].dtype.is_numeric():
        return next((name + end for end in BASE if name + end in table.columns), name)
    return name


def _column(table: pl.DataFrame, name: str) -> str:
    if name not in table.columns:
        raise Error(f"found no column {name}; expected {_rtolab.suggest(name, table.columns)}")
    return name


def cells(table: pl.DataFrame, choice: Choice, quantity: Quantity) -> list[Cell]:
    """The runs by group and place, in the order of the table.

    A run with several connections counts once, with the mean over them, unless one of them has not
    ended; see `run_values`.

    Raises:
        Error: the measure is not a number, or there are too many groups.
    """
    if not (table[choice.y].dtype.is_numeric() or table[choice.y].dtype == pl.Boolean):
        raise Error(f"{choice.y}: found texts; expected a column of numbers")
    keys = [*choice.by, *([choice.x] if choice.x else [])]
    # Runs are counted anew for every point and sender of a sweep.
    alike = [name for name in [*axes(table), "sender"] if name in table.columns]
    rows = table.with_columns(pl.col(choice.y).cast(pl.Float64) * quantity.factor)
    if "completed" in table.columns:
        rows = run_values(rows, list(dict.fromkeys([*keys, *alike, "run"])), choice.y)
    else:
        rows = rows.with_columns(finished=pl.lit(value=True))
    found = (
        rows.group_by(keys, maintain_order=True).agg(
            pl.col(choice.y).drop_nulls().alias("values"),
            pl.col("finished").sum(),
            pl.len().alias("n"),
        )
        if keys
        else rows.select(
            pl.col(choice.y).drop_nulls().implode().alias("values"),
            pl.col("finished").sum(),
            n=pl.len(),
        )
    )
    made = [
        Cell(
            tuple(row[name] for name in choice.by),
            row[choice.x] if choice.x else None,
            tuple(row["values"]),
            int(row["finished"]),
            int(row["n"]),
        )
        for row in found.iter_rows(named=True)
    ]
    groups = len({cell.group for cell in made})
    if groups > MOST_GROUPS:
        raise Error(
            f"found {groups} combinations of {', '.join(choice.by)}; expected at most "
            f"{MOST_GROUPS} in a figure: choose with --where or --by"
        )
    return made


def named(cells_: Sequence[Cell], by: Sequence[str]) -> dict[tuple[Any, ...], str]:
    """A name for each group: its sender, with the keys that distinguish it."""
    groups = list(dict.fromkeys(cell.group for cell in cells_))
    varying = [len({group[at] for group in groups}) > 1 for at in range(len(by))]

    def name(group: tuple[Any, ...]) -> str:
        shown = [
            str(value) if "." not in key else f"{_last(key)} {in_unit(key, value)}"
            for key, value, varies in zip(by, group, varying, strict=True)
            if varies
        ]
        return ", ".join(shown) or (str(group[0]) if group else "all")

    return {group: name(group) for group in groups}


def _last(key: str) -> str:
    bare = key.removesuffix(_suffix(key)) if "." in key else key
    return bare.rpartition(".")[2].replace("_", " ")


def _suffix(column: str) -> str:
    return next((end for end in BASE if column.endswith(end)), "")


def in_unit(column: str, value: object) -> str:
    """A value of a column with a unit in which it is neither tiny nor huge."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return str(value)
    scales = SCALES.get(_suffix(column), ((0.0, 1.0, ""),))
    _, factor, unit = next(one for one in scales if abs(value) >= one[0])
    return f"{factor * value:.6g} {unit}".strip()


def caption(
    cells_: Sequence[Cell],
    names: dict[tuple[Any, ...], str],
    what: str,
    thing: str,
    *,
    x: str | None = None,
) -> Iterator[str]:
    """Sentences for a caption.

    Args:
        cells_: the runs by group and place.
        names: the names of the groups.
        what: what is shown of them.
        thing: what the values are of.
        x: the column of the places.
    """
    counts = sorted({cell.runs for cell in cells_})
    first, last = counts[0], counts[-1]
    of = counted(last, thing) if first == last else f"{first} to {counted(last, thing)}"
    yield f"{what} of {of}."
    for cell in cells_:
        place = "" if cell.x is None else f" at {in_unit(x or '', cell.x)}"
        if not cell.is_whole:
            yield (
                f"{names[cell.group]}{place}: {cell.finished} of {cell.runs} runs finished; "
                f"shown: {counted(len(cell.values), 'value')}."
            )
        elif not cell.values:
            yield f"{names[cell.group]}{place}: no value."


def no_value(table: pl.DataFrame, y: str) -> Error:
    """The error for a measure without a value, with the reason."""
    unfinished = "completed" in table.columns and not table["completed"].any()
    why = "no run has finished" if unfinished else f"these runs did not record {y}"
    return Error(f"{y}: found no value: {why}")


def check_positive(column: str, values: Iterable[float]) -> None:
    """Raises Error if one of the values has no place on a logarithmic axis."""
    if any(value <= 0 for value in values):
        raise Error(f"{column}: found values that are not positive; leave out the log axis")


def thing(table: pl.DataFrame) -> str:
    """What a value of the table is of."""
    return "run" if "completed" in table.columns else "value"


def has_grid(table: pl.DataFrame) -> bool:
    """Does a key of a scenario vary?"""
    return any("." in name for name in axes(table))


def only(table: pl.DataFrame, conditions: Sequence[tuple[str, Sequence[str]]]) -> pl.DataFrame:
    """The rows whose columns have one of these values.

    Args:
        table: the rows.
        conditions: columns, each with values as text: numbers, or the texts of the table, of which
            quantities may have another unit.

    Raises:
        Error: there is no such column or value.
    """
    for name, values in conditions:
        column = table[_column(table, name)]
        if column.dtype == pl.Boolean:
            column = column.cast(pl.String)
        if column.dtype == pl.String:
            known = {text: canonical(text) for text in column.drop_nulls().unique()}
            same = {canonical(value) for value in values}
            kept = table.filter(column.is_in([text for text in known if known[text] in same]))
        else:
            kept = table.filter(column.is_in([_parsed(name, value) for value in values]))
        if kept.is_empty():
            there = [f"{value}" for value in column.unique(maintain_order=True).to_list()]
            raise Error(
                f"{name}: found no row with {', '.join(values)}; expected "
                f"{_rtolab.suggest(values[0], there)}"
            )
        table = kept
    return table


def _parsed(name: str, value: str) -> float:
    with suppress(ValueError):
        return float(value)
    number = base_number(value, _suffix(name).removeprefix("_"))
    if number is None:
        raise Error(f"{name}: found {value}; expected a number")
    return number
