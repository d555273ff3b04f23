"""What each detector said of each timeout, and how often it was wrong.

What is scored is a chain: timeouts of one segment, one after the other. Its truth is that of its
first, and so is the verdict: whoever finds a later one spurious may still be wrong about the first.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from rtolab.experiments.detectors.carriers import (
    DETECTORS,
    THRESHOLDS,
    at,
    carrier,
    forward,
    sender_of,
)
from rtolab.experiments.dualrtt2004.model import GRID
from rtolab.experiments.dualrtt2004.spikes import SPIKES, schedule
from rtolab.experiments.measured import Measured
from rtolab.judging import WEIGHT_OF_TMS
from rtolab.result import Result
from rtolab.stats import Estimate, ratio_of_means, wilson

SENDERS = {name: sender_of(name) for name in (*DETECTORS, *map(at, THRESHOLDS))}
"""Whom each judges."""

NAMES = pl.Enum(list(SENDERS))
VERDICTS = pl.Enum(["spurious", "genuine", "open", "blind"])

FOUND = pl.col("verdict") == "spurious"


def digest(result: Result) -> pl.DataFrame:
    """Of each chain of timeouts and each judge: its spike, what it was, what was said and when.

    Of a sender with a forward step only its own detector counts. Timeouts before the first spike
    do not: where the round trip is longer than the first timeout, the very first segment has one.
    """
    timeouts = (pl.col("end") == "sender") & (pl.col("kind") == "timeout") & (pl.col("seq") > 0)
    judged = pl.col("detector").replace_strict(SENDERS, default="")
    said = result.verdicts.filter(timeouts & (pl.col("sender") == judged))
    begins = pl.col("seq") != pl.col("seq").shift(1).over("run", "detector")
    first = said.filter(begins.fill_null(value=True))
    starts = [begin for begin, _ in schedule(SPIKES)]
    spike = np.searchsorted(starts, first["at_s"].to_numpy(), side="right")
    every = first.select(
        "run",
        pl.Series("spike", spike, dtype=pl.UInt16),
        spurious=pl.col("truth") == "spurious",
        detector=pl.col("detector").cast(NAMES),
        verdict=pl.col("verdict").cast(VERDICTS),
        delay_s=pl.col("delay_s").cast(pl.Float32),
    )
    return every.filter(pl.col("spike") > 0)


def scored(measured: Measured) -> pl.DataFrame:
    """The digests of all configurations, with `bandwidth`, `delay` and `size`."""
    digest = measured.digest
    places = [
        (variant.key, *where) for where in GRID for variant in (carrier(where), *forward(where))
    ]
    schema = {"variant": pl.String, "bandwidth": pl.Int64, "delay": pl.Float64, "size": pl.Int64}
    known = pl.DataFrame(places, schema, orient="row").filter(pl.col("variant").is_in(measured.of))
    known = known.with_columns(pl.col("variant").cast(digest.schema["variant"]))
    return digest.join(known, on="variant", how="inner", maintain_order="left")


def share(frame: pl.DataFrame, hits: pl.Expr) -> Estimate | None:
    """How many of these rows are hits, of how many; None of none.

    All configurations meet the same spikes, so it is spikes that are drawn again for the interval:
    what one of them does to many configurations counts once. Where all or no rows are hits, no draw
    differs; then the interval is Wilson's, of the rows as if each were on its own.
    """
    spikes = frame.group_by("spike").agg(hits=hits.sum(), of=pl.len()).sort("spike")
    hit, of = spikes["hits"].to_numpy(), spikes["of"].to_numpy()
    if not of.size:
        return None
    if hit.sum() in (0, of.sum()):
        return wilson(int(hit.sum()), int(of.sum()))
    return ratio_of_means(hit, of)


@dataclass(frozen=True)
class Score:
    """One detector, in all configurations or in some.

    Attributes:
        detector: its name.
        rows: a row a chain of timeouts.
    """

    detector: str
    rows: pl.DataFrame

    @property
    def spurious(self) -> pl.DataFrame:
        """The chains that were spurious."""
        return self.rows.filter("spurious")

    @property
    def genuine(self) -> pl.DataFrame:
        """All others."""
        return self.rows.filter(~pl.col("spurious"))

    @property
    def smt(self) -> Estimate | None:
        """The part of the spurious ones that it did not find."""
        return share(self.spurious, ~FOUND)

    @property
    def smt_seeing(self) -> Estimate | None:
        """The same of those about which it was not blind."""
        return share(self.spurious.filter(pl.col("verdict") != "blind"), ~FOUND)

    @property
    def tms(self) -> Estimate | None:
        """The part of the genuine ones that it called spurious."""
        return share(self.genuine, FOUND)

    @property
    def error(self) -> float | None:
        """The weighted sum of both (DualRTT, equation 2); without genuine ones there is no TMS."""
        if self.smt is None:
            return None
        called = self.tms.value if self.tms else 0.0
        return (1 - WEIGHT_OF_TMS) * self.smt.value + WEIGHT_OF_TMS * called

    @property
    def delay_s(self) -> float | None:
        """From the first timeout to the verdict, the median of those found."""
        median = self.spurious.filter(FOUND)["delay_s"].median()
        return float(median) if isinstance(median, float) else None

    def called(self, *, spurious: bool) -> tuple[int, ...]:
        """How many of these were called spurious, genuine, nothing, and how often it was blind."""
        rows = self.spurious if spurious else self.genuine
        counts = dict(rows.group_by("verdict").len().iter_rows())
        return tuple(counts.get(verdict, 0) for verdict in VERDICTS.categories)

    def along(self, axis: str) -> dict[float, tuple[float | None, float | None]]:
        """SMT and TMS where `bandwidth`, `delay` or `size` is so much."""
        spurious = pl.col("spurious")
        parts = self.rows.group_by(axis).agg(
            smt=(~FOUND).filter(spurious).mean(), tms=FOUND.filter(~spurious).mean()
        )
        return {value: (smt, tms) for value, smt, tms in parts.iter_rows()}


def scores(measured: Measured) -> dict[str, Score]:
    """Every detector, and DualRTT with every threshold, by name."""
    every = scored(measured)
    parts = every.partition_by("detector", as_dict=True)
    by_name = {str(name): Score(str(name), rows) for (name,), rows in parts.items()}
    none = every.clear()
    return {name: by_name.get(name, Score(name, none)) for name in NAMES.categories}
