"""Statements on F-RTO in the text of sections 3 and 4, and section 6's future work."""

from typing import Any

import polars as pl

from rtolab.experiments.base import (
    FAST_RETRANSMITS,
    FOUND_SPURIOUS,
    LOST,
    REXMITS,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Metric,
    Value,
    Variant,
    assumed,
    interpreted,
    our_own,
)
from rtolab.experiments.counts import After, found_spurious, left_by_first_ack, needed, timeouts
from rtolab.experiments.frto2002.bursts import FALSE
from rtolab.experiments.frto2002.figures import NO_DELAYS, STALL_AT, STALL_FOR, START
from rtolab.experiments.frto2002.set_r import DELAYS, OUTAGES, SET_R
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns, Runs, mean, ratio

MANY = 300

SACK = Variant("sack", "Regular SACK")
FRTO = Variant("sack+frto", "F-RTO w/ SACK")
TRACED = (TIME, LOST, REXMITS, UNNEEDED, TIMEOUTS, FAST_RETRANSMITS, FOUND_SPURIOUS)

LOST_AT = 150
"""The frame that is lost in the large windows, long after slow start."""

WINDOWS = (8, 16, 32, 64)
"""Offered windows, in segments. The window is full, so nothing new leaves until the retransmission
is acknowledged: frame `LOST_AT` + window is its fast retransmit, and that is lost, too."""


def in_window(sender: str, label: str, segments: int) -> Variant:
    """A lost retransmission while `segments` segments are outstanding."""
    change = {
        "receiver.buffer": f"{segments * 256} B",
        "link.wireless.forward.drops": f"[{LOST_AT}, {LOST_AT + segments}]",
    }
    return Variant(sender, label, f"window of {segments}", change)


def large_windows() -> Experiment:
    """Section 4.2, second paragraph."""
    checks: list[Check] = []
    pairs = []
    for segments in WINDOWS:
        regular = in_window("sack", SACK.label, segments)
        frto = in_window("sack+frto", FRTO.label, segments)
        pairs += [regular, frto]
        for variant in (regular, frto):
            after = After(variant, START)
            said = f", {variant.condition}"
            checks += our_own(
                after.exactly(1, f"timeouts{said}", timeouts),
                after.exactly(1, f"needed retransmissions by it{said}", needed),
                after.exactly(0, f"segments that the first ACK left{said}", left_by_first_ack),
            )
        checks += [
            After(frto, START).exactly(1, f"step 3i, {frto.condition}", found_spurious),
            ratio(
                f"time, F-RTO / Regular, {frto.condition}",
                TIME,
                (frto.key, regular.key),
                {1: Bounds(0.98, 1.02)},
            ),
        ]
    return Experiment(
        id="frto2002/section-4.2",
        title="A lost retransmission in larger windows",
        source="report C-2002-07, section 4.2",
        says=(
            "Where more segments are outstanding than in Figure 3, F-RTO, which goes on at half "
            "the window, and the regular recovery, which begins anew at one segment, still "
            "perform alike, because bursts are limited to three segments."
        ),
        did=(
            "Figure 3's two losses, a segment and its fast retransmit, with advertised windows of "
            "8, 16, 32 and 64 segments that are full when it happens, and a router queue that "
            "holds them."
        ),
        scenario="frto2002-delays",
        variants=tuple(pairs),
        metrics=TRACED,
        checks=(*checks, ALL_COMPLETE),
        assumptions=(
            *(a for a in SET_R if a.name not in {"receiver.buffer", "link.wireless.queue"}),
            NO_DELAYS,
            assumed("link.wireless.queue", "100 packets", "so that no window overflows it"),
            interpreted("windows", "8 to 64 segments", "4.2 says only: larger than in Figure 3"),
        ),
        shown=(8.0, 26.0),
    )


def wrong_way(found: str, truth: str) -> Metric:
    """Timeouts with ground truth `truth` that the sender found to be `found`, per run."""

    def of(runs: Runs) -> pl.Series:
        kind = pl.col("kind") == "timeout"
        here = kind & (pl.col("verdict") == found) & (pl.col("truth") == truth)
        return runs.a_run(runs.timeouts.filter(here))

    return Metric(f"{truth}_found_{found}", f"{truth} found {found}".capitalize(), "", of)


MISSED = wrong_way("genuine", "spurious")
DECEIVED = wrong_way("spurious", "genuine")


