"""What was measured, as the checks see it, and the checks that many experiments share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rtolab.experiments.base import Bounds, Check, Experiment, Kind, Metric, Value, Variant
from rtolab.experiments.trace import Trace
from rtolab.result import Result
from rtolab.stats import Estimate, mean_of, ratio_of_medians


@dataclass(frozen=True)
class Runs:
    """The runs of one variant: the tables of a result, of these runs only, ordered by run.

    Attributes:
        result: that holds them, among others.
        first: the number of the first.
        count: how many there are.
        endless: do connections count that did not complete?
        kept: the experiment's digest of the result, if it makes one.
    """

    result: Result
    first: int
    count: int
    endless: bool = False
    kept: pl.DataFrame | None = None

    @cached_property
    def connections(self) -> pl.DataFrame:
        """The connections that count: all if `endless`, else those that completed."""
        every = self.every_connection
        return every if self.endless else every.filter("completed")

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
        """The pages, and questions with answers."""
        return self._mine(self.result.tasks)

    @cached_property
    def digest(self) -> pl.DataFrame:
        """What the experiment keeps of the result, of these runs."""
        return pl.DataFrame() if self.kept is None else self._mine(self.kept)

    @cached_property
    def timeouts(self) -> pl.DataFrame:
        """The timeouts and fast retransmits."""
        return self._mine(self.result.timeouts)

    @cached_property
    def windows(self) -> pl.DataFrame:
        """The changes of the senders' windows, if they were recorded."""
        return self._mine(self.result.windows)

    def a_run(self, counted: pl.DataFrame) -> pl.Series:
        """How many rows of one of these tables each run that counts has, ordered by run."""
        rows = counted.group_by("run").agg(rows=pl.len().cast(pl.Float64))
        runs = self.connections.select(pl.col("run").unique(maintain_order=True))
        joined = runs.join(rows, on="run", how="left", maintain_order="left")
        return joined["rows"].fill_null(0.0)

    def _mine(self, table: pl.DataFrame) -> pl.DataFrame:
        here = pl.col("run").is_between(self.first, self.first + self.count - 1)
        return table.filter(here).sort("run", maintain_order=True)


@dataclass(frozen=True)
class Measured:
    """The runs of an experiment.

    Attributes:
        experiment: which.
        runs: how many for each variant.
        of: the runs by key of a variant.
        traces: by key of a variant, its traced run; empty for statistics.
    """

    experiment: Experiment
    runs: int
    of: Mapping[str, Runs]
    traces: Mapping[str, Trace] = field(default_factory=dict)

    @cached_property
    def derived(self) -> Mapping[str, Value]:
        """What the experiment derives, by name."""
        derive = self.experiment.derive
        return {value.name: value for value in derive(self)} if derive else {}

    @cached_property
    def digest(self) -> pl.DataFrame:
        """The digests of all variants, with their keys as `variant`."""
        keys = pl.Enum(list(self.of))
        return pl.concat(
            runs.digest.with_columns(variant=pl.lit(key, keys)) for key, runs in self.of.items()
        )

    def values(self, variant: str, metric: Metric) -> NDArray[np.float64]:
        """A metric of the runs of a variant that count, shape (n,), ordered by seed."""
        return metric.of(self.of[variant]).cast(pl.Float64).drop_nulls().to_numpy()

    def median(self, variant: str, metric: Metric) -> float | None:
        """The median of a metric over the runs that count; `None` if none does."""
        values = self.values(variant, metric)
        return float(np.median(values)) if values.size else None

    def published(self, variant: str, metric: Metric) -> float:
        """What the paper reports."""
        return self.experiment.published[variant, metric.name]

    def unfinished(self) -> int:
        """How many transfers did not complete."""
        return sum(int((~runs.every_connection["completed"]).sum()) for runs in self.of.values())


def ratio(
    name: str,
    metric: Metric,
    variants: tuple[str, str],
    bounds: Mapping[int, Bounds],
    **parts: str,
) -> Check:
    """The median of the first variant over that of the second lies within bounds.

    Args:
        name: of the check.
        metric: whose medians.
        variants: above and below the line.
        bounds: by the fewest runs that decide it.
        parts: `note`, `because`, `explained` of the check.
    """

    def measure(measured: Measured) -> Estimate | None:
        above, below = (measured.values(variant, metric) for variant in variants)
        if not above.size or not below.size or not np.median(below):
            return None
        return ratio_of_medians(above, below)

    return Check(name, _kind(bounds), measure, bounds, **parts)


