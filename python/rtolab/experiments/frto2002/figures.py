"""Figures 1 to 4: packet traces. The report prints them as images only, so we check features."""

from typing import Any

from rtolab.experiments.base import (
    FAST_RETRANSMITS,
    LOST,
    REXMITS,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Mark,
    Variant,
    assumed,
    our_own,
    stated,
)
from rtolab.experiments.counts import (
    After,
    acknowledged_by_second_ack,
    fast_retransmits,
    found_spurious,
    largest_step,
    left_alone,
    left_by_first_ack,
    needed,
    new_on_first_ack,
    retransmitted_on_first_ack,
    retransmitted_on_second_ack,
    same_segment,
    silent_acks,
    timeouts,
    unneeded_fast_retransmits,
    unneeded_from,
    window_after,
    window_over_threshold,
)
from rtolab.experiments.frto2002.set_r import SET_R
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns

METRICS = (TIME, LOST, REXMITS, UNNEEDED, TIMEOUTS, FAST_RETRANSMITS)

STALL_AT = 20.0
"""When the link stalls, in s. Slow start overflows the queue some 5 s into the transfer and
congestion avoidance some 18 s into it; by 20 s both losses are repaired and the window, just
halved, is eight segments. The transfer lasts 35 s undisturbed."""

STALL_FOR = 3.0
"""The length of the stall, in s (Figure 1): above the RTO of some 2 s, and below the sum of it and
the next one, which is backed off."""

START = 0.0
"""Figure 3 looks for the timeout after this time, in s: the lost retransmission's is the first."""

WINDOW = 6
"""The advertised window of Figure 3, in segments. It is full when the segment is lost, so that no
segment leaves for its duplicate ACKs and none is in flight when the timer expires. Otherwise such a
segment's duplicate ACK would come before the ACK of the retransmission, and F-RTO would take step
2 ii; in the report's figure the ACK of the whole window comes first."""

LOST_FRAMES = [40, 40 + WINDOW]
"""The losses of Figure 3: a data segment, and its fast retransmission a round trip later."""

BURST_AT = 20.0
"""When the window of Figure 4 is lost, in s: it is as at `STALL_AT`."""

BURST_FRAMES = list(range(230, 239))
"""The frames lost: all eight that the window lets leave from then on, and the first retransmission
by timeout. The ACKs of what came before arrive."""

SACK = Variant("sack", "Regular SACK")
FRTO = Variant("sack+frto", "F-RTO w/ SACK")
NO_BUGFIX = Variant("newreno:no-bugfix", "NewReno without bugfix")

NO_DELAYS = assumed(
    "link.wireless.spikes.probability", "0", ("the only disturbance is the scripted one")
)
STALL = stated(
    "link.wireless.forward.stalls.scripted",
    f'[{{ at = "{STALL_AT:g} s", for = "{STALL_FOR:g} s" }}]',
    "Figure 1: a delay of 3 s; when is assumed: once the window is steady",
)
LOST_RETRANSMISSION = (
    assumed(
        "link.wireless.forward.drops", str(LOST_FRAMES), "4.2: a segment and its retransmission"
    ),
    assumed(
        "receiver.buffer",
        f"{WINDOW * 256} B",
        "4.2: the number of outstanding packets was rather small",
    ),
)
BURST = assumed(
    "link.wireless.forward.drops",
    str(BURST_FRAMES),
    "4.3: a window of segments and the first retransmission by timeout",
)


def finish_apart(measured: ExperimentRuns) -> float | None:
    """The difference between the ends of both variants, in round trips."""
    regular, frto = measured.traces[SACK.key], measured.traces[FRTO.key]
    window = regular.window_at(BURST_AT)
    ends = regular.connection["end_s"], frto.connection["end_s"]
    if window is None or not window["srtt_s"] or None in ends:
        return None
    return float(abs(ends[0] - ends[1]) / window["srtt_s"])


def spurious_timeout(variant: Variant) -> list[Check]:
    """The effect of a delay on the regular recovery (section 2)."""
    regular = After(variant, STALL_AT)
    return [
        regular.exactly(1, "timeouts from the stall on", timeouts),
        regular.exactly(0, "needed retransmissions by that timeout", needed),
        # A delayed ACK may acknowledge the second segment with the first, before its turn comes.
        regular.within(Bounds(0, 1), "outstanding segments not resent", left_alone),
        # One ACK for every two segments is one at a time with delayed ACKs.
        regular.within(Bounds(1, 2), "most segments that an ACK acknowledged", largest_step),
        regular.exactly(1, "fast retransmits after it", fast_retransmits),
        regular.exactly(1, "spurious fast retransmits", unneeded_fast_retransmits),
    ]


def figure2_checks() -> list[Check]:
    """Checks of section 4.1. Figure 1 judges the regular recovery."""
    frto = After(FRTO, STALL_AT)
    return [
        frto.exactly(1, "unneeded retransmissions", unneeded_from),
        frto.exactly(2, "new segments on the first ACK", new_on_first_ack),
        frto.exactly(2, "originals that the second ACK acknowledged", acknowledged_by_second_ack),
        frto.within(Bounds(low=2), "ACKs that then released nothing", silent_acks),
        frto.exactly(0, "fast retransmits after it", fast_retransmits),
        frto.exactly(1, "timeouts found spurious", found_spurious),
    ]


