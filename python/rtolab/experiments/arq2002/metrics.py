"""Metrics of a link and its flow, as the paper defines them (sections 4 and 5)."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rtolab import measures
from rtolab.experiments.arq2002.network import HEADER, Case
from rtolab.experiments.base import Curves, Metric, Point, Variant
from rtolab.experiments.measured import ExperimentRuns, Runs
from rtolab.stats import Estimate, mean_of, ratio_of_means

Floats = NDArray[np.float64]

PERCENT = 100.0


def _column(frame: pl.DataFrame, column: str) -> pl.Series:
    """A column with a value per run, of the flow under investigation."""
    # On series, not on the frame: an expression takes longer than all else here.
    return frame[column].filter(frame["flow"] != "background").cast(pl.Float64)


def _triggers(column: str) -> Callable[[Runs], pl.Series]:
    """A count for every 100 segments acknowledged."""
    return lambda runs: _column(runs.measured(measures.triggers), column)


def _delay(column: str) -> Callable[[Runs], pl.Series]:
    return lambda runs: _column(runs.measured(measures.packet_delay), column)


def _throughput(runs: Runs) -> pl.Series:
    """The acknowledged data in the measured span, with headers."""
    carried = measures.normalized_throughput(runs, rate_bps=1.0, header=HEADER)
    return _column(carried, "normalized_throughput")


def _effective_loss(runs: Runs) -> pl.Series:
    """The share of packets that the wireless downlink finally loses."""
    here = (pl.col("link") == "wireless") & (pl.col("direction") == "forward")
    lost = pl.col("dropped_error") + pl.col("dropped_retries")
    return runs.links.filter(here).select(lost / pl.col("offered"))["dropped_error"] * PERCENT


ACKED = Metric("acked", "Throughput with headers", "bit/s", _throughput)
TIMEOUTS_100 = Metric(
    "timeouts_100", "Timeouts per 100 acknowledged", "", _triggers("timeouts"), digits=3
)
DUPACKS_100 = Metric(
    "dupacks_100", "Fast retransmits per 100 acknowledged", "", _triggers("fast_retransmits"), 2
)
TRIGGERED = (ACKED, TIMEOUTS_100, DUPACKS_100)
"""Throughput, and the triggers of retransmission."""
LOSS = Metric("loss", "Loss that remains", "%", _effective_loss, digits=4)


def _goodput(runs: Runs) -> pl.Series:
    """Effective goodput, if traffic is the data that leaves the link or that it retransmits."""
    of_all = measures.effective_goodput(runs, link="wireless")["effective_goodput"]
    here = (pl.col("link") == "wireless") & (pl.col("direction") == "forward")
    sent = pl.col("measured_transmitted_bytes")
    repaired = sent * pl.col("local_retransmissions") / pl.col("transmissions")
    counted = (pl.col("measured_delivered_bytes") + repaired).alias("counted")
    share = runs.links.filter(here).select(counted / sent)["counted"]
    return of_all / share


GOODPUT = Metric("goodput", "Effective goodput, after the link", "", _goodput, digits=4)
GOODPUT_SENT = Metric(
    "goodput_sent",
    "Effective goodput, of all sent",
    "",
    lambda runs: measures.effective_goodput(runs, link="wireless")["effective_goodput"],
    digits=4,
)
MEAN_DELAY = Metric("delay", "Average packet delay", "s", _delay("mean_s"), digits=3)
MAX_DELAY = Metric("max_delay", "Maximum packet delay", "s", _delay("max_s"), digits=3)
REXMITS = Metric(
    "rexmits",
    "End-to-end retransmissions",
    "",
    lambda runs: _column(runs.connections, "measured_retransmissions"),
)
REXMITS_100 = Metric(
    "rexmits_100",
    "End-to-end retransmissions per 100 acknowledged",
    "",
    lambda runs: 100 * REXMITS.of(runs) / _column(runs.connections, "measured_acked_segments"),
    digits=2,
)
over_per = partial(Curves, x="raw packet error rate, %", log_x=True)
"""A figure over the error rate."""


def _window(runs: Runs) -> pl.Series:
    """The window once a round trip, averaged over the measured span, in segments."""
    looks = measures.cwnd_once_a_round_trip(runs, since_s=5.0, until_s=105.0)
    flow = looks.filter(pl.col("flow") != "background")
    return flow.group_by("run", maintain_order=True).agg(pl.col("cwnd").mean())["cwnd"] / 512.0


WINDOW = Metric("cwnd", "Congestion window", "segments", _window, digits=1)


def normalized(measured: ExperimentRuns, case: Variant) -> Floats:
    """Normalized throughput of each run, shape (n,), ordered by seed."""
    assert isinstance(case, Case)
    return measured.values(case.key, ACKED) / case.available_bps()


def mean(measured: ExperimentRuns, case: Variant, metric: Metric) -> float:
    """The mean of a metric over the runs."""
    return float(np.mean(measured.values(case.key, metric)))


def throughput(measured: ExperimentRuns, case: Variant) -> float:
    """The mean normalized throughput."""
    return float(np.mean(normalized(measured, case)))


def gain(measured: ExperimentRuns, arq: Variant, drop: Variant) -> Estimate:
    """The increase of mean normalized throughput by local retransmission, in percent."""
    ratio = ratio_of_means(normalized(measured, arq), normalized(measured, drop))
    return Estimate(*(PERCENT * (end - 1.0) for end in (ratio.value, ratio.low, ratio.high)))


def ratio_of(
    measured: ExperimentRuns, above: Variant, below: Variant, metric: Metric = ACKED
) -> Estimate:
    """The ratio of the means of a metric of two variants."""
    return ratio_of_means(measured.values(above.key, metric), measured.values(below.key, metric))


def dupack_ratio(measured: ExperimentRuns, above: Variant, below: Variant) -> Estimate | None:
    """The same of fast retransmits per 100 acknowledged; `None` where the second has none."""
    return (
        ratio_of(measured, above, below, DUPACKS_100)
        if mean(measured, below, DUPACKS_100)
        else None
    )


def crossing(xs: Sequence[float], ys: Sequence[float], level: float) -> float | None:
    """Where `ys` first rises through `level`, interpolated over log `xs`; `None` if nowhere."""
    for (x0, y0), (x1, y1) in zip(
        zip(xs, ys, strict=True), zip(xs[1:], ys[1:], strict=True), strict=False
    ):
        if y0 < level <= y1:
            return float(x0 * (x1 / x0) ** ((level - y0) / (y1 - y0)))
    return None


def means_of(
    values: Callable[[ExperimentRuns, Case], Floats],
    *,
    line: Callable[[Case], str] = lambda case: case.series,
    only: Callable[[Case], bool] = lambda _: True,
) -> Callable[[ExperimentRuns], list[Point]]:
    """The points of a figure: means over runs with 95 % intervals, over the error rate.

    Args:
        values: of the runs of a variant, shape (n,).
        line: the name of the line that a variant is on.
        only: which variants are drawn.
    """

    def points(measured: ExperimentRuns) -> list[Point]:
        cases = [case for case in measured.experiment.variants if isinstance(case, Case)]
        return [
            Point(line(case), case.setting.per, mean.value, mean.low, mean.high)
            for case in cases
            if only(case)
            for mean in (mean_of(values(measured, case)),)
        ]

    return points


def values_of(metric: Metric) -> Callable[[ExperimentRuns, Case], Floats]:
    """The values of a metric, for a figure."""
    return lambda measured, case: measured.values(case.key, metric)


def by_delay(case: Case) -> str:
    """The name of a line, in figures that compare delays."""
    return f"{case.setting.delay} ms, {case.setting.local}"


def together(
    parts: Iterable[Callable[[ExperimentRuns], list[Point]]],
) -> Callable[[ExperimentRuns], list[Point]]:
    """Several figures in one."""
    several = list(parts)
    return lambda measured: [point for part in several for point in part(measured)]
