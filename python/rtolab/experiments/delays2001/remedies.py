"""Section 6: remedies against spurious timeouts."""

from typing import Any

from rtolab.experiments.base import (
    FAST_RETRANSMITS,
    TIME,
    Assumption,
    Bounds,
    Check,
    Experiment,
    Mark,
    Variant,
    assumed,
    interpreted,
    our_own,
)
from rtolab.experiments.counts import After, fast_retransmits, left_alone, unneeded_from
from rtolab.experiments.delays2001.set_up import (
    DUPLICATE_ACKS,
    HOLD,
    HOLD_AT,
    HOLD_FOR,
    JUDGED_LATE,
    METRICS,
    OTHER_CHOICES,
    SACK_OFF,
    resent_before_fast,
)
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns, median, ratio
from rtolab.experiments.trace import Timeout, Trace

CAREFUL = Variant("newreno:careful", "NewReno, careful bugfix")
LESS_CAREFUL = Variant("newreno:less-careful", "NewReno, less careful bugfix")
WITH_SACK = {"receiver.sack": "true", "receiver.dsack": "true"}
SACK = Variant("sack:rfc6675", "SACK", "D-SACK receiver", WITH_SACK)
DSACK = Variant("sack:rfc6675+dsack", "SACK and D-SACK", "D-SACK receiver", WITH_SACK)
OLD_SACK = Variant("sack:rfc3517", "SACK of RFC 3517", "D-SACK receiver", WITH_SACK)
OLD_DSACK = Variant(
    "sack:rfc3517+dsack", "SACK of RFC 3517 and D-SACK", "D-SACK receiver", WITH_SACK
)
EIFEL = Variant("newreno+eifel", "Eifel")
FRTO = Variant("newreno+frto", "F-RTO")

LIFETIME = {"link.wireless.forward.lifetime": "4 s"}
WAITS = LESS_CAREFUL
EXPIRES = Variant(
    "newreno:less-careful", "NewReno, less careful bugfix", "lifetime of 4 s", LIFETIME
)


def remedy(
    letter: str, checks: tuple[Check, ...], assumptions: tuple[Assumption, ...] = (), **parts: Any
) -> Experiment:
    """A remedy on the link of section 5."""
    return Experiment(
        id=f"delays2001/section-6{letter}",
        source="Gurtov 2001, section 6",
        scenario="delays2001-hold",
        metrics=METRICS,
        checks=(*checks, ALL_COMPLETE),
        assumptions=(*HOLD, *assumptions),
        alternatives=OTHER_CHOICES,
        shown=(0.0, 60.0),
        marks=(Mark(HOLD_AT, "the hold begins"), Mark(HOLD_AT + HOLD_FOR, "the hold ends")),
        **parts,
    )


def avoided_by_dsack(measured: ExperimentRuns) -> float | None:
    """The fast retransmits that D-SACK saves a SACK sender, the most of both."""
    saved = []
    for without, using in ((SACK, DSACK), (OLD_SACK, OLD_DSACK)):
        counts = [measured.median(one.key, FAST_RETRANSMITS) for one in (without, using)]
        if None in counts:
            return None
        saved.append(counts[0] - counts[1])  # type: ignore[operator]
    return max(saved)


NOT_BY_DSACK = demonstrated(
    "a D-SACK reports a duplicate that arrived, and a sender undoes what it did; neither RFC's "
    "sender counts its duplicate ACKs otherwise for that. SACK of RFC 6675 avoids the fast "
    "retransmit without D-SACK: it counts only ACKs that report something new",
    "rtolab reproduce delays2001/section-6b",
    "fast retransmits are 0 with RFC 6675's SACK, and 1 with RFC 3517's, with and without D-SACK",
)


