"""Repetition of runs until a confidence interval is narrow enough."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from rtolab.run_values import run_values
from rtolab.stats import Estimate, band_of_medians, mean_of
from rtolab.sweep.chunks import Plan, PlannedChunk
from rtolab.sweep.definition import IntervalStatistic, StopRule
from rtolab.sweep.store import Store

FEWEST = 10
"""The fewest values that have an interval."""
DRAWS = 1000


@dataclass(frozen=True)
class CellState:
    """The state of a cell.

    Attributes:
        cell: its number.
        runs: the number of its runs.
        estimate: the statistic with its interval; None if too few runs have a value.
        narrow: is the interval narrow enough?
    """

    cell: int
    runs: int
    estimate: Estimate | None
    narrow: bool


def settle(plan: Plan, store: Store, last: PlannedChunk) -> CellState:
    """The state of a cell after its blocks up to `last`, all of which are finished.

    A run counts once, with the mean of its connections, because these are not independent. A run
    without a value does not count; see `run_values`.
    """
    until = plan.sweep.until
    assert until is not None
    columns = ["run", "flow", "completed", until.measure]
    blocks = [
        store.column(plan.chunk(last.cell, block), "connections", columns)
        for block in range(last.block + 1)
    ]
    runs = last.chunk.first + len(last.chunk.seeds)
    of_runs = run_values(pl.concat(blocks), ["run"], until.measure)
    values = of_runs[until.measure].drop_nulls().to_list()
    if len(values) < min(FEWEST, until.max_runs):
        return CellState(last.cell, runs, None, narrow=False)
    estimate = _estimate(until, values)
    width = estimate.high - estimate.low
    return CellState(last.cell, runs, estimate, width <= until.relative * abs(estimate.value))


def _estimate(until: StopRule, values: Sequence[float]) -> Estimate:
    if until.of is IntervalStatistic.MEAN:
        return mean_of(values, share=until.share, draws=DRAWS)
    band = band_of_medians(values, len(values), share=until.share, draws=DRAWS)
    median = pl.Series(values, dtype=pl.Float64).median()
    assert isinstance(median, float)
    return Estimate(median, *band)
