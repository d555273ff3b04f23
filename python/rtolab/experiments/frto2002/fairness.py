"""Figure 9: six transfers at once; three of them use F-RTO (test A), or none does (test B)."""

from collections.abc import Callable

import polars as pl

from rtolab.experiments.base import Bounds, Check, Experiment, Metric, Variant, assumed, stated
from rtolab.experiments.frto2002.set_r import DELAYS, LINK, RECEIVER, SENDER
from rtolab.experiments.measured import ALL_COMPLETE, Runs, ratio
from rtolab.measures import fairness

MANY, FEW = 200, 20
"""The numbers of repetitions for which bounds hold: the report had 20."""

NO_DELAYS = {
    "link.wireless.spikes.probability": "0",
    "flow.early.start_jitter": "0.5 s",
    "flow.late.start_jitter": "0.5 s",
}
WITHOUT = "without delays"


def throughput(which: str, connections: str) -> Callable[[Runs], pl.Series]:
    """The throughput of the fastest or slowest connection of a set, per run."""
    return lambda runs: fairness(runs).filter(pl.col("set") == connections)[f"{which}_bps"]


METRICS = tuple(
    Metric(f"{which}_{of}", f"{which.capitalize()} of set {of}", "bit/s", throughput(which, of))
    for which in ("fastest", "slowest")
    for of in ("one", "two")
)


def checks() -> tuple[Check, ...]:
    """Tests A and B give similar performance, in each box of the figure."""
    similar = {MANY: Bounds(0.9, 1.1), FEW: Bounds(0.8, 1.2)}
    return (
        *(
            ratio(
                f"{metric.label}, test A / test B{said}",
                metric,
                (f"sack+frto{at}", f"sack{at}"),
                similar,
            )
            for at, said in (("", ""), (f" @ {WITHOUT}", f", {WITHOUT}"))
            for metric in METRICS
        ),
        ALL_COMPLETE,
    )


FAIRNESS = (
    Experiment(
        id="frto2002/fig9",
        title="F-RTO beside regular connections",
        source="report C-2002-07, section 5.3 and Figure 9",
        says=(
            "Six transfers of 50 KB share the link; three begin three seconds after the others. "
            "Whether these three use F-RTO (test A) or not (test B), the fastest and the slowest "
            "connection of each set get a similar throughput, with sudden delays and without."
        ),
        did=(
            "The same on one simulated link, 200 repetitions. Without delays the starts are "
            "scattered over half a second: six identical senders otherwise run in lockstep, and "
            "all repetitions are the same."
        ),
        scenario="frto2002-fairness",
        variants=(
            Variant("sack+frto", "Test A (F-RTO in set two)"),
            Variant("sack", "Test B (all regular)"),
            Variant("sack+frto", "Test A (F-RTO in set two)", WITHOUT, NO_DELAYS),
            Variant("sack", "Test B (all regular)", WITHOUT, NO_DELAYS),
        ),
        metrics=METRICS,
        checks=checks(),
        assumptions=(
            *LINK,
            stated("flow.early.bytes", "51200 B", "5.3: 50 KB"),
            stated("flow.late.bytes", "51200 B", "5.3: 50 KB"),
            stated("flow.late.start", "3 s", "5.3: three seconds after the first set"),
            assumed("flow.early.sender", "sack", "5.3 does not say whether SACK or NewReno"),
            *SENDER,
            *RECEIVER,
            *DELAYS,
        ),
        runs=MANY,
        quick_runs=FEW,
        note="a test of 20 repetitions finds a significant difference by chance in 5 to 24 %",
    ),
)
"""The experiment of Figure 9."""