def against_published(metric: Metric, variant: Variant, within: float, *, runs: int) -> Check:
    """The median divided by the published one is 1 +- `within`, from so many `runs` on."""

    def measure(measured: Measured) -> float | None:
        median = measured.median(variant.key, metric)
        return None if median is None else median / measured.published(variant.key, metric)

    name = f"{metric.label.lower()}, measured / published: {variant.title}"
    return Check(name, "ratio", measure, {runs: Bounds(1 - within, 1 + within)})


def near_published(metric: Metric, variant: Variant, within: float, *, runs: int) -> Check:
    """The median less the published one is +- `within`, from so many `runs` on."""

    def measure(measured: Measured) -> float | None:
        median = measured.median(variant.key, metric)
        return None if median is None else median - measured.published(variant.key, metric)

    name = f"{metric.label.lower()}, measured - published: {variant.title}"
    return Check(name, "ratio", measure, {runs: Bounds(-within, within)})


def mean(
    name: str,
    kind: Kind,
    of: tuple[str, Metric],
    bounds: Mapping[int, Bounds],
    **parts: str,
) -> Check:
    """The mean of a metric over the runs of a variant lies within bounds.

    Args:
        name: of the check.
        kind: what sort of claim it is.
        of: a variant and a metric.
        bounds: by the fewest runs that decide it.
        parts: `note`, `because`, `explained` of the check.
    """

    def measure(measured: Measured) -> Estimate | None:
        values = measured.values(*of)
        return mean_of(values) if values.size else None

    return Check(name, kind, measure, bounds, **parts)


def median(
    name: str,
    kind: Kind,
    of: tuple[str, Metric],
    bounds: Mapping[int, Bounds],
    **parts: str,
) -> Check:
    """The median of a metric over the runs of a variant lies within bounds; otherwise as `mean`."""
    return Check(name, kind, lambda measured: measured.median(*of), bounds, **parts)


def difference(
    name: str,
    minuend: tuple[str, Metric],
    subtrahend: tuple[str, Metric],
    bounds: Mapping[int, Bounds],
) -> Check:
    """The difference of two medians, each of a variant and a metric, lies within bounds."""

    def measure(measured: Measured) -> float | None:
        left, right = measured.median(*minuend), measured.median(*subtrahend)
        return None if left is None or right is None else left - right

    return Check(name, _kind(bounds), measure, bounds)


def derived(
    name: str, kind: Kind, bounds: Mapping[int, Bounds], *, of: str = "", **parts: str
) -> Check:
    """What the experiment derives under that name (or `of`) lies within bounds.

    Args:
        name: of the check.
        kind: what sort of claim it is.
        bounds: by the fewest runs that decide it.
        of: the name of the derived value; that of the check unless given.
        parts: `note`, `because`, `explained` of the check.
    """

    def measure(measured: Measured) -> float | Estimate | None:
        return measured.derived[of or name].measured

    return Check(name, kind, measure, bounds, **parts)


def derived_low(name: str, bounds: Mapping[int, Bounds], *, of: str, **parts: str) -> Check:
    """The low end of a derived value's interval lies within bounds; otherwise as `derived`."""

    def measure(measured: Measured) -> float | None:
        found = measured.derived[of].measured
        return found.low if isinstance(found, Estimate) else None

    return Check(name, "order", measure, bounds, **parts)


def derived_difference(
    name: str, kind: Kind, of: tuple[str, str], bounds: Mapping[int, Bounds], **parts: str
) -> Check:
    """One derived value less another lies within bounds; otherwise as `derived`."""

    def measure(measured: Measured) -> float | None:
        found = (measured.derived[name].measured for name in of)
        left, right = (one.value if isinstance(one, Estimate) else one for one in found)
        return None if left is None or right is None else left - right

    return Check(name, kind, measure, bounds, **parts)


def _kind(bounds: Mapping[int, Bounds]) -> Kind:
    """A bound that says no more than which is larger is about order."""
    order = all(bound.strict and None in (bound.low, bound.high) for bound in bounds.values())
    return "order" if order else "ratio"


ALL_COMPLETE = Check(
    "transfers that did not complete",
    "count",
    lambda measured: float(measured.unfinished()),
    {1: Bounds(0, 0)},
)
"""No statistic hides a transfer that hung."""
