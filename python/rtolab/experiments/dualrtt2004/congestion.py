"""Table VI: DualRTT is less robust than Eifel in congested networks."""

import polars as pl

from rtolab.experiments.base import (
    Bounds,
    Check,
    Experiment,
    Value,
    Variant,
    assumed,
    from_paper,
    interpreted,
    our_own,
)
from rtolab.experiments.dualrtt2004.lot import LOT, TLT, point
from rtolab.experiments.measured import ExperimentRuns, derived
from rtolab.stats import wilson

SENDER = "reno:careful"
JUDGES = ("eifel", "dualrtt")
BOTTLENECKS = (31.2, 62.4)
"""Rates of bottlenecks that are slower than the crossing traffic, in kbit/s."""

QUEUE = 20
FASTEST = 1500.0
AFTER = "149 s"
ALONE = {"flow.ftp.start": AFTER, "flow.bursts.start": AFTER}
"""The crossing flows begin when the session is over."""

RUNS = 100


def sessions(bottleneck: float, *, congested: bool) -> Variant:
    """Sessions of Reno, whose timeouts both detectors observe."""
    keys = dict(point("Reno", FASTEST, bottleneck, QUEUE).set)
    load = "crossed" if congested else "alone"
    return Variant(
        SENDER, "Reno", f"{bottleneck:g} kbit/s, {load}", keys | ({} if congested else ALONE)
    )


CONGESTED = tuple(sessions(bottleneck, congested=True) for bottleneck in BOTTLENECKS)
UNCONGESTED = tuple(sessions(bottleneck, congested=False) for bottleneck in BOTTLENECKS)


def called(
    measured: ExperimentRuns, variants: tuple[Variant, ...], detector: str, *, spurious: bool
) -> tuple[int, int]:
    """The number of spurious, or of genuine, timeouts that it calls spurious; and their total."""
    mine = (
        (pl.col("flow") == "mobile")
        & (pl.col("kind") == "timeout")
        & (pl.col("detector") == detector)
        & ((pl.col("truth") == "spurious") == spurious)
    )
    frames = [measured.of[variant.key].verdicts.filter(mine) for variant in variants]
    judged = pl.concat(frames)
    return judged.filter(pl.col("verdict") == "spurious").height, judged.height


PLACES = {"congested": CONGESTED, "uncongested": UNCONGESTED}


def values(measured: ExperimentRuns) -> list[Value]:
    """Shares of the spurious and of the genuine timeouts that each calls spurious."""
    found = []
    for place, variants in PLACES.items():
        for detector in JUDGES:
            for kind in ("spurious", "genuine"):
                hits, of = called(measured, variants, detector, spurious=kind == "spurious")
                name = f"{place} {detector} {kind}"
                said = f"{place}: of {of} {kind} timeouts {detector} calls spurious"
                share = wilson(hits, of) if of else None
                found.append(Value(name, said, share, digits=3))
    return found


def false_verdicts(measured: ExperimentRuns, place: str) -> int:
    """The number of genuine timeouts that DualRTT, but not Eifel, calls spurious."""
    dualrtt, eifel = (
        called(measured, PLACES[place], detector, spurious=False)[0]
        for detector in ("dualrtt", "eifel")
    )
    return dualrtt - eifel


CONGESTION = (
    Experiment(
        id="dualrtt2004/congested",
        title="DualRTT and Eifel in a congested network",
        source="DualRTT, Table VI",
        says=(
            'DualRTT is "less robust in congested networks" than Eifel, without an example or a '
            "number."
        ),
        did=(
            "Sessions of the parking lot whose bottleneck of 31.2 or 62.4 kbit/s is slower than "
            "what crosses it, and the same without crossing flows. Both detectors judge the same "
            "timeouts of Reno with timestamps; the truth of each comes from a copy of the run in "
            "which the timer did not expire."
        ),
        scenario="dualrtt2004-parking-lot",
        variants=(*CONGESTED, *UNCONGESTED),
        metrics=(TLT,),
        derive=values,
        checks=(
            *from_paper(
                Check(
                    "genuine timeouts called spurious, congested, DualRTT - Eifel",
                    "order",
                    lambda measured: float(false_verdicts(measured, "congested")),
                    {RUNS: Bounds(low=0, strict=True)},
                    note="less robust",
                    fitted="the bottlenecks: at 200 kbit/s the two do not differ",
                ),
            ),
            *our_own(
                Check(
                    "genuine timeouts called spurious, uncongested, DualRTT - Eifel",
                    "order",
                    lambda measured: float(false_verdicts(measured, "uncongested")),
                    {RUNS: Bounds(0, 0)},
                ),
                derived(
                    "spurious timeouts that DualRTT finds, congested",
                    "ratio",
                    {RUNS: Bounds(low=0.8)},
                    of="congested dualrtt spurious",
                ),
            ),
        ),
        assumptions=(
            *LOT,
            assumed("tcp.timestamps", "true", "for Eifel; DualRTT does not use them"),
            interpreted("wireless rate, queue", "1500 kbit/s, 20 packets", "as in Figure 13"),
        ),
        judges=JUDGES,
        runs=RUNS,
        quick_runs=3,
        endless=True,
    ),
)
"""The experiment on a claim that the table makes without a number."""
