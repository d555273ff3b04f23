"""Figures 2 and 3: one long hold, and Reno's reaction to it."""

from functools import partial
from typing import Any

import polars as pl

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
    fitted,
    from_paper,
    interpreted,
)
from rtolab.experiments.counts import After, Count, timeouts, unneeded_fast_retransmits
from rtolab.experiments.dualrtt2004.set_b import CLOCK, FIGURE_2, OTHER_CHOICES, SET_B, UNSTATED
from rtolab.experiments.measured import ExperimentRuns
from rtolab.experiments.trace import Ack, Timeout, Trace

METRICS = (REXMITS, UNNEEDED, TIMEOUTS, FAST_RETRANSMITS)

RENO = Variant("reno:no-bugfix", "Reno", set=FIGURE_2)
CAREFUL = Variant("reno:careful", "Reno, careful bugfix")
WITHOUT = Variant("reno:no-bugfix", "Reno")

HOLD_AT = 28.0 + CLOCK
"""When the hold begins, in s."""

HOLD_FOR = 12.0
"""How long the paper's hold lasts, in s."""

HELD = (131, 150)
"""The first and the last segment held (II-B)."""

SHOWN = (HOLD_AT - 2, HOLD_AT + HOLD_FOR + 9)

FROM = 1
"""The number of the first data segment in FullTCP, whose SYN has number 0."""

FROM_0 = 0
"""The same in Figure 2, as ns-2's Agent/TCP counts."""


def number(trace: Trace, seq: int, begin: int = FROM) -> int:
    """A segment as the paper counts it."""
    return (seq - 1) // trace.mss + begin


def outstanding(place: int, begin: int) -> Count:
    """The segment at this place of those outstanding at the timeout."""
    return lambda trace, timeout: number(trace, trace.outstanding(timeout)[place], begin)


def first_sent(trace: Trace, timeout: Timeout) -> float | None:
    """When the first segment outstanding was sent first, on the paper's clock."""
    sent = trace.sent_first(trace.outstanding(timeout)[0])
    return None if sent is None else sent.at - CLOCK


def timed_out(which: int, trace: Trace, timeout: Timeout) -> float | None:
    """When the timer expired for the n-th time, from 0, on the paper's clock."""
    expired = trace.timeouts_from(timeout.at)
    return expired[which].at - CLOCK if which < len(expired) else None


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
    """The time of that ACK, on the paper's clock."""
    ack = first_ack(trace, timeout)
    return None if ack is None else ack.at - CLOCK


def unneeded_of_held(trace: Trace, timeout: Timeout) -> float:
    """Unneeded retransmissions of the segments outstanding at the timeout."""
    held = set(trace.outstanding(timeout))
    return sum(data.unneeded for data in trace.retransmitted(timeout.at) if data.seq in held)


def fast_retransmitted(trace: Trace, timeout: Timeout) -> float | None:
    """Which segment a fast retransmit sent first after the timeout, in Figure 2's numbers."""
    fast = trace.fast_retransmits_from(timeout.at)
    return number(trace, fast[0].seq, FROM_0) if fast else None


def fast_retransmitted_at(trace: Trace, timeout: Timeout) -> float | None:
    """The time of that fast retransmit, on the paper's clock."""
    fast = trace.fast_retransmits_from(timeout.at)
    return fast[0].at - CLOCK if fast else None


def halved(trace: Trace, timeout: Timeout) -> float | None:
    """The window after the first fast retransmit over the one before it."""
    fast = trace.fast_retransmits_from(timeout.at)
    after = trace.window_at(fast[0].at) if fast else None
    return after["ssthresh"] / fast[0].cwnd if after else None


def around(value: float, within: float) -> Bounds:
    """A time of the paper, in s."""
    return Bounds(value - within - 1e-9, value + within + 1e-9)


def go_back_n(variant: Variant, begin: int) -> list[Check]:
    """Checks of both figures: two timeouts of the first held segment, and go-back-N."""
    reno = After(variant, HOLD_AT)
    return [
        reno.exactly(HELD[0], "first segment held", outstanding(0, begin)),
        reno.exactly(HELD[1], "last segment held", outstanding(-1, begin)),
        reno.exactly(2, "timeouts", timeouts),
        reno.exactly(2, "time between them / RTO before", backed_off),
    ]


def timeout_in_force(trace: Trace, timeout: Timeout) -> float | None:
    """The retransmission timeout when the ACK came that released the first segment held, in s.

    That ACK's own sample changes it.
    """
    sent = trace.sent_first(trace.outstanding(timeout)[0])
    before = trace.windows_until(sent.at).filter(pl.col("at_s") < sent.at) if sent else None
    return None if before is None or before.is_empty() else float(before["rto_s"][-1])


