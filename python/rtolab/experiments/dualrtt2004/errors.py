"""Section V-C: missed and false detections with the model's thresholds."""

from collections.abc import Callable

import numpy as np
import polars as pl

from rtolab.experiments.base import Bounds, Value, Variant, assumed, from_paper, interpreted
from rtolab.experiments.dualrtt2004.equation import model
from rtolab.experiments.dualrtt2004.model import (
    DELAYS,
    GRID,
    SIZES,
    Combination,
    named,
)
from rtolab.experiments.dualrtt2004.spikes import (
    BANDWIDTHS,
    MANY_SPIKES,
    OPTIMA,
    dualrtt_variant,
    eifel_variant,
    found,
    packet,
    path,
    session,
    spikes_experiment,
    spikes_of,
    timetable,
)
from rtolab.experiments.dualrtt2004.tables import share
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ExperimentRuns, derived

SPIKES_EACH = 30
"""Spikes of a combination: a tenth of the paper's."""

Model = tuple[str, "Callable[[Combination], float]"]


def physical(where: Combination) -> float:
    """One and a half serialisations over the round trip, nine tenths at most."""
    return min(0.9, 1.5 * share(*where))


def tabled(where: Combination) -> float:
    """The optimum of Table V for the bandwidth, whatever delay and packet are."""
    return OPTIMA[BANDWIDTHS.index(where[0])]


def printed(logarithm: Callable[[np.ndarray], np.ndarray]) -> Callable[[Combination], float]:
    """Equation 3 with the coefficients of equation 6."""
    return lambda where: min(1.0, max(0.0, model(where, logarithm)))


MODELS: tuple[Model, ...] = (
    ("physical", physical),
    ("Table V", tabled),
    ("model, ln", printed(np.log)),
    ("model, log10", printed(np.log10)),
    ("0.1", lambda _: 0.1),
)
"""The sources of a threshold."""


def truth(where: Combination) -> Variant:
    """Eifel in that configuration."""
    bandwidth, delay, size = where
    return eifel_variant(named(where), path(bandwidth, delay) | packet(size), size)


def trial(where: Combination, by: Model) -> Variant:
    """DualRTT in that configuration, with the threshold from this source."""
    bandwidth, delay, size = where
    name, threshold = by
    change = path(bandwidth, delay) | packet(size)
    return dualrtt_variant(f"{named(where)}, {name}", change, round(threshold(where), 4))


def missed(measured: ExperimentRuns, by: Model) -> float:
    """SMT: the share of Eifel's detections that DualRTT misses, where it finds fewer."""
    least = sum(
        min(found(measured, [truth(where).key]), found(measured, [trial(where, by).key]))
        for where in GRID
    )
    return 1 - least / found(measured, [truth(where).key for where in GRID])


def beyond(measured: ExperimentRuns, by: Model) -> float:
    """DualRTT's detections beyond Eifel's, as a share of these, where it finds more."""
    more = sum(
        max(0.0, found(measured, [trial(where, by).key]) - found(measured, [truth(where).key]))
        for where in GRID
    )
    return more / found(measured, [truth(where).key for where in GRID])


def error_values(measured: ExperimentRuns) -> list[Value]:
    """The study's sums."""
    keys = [truth(where).key for where in GRID]
    spikes = float(sum(spikes_of(measured.of[key]) for key in keys))
    spurious = found(measured, keys)
    values = [
        Value("spikes", "Spikes", spikes, 50_400, digits=0),
        Value("spurious", "Spurious timeouts, by Eifel", spurious, 37_500, digits=0),
        Value("share", "Spurious timeouts a spike", spurious / spikes, 37_500 / 50_400, digits=3),
    ]
    for by in MODELS:
        name, _ = by
        values += [
            Value(f"SMT {name}", f"SMT, threshold: {name}", missed(measured, by), 0.113, digits=4),
            Value(
                f"beyond {name}",
                f"Found beyond Eifel's, threshold: {name}",
                beyond(measured, by),
                0.0012,
                digits=4,
            ),
        ]
    return values


LOSS = "0.01"

LOSSY = tuple(
    Variant(
        "reno:careful",
        "Reno",
        f"{named(where)}, lossy",
        path(where[0], where[1]) | packet(where[2]),
    )
    for where in GRID
)


def timeouts(measured: ExperimentRuns) -> pl.DataFrame:
    """Every timeout of every combination, with its truth and DualRTT's verdict."""
    frames = [measured.of[variant.key].verdicts for variant in LOSSY]
    mine = (pl.col("end") == "sender") & (pl.col("kind") == "timeout")
    return pl.concat(frames).filter(mine & (pl.col("detector") == "dualrtt"))


def lossy_values(measured: ExperimentRuns) -> list[Value]:
    """The number of timeouts of each truth that DualRTT calls spurious."""
    judged = timeouts(measured)
    values = []
    for name, mine in (
        ("genuine", pl.col("truth") != "spurious"),
        ("spurious", pl.col("truth") == "spurious"),
    ):
        these = judged.filter(mine)
        called = these.filter(pl.col("verdict") == "spurious")
        values.append(Value(name, f"Timeouts that are {name}", float(these.height), digits=0))
        part = called.height / these.height if these.height else None
        values.append(
            Value(f"{name} called", f"{name.capitalize()} ones called spurious", part, digits=4)
        )
    return values


