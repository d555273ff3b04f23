"""Section 2.2: sources of delays other than handovers."""

import polars as pl

from rtolab.experiments.base import (
    LOST,
    REXMITS,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Metric,
    Variant,
    assumed,
    from_paper,
    interpreted,
    our_own,
    stated,
)
from rtolab.experiments.measured import ALL_COMPLETE, Runs, mean, ratio

MANY = 100

CAREFUL = Variant("newreno:careful", "NewReno, careful bugfix")
LESS_CAREFUL = Variant("newreno:less-careful", "NewReno, less careful bugfix")
FRTO = Variant("newreno+frto", "F-RTO")
EIFEL = Variant("newreno+eifel", "Eifel")
SENDERS = (CAREFUL, LESS_CAREFUL, FRTO, EIFEL)


def timeouts_that(needed: bool) -> Metric:
    """Timeouts whose retransmission was needed, or was not, per run."""
    word = "needed" if needed else "spurious"

    def of(runs: Runs) -> pl.Series:
        here = (pl.col("kind") == "timeout") & (pl.col("needed") == needed)
        return runs.a_run(runs.timeouts.filter(here))

    return Metric(f"{word}_timeouts", f"{word} timeouts".capitalize(), "", of)


NEEDED, SPURIOUS = timeouts_that(needed=True), timeouts_that(needed=False)
METRICS = (TIME, LOST, REXMITS, UNNEEDED, TIMEOUTS, SPURIOUS)


def spurious_timeouts(variant: Variant) -> Check:
    """The delay makes the timer expire although nothing was lost."""
    name = f"spurious timeouts a run: {variant.title}"
    return mean(name, "count", (variant.key, SPURIOUS), {MANY: Bounds(low=0.5)})


def none_needed(variant: Variant) -> Check:
    """Nothing is lost, so no timeout is needed."""
    name = f"needed timeouts a run: {variant.title}"
    return mean(name, "count", (variant.key, NEEDED), {MANY: Bounds(0, 0.05)})


def spares(variant: Variant) -> Check:
    """Detectors avoid most unneeded retransmissions."""
    name = f"unneeded retransmissions, {variant.label} / careful bugfix"
    keys = (variant.key, CAREFUL.key)
    return ratio(name, UNNEEDED, keys, {MANY: Bounds(high=0.5)})


def voice() -> Experiment:
    """Blocking by high-priority traffic."""
    return Experiment(
        id="delays2001/section-2.2-voice",
        title="Voice calls that take the link from data",
        source="Gurtov 2001, section 2.2",
        says=(
            "A voice call may preempt the radio resources of packet-switched traffic, which delays "
            "data by tens of seconds; TCP's timeouts are then spurious."
        ),
        did=(
            "A download of 200 KB over 9600 bit/s. Calls of 15 s on average, one in a minute and a "
            "half, take all of the link's rate in the direction of data."
        ),
        scenario="voice-calls",
        variants=SENDERS,
        metrics=METRICS,
        checks=(
            *from_paper(spurious_timeouts(CAREFUL), none_needed(CAREFUL)),
            *our_own(
                ratio(
                    "unneeded retransmissions, less careful / careful bugfix",
                    UNNEEDED,
                    (LESS_CAREFUL.key, CAREFUL.key),
                    {MANY: Bounds(low=1, strict=True)},
                ),
                spares(FRTO),
                spares(EIFEL),
            ),
            ALL_COMPLETE,
        ),
        assumptions=(
            stated("link.wireless.rate", "9600 bit/s", "5.1"),
            stated("link.wireless.delay", "300 ms", "5.1"),
            interpreted("calls", "exponential, 15 s on average", "2.2: tens of seconds"),
            assumed("receiver.buffer", "4 KiB", "not stated"),
        ),
        runs=MANY,
    )


PERSISTENT = (
    '[{ fragment = "40 B", retries = 3, timeout = "500 ms", order = "kept" }, '
    '{ retries = 6, timeout = "3 s", order = "kept" }]'
)
RLC_ALONE = '[{ fragment = "40 B", retries = 3, timeout = "500 ms", order = "kept" }]'
ALONE = "RLC alone"


def layers() -> Experiment:
    """Link-level error recovery in two layers."""
    alone = tuple(
        Variant(one.sender, one.label, ALONE, {"link.gprs.arq": RLC_ALONE}) for one in SENDERS
    )
    return Experiment(
        id="delays2001/section-2.2-layers",
        title="RLC under LLC",
        source="Gurtov 2001, section 2.2",
        says=(
            "GPRS retransmits in RLC and in LLC above it. TCP is not guaranteed against a highly "
            "persistent link, which introduces long delays; if link-level recovery outlasts the "
            "timeout, the timeout is spurious."
        ),
        did=(
            "A download of 200 KB over 13.4 kbit/s, with a radio that loses everything for 4 s on "
            "average every 40 s: RLC with three retransmissions of blocks of 40 B under LLC with "
            "six of packets, and RLC alone."
        ),
        scenario="rlc-llc",
        variants=(*SENDERS, *alone),
        metrics=METRICS,
        checks=(
            *from_paper(spurious_timeouts(CAREFUL), none_needed(CAREFUL)),
            *our_own(
                spares(FRTO),
                spares(EIFEL),
                mean(
                    f"lost packets a run: {alone[0].title}",
                    "count",
                    (alone[0].key, LOST),
                    {MANY: Bounds(low=1)},
                ),
            ),
            ALL_COMPLETE,
        ),
        assumptions=(
            assumed("link.gprs.arq", PERSISTENT, "2.2 names the layers and no values"),
            assumed("link.gprs.rate", "13.4 kbit/s", "one time slot"),
            interpreted("bad times", "exponential, 4 s on average", "2.2: a tunnel"),
        ),
        runs=MANY,
    )


def sources() -> tuple[Experiment, ...]:
    """The experiments, in the order of the paper."""
    return (layers(), voice())