def figure3_checks() -> list[Check]:
    """Checks of section 4.2."""
    regular, frto = After(SACK, START), After(FRTO, START)
    both = [
        check
        for after in (regular, frto)
        for check in (
            # The scenario makes the timeout, and an ACK of the whole window.
            *our_own(
                after.exactly(1, "timeouts", timeouts),
                after.exactly(1, "needed retransmissions by it", needed),
                after.exactly(0, "segments that the first ACK left", left_by_first_ack),
            ),
            after.exactly(2, "new segments on the first ACK", new_on_first_ack),
        )
    ]
    return [
        *both,
        regular.exactly(2, "window after the first ACK, in segments", window_after(0)),
        frto.exactly(1, "window / ssthresh after the first ACK", window_over_threshold),
        frto.exactly(1, "timeouts found spurious, by step 3i", found_spurious),
    ]


def figure4_checks() -> list[Check]:
    """Checks of section 4.3."""
    regular, frto = After(SACK, BURST_AT), After(FRTO, BURST_AT)
    made_by_the_scenario = [
        check
        for after in (regular, frto)
        for check in (
            after.exactly(2, "timeouts of the first segment", same_segment),
            after.exactly(1, "needed retransmissions by the first", needed),
        )
    ]
    return [
        *our_own(*made_by_the_scenario),
        regular.exactly(2, "segments resent on the first ACK", retransmitted_on_first_ack),
        frto.exactly(0, "segments resent on the first ACK", retransmitted_on_first_ack),
        frto.exactly(2, "new segments on the first ACK", new_on_first_ack),
        frto.exactly(0, "segments that the second ACK acknowledged", acknowledged_by_second_ack),
        frto.exactly(3, "window after the second ACK, in segments", window_after(1)),
        frto.within(Bounds(low=1), "resent on the second ACK", retransmitted_on_second_ack),
        frto.exactly(0, "timeouts found spurious", found_spurious),
        Check("ends apart, in round trips", "shape", finish_apart, {1: Bounds(0, 1)}),
    ]


def figure(number: int, title: str, checks: list[Check], **parts: Any) -> Experiment:
    """A trace over the link of Table 1, without its random delays."""
    return Experiment(
        id=f"frto2002/fig{number}",
        title=title,
        source=f"report C-2002-07, Figure {number}",
        scenario="frto2002-delays",
        metrics=METRICS,
        published={},
        checks=(*checks, ALL_COMPLETE),
        **parts,
    )


STALLED = (
    Mark(STALL_AT, "the link stalls"),
    Mark(STALL_AT + STALL_FOR, "the stall ends"),
)

FIGURES = (
    figure(
        1,
        "A delay triggers a spurious retransmission",
        [*spurious_timeout(SACK), *our_own(*spurious_timeout(NO_BUGFIX))],
        variants=(SACK, NO_BUGFIX),
        assumptions=(*SET_R, NO_DELAYS, STALL),
        shown=(STALL_AT - 2, STALL_AT + 10),
        says=(
            "A delay of 3 s makes the timer expire; each late ACK releases more of the window, "
            "until all of it is retransmitted; the ACKs of the duplicates then cause a fast "
            "retransmit."
        ),
        did=(
            "The link stalls for 3 s with eight segments on the way. NewReno without the bugfix "
            "shows the same as SACK."
        ),
        marks=(
            *STALLED,
            Mark(STALL_AT + STALL_FOR, "spurious fast retransmit", event="fast_retransmit"),
        ),
    ),
    figure(
        2,
        "Regular recovery and F-RTO after an excessive delay",
        figure2_checks(),
        variants=(SACK, FRTO),
        assumptions=(*SET_R, NO_DELAYS, STALL),
        shown=(STALL_AT - 2, STALL_AT + 10),
        says=(
            "The regular recovery resends the window and adds a fast retransmit. F-RTO sends two "
            "new segments on the first ACK, finds the timeout spurious on the second, and then "
            "waits for a few ACKs until no more than half the window is in flight."
        ),
        did="Figure 1's delay, with both senders; Figure 1 judges the regular recovery.",
        marks=STALLED,
    ),
    figure(
        3,
        "Regular recovery and F-RTO after a lost retransmission",
        figure3_checks(),
        variants=(SACK, FRTO),
        assumptions=(
            *(a for a in SET_R if a.name != "receiver.buffer"),
            NO_DELAYS,
            *LOST_RETRANSMISSION,
        ),
        shown=(START, START + 10),
        says=(
            "A fast retransmit is lost and the timer expires. Both recoveries send two new "
            "segments on the ACK of the whole window; F-RTO goes on in congestion avoidance, the "
            "regular one in slow start, which makes almost no difference."
        ),
        did="A data segment and its fast retransmit are lost, while the advertised window is six.",
    ),
    figure(
        4,
        "Regular recovery and F-RTO after a burst of losses",
        figure4_checks(),
        variants=(SACK, FRTO),
        assumptions=(*SET_R, NO_DELAYS, BURST),
        shown=(BURST_AT - 2, BURST_AT + 14),
        says=(
            "A window of segments and the first retransmission are lost. After the second timeout "
            "F-RTO sends two new segments, learns of the losses by a duplicate ACK, and resends in "
            "slow start with a window of three: no later than the regular recovery."
        ),
        did="Eight segments and the first retransmission by timeout are lost.",
        marks=(Mark(BURST_AT, "a window of losses begins"),),
    ),
)
"""The experiments, in the order of the report."""
