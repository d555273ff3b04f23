"""Verdicts of each detector on each timeout, and its error rates.

The unit of scoring is a chain: consecutive timeouts of one segment. Its ground truth and its
verdict are those of the first timeout. A detector that is right about a later one may be wrong
about the first.
"""

from dataclasses import dataclass
from functools import cached_property

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
from rtolab.experiments.measured import ExperimentRuns
from rtolab.judging import WEIGHT_OF_TMS
from rtolab.result import Result
from rtolab.stats import Estimate, ratio_of_means, wilson

SENDERS = {name: sender_of(name) for name in (*DETECTORS, *map(at, THRESHOLDS))}
"""The sender that each detector observes."""

NAMES = pl.Enum(list(SENDERS))
VERDICTS = pl.Enum(["spurious", "genuine", "open", "blind"])

FOUND = pl.col("verdict") == "spurious"

# To build these takes as long as to apply them to one configuration.
OF_OWN_DETECTOR = (
    (pl.col("end") == "sender")
    & (pl.col("kind") == "timeout")
    & (pl.col("seq") > 0)
    & (pl.col("sender") == pl.col("detector").replace_strict(SENDERS, default=""))
)
STARTS = np.array([begin for begin, _ in schedule(SPIKES)])
BEGINS = (pl.col("at_s") >= STARTS[0]) & (
    pl.col("seq") != pl.col("seq").shift(1).over("run", "detector")
).fill_null(value=True)
KEPT = (
    (pl.col("truth") == "spurious").alias("spurious"),
    pl.col("detector").cast(NAMES),
    pl.col("verdict").cast(VERDICTS),
    pl.col("delay_s").cast(pl.Float32),
)


def digest(result: Result) -> pl.DataFrame:
    """Spike, ground truth, verdict and delay of the verdict, by chain and detector.

    A sender with a forward step counts only for its own detector. Timeouts before the first spike
    do not count: if the round trip exceeds the initial RTO, the first segment times out.
    """
    first = result.verdicts.filter(OF_OWN_DETECTOR).filter(BEGINS)
    spike = np.searchsorted(STARTS, first["at_s"].to_numpy(), side="right")
    return first.select("run", pl.Series("spike", spike, dtype=pl.UInt16), *KEPT)


def scored(measured: ExperimentRuns) -> pl.DataFrame:
    """The digests of all configurations, with `bandwidth`, `delay` and `size`."""
    return measured.once(_scored)


def _scored(measured: ExperimentRuns) -> pl.DataFrame:
    digest = measured.digest
    places = [
        (variant.key, *where) for where in GRID for variant in (carrier(where), *forward(where))
    ]
    schema = {"variant": pl.String, "bandwidth": pl.Int64, "delay": pl.Float64, "size": pl.Int64}
    known = pl.DataFrame(places, schema, orient="row").filter(pl.col("variant").is_in(measured.of))
    known = known.with_columns(pl.col("variant").cast(digest.schema["variant"]))
    return digest.join(known, on="variant", how="inner", maintain_order="left")


def share(frame: pl.DataFrame, hits: pl.Expr) -> Estimate | None:
    """The share of hits among the rows; None without rows.

    All configurations have the same spikes. So the bootstrap draws spikes: the effect of a spike on
    many configurations counts once. If all or no rows are hits, all draws are equal, and the
    interval is Wilson's, with the rows as independent.
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

    @cached_property
    def spurious(self) -> pl.DataFrame:
        """The chains that were spurious."""
        return self.rows.filter("spurious")

    @cached_property
    def genuine(self) -> pl.DataFrame:
        """The chains that were genuine."""
        return self.rows.filter(~pl.col("spurious"))

    @cached_property
    def smt(self) -> Estimate | None:
        """The share of spurious chains that it missed."""
        return share(self.spurious, ~FOUND)

    @cached_property
    def smt_seeing(self) -> Estimate | None:
        """The share of missed chains among the spurious chains that it could decide."""
        return share(self.spurious.filter(pl.col("verdict") != "blind"), ~FOUND)

    @cached_property
    def tms(self) -> Estimate | None:
        """The share of genuine chains that it called spurious."""
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
        """The number of verdicts: spurious, genuine, none, and undecidable."""
        rows = self.spurious if spurious else self.genuine
        counts = dict(rows.group_by("verdict").len().iter_rows())
        return tuple(counts.get(verdict, 0) for verdict in VERDICTS.categories)

    def along(self, axis: str) -> dict[float, tuple[float | None, float | None]]:
        """SMT and TMS by each value of `bandwidth`, `delay` or `size`."""
        spurious = pl.col("spurious")
        parts = self.rows.group_by(axis).agg(
            smt=(~FOUND).filter(spurious).mean(), tms=FOUND.filter(~spurious).mean()
        )
        return {value: (smt, tms) for value, smt, tms in parts.iter_rows()}


def scores(measured: ExperimentRuns) -> dict[str, Score]:
    """Every detector, and DualRTT with every threshold, by name."""
    return measured.once(_scores)


def _scores(measured: ExperimentRuns) -> dict[str, Score]:
    every = scored(measured)
    parts = every.partition_by("detector", as_dict=True)
    by_name = {str(name): Score(str(name), rows) for (name,), rows in parts.items()}
    none = every.clear()
    return {name: by_name.get(name, Score(name, none)) for name in NAMES.categories}
