"""The definition of a sweep, read from its TOML file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error, PrototypeError, ScenarioError, SenderError
from rtolab.prototype import made
from rtolab.prototype.source import Source
from rtolab.result import TABLES
from rtolab.run import LARGEST_SEED, included_scenarios
from rtolab.sweep.quantities import numbers
from rtolab.sweep.written import Key, TomlFile, dotted, shown

Scalar = str | int | float | bool

KNOWN = (
    *("scenario", "senders", "runs", "seed", "seeds", "block", "tables", "judge", "what_if"),
    *("prototypes", "until", "grid", "set", "out"),
)
KNOWN_UNTIL = ("measure", "relative", "max_runs", "of", "share")
BLOCK = 50
"""The default number of runs in a chunk."""
MOST_RUNS = 10**9
MOST_POINTS = 100_000
MOST_CHUNKS = 1_000_000
SENDERS, VALUES = '["newreno", "newreno+frto"]', '["100 ms", "200 ms"]'


class IntervalStatistic(StrEnum):
    """The statistic that an interval bounds."""

    MEDIAN = "median"
    MEAN = "mean"


@dataclass(frozen=True)
class StopRule:
    """When to stop repeating runs.

    Attributes:
        measure: a column of the table `connections`.
        relative: the width of the interval that suffices, relative to the value.
        max_runs: the largest number of runs.
        of: the statistic that the interval bounds.
        share: the confidence, 0 to 1.
    """

    measure: str
    relative: float
    max_runs: int
    of: IntervalStatistic = IntervalStatistic.MEDIAN
    share: float = 0.95


@dataclass(frozen=True)
class Point:
    """A point of the grid.

    Attributes:
        set: TOML values that replace those of the scenario, by dotted key.
        columns: the grid's part of it, as columns of the tables.
        numbers: the quantities in it, in base units, as more columns.
    """

    set: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, Scalar], ...]
    numbers: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Sweep:
    """A grid of scenarios, with senders and seeds.

    Attributes:
        file: the file that defines it.
        scenario: the file of the scenario.
        senders: sender specifications; a single empty one for the scenario's own.
        seeds: of the runs of each sender at each point; with `until`, of the most runs.
        block: runs in a chunk.
        tables: those that are stored.
        judge: passive detectors.
        what_if: senders that replay the rest of the run from every timeout.
        prototypes: detectors, responses and stages written in Python that may be named.
        until: when to stop repeating runs, or None.
        points: of the grid; the last key varies fastest.
        out: the folder that the file names, or None.
    """

    file: Path
    scenario: Path
    senders: tuple[str, ...]
    seeds: range | tuple[int, ...]
    block: int
    tables: tuple[str, ...]
    judge: tuple[str, ...]
    what_if: tuple[str, ...]
    prototypes: tuple[Source, ...]
    until: StopRule | None
    points: tuple[Point, ...]
    out: Path | None


def load(file: str | Path) -> Sweep:
    """Read a sweep, and check everything that can be checked before it runs.

    Raises:
        Error: says file, line, key, what was found and what would be right.
        OSError: the file cannot be read.
    """
    written = TomlFile(Path(file))
    if written.document.keys() & {"link", "flow"}:
        name = shown(written.file.name)
        expected = f"expected a sweep, which names its scenario: scenario = {name}"
        raise Error(f"{written.file}: found a scenario; {expected}")
    written.only((), KNOWN)
    until = _until(written)
    out = written.text(("out",))
    prototypes = tuple(_prototypes(written))
    judge = _passive_detectors(written, _detectors(prototypes))
    what_if = written.texts(("what_if",), SENDERS)
    sweep = Sweep(
        file=written.file,
        scenario=_scenario(written),
        senders=written.texts(("senders",), SENDERS) or ("",),
        seeds=_seeds(written, until),
        block=written.integer(("block",), least=1, largest=MOST_RUNS) or BLOCK,
        tables=_tables(written, judge, what_if),
        judge=judge,
        what_if=what_if,
        prototypes=prototypes,
        until=until,
        points=tuple(_points(written)),
        out=written.file.parent / out if out else None,
    )
    _check_size(written, sweep)
    _check(written, sweep)
    _check_measure(written, sweep)
    return sweep


def _scenario(written: TomlFile) -> Path:
    name = written.text(("scenario",))
    if name is None:
        raise Error(f"{written.file}: found no scenario; expected one, by its path or name")
    beside = written.file.parent / name
    if beside.is_file():
        return beside
    shipped = included_scenarios()
    if name not in shipped:
        expected = f"expected a file beside the sweep's, or {_rtolab.suggest(name, [*shipped])}"
        raise written.wrong(("scenario",), f"found no file {beside}; {expected}")
    return shipped[name]


def _seeds(written: TomlFile, until: StopRule | None) -> range | tuple[int, ...]:
    runs = written.integer(("runs",), least=1, largest=MOST_RUNS)
    first = written.integer(("seed",), least=0, largest=LARGEST_SEED)
    listed = written.document.get("seeds")
    if listed is not None:
        rival = next((key for key in ("runs", "seed", "until") if key in written.document), None)
        if rival:
            raise written.wrong(("seeds",), f"found beside {rival}; expected one of the two")
        return _listed(written, listed)
    if until and runs:
        raise written.wrong(("runs",), "found beside until; expected until.max_runs alone")
    seed = 1 if first is None else first
    count = until.max_runs if until else runs
    if count is None:
        raise Error(f"{written.file}: found no runs, seeds or until; expected one of them")
    if seed + count - 1 > LARGEST_SEED:
        raise written.wrong(("seed",), f"found {seed}; expected seeds from 0 to 2^64 - 1")
    return range(seed, seed + count)


def _listed(written: TomlFile, listed: Any) -> tuple[int, ...]:
    expected = "expected a list of seeds from 0 to 2^64 - 1, such as [1, 2, 3]"
    if not isinstance(listed, list) or not listed:
        raise written.wrong(("seeds",), f"found {shown(listed)}; {expected}")
    for seed in listed:
        if type(seed) is not int or not 0 <= seed <= LARGEST_SEED:
            raise written.wrong(("seeds",), f"found {shown(seed)} in it; {expected}")
    written.once(("seeds",), listed)
    return tuple(listed)


def _tables(written: TomlFile, judge: tuple[str, ...], what_if: tuple[str, ...]) -> tuple[str, ...]:
    names = written.texts(("tables",), '["connections", "timeouts"]') or ("connections",)
    needs = {"verdicts": ("judge", judge), "what_if": ("what_if", what_if)}
    for name in names:
        if name not in TABLES:
            known = ", ".join(TABLES)
            raise written.wrong(("tables",), f'found "{name}" in it; expected some of {known}')
        key, given = needs.get(name, ("", ("",)))
        if not given:
            raise written.wrong(("tables",), f'found "{name}" without `{key}`; expected both')
    if "until" in written.document and "connections" not in names:
        raise written.wrong(("tables",), 'found no "connections", which `until` needs')
    return tuple(name for name in TABLES if name in names)


def _detectors(prototypes: Iterable[Source]) -> list[str]:
    """The names of all detectors, those in Python included."""
    return [
        one.name for one in made(source.load() for source in prototypes) if one.kind == "detector"
    ]


def _prototypes(written: TomlFile) -> Iterator[Source]:
    """The sources of the prototypes; paths are relative to the sweep's file."""
    for place in written.texts(("prototypes",), '["early.py:Early"]'):
        try:
            source = Source.read(place, written.file.parent)
            source.load()
        except PrototypeError as error:
            raise written.wrong(("prototypes",), str(error)) from error.__cause__
        yield source


