"""Figures 1 to 4: packet traces. The report prints pictures only, so features are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
    Kind,
    Variant,
)
from rtolab.experiments.frto2002.set_r import SET_R, assumed, stated
from rtolab.experiments.measured import ALL_COMPLETE

if TYPE_CHECKING:
    from collections.abc import Callable

    from rtolab.experiments.measured import Measured
    from rtolab.experiments.trace import Ack, Timeout, Trace

    Count = Callable[[Trace, Timeout], float | None]

METRICS = (TIME, LOST, REXMITS, UNNEEDED, TIMEOUTS, FAST_RETRANSMITS)

STALL_AT = 20.0
"""When the link stalls, in s. Slow start overflows the queue some 5 s into the transfer and
congestion avoidance some 18 s into it; by 20 s both losses are repaired and the window, just
halved, is eight segments. The transfer lasts 35 s undisturbed."""

STALL_FOR = 3.0
"""How long, in s: the report's Figure 1. Longer than the timeout of some 2 s, shorter than it and
the next one, backed off, together."""

START = 0.0
"""From when on Figure 3 looks for the timeout, in s: the lost retransmission's is the first."""

LOST_FRAMES = [6, 12]
"""What is lost in Figure 3: the fifth data segment (frame 1 is the SYN), while the window is four,
and its fast retransmission a round trip later."""

LOST_ACKS = [9]
"""The duplicate ACK that would keep one segment on its way through the recovery. As long as one
is, its duplicate ACK comes after the timeout and before the ACK of what was retransmitted, and
F-RTO takes step 2ii; in the report's figure the ACK of the whole window comes first."""

BURST_AT = 20.0
"""When the window of Figure 4 is lost, in s: it is as at `STALL_AT`."""

BURST_FRAMES = list(range(230, 239))
"""Which frames that are: all eight that the window lets leave from then on, and the first
retransmission by timeout. The ACKs of what came before arrive."""

SACK = Variant("sack", "Regular SACK")
FRTO = Variant("sack+frto", "F-RTO w/ SACK")
NO_BUGFIX = Variant("newreno:no-bugfix", "NewReno without bugfix")

NO_DELAYS = assumed("link.wireless.spikes.probability", "0", "the one disturbance is the scripted")
STALL = stated(
    "link.wireless.forward.stalls.scripted",
    f'[{{ at = "{STALL_AT:g} s", for = "{STALL_FOR:g} s" }}]',
    "Figure 1: a delay of 3 s; when is assumed: once the window is steady",
)
LOST_RETRANSMISSION = (
    assumed(
        "link.wireless.forward.drops",
        str(LOST_FRAMES),
        "4.2: a segment and its retransmission, while few are outstanding",
    ),
    assumed(
        "link.wireless.backward.drops",
        str(LOST_ACKS),
        "a duplicate ACK, so that nothing is under way when the timer expires",
    ),
)
BURST = assumed(
    "link.wireless.forward.drops",
    str(BURST_FRAMES),
    "4.3: a window of segments and the first retransmission by timeout",
)


@dataclass(frozen=True)
class After:
    """Counts in a variant's trace from the first timeout at or after `at` (s) on."""

    variant: Variant
    at: float

    def exactly(self, value: float, name: str, count: Count) -> Check:
        """The count is so much."""
        return self._check(Bounds(value, value), name, count, "count")

    def within(self, bounds: Bounds, name: str, count: Count) -> Check:
        """The count is of about that size."""
        return self._check(bounds, name, count, "shape")

    def _check(self, bounds: Bounds, name: str, count: Count, kind: Kind) -> Check:
        def measure(measured: Measured) -> float | None:
            trace = measured.traces[self.variant.key]
            timeouts = trace.timeouts_from(self.at)
            return count(trace, timeouts[0]) if timeouts else None

        return Check(f"{self.variant.label}: {name}", kind, measure, {1: bounds})


def left_alone(trace: Trace, timeout: Timeout) -> float:
    """Segments outstanding at the timeout that were not retransmitted before a fast retransmit."""
    fast = trace.fast_retransmits_from(timeout.at)
    end = fast[0].at if fast else float("inf")
    again = {data.seq for data in trace.retransmitted(timeout.at, end)}
    return len(set(trace.outstanding(timeout)) - again)


