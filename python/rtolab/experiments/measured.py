"""What was measured, as the checks see it, and the checks that many experiments share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rtolab.experiments.base import Bounds, Check
from rtolab.stats import Estimate, ratio_of_medians

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from rtolab.experiments.base import Experiment, Kind, Metric, Variant
    from rtolab.experiments.trace import Trace


@dataclass(frozen=True)
class Measured:
    """The runs of an experiment.

    Attributes:
        experiment: which.
        runs: how many for each variant.
        connections: by key of a variant, the rows of `connections`, ordered by seed.
        traces: by key of a variant, its traced run; empty for statistics.
    """

    experiment: Experiment
    runs: int
    connections: Mapping[str, pl.DataFrame]
    traces: Mapping[str, Trace] = field(default_factory=dict)

    def values(self, variant: str, metric: Metric) -> NDArray[np.float64]:
        """A metric of the runs of a variant that count, shape (n,), ordered by seed."""
        runs = self.connections[variant]
        counting = runs if self.experiment.endless else runs.filter("completed")
        return metric.of(counting).to_numpy()

    def median(self, variant: str, metric: Metric) -> float | None:
        """The median of a metric over the runs that count; `None` if none does."""
        values = self.values(variant, metric)
        return float(np.median(values)) if values.size else None

    def published(self, variant: str, metric: Metric) -> float:
        """What the paper reports."""
        return self.experiment.published[variant, metric.name]

    def unfinished(self) -> int:
        """How many transfers did not complete."""
        return sum(int((~frame["completed"]).sum()) for frame in self.connections.values())


def ratio(
    name: str,
    metric: Metric,
    variants: tuple[str, str],
    bounds: Mapping[int, Bounds],
    *,
    note: str = "",
) -> Check:
    """The median of the first variant over that of the second lies within bounds."""

    def measure(measured: Measured) -> Estimate | None:
        above, below = (measured.values(variant, metric) for variant in variants)
        if not above.size or not below.size or not np.median(below):
            return None
        return ratio_of_medians(above, below)

    return Check(name, _kind(bounds), measure, bounds, note)


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
