"""Measurements of an experiment, and checks that many experiments share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rtolab.experiments.base import Bounds, Check, Experiment, Kind, Metric, Parts, Value, Variant
from rtolab.experiments.trace import Trace
from rtolab.result import Result
from rtolab.stats import Estimate, mean_of, ratio_of_medians

T = TypeVar("T")


@dataclass(frozen=True)
class Runs:
    """The runs of one variant: the rows of a result's tables, ordered by run.

    Attributes:
        result: the result with these and other runs.
        first: the number of the first run.
        count: the number of runs.
        endless: do incomplete connections count?
        kept: the experiment's digest of the result, if it has one.
        number: the number that these tables give the first run; by default `first`. The result
            of another experiment has other numbers.
    """

    result: Result
    first: int
    count: int
    endless: bool = False
    kept: pl.DataFrame | None = None
    number: int | None = None

    @cached_property
    def connections(self) -> pl.DataFrame:
        """The connections that count: all if `endless`, else the completed ones."""
        every = self.every_connection
        # To filter all columns takes longer than most metrics, and nearly all transfers complete.
        return every if self.endless or every["completed"].all() else every.filter("completed")

    @cached_property
    def every_connection(self) -> pl.DataFrame:
        """All connections."""
        return self._mine(self.result.connections)

    @cached_property
    def links(self) -> pl.DataFrame:
        """The link directions."""
        return self._mine(self.result.links)

    @cached_property
    def tasks(self) -> pl.DataFrame:
        """The pages, and requests with responses."""
        return self._mine(self.result.tasks)

    @cached_property
    def digest(self) -> pl.DataFrame:
        """The experiment's digest of these runs."""
        return pl.DataFrame() if self.kept is None else self._mine(self.kept)

    @cached_property
    def timeouts(self) -> pl.DataFrame:
        """The timeouts and fast retransmits."""
        return self._mine(self.result.timeouts)

    @cached_property
    def duplicates(self) -> pl.DataFrame:
        """The duplicate ACKs, if traces or windows were recorded."""
        return self._mine(self.result.duplicates)

    @cached_property
    def verdicts(self) -> pl.DataFrame:
        """The verdicts of passive detectors."""
        return self._mine(self.result.verdicts)

    @cached_property
    def windows(self) -> pl.DataFrame:
        """The changes of the senders' windows, if they were recorded."""
        return self._mine(self.result.windows)

    @cached_property
    def _measured(self) -> dict[object, pl.DataFrame]:
        return {}

    def measured(self, measure: Callable[[Runs], pl.DataFrame]) -> pl.DataFrame:
        """The table of a measure for these runs; rtolab computes it only once."""
        if measure not in self._measured:
            self._measured[measure] = measure(self)
        return self._measured[measure]

    def a_run(self, counted: pl.DataFrame) -> pl.Series:
        """The number of rows per run that counts, ordered by run."""
        rows = counted.group_by("run").agg(rows=pl.len().cast(pl.Float64))
        runs = self.connections.select(pl.col("run").unique(maintain_order=True))
        joined = runs.join(rows, on="run", how="left", maintain_order="left")
        return joined["rows"].fill_null(0.0)

    def _mine(self, table: pl.DataFrame) -> pl.DataFrame:
        runs = table["run"]
        if not runs.is_sorted():
            table = table.sort("run", maintain_order=True)
            runs = table["run"]
        # An expression of Polars would take longer than the slice.
        begin, end = np.searchsorted(runs.to_numpy(), [self.first, self.first + self.count])
        # Sums of groups have another last digit where a column is not known to be sorted.
        mine = table.slice(int(begin), int(end - begin))
        runs = mine["run"]
        if self.number not in (None, self.first):
            # Numbers are unsigned.
            runs = (runs.cast(pl.Int64) + (self.number - self.first)).cast(runs.dtype)
        return mine.replace_column(mine.get_column_index("run"), runs.set_sorted())


