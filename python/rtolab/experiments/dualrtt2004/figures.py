"""Figures 2 and 3: one long hold, and what Reno makes of it."""

from functools import partial
from typing import Any

from rtolab.experiments.base import (
    FAST_RETRANSMITS,
    REXMITS,
    TIMEOUTS,
    UNNEEDED,
    Bounds,
    Check,
    Experiment,
    Mark,
    Variant,
)
from rtolab.experiments.counts import After, timeouts, unneeded_fast_retransmits
from rtolab.experiments.dualrtt2004.set_b import FIRST_DATA, OTHER_CHOICES, SET_B
from rtolab.experiments.measured import Measured
from rtolab.experiments.trace import Ack, Timeout, Trace

METRICS = (REXMITS, UNNEEDED, TIMEOUTS, FAST_RETRANSMITS)

RENO = Variant("reno:no-bugfix", "Reno")
CAREFUL = Variant("reno:careful", "Reno, careful bugfix")

HOLD_AT = 28.0 + FIRST_DATA
"""When the hold begins, in s from the SYN: the paper's clock begins with the data."""

HOLD_FOR = 12.0
"""How long the paper's hold lasts, in s."""

HELD = (131, 150)
"""The first and the last segment held; the paper counts from 0, as ns-2 does."""

SHOWN = (HOLD_AT - 2, HOLD_AT + HOLD_FOR + 9)

PHASE = 0.3
"""By how much times may differ from the paper's, in s: ns-2's coarse timer has a random phase."""


def number(trace: Trace, seq: int) -> int:
    """A segment as the paper counts it: the first data segment is 0."""
    return (seq - 1) // trace.mss


def first_outstanding(trace: Trace, timeout: Timeout) -> float:
    """The first segment outstanding at the timeout."""
    return number(trace, trace.outstanding(timeout)[0])


def last_outstanding(trace: Trace, timeout: Timeout) -> float:
    """The last one."""
    return number(trace, trace.outstanding(timeout)[-1])


def first_sent(trace: Trace, timeout: Timeout) -> float | None:
    """When the first segment outstanding was sent first, on the paper's clock."""
    sent = trace.sent_first(trace.outstanding(timeout)[0])
    return None if sent is None else sent.at - FIRST_DATA


def timed_out(which: int, trace: Trace, timeout: Timeout) -> float | None:
    """When the timer expired for the n-th time, from 0, on the paper's clock."""
    expired = trace.timeouts_from(timeout.at)
    return expired[which].at - FIRST_DATA if which < len(expired) else None


def backed_off(trace: Trace, timeout: Timeout) -> float | None:
    """The time between the first two timeouts over the timeout in force at the first."""
    expired = trace.timeouts_from(timeout.at)
    if len(expired) < 2:
        return None
    # Table times are whole nanoseconds as floating-point seconds.
    return round((expired[1].at - expired[0].at) / expired[0].rto, 9)


def first_ack(trace: Trace, timeout: Timeout) -> Ack | None:
    """The first ACK after the last timeout of the same segment."""
    same = [other for other in trace.timeouts_from(timeout.at) if other.seq == timeout.seq]
    return next(iter(trace.acks_after(same[-1])), None)


def answered(trace: Trace, timeout: Timeout) -> float | None:
    """When that ACK came, on the paper's clock."""
    ack = first_ack(trace, timeout)
    return None if ack is None else ack.at - FIRST_DATA


def unneeded_of_held(trace: Trace, timeout: Timeout) -> float:
    """Unneeded retransmissions of the segments outstanding at the timeout."""
    held = set(trace.outstanding(timeout))
    return sum(data.unneeded for data in trace.retransmitted(timeout.at) if data.seq in held)


def fast_retransmitted(trace: Trace, timeout: Timeout) -> float | None:
    """Which segment a fast retransmit sent first after the timeout."""
    fast = trace.fast_retransmits_from(timeout.at)
    return number(trace, fast[0].seq) if fast else None


def fast_retransmitted_at(trace: Trace, timeout: Timeout) -> float | None:
    """When that was, on the paper's clock."""
    fast = trace.fast_retransmits_from(timeout.at)
    return fast[0].at - FIRST_DATA if fast else None


def halved(trace: Trace, timeout: Timeout) -> float | None:
    """The window after the first fast retransmit over the one before it."""
    fast = trace.fast_retransmits_from(timeout.at)
    after = trace.window_at(fast[0].at) if fast else None
    return after["ssthresh"] / fast[0].cwnd if after else None


def around(value: float) -> Bounds:
    """A time of the paper, give or take the timer's phase."""
    return Bounds(value - PHASE, value + PHASE)