COMMAND = "rtolab reproduce dualrtt2004/section-v-c"
BY_BANDWIDTH_ALONE = demonstrated(
    "Table V holds for 200 ms and small packets. Looked up by bandwidth alone, its thresholds are "
    "too low for shorter paths and for larger packets",
    COMMAND,
    "Table V's thresholds miss 33.4 %, those that also follow delay and packet size 6.4 %",
)

SHARE = demonstrated(
    "the result depends on how the 300 spikes are grouped, which the paper does not say: in one "
    "long transfer 83.5 % of them cause a spurious timeout, in sessions of three spikes 72.0 %, on "
    "either side of the printed 74.4 %",
    f"{COMMAND} --runs 10 --assume 'link.path.forward.stalls.scripted=[]' --assume "
    """'link.path.forward.stalls.random.good={ uniform = ["20 s", "40 s"] }' --assume """
    """'link.path.forward.stalls.random.bad={ uniform = ["3 s", "15 s"] }' --assume """
    "link.path.forward.stalls.random.stationary=false --assume 'duration=117 s'",
    "3,629 spurious timeouts in 1,680 sessions (which it prints as spikes) of three spikes each on "
    "average: 0.720 a spike",
)

NO_FIT = demonstrated(
    "the printed model does not fit its own Table V (dualrtt2004/eq6): it rises with bandwidth, "
    "where the optima fall, so it is too low for slow links",
    COMMAND,
    "the printed model misses 17.9 % with ln and 35.9 % with log10, a threshold of one and a half "
    "serialisations 6.4 %",
)

ERRORS = (
    spikes_experiment(
        id="dualrtt2004/section-v-c",
        title="What the model misses, at a tenth of the paper's size",
        source="DualRTT, section V-C",
        says=(
            "Of 50,400 spikes of 168 combinations 37,500 cause spurious timeouts, as Eifel finds. "
            "With the model's thresholds DualRTT misses 11.3 % of them (SMT) and calls 0.12 % "
            "spurious that are not (TMS)."
        ),
        did=(
            "168 combinations with 30 spikes each. The threshold of a combination is one and a "
            "half serialisations over the round trip. It is compared with Table V's by bandwidth, "
            "the printed model with both logarithms, and 0.1. Eifel's count serves as the truth, "
            "as in the paper. Nothing is lost, so DualRTT's detections beyond Eifel's stand for "
            "TMS."
        ),
        variants=(
            *(truth(where) for where in GRID),
            *(trial(where, by) for by in MODELS for where in GRID),
        ),
        derive=error_values,
        checks=(
            *from_paper(
                derived(
                    "spurious timeouts a spike",
                    "ratio",
                    {1: Bounds(0.744 - 0.02, 0.744 + 0.02)},
                    of="share",
                    failure_cause=SHARE,
                ),
                derived(
                    "SMT of the printed model, ln",
                    "ratio",
                    {1: Bounds(0.113 - 0.02, 0.113 + 0.02)},
                    of="SMT model, ln",
                    failure_cause=NO_FIT,
                ),
                derived(
                    "found beyond Eifel's by the printed model, ln",
                    "ratio",
                    {1: Bounds(high=0.0024)},
                    of="beyond model, ln",
                    note="the paper's TMS is 0.12 %",
                ),
            ),
            *(
                derived(
                    f"{error}, {threshold}",
                    "ratio",
                    {1: Bounds(high=most)},
                    of=f"{of} {by}",
                    basis="ours",
                    failure_cause=BY_BANDWIDTH_ALONE if (of, by) == ("SMT", "Table V") else None,
                )
                for by, threshold in (
                    ("physical", "physical threshold"),
                    ("Table V", "Table V's by bandwidth"),
                )
                for error, of, most in (
                    ("SMT", "SMT", 0.2),
                    ("found beyond Eifel's", "beyond", 0.01),
                )
            ),
        ),
        assumptions=(
            *MANY_SPIKES,
            *session(SPIKES_EACH),
            interpreted(
                "D", ", ".join(f"{1000 * d:g}" for d in DELAYS) + " ms", "V-A: 100 to 2000 ms"
            ),
            interpreted("M", ", ".join(map(str, SIZES)) + " B", "V-A: 576 to 4352 B"),
        ),
        quick_set=timetable(3),
        note="the paper does not say which logarithm: with log10 about twice as many are missed",
    ),
    spikes_experiment(
        id="dualrtt2004/section-v-c-loss",
        title="The same with losses: genuine timeouts that DualRTT calls spurious",
        source="DualRTT, section V-C",
        says=(
            "TMS is 0.12 % of the timeouts. The paper mentions no losses in its simulations of "
            "section V, so it has few genuine timeouts."
        ),
        did=(
            "168 combinations with 10 spikes each and a loss of 1 % both ways. DualRTT with a "
            "threshold of 0.1 judges every timeout of Reno; the truth of each comes from a copy of "
            "the run in which the timer did not expire."
        ),
        variants=LOSSY,
        derive=lossy_values,
        checks=(
            derived("genuine timeouts", "count", {1: Bounds(low=100)}, of="genuine"),
            derived("TMS", "ratio", {1: Bounds(high=0.01)}, of="genuine called"),
        ),
        assumptions=(
            *MANY_SPIKES,
            *session(10),
            assumed("link.path.loss", LOSS, "enough for genuine timeouts"),
        ),
        quick_set=timetable(3),
        judges=("dualrtt",),
        ours=True,
    ),
)
"""The experiments on the errors of thresholds."""