def remedies() -> tuple[Experiment, ...]:
    """The experiments, in the order of the paper."""
    careful, less = After(CAREFUL, HOLD_AT), After(LESS_CAREFUL, HOLD_AT)
    sack, dsack = After(SACK, HOLD_AT), After(DSACK, HOLD_AT)
    eifel, frto = After(EIFEL, HOLD_AT), After(FRTO, HOLD_AT)
    expires = After(EXPIRES, HOLD_AT)
    return (
        remedy(
            "a",
            (
                careful.exactly(0, "fast retransmits", fast_retransmits),
                less.exactly(1, "fast retransmits", fast_retransmits),
                careful.within(Bounds(0, 1), "outstanding segments not resent", left_alone),
                careful.exactly(0, "unneeded retransmissions besides", resent_besides),
            ),
            (SACK_OFF,),
            title="The careful bugfix",
            says="It forbids the spurious fast retransmit and limits the penalty to go-back-N.",
            did="NewReno with both bugfixes.",
            variants=(CAREFUL, LESS_CAREFUL),
        ),
        remedy(
            "b",
            (
                Check(
                    "spurious fast retransmits that D-SACK avoids",
                    "count",
                    avoided_by_dsack,
                    {1: Bounds(low=1)},
                    failure_cause=NOT_BY_DSACK,
                    fitted=JUDGED_LATE,
                ),
                *our_own(
                    *(
                        one.exactly(0, "fast retransmits", fast_retransmits)
                        for one in (sack, dsack)
                    ),
                    After(OLD_SACK, HOLD_AT).exactly(1, "fast retransmits", fast_retransmits),
                ),
                dsack.within(Bounds(0, 1), "outstanding segments not resent", left_alone),
            ),
            title="D-SACK",
            says=(
                "It avoids the spurious fast retransmit and NewReno's retransmissions, but "
                "not go-back-N."
            ),
            did=(
                "SACK recovery of RFC 6675, and of RFC 3517, which has the spurious fast "
                "retransmit. The receiver reports duplicates; senders use the reports or do not."
            ),
            variants=(SACK, DSACK, OLD_SACK, OLD_DSACK),
        ),
        remedy(
            "c",
            (
                eifel.exactly(1, "unneeded retransmissions", unneeded_from),
                *our_own(
                    frto.exactly(1, "unneeded retransmissions", unneeded_from),
                    ratio(
                        "time, Eifel / F-RTO",
                        TIME,
                        (EIFEL.key, FRTO.key),
                        {1: Bounds(1.03, 1.07)},
                        note="timestamps take 5 % of the payload",
                    ),
                ),
            ),
            (SACK_OFF,),
            title="Eifel",
            says=(
                "It distinguishes the ACK of the original from that of the retransmission and "
                "avoids all unneeded retransmissions but the first."
            ),
            did="NewReno with Eifel; and with F-RTO, which came a year later.",
            variants=(CAREFUL, EIFEL, FRTO),
        ),
        remedy(
            "d",
            (
                expires.within(
                    Bounds(high=1),
                    "unneeded retransmissions",
                    unneeded_from,
                    note="the segment that was being sent when the hold began does not expire",
                ),
                median(
                    "duplicate ACKs with the lifetime",
                    "shape",
                    (EXPIRES.key, DUPLICATE_ACKS),
                    {1: Bounds(0, 0)},
                ),
                ratio(
                    "time, lifetime / spurious timeout",
                    TIME,
                    (EXPIRES.key, WAITS.key),
                    {1: Bounds(high=1, strict=True)},
                    note="more efficient",
                ),
            ),
            (
                SACK_OFF,
                assumed("receiver.buffer", "3 KiB", "so that no queue takes 4 s to drain"),
                interpreted("lifetime", "4 s", "shorter than the hold, longer than any queue"),
            ),
            title="A lifetime for packets",
            says=(
                "Packets that are held longer than the timeout are dropped; the timeout is "
                "then genuine, and no duplicate ACKs come."
            ),
            did=(
                "The link drops packets that wait longer than 4 s; the window is so small that "
                "only held packets wait that long."
            ),
            variants=(WAITS, EXPIRES),
        ),
    )


def resent_besides(trace: Trace, timeout: Timeout) -> float:
    """Unneeded retransmissions beyond one per segment of the go-back-N."""
    return unneeded_from(trace, timeout) - resent_before_fast(trace, timeout)