def _passive_detectors(written: TomlFile, own: Sequence[str]) -> tuple[str, ...]:
    """The names of the passive detectors; "all" stands for every detector."""
    names = written.texts(("judge",), '["dualrtt"]')
    known = [*(one["name"] for one in _rtolab.detectors()), *own]
    for name in names:
        if name not in (*known, "all"):
            expected = f"expected all, or some of {', '.join(known)}"
            raise written.wrong(("judge",), f"found {shown(name)} in it; {expected}")
    return tuple(known) if "all" in names else names


def _until(written: TomlFile) -> StopRule | None:
    if "until" not in written.document:
        return None
    written.only(("until",), KNOWN_UNTIL)
    measure = written.text(("until", "measure"))
    relative = written.number(("until", "relative"))
    max_runs = written.integer(("until", "max_runs"), least=1, largest=MOST_RUNS)
    if measure is None or relative is None or max_runs is None:
        example = '{ measure = "elapsed_s", relative = 0.05, max_runs = 1000 }'
        lacks = [key for key in KNOWN_UNTIL[:3] if key not in written.table(("until",))]
        raise written.wrong(("until",), f"found no {lacks[0]}; expected all of {example}")
    of = written.text(("until", "of")) or IntervalStatistic.MEDIAN
    if of not in list(IntervalStatistic):
        raise written.wrong(("until", "of"), f'found "{of}"; expected "median" or "mean"')
    share = written.number(("until", "share")) or StopRule.share
    if share >= 1:
        raise written.wrong(("until", "share"), f"found {share}; expected it below 1")
    return StopRule(measure, relative, max_runs, IntervalStatistic(of), share)