def go_back_n(variant: Variant) -> list[Check]:
    """What both figures have: two timeouts of the first held segment, and go-back-N."""
    reno = After(variant, HOLD_AT)
    return [
        reno.exactly(HELD[0], "first segment held", first_outstanding),
        reno.exactly(HELD[1], "last segment held", last_outstanding),
        reno.within(around(28.99), "the first held was sent, s", first_sent),
        reno.exactly(2, "timeouts", timeouts),
        reno.within(around(34.54), "first timeout, s", lambda *at: timed_out(0, *at)),
        reno.within(around(42.14), "second timeout, s", lambda *at: timed_out(1, *at)),
        reno.exactly(2, "time between them / RTO before", backed_off),
        reno.within(around(42.90), "ACK of the original, s", answered),
        reno.exactly(21, "held segments resent unneeded", unneeded_of_held),
    ]


def timeout_in_force(trace: Trace, timeout: Timeout) -> float | None:
    """The retransmission timeout when the first segment held left, in s."""
    sent = trace.sent_first(trace.outstanding(timeout)[0])
    window = trace.window_at(sent.at) if sent else None
    return float(window["rto_s"]) if window else None


def printed_timeout() -> Check:
    """Section II-B prints a timeout that its Table II contradicts."""

    def measure(measured: Measured) -> float | None:
        trace = measured.traces[RENO.key]
        timeouts = trace.timeouts_from(HOLD_AT)
        return timeout_in_force(trace, timeouts[0]) if timeouts else None

    return Check(
        "Reno: RTO when the first held segment left, s",
        "exact",
        measure,
        {1: Bounds(4, 4)},
        because=(
            "II-B prints an RTO of 4 s; Table II has 3.8 s at 30.840, and only that leads to the "
            "printed timeouts: 30.74 + 3.8 = 34.54 and 34.54 + 7.6 = 42.14. (Table II's row is "
            "0.1 s later than that start of the timer.)"
        ),
    )


def figure2_checks() -> list[Check]:
    """Section II-B."""
    reno = After(RENO, HOLD_AT)
    return [
        printed_timeout(),
        *go_back_n(RENO),
        reno.exactly(1, "spurious fast retransmits", unneeded_fast_retransmits),
        reno.exactly(HELD[1] + 1, "segment of the first", fast_retransmitted),
        reno.within(around(45.80), "first fast retransmit, s", fast_retransmitted_at),
        reno.within(Bounds(0.4, 0.6), "ssthresh after it / window before", halved),
    ]


def figure3_checks() -> list[Check]:
    """Section II-C."""
    return [
        *go_back_n(CAREFUL),
        Check("Reno, careful bugfix: fast retransmits", "count", _fast_careful, {1: Bounds(0, 0)}),
    ]


def _fast_careful(measured: Measured) -> float:
    return len(measured.traces[CAREFUL.key].fast_retransmits_from(HOLD_AT))


hold_experiment = partial(
    Experiment,
    scenario="dualrtt2004-hiccup",
    metrics=METRICS,
    assumptions=SET_B,
    alternatives=OTHER_CHOICES,
    shown=SHOWN,
    endless=True,
)
"""A trace over the one link of section II-A."""


def figure(number_: int, title: str, checks: list[Check], **parts: Any) -> Experiment:
    """A figure of such a trace."""
    return hold_experiment(
        id=f"dualrtt2004/fig{number_}",
        title=title,
        source=f"DualRTT, Figure {number_}",
        published={},
        checks=tuple(checks),
        **parts,
    )


def marks(*pointed: tuple[float, str]) -> tuple[Mark, ...]:
    """Points of the text, by the paper's clock."""
    return tuple(Mark(at + FIRST_DATA, text) for at, text in pointed)


HELD_MARKS = (
    (28.0, "the hold begins"),
    (34.54, "A: first timeout"),
    (40.0, "the hold ends"),
    (42.14, "B: second timeout"),
)

FIGURES = (
    figure(
        2,
        "Spurious timeouts, go-back-N and a spurious fast retransmit of Reno",
        figure2_checks(),
        variants=(RENO,),
        says=(
            "The uplink holds everything from 28.0 s on for 12 s. Segment 131 leaves at 28.99 and "
            "times out at 34.54 and 42.14; the ACK of the original comes at 42.89. Reno then "
            "resends 132 to 150, and the duplicates' ACKs cause a fast retransmit of 151."
        ),
        did=(
            "The hold on one link, with Reno as ns-2 has it. A link of 50 kbit/s hits the printed "
            "times, the printed 46.8 kbit/s does not. Times are those of the paper's clock, which "
            "starts 2.9 s later than ours: its ns-2 shows no handshake."
        ),
        marks=marks(
            *HELD_MARKS, (42.9, "C: ACK of the original 131"), (45.8, "E: fast retransmit of 151")
        ),
    ),
    figure(
        3,
        "The same with the careful bugfix: no fast retransmit",
        figure3_checks(),
        variants=(CAREFUL,),
        says=(
            "With the more careful rule of RFC 2582 the sender still resends what was outstanding, "
            "but at 45.8 s there is no fast retransmit and the window is not halved."
        ),
        did="Figure 2's hold; Reno does not enter fast retransmit for what a timeout resent.",
        marks=marks(*HELD_MARKS, (45.8, "C: no fast retransmit of 151")),
    ),
)
"""In the order of the paper."""