@dataclass(frozen=True)
class ExperimentRuns:
    """The runs of an experiment.

    Attributes:
        experiment: the experiment.
        runs: the runs of each variant.
        of: the runs, by key of the variant.
        traces: the traced runs, by key of the variant; empty for statistics.
    """

    experiment: Experiment
    runs: int
    of: Mapping[str, Runs]
    traces: Mapping[str, Trace] = field(default_factory=dict)

    @cached_property
    def derived(self) -> Mapping[str, Value]:
        """The derived values, by name."""
        derive = self.experiment.derive
        return {value.name: value for value in derive(self)} if derive else {}

    @cached_property
    def digest(self) -> pl.DataFrame:
        """The digests of all variants, with their keys as `variant`."""
        return with_variant({key: runs.digest for key, runs in self.of.items()})

    @cached_property
    def _computed(self) -> dict[object, Any]:
        return {}

    @cached_property
    def _values(self) -> dict[tuple[str, Metric], NDArray[np.float64]]:
        return {}

    def once(self, compute: Callable[[ExperimentRuns], T]) -> T:
        """The result of the function for these runs; rtolab calls it only once."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        computed: T = self._computed[compute]
        return computed

    def values(self, variant: str, metric: Metric) -> NDArray[np.float64]:
        """A metric of a variant's runs that count, shape (n,), ordered by seed; not writable.

        Tables, figures and checks ask for the same numbers, so rtolab computes them only once.
        """
        key = (variant, metric)
        if key not in self._values:
            found = metric.of(self.of[variant]).cast(pl.Float64).drop_nulls().to_numpy()
            self._values[key] = found.view()
            self._values[key].setflags(write=False)
        return self._values[key]

    def median(self, variant: str, metric: Metric) -> float | None:
        """The median of a metric over the runs that count; `None` without such runs."""
        values = self.values(variant, metric)
        return float(np.median(values)) if values.size else None

    def published(self, variant: str, metric: Metric) -> float:
        """The paper's value."""
        return self.experiment.published[variant, metric.name]

    def unfinished(self) -> int:
        """The number of incomplete transfers."""
        return sum(int((~runs.every_connection["completed"]).sum()) for runs in self.of.values())


def with_variant(tables: Mapping[str, pl.DataFrame], *, as_enum: bool = True) -> pl.DataFrame:
    """The tables below each other, with their keys as the last column `variant`.

    It is one column from the beginning: a thousand of one value each take longer than all else.
    """
    keys = pl.Series(list(tables), dtype=pl.Enum(list(tables)) if as_enum else pl.String)
    heights = [table.height for table in tables.values()]
    variant = keys.gather(np.repeat(np.arange(len(tables)), heights))
    return pl.concat(tables.values()).with_columns(variant=variant)


def ratio(
    name: str,
    metric: Metric,
    variants: tuple[str, str],
    bounds: Mapping[int, Bounds],
    **parts: Unpack[Parts],
) -> Check:
    """The median of the first variant over that of the second lies within bounds.

    Args:
        name: of the check.
        metric: the metric.
        variants: numerator and denominator.
        bounds: by the fewest runs that decide it.
        parts: `note`, `not_reproducible`, `failure_cause`, `basis`, `fitted` of the check.
    """

    def measure(measured: ExperimentRuns) -> Estimate | None:
        above, below = (measured.values(variant, metric) for variant in variants)
        if not above.size or not below.size or not np.median(below):
            return None
        return ratio_of_medians(above, below)

    return Check(name, _kind(bounds), measure, bounds, **parts, statistic="medians")


def against_published(metric: Metric, variant: Variant, within: float, *, runs: int) -> Check:
    """The median over the published one is within 1 +- `within`, from `runs` runs on."""

    def measure(measured: ExperimentRuns) -> float | None:
        median = measured.median(variant.key, metric)
        return None if median is None else median / measured.published(variant.key, metric)

    name = f"{metric.label.lower()}, measured / published: {variant.title}"
    bounds = {runs: Bounds(1 - within, 1 + within)}
    return Check(name, "ratio", measure, bounds, basis="paper", statistic="median")