def _points(written: TomlFile) -> Iterator[Point]:
    fixed = {dotted(key): shown(value) for key, value in _settings(written, "set").items()}
    axes = _settings(written, "grid")
    for key, values in axes.items():
        place = ("grid", *key)
        if not isinstance(values, list) or not values:
            expected = f"expected a list of values such as {VALUES}"
            raise written.wrong(place, f"found {shown(values)}; {expected}")
        if dotted(key) in fixed:
            raise written.wrong(place, "found in [set], too; expected it in one of the two")
        written.once(place, values)
    count = prod(len(values) for values in axes.values())
    if count > MOST_POINTS:
        raise written.wrong(("grid",), f"found {count} points; expected at most {MOST_POINTS}")
    columns = [_column(values) for values in axes.values()]
    names = [dotted(key) for key in axes]
    quantities = [_quantities(name, column) for name, column in zip(names, columns, strict=True)]
    for picks in product(*(range(len(values)) for values in axes.values())):
        values = [axis[pick] for axis, pick in zip(axes.values(), picks, strict=True)]
        shows = [column[pick] for column, pick in zip(columns, picks, strict=True)]
        set_ = fixed | dict(zip(names, map(shown, values), strict=True))
        found = zip(quantities, picks, strict=True)
        counted = tuple((name, axis[pick]) for (name, axis), pick in found if axis)
        yield Point(tuple(set_.items()), tuple(zip(names, shows, strict=True)), counted)


def _settings(written: TomlFile, table: str) -> dict[Key, Any]:
    """The scenario keys that a table sets, each of them once."""
    found: dict[Key, Any] = {}
    for key, value in _leaves(written.table((table,))):
        if key in found:
            raise written.wrong(
                (table, *key), "found twice, in quotes and without; expected it once"
            )
        found[key] = value
    return found


def _leaves(table: Mapping[str, Any], above: Key = ()) -> Iterator[tuple[Key, Any]]:
    """The keys of a table and of those within it, with their values."""
    for name, value in table.items():
        # "link.a.loss" in quotes is the same key as without quotes.
        key = (*above, *name.split("."))
        if isinstance(value, dict):
            yield from _leaves(value, key)
        else:
            yield key, value


def _column(values: list[Any]) -> list[Scalar]:
    """The values as a column of one type; mixed values become their TOML text."""
    types = {type(value) for value in values}
    if types == {int, float}:
        return [float(value) for value in values]
    if len(types) == 1 and types <= {str, int, float, bool}:
        return list(values)
    return [value if isinstance(value, str) else shown(value) for value in values]


def _quantities(name: str, column: list[Scalar]) -> tuple[str, list[float]]:
    """The name and the numbers of the column with the quantities of `column`, if it has any."""
    texts = [value for value in column if isinstance(value, str)]
    found = numbers(texts) if len(texts) == len(column) else None
    return (f"{name}_{found[0]}", found[1]) if found else ("", [])


def _check_size(written: TomlFile, sweep: Sweep) -> None:
    """Raises Error if there are too many chunks."""
    blocks = 1 if sweep.until else -(-len(sweep.seeds) // sweep.block)
    chunks = len(sweep.points) * len(sweep.senders) * blocks
    if chunks > MOST_CHUNKS:
        expected = f"expected at most {MOST_CHUNKS}: fewer points, or larger blocks"
        raise written.wrong(("block",), f"found {chunks} chunks; {expected}")


def _check(written: TomlFile, sweep: Sweep) -> None:
    """Raises what running it would raise; for a value of the grid, with its line in the file."""
    senders = [sender for sender in (*sweep.senders, *sweep.what_if) if sender]
    prototypes = made(source.load() for source in sweep.prototypes)
    for point in sweep.points:
        try:
            _rtolab.check(sweep.scenario, list(point.set), senders, prototypes)
        except ScenarioError as error:
            raise _placed(written, str(error), point) from None
        except PrototypeError as error:
            raise written.wrong(("prototypes",), str(error)) from None
        except SenderError as error:
            key = "senders" if any(f"`{one}`" in str(error) for one in sweep.senders) else "what_if"
            raise written.wrong((key,), str(error)) from None


def _check_measure(written: TomlFile, sweep: Sweep) -> None:
    """Raises Error if the measure is not a column of numbers, as an empty table shows."""
    if sweep.until is None:
        return
    prototypes = made(source.load() for source in sweep.prototypes)
    given = list(sweep.points[0].set)
    outcome = _rtolab.simulate(sweep.scenario, set=given, seeds=[], prototypes=prototypes)
    schema = pl.DataFrame(outcome.table("connections")).schema
    numbers = [name for name, type_ in schema.items() if type_.is_numeric()]
    measures = [name for name in numbers if name not in {"run", "seed"}]
    if sweep.until.measure not in measures:
        expected = f"expected a column of numbers in connections: {', '.join(measures)}"
        found = f"found {shown(sweep.until.measure)}; {expected}"
        raise written.wrong(("until", "measure"), found)


def _placed(written: TomlFile, problem: str, point: Point) -> Error:
    """The error about a value that is set, with the line that sets it."""
    for key, value in point.set:
        table = "grid" if key in dict(point.columns) else "set"
        if problem.startswith((f"--set {key}: ", f"--set {key}.")):
            said = problem.removeprefix("--set ").removeprefix(f"{key}: ")
            said = f"{said} (set to {value})" if value not in said else said
            return written.wrong((table, *key.split(".")), said)
    return Error(problem)