def reordering() -> Experiment:
    """Section 4.4."""
    pairs = (("sack+frto", "sack", "SACK"), ("newreno+frto", "newreno", "NewReno"))
    return Experiment(
        id="frto2002/section-4.4",
        title="Reordering around a timeout",
        source="report C-2002-07, section 4.4",
        says=(
            "If segments that overtook a late one cause duplicate ACKs after the timeout, F-RTO "
            "retransmits as the regular recovery does; if the late segment's own ACK comes, F-RTO "
            "sends new data, which is likely to be right."
        ),
        did=(
            "Table 1's delays, but each holds one packet only and the others overtake it. Every "
            "timeout's truth comes from a copy of the run in which the timer did not expire."
        ),
        scenario="frto2002-delays",
        variants=(
            SACK,
            FRTO,
            Variant("newreno", "Regular NewReno"),
            Variant("newreno+frto", "F-RTO w/ NewReno"),
        ),
        metrics=(TIME, LOST, REXMITS, UNNEEDED, FOUND_SPURIOUS, MISSED, DECEIVED),
        checks=(
            *(
                ratio(
                    f"time, F-RTO / Regular, {name}",
                    TIME,
                    (frto, regular),
                    {MANY: Bounds(high=1.02)},
                )
                for frto, regular, name in pairs
            ),
            *(
                ratio(
                    f"rexmits, F-RTO / Regular, {name}",
                    REXMITS,
                    (frto, regular),
                    {MANY: Bounds(high=1, strict=True)},
                )
                for frto, regular, name in pairs
            ),
            *(
                mean(
                    f"genuine timeouts found spurious a run, F-RTO {name}",
                    "count",
                    (frto, DECEIVED),
                    {100: Bounds(0, 0.05)},
                )
                for frto, _, name in pairs
            ),
            ALL_COMPLETE,
        ),
        assumptions=(
            *SET_R,
            *DELAYS,
            assumed("link.wireless.order", "free", "4.4: a delayed segment arrives out of order"),
        ),
        judges=("eifel",),
        ours=True,
    )


BEFORE_STALL = 225
"""The frame that is lost where many segments are outstanding: the first that Figure 2's delay
holds. All before it have been acknowledged when the timer expires."""

LOST_BEFORE, DELAY_AT, DELAY_FOR = 40, 7.0, 2.0
"""Where an advertised window of four segments limits the sender: the frame that is lost, and when
the delay begins and how long it lasts, in s. The three segments after the lost one have arrived by
then, and the timer expires at 7.9 s."""

SMALL, LARGE = "four outstanding", "eight outstanding"


def lost_then_held(sender: str, label: str, condition: str) -> Variant:
    """A loss that a delay follows, with few or with many segments outstanding."""
    frame, at, length = (LOST_BEFORE, DELAY_AT, DELAY_FOR)
    window = {"receiver.buffer": "1024 B"}
    if condition == LARGE:
        frame, at, length, window = BEFORE_STALL, STALL_AT, STALL_FOR, {}
    change = {
        **window,
        "link.wireless.forward.drops": f"[{frame}]",
        "link.wireless.forward.stalls.scripted": f'[{{ at = "{at:g} s", for = "{length:g} s" }}]',
    }
    return Variant(sender, label, condition, change)


def loss_then_delay() -> Experiment:
    """Section 3, last paragraph."""
    variants = tuple(
        lost_then_held(one.sender, one.label, condition)
        for condition in (SMALL, LARGE)
        for one in (SACK, FRTO)
    )
    sack, frto, held_sack, held = variants
    small, large = After(frto, START), After(held, STALL_AT)
    return Experiment(
        id="frto2002/loss-then-delay",
        title="A loss that is followed by a delay at once",
        source="report C-2002-07, section 3, last paragraph",
        says=(
            "Step 3i may also be taken where a segment is lost and a delay follows at once. The "
            "timeout's retransmission is then needed, and halving the window adequate."
        ),
        did=(
            "A segment is lost, the three after it arrive, and the link stalls for 2 s: the timer "
            "expires, and the retransmission is all that the delay holds. Beside it the loss of "
            "the first of eight segments that Figure 2's delay of 3 s holds."
        ),
        scenario="frto2002-delays",
        variants=variants,
        metrics=TRACED,
        checks=(
            small.exactly(1, "needed retransmissions by it", needed),
            small.exactly(1, "step 3i", found_spurious),
            *our_own(
                small.exactly(1, "timeouts", timeouts),
                ratio("time, F-RTO / Regular", TIME, (frto.key, sack.key), {1: Bounds(0.95, 1.05)}),
                large.exactly(1, "needed retransmissions by it", needed),
                large.exactly(0, "step 3i", found_spurious),
                ratio(
                    "time, F-RTO / Regular, eight outstanding",
                    TIME,
                    (held.key, held_sack.key),
                    {1: Bounds(0.95, 1.05)},
                ),
            ),
            ALL_COMPLETE,
        ),
        assumptions=(
            *(a for a in SET_R if a.name != "receiver.buffer"),
            NO_DELAYS,
            interpreted("few outstanding", "an advertised window of four segments", "not stated"),
        ),
        shown=(5.0, 32.0),
        note=(
            "if segments after the lost one are held, too, their duplicate ACKs arrive before the "
            "retransmission's ACK, and step 2ii is taken"
        ),
    )


