"""The value of a measure for each run, whose connections are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import polars as pl

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def run_values(connections: Frame, keys: Sequence[str], measure: str) -> Frame:
    """A row per run with the keys, the measure, and `finished`.

    The measure is the mean over the run's connections. A run has none if one of them has not ended
    and therefore has none: the mean over the others would be that of another workload. Flows that
    have the measure in no row, such as those without an end, do not count. A run has finished if
    all of its connections have. If no connection ends but all have the measure, all have finished.

    Args:
        connections: a table of connections.
        keys: the columns that distinguish runs.
        measure: a column of numbers.
    """
    ended, value = pl.col("completed"), pl.col(measure)
    is_endless = ~ended.any() & (value.null_count() == 0)
    counts = value.is_not_null().any().over("flow") if "flow" in _names(connections) else True
    marked = connections.with_columns(
        finished=ended | is_endless,
        is_cut=value.is_null() & ~ended & counts,
    )
    mean = pl.when(~pl.col("is_cut").any()).then(value.mean())
    return marked.group_by(keys, maintain_order=True).agg(
        mean.alias(measure), pl.col("finished").all()
    )


def _names(table: pl.DataFrame | pl.LazyFrame) -> list[str]:
    return table.lazy().collect_schema().names()
