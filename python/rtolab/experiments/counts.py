"""Counts in a trace from a timeout on, and checks of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

from rtolab.experiments.base import Bounds, Check, Kind, Parts, Variant
from rtolab.experiments.measured import ExperimentRuns
from rtolab.experiments.trace import Ack, Timeout, Trace

Count = Callable[[Trace, Timeout], float | None]


@dataclass(frozen=True)
class After:
    """Counts in a variant's trace from the first timeout at or after `at` (s) on."""

    variant: Variant
    at: float

    def exactly(self, value: float, name: str, count: Count) -> Check:
        """The count equals `value`."""
        return self._check(Bounds(value, value), name, count, "count")

    def within(self, bounds: Bounds, name: str, count: Count, **parts: Unpack[Parts]) -> Check:
        """The count lies within bounds; `parts` are other arguments of `Check`."""
        return self._check(bounds, name, count, "shape", **parts)

    def _check(
        self, bounds: Bounds, name: str, count: Count, kind: Kind, **parts: Unpack[Parts]
    ) -> Check:
        def measure(measured: ExperimentRuns) -> float | None:
            trace = measured.traces[self.variant.key]
            timeouts = trace.timeouts_from(self.at)
            return count(trace, timeouts[0]) if timeouts else None

        return Check(f"{self.variant.title}: {name}", kind, measure, {1: bounds}, **parts)


def left_alone(trace: Trace, timeout: Timeout) -> float:
    """Segments outstanding at the timeout that were not retransmitted before a fast retransmit."""
    fast = trace.fast_retransmits_from(timeout.at)
    end = fast[0].at if fast else float("inf")
    retransmitted = {data.seq for data in trace.retransmitted(timeout.at, end)}
    return len(set(trace.outstanding(timeout)) - retransmitted)


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
    """Unneeded retransmissions, including the timeout's own."""
    return sum(data.unneeded for data in trace.retransmitted(timeout.at))


def fast_retransmits(trace: Trace, timeout: Timeout) -> float:
    """Fast retransmits after the timeout."""
    return len(trace.fast_retransmits_from(timeout.at))


def unneeded_fast_retransmits(trace: Trace, timeout: Timeout) -> float:
    """Fast retransmits, after the timeout, of segments that had arrived."""
    return sum(not fast.needed for fast in trace.fast_retransmits_from(timeout.at))


def timeouts(trace: Trace, timeout: Timeout) -> float:
    """Expiries of the timer, this one and later ones."""
    return len(trace.timeouts_from(timeout.at))


def needed(_trace: Trace, timeout: Timeout) -> float:
    """1 if the retransmission was needed, else 0."""
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
    """Consecutive ACKs, from the second on, after which nothing was sent."""
    silent = 0
    for ack in trace.acks_after(timeout)[1:]:
        if ack.released:
            break
        silent += 1
    return silent


def window_after(which: int) -> Count:
    """The congestion window in segments after the first (0) or second (1) ACK."""

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