RESPONSES = (
    ("sack", "Regular SACK"),
    ("sack+dsack", "D-SACK alone"),
    ("sack+frto", "F-RTO, half the window"),
    ("sack+frto+dsack", "F-RTO and D-SACK"),
    ("sack+frto:full", "F-RTO, window restored"),
    ("sack+frto:rfc4015", "F-RTO, RFC 4015"),
    ("sack+eifel", "Eifel, window restored"),
    ("sack+eifel:half", "Eifel, half the window"),
    ("sack+eifel:rfc4015", "Eifel, RFC 4015"),
    ("sack+eifel:stop-gbn", "Eifel, window stays reduced"),
    ("sack+frto+eifel", "F-RTO and Eifel"),
)
BURSTY = "bursty losses"


def future_work() -> Experiment:
    """Section 6."""
    outages = {"receiver.dsack": "true"}
    bursty = tuple(
        Variant(sender, label, BURSTY, outages, "frto2002-outages") for sender, label in RESPONSES
    )

    def change(measured: ExperimentRuns, sender: str, metric: Metric) -> float | None:
        after, before = (measured.median(key, metric) for key in (sender, "sack+frto"))
        return None if after is None or before is None else after - before

    def derive(measured: ExperimentRuns) -> list[Value]:
        return [
            Value(
                f"{metric.name} {sender}",
                f"{metric.label} against F-RTO alone: {label}",
                change(measured, sender, metric),
                unit=metric.unit,
                digits=metric.digits,
            )
            for sender, label in RESPONSES
            if sender in {"sack+frto+dsack", "sack+frto:full"}
            for metric in (TIME, LOST)
        ]

    more, less = {MANY: Bounds(low=1, strict=True)}, {MANY: Bounds(high=1, strict=True)}
    return Experiment(
        id="frto2002/future-work",
        title="F-RTO with D-SACK, and other responses",
        source="report C-2002-07, section 6",
        says=(
            "F-RTO avoids the unneeded retransmissions, and D-SACK could restore the window "
            "afterwards: the two are to be combined. Restoring the whole window may not be right "
            "on a bottleneck link, since it tends to cause more congestion losses."
        ),
        did=(
            "Tables 1 and 3 with a receiver that reports duplicates by D-SACK, and with every "
            "response that F-RTO and Eifel may have."
        ),
        scenario="frto2002-delays",
        variants=(*(Variant(sender, label) for sender, label in RESPONSES), *bursty),
        metrics=(TIME, LOST, REXMITS, UNNEEDED, FOUND_SPURIOUS, FALSE),
        derive=derive,
        checks=(
            ratio(
                "time, F-RTO and D-SACK / F-RTO",
                TIME,
                ("sack+frto+dsack", "sack+frto"),
                {MANY: Bounds(high=1.02)},
                note="the gain that section 6 hopes for",
            ),
            ratio(
                "lost, window restored / halved, F-RTO",
                LOST,
                ("sack+frto:full", "sack+frto"),
                more,
                note="section 6: more congestion losses",
            ),
            ratio(
                "lost, window restored / halved, Eifel",
                LOST,
                ("sack+eifel", "sack+eifel:half"),
                more,
            ),
            ratio(
                "rexmits, F-RTO and D-SACK / D-SACK alone",
                REXMITS,
                ("sack+frto+dsack", "sack+dsack"),
                less,
                note="section 2: D-SACK alone cannot avoid them",
            ),
            ALL_COMPLETE,
        ),
        assumptions=(
            *SET_R,
            assumed("receiver.dsack", "true", "6: F-RTO combined with D-SACK"),
            interpreted("delays", "as in Table 1", "; ".join(a.why for a in DELAYS)),
            interpreted(BURSTY, "as in Table 3", "; ".join(a.why for a in OUTAGES)),
        ),
        judges=("eifel",),
        ours=True,
    )


def sections() -> tuple[Experiment, ...]:
    """The experiments, in the order of the report."""
    return (loss_then_delay(), large_windows(), reordering(), future_work())


SECTIONS: tuple[Any, ...] = sections()