def near_published(metric: Metric, variant: Variant, within: float, *, runs: int) -> Check:
    """The median minus the published one is within +- `within`, from `runs` runs on."""

    def measure(measured: ExperimentRuns) -> float | None:
        median = measured.median(variant.key, metric)
        return None if median is None else median - measured.published(variant.key, metric)

    name = f"{metric.label.lower()}, measured - published: {variant.title}"
    bounds = {runs: Bounds(-within, within)}
    return Check(name, "ratio", measure, bounds, basis="paper", statistic="median")


def mean(
    name: str,
    kind: Kind,
    of: tuple[str, Metric],
    bounds: Mapping[int, Bounds],
    **parts: Unpack[Parts],
) -> Check:
    """The mean of a metric over the runs of a variant lies within bounds.

    Args:
        name: of the check.
        kind: what sort of claim it is.
        of: a variant and a metric.
        bounds: by the fewest runs that decide it.
        parts: `note`, `not_reproducible`, `failure_cause`, `basis`, `fitted` of the check.
    """

    def measure(measured: ExperimentRuns) -> Estimate | None:
        values = measured.values(*of)
        return mean_of(values) if values.size else None

    return Check(name, kind, measure, bounds, **parts, statistic="mean")


def median(
    name: str,
    kind: Kind,
    of: tuple[str, Metric],
    bounds: Mapping[int, Bounds],
    **parts: Unpack[Parts],
) -> Check:
    """The median of a metric over the runs of a variant lies within bounds; see `mean`."""

    def measure(measured: ExperimentRuns) -> float | None:
        return measured.median(*of)

    return Check(name, kind, measure, bounds, **parts, statistic="median")


def difference(
    name: str,
    minuend: tuple[str, Metric],
    subtrahend: tuple[str, Metric],
    bounds: Mapping[int, Bounds],
    **parts: Unpack[Parts],
) -> Check:
    """The difference of two medians, each of a variant and a metric, lies within bounds."""

    def measure(measured: ExperimentRuns) -> float | None:
        left, right = measured.median(*minuend), measured.median(*subtrahend)
        return None if left is None or right is None else left - right

    return Check(name, _kind(bounds), measure, bounds, **parts, statistic="medians")


def derived(
    name: str, kind: Kind, bounds: Mapping[int, Bounds], *, of: str = "", **parts: Unpack[Parts]
) -> Check:
    """The derived value of that name (or `of`) lies within bounds.

    Args:
        name: of the check.
        kind: what sort of claim it is.
        bounds: by the fewest runs that decide it.
        of: the name of the derived value; by default that of the check.
        parts: `note`, `not_reproducible`, `failure_cause`, `basis`, `fitted` of the check.
    """

    def measure(measured: ExperimentRuns) -> float | Estimate | None:
        return measured.derived[of or name].measured

    return Check(name, kind, measure, bounds, **parts)


def derived_low(
    name: str, bounds: Mapping[int, Bounds], *, of: str, **parts: Unpack[Parts]
) -> Check:
    """The low end of a derived value's interval lies within bounds; see `derived`."""

    def measure(measured: ExperimentRuns) -> float | None:
        found = measured.derived[of].measured
        return found.low if isinstance(found, Estimate) else None

    return Check(name, "order", measure, bounds, **parts)


def derived_difference(
    name: str, kind: Kind, of: tuple[str, str], bounds: Mapping[int, Bounds], **parts: Unpack[Parts]
) -> Check:
    """The difference of two derived values lies within bounds; see `derived`."""

    def measure(measured: ExperimentRuns) -> float | None:
        found = (measured.derived[name].measured for name in of)
        left, right = (one.value if isinstance(one, Estimate) else one for one in found)
        return None if left is None or right is None else left - right

    return Check(name, kind, measure, bounds, **parts)


def _kind(bounds: Mapping[int, Bounds]) -> Kind:
    """The kind of a ratio's check: a bound of 1 claims only an order."""
    order = all(bound.strict and None in (bound.low, bound.high) for bound in bounds.values())
    return "order" if order else "ratio"


ALL_COMPLETE = Check(
    "transfers that did not complete",
    "count",
    lambda measured: float(measured.unfinished()),
    {1: Bounds(0, 0)},
    basis="ours",
)
"""Ensures that no statistic hides a hung transfer."""