def largest_step(trace: Trace, timeout: Timeout) -> float | None:
    """The most segments that one ACK of the window outstanding at the timeout acknowledged."""
    outstanding = trace.outstanding(timeout)
    before, steps = outstanding[0], []
    for ack in trace.acks_after(timeout):
        if before > outstanding[-1]:
            break
        steps.append((ack.ack - before) / trace.mss)
        before = ack.ack
    return max(steps, default=None)


def unneeded_from(trace: Trace, timeout: Timeout) -> float:
    """Retransmissions in vain, the timeout's own among them."""
    return sum(data.unneeded for data in trace.retransmitted(timeout.at))


def fast_retransmits(trace: Trace, timeout: Timeout) -> float:
    """Fast retransmits after the timeout."""
    return len(trace.fast_retransmits_from(timeout.at))


def unneeded_fast_retransmits(trace: Trace, timeout: Timeout) -> float:
    """Fast retransmits after the timeout of what had arrived."""
    return sum(not fast.needed for fast in trace.fast_retransmits_from(timeout.at))


def timeouts(trace: Trace, timeout: Timeout) -> float:
    """Expiries of the timer, this one and later ones."""
    return len(trace.timeouts_from(timeout.at))


def needed(_trace: Trace, timeout: Timeout) -> float:
    """1 if the timeout's retransmission was needed, else 0."""
    return float(timeout.needed)


def found_spurious(_trace: Trace, timeout: Timeout) -> float:
    """1 if the sender's detector found the timeout spurious, else 0."""
    return float(timeout.verdict == "spurious")


def acks(trace: Trace, timeout: Timeout) -> tuple[Ack, Ack] | None:
    """The first two ACKs after the last timeout of the same segment."""
    same = [other for other in trace.timeouts_from(timeout.at) if other.seq == timeout.seq]
    first_two = trace.acks_after(same[-1])[:2]
    return (first_two[0], first_two[1]) if len(first_two) == 2 else None


def new_on_first_ack(trace: Trace, timeout: Timeout) -> float | None:
    """Segments sent for the first time between the first and the second ACK."""
    both = acks(trace, timeout)
    return len(both[0].new) if both else None


def retransmitted_on_first_ack(trace: Trace, timeout: Timeout) -> float | None:
    """Segments retransmitted between the first and the second ACK."""
    both = acks(trace, timeout)
    return len(both[0].retransmitted) if both else None


def retransmitted_on_second_ack(trace: Trace, timeout: Timeout) -> float | None:
    """Segments retransmitted between the second and the third ACK."""
    both = acks(trace, timeout)
    return len(both[1].retransmitted) if both else None


def acknowledged_by_second_ack(trace: Trace, timeout: Timeout) -> float | None:
    """Segments that the second ACK acknowledged beyond the first."""
    both = acks(trace, timeout)
    return (both[1].ack - both[0].ack) / trace.mss if both else None


def left_by_first_ack(trace: Trace, timeout: Timeout) -> float | None:
    """Segments outstanding at the timeout that the first ACK did not acknowledge."""
    both = acks(trace, timeout)
    return sum(seq >= both[0].ack for seq in trace.outstanding(timeout)) if both else None


def silent_acks(trace: Trace, timeout: Timeout) -> float:
    """ACKs in a row, from the second on, that released nothing."""
    silent = 0
    for ack in trace.acks_after(timeout)[1:]:
        if ack.released:
            break
        silent += 1
    return silent


def window_after(which: int) -> Count:
    """The congestion window in segments, once the first (0) or second (1) ACK was dealt with."""

    def measure(trace: Trace, timeout: Timeout) -> float | None:
        both = acks(trace, timeout)
        window = trace.window_at(both[which].at) if both else None
        return window["cwnd"] / trace.mss if window else None

    return measure


def window_over_threshold(trace: Trace, timeout: Timeout) -> float | None:
    """The congestion window over the slow-start threshold after the first ACK."""
    both = acks(trace, timeout)
    window = trace.window_at(both[0].at) if both else None
    return window["cwnd"] / window["ssthresh"] if window and window["ssthresh"] else None