RATE_OF_FIGURE_2 = (
    "the rate of 50 kbit/s was chosen by the times of Figure 2's text; II-A prints 46.8, at which "
    "130 is the first segment held in Agent/TCP's run"
)


def figure2_checks() -> tuple[Check, ...]:
    """Section II-B; 21 is counted from its text."""
    reno = After(RENO, HOLD_AT)
    of_the_rate = (
        *go_back_n(RENO, FROM_0),
        reno.within(around(28.99, 0.01), "the first held was sent, s", first_sent),
        reno.exactly(4, "RTO when it was sent, s", timeout_in_force),
        reno.within(around(34.54, 0.01), "first timeout, s", lambda *at: timed_out(0, *at)),
        reno.within(around(42.14, 0.01), "second timeout, s", lambda *at: timed_out(1, *at)),
        reno.within(around(42.89, 0.01), "ACK of the original, s", answered),
    )
    return from_paper(
        *fitted(RATE_OF_FIGURE_2, *of_the_rate),
        reno.exactly(21, "held segments resent unneeded", unneeded_of_held),
        reno.exactly(1, "spurious fast retransmits", unneeded_fast_retransmits),
        reno.exactly(HELD[1] + 1, "segment of the first", fast_retransmitted),
        reno.within(Bounds(0.4, 0.6), "ssthresh after it / window before", halved),
    )


def figure3_checks() -> tuple[Check, ...]:
    """Section II-C. Without the bugfix the fast retransmit comes when the text says it would."""
    reno = After(WITHOUT, HOLD_AT)
    return from_paper(
        *go_back_n(CAREFUL, FROM),
        After(CAREFUL, HOLD_AT).exactly(21, "held segments resent unneeded", unneeded_of_held),
        Check("Reno, careful bugfix: fast retransmits", "count", _fast_careful, {1: Bounds(0, 0)}),
        reno.within(around(45.8, 0.05), "first fast retransmit, s", fast_retransmitted_at),
    )


def _fast_careful(measured: ExperimentRuns) -> float:
    return len(measured.traces[CAREFUL.key].fast_retransmits_from(HOLD_AT))


hold_experiment = partial(
    Experiment,
    scenario="dualrtt2004-hiccup",
    metrics=METRICS,
    assumptions=SET_B,
    alternatives=OTHER_CHOICES,
    unstated=UNSTATED,
    shown=SHOWN,
    endless=True,
)
"""A trace over the one link of section II-A."""


def figure(number_: int, title: str, checks: tuple[Check, ...], **parts: Any) -> Experiment:
    """A figure of such a trace."""
    return hold_experiment(
        id=f"dualrtt2004/fig{number_}",
        title=title,
        source=f"DualRTT, Figure {number_}",
        published={},
        checks=checks,
        **parts,
    )


def marks(*pointed: tuple[float, str]) -> tuple[Mark, ...]:
    """Points of the text, by the paper's clock."""
    return tuple(Mark(at + CLOCK, text) for at, text in pointed)


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
            "retransmits 132 to 150, and the duplicates' ACKs cause a fast retransmit of 151."
        ),
        did=(
            "The hold on one link, with Reno as ns-2's Agent/TCP has it, without a handshake. The "
            "authors' run differs from that of Tables II and III: a link of 50 kbit/s gives its "
            "times, the printed 46.8 kbit/s those of the tables."
        ),
        assumptions=(
            *SET_B,
            interpreted("the run", "50 kbit/s, no handshake", "gives the times of II-B"),
        ),
        marks=marks(
            *HELD_MARKS, (42.9, "C: ACK of the original 131"), (45.8, "E: fast retransmit of 151")
        ),
    ),
    figure(
        3,
        "The same with the careful bugfix: no fast retransmit",
        figure3_checks(),
        variants=(CAREFUL, WITHOUT),
        says=(
            "With the more careful rule of RFC 2582 the sender still retransmits the outstanding "
            "data, but at 45.8 s there is no fast retransmit and the window is not halved."
        ),
        did=(
            "The hold at the printed 46.8 kbit/s, with FullTCP's handshake. Reno does not enter "
            "fast retransmit for data that a timeout retransmitted; without that rule it does at "
            "45.8 s."
        ),
        marks=marks(*HELD_MARKS, (45.8, "C: no fast retransmit of 151")),
    ),
)
"""The experiments, in the order of the paper."""