def same_segment(trace: Trace, timeout: Timeout) -> float:
    """Timeouts of the segment of the first one."""
    return sum(other.seq == timeout.seq for other in trace.timeouts_from(timeout.at))


def finish_apart(measured: Measured) -> float | None:
    """By how many round trips the two variants' ends differ."""
    regular, frto = measured.traces[SACK.key], measured.traces[FRTO.key]
    window = regular.window_at(BURST_AT)
    ends = regular.connection["end_s"], frto.connection["end_s"]
    if window is None or not window["srtt_s"] or None in ends:
        return None
    return float(abs(ends[0] - ends[1]) / window["srtt_s"])


def spurious_timeout(variant: Variant) -> list[Check]:
    """What a delay does to the regular recovery (section 2)."""
    regular = After(variant, STALL_AT)
    return [
        regular.exactly(1, "timeouts from the stall on", timeouts),
        regular.exactly(0, "needed retransmissions by that timeout", needed),
        # A delayed ACK may acknowledge the second segment with the first, before its turn comes.
        regular.within(Bounds(0, 1), "outstanding segments not resent", left_alone),
        # One ACK for every two segments is one at a time with delayed ACKs.
        regular.within(Bounds(1, 2), "most segments that an ACK acknowledged", largest_step),
        regular.exactly(1, "fast retransmits after it", fast_retransmits),
        regular.exactly(1, "fast retransmits in vain", unneeded_fast_retransmits),
    ]


def figure2_checks() -> list[Check]:
    """Section 4.1."""
    frto = After(FRTO, STALL_AT)
    return [
        *spurious_timeout(SACK),
        frto.exactly(1, "retransmissions in vain", unneeded_from),
        frto.exactly(2, "new segments on the first ACK", new_on_first_ack),
        frto.exactly(2, "originals that the second ACK acknowledged", acknowledged_by_second_ack),
        frto.within(Bounds(low=2), "ACKs that then released nothing", silent_acks),
        frto.exactly(0, "fast retransmits after it", fast_retransmits),
        frto.exactly(1, "timeouts found spurious", found_spurious),
    ]


def figure3_checks() -> list[Check]:
    """Section 4.2."""
    regular, frto = After(SACK, START), After(FRTO, START)
    both = [
        check
        for after in (regular, frto)
        for check in (
            after.exactly(1, "timeouts", timeouts),
            after.exactly(1, "needed retransmissions by it", needed),
            after.exactly(0, "segments that the first ACK left", left_by_first_ack),
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
    """Section 4.3."""
    regular, frto = After(SACK, BURST_AT), After(FRTO, BURST_AT)
    both = [
        check
        for after in (regular, frto)
        for check in (
            after.exactly(2, "timeouts of the first segment", same_segment),
            after.exactly(1, "needed retransmissions by the first", needed),
        )
    ]
    return [
        *both,
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


FIGURES = (
    figure(
        1,
        "A delay triggers a spurious retransmission",
        spurious_timeout(SACK) + spurious_timeout(NO_BUGFIX),
        variants=(SACK, NO_BUGFIX),
        assumptions=(*SET_R, NO_DELAYS, STALL),
        shown=(STALL_AT - 2, STALL_AT + 10),
    ),
    figure(
        2,
        "Regular recovery and F-RTO after an excessive delay",
        figure2_checks(),
        variants=(SACK, FRTO),
        assumptions=(*SET_R, NO_DELAYS, STALL),
        shown=(STALL_AT - 2, STALL_AT + 10),
    ),
    figure(
        3,
        "Regular recovery and F-RTO after a lost retransmission",
        figure3_checks(),
        variants=(SACK, FRTO),
        assumptions=(*SET_R, NO_DELAYS, *LOST_RETRANSMISSION),
        shown=(START, START + 10),
    ),
    figure(
        4,
        "Regular recovery and F-RTO after a burst of losses",
        figure4_checks(),
        variants=(SACK, FRTO),
        assumptions=(*SET_R, NO_DELAYS, BURST),
        shown=(BURST_AT - 2, BURST_AT + 14),
    ),
)
"""In the order of the report."""
