"""Figure 1 and section 4: a hold of 13 s with Reno, NewReno and an aggressive timer."""

from rtolab.experiments.base import (
    Bounds,
    Check,
    Experiment,
    Mark,
    Value,
    Variant,
    assumed,
    fitted,
    interpreted,
    our_own,
    stated,
)
from rtolab.experiments.counts import (
    After,
    fast_retransmits,
    timeouts,
    unneeded_fast_retransmits,
    unneeded_from,
)
from rtolab.experiments.delays2001.set_up import (
    JUDGED_LATE,
    first_new_ack_after_fast,
    hold_experiment,
    in_fast_recovery,
    outstanding_at_first_duplicate,
    pause_of_new_data,
    resent_before_fast,
)
from rtolab.experiments.explanation import demonstrated
from rtolab.experiments.measured import ALL_COMPLETE, ExperimentRuns, derived, derived_difference
from rtolab.experiments.trace import Timeout, Trace

HOLD_AT, HOLD_FOR = 31.5, 13.0
"""Begin and length of the link's hold, in s; the text's times from the 50th second on fit it."""

SEGMENT = 512
"""Payload of a segment, in bytes. The paper states none for Figure 1, which is of another study.
With the 256 B of section 5 the fast retransmit comes 3 s late and the pause lasts half as long."""

FITTED = "the segments' size and when the hold begins, with Figure 1's times in view"
TEN = "a window of ten segments, so that ten are retransmitted"

BSD_TIMER = (
    assumed("tcp.rto.granularity", "500 ms", "BSDi 3.0: a heartbeat of 500 ms"),
    assumed("tcp.rto.arithmetic", "ns2", "BSDi 3.0: scaled whole ticks"),
    assumed("tcp.rto.sampling", "once-per-window", "BSDi 3.0"),
    assumed("tcp.rto.timer", "ticks", "BSDi 3.0"),
    assumed("tcp.window.initial", "1 segment", "BSDi 3.0"),
    assumed("tcp.window.halving", "segments", "BSDi 3.0"),
    assumed("tcp.window.halves", "window", "BSDi 3.0"),
)

HICCUP = (
    assumed("link.wireless.rate", "9600 bit/s", "GSM's data service"),
    assumed("link.wireless.queue", "200 packets", "nothing was lost"),
    stated(
        "link.wireless.forward.stalls.scripted",
        f'[{{ at = "{HOLD_AT:g} s", for = "{HOLD_FOR:g} s" }}]',
        "a delay of 13 s; when is read from the text's times",
    ),
    assumed("tcp.mss", f"{SEGMENT} B", "not stated; the pause of 5 s needs it"),
    assumed("receiver.buffer", f"{10 * SEGMENT} B", "ten segments: ten unneeded retransmissions"),
    assumed("receiver.ack_every", "1", "Figure 1: ACKs come one by one"),
    assumed("receiver.sack", "false", "BSDi 3.0 had none"),
    *BSD_TIMER,
)

RENO = Variant("reno:no-bugfix", "Reno")
NEWRENO = Variant("newreno:no-bugfix", "NewReno")
SILENT = Variant(
    "newreno:no-bugfix",
    "NewReno",
    "no new data on partial ACKs",
    {"tcp.newreno.partial_ack": "retransmission-only"},
)

CHAIN = {"tcp.rto.restart_on_duplicate": "never"}
RESTARTED = {"tcp.rto.restart_on_duplicate": "always"}
EAGER = Variant("newreno:no-bugfix", "An aggressive timer", "", CHAIN)
ORDINARY = Variant("newreno:no-bugfix", "An ordinary timer", "K of 4", CHAIN | {"tcp.rto.k": "4"})
PATIENT = Variant("newreno:no-bugfix", "An aggressive timer", "restarted by duplicates", RESTARTED)


def fast_at(trace: Trace, timeout: Timeout) -> float | None:
    """The first fast retransmit after the timeout, in s."""
    fast = trace.fast_retransmits_from(timeout.at)
    return fast[0].at if fast else None


def more_by_aggressive(measured: ExperimentRuns) -> float | None:
    """Timeouts in fast recovery: with the aggressive timer, less those with an ordinary one."""
    counts = []
    for variant in (EAGER, ORDINARY):
        trace = measured.traces[variant.key]
        found = trace.timeouts_from(5.0)
        if not found:
            return None
        counts.append(in_fast_recovery(trace, found[0]))
    return counts[0] - counts[1]


def derive(measured: ExperimentRuns) -> list[Value]:
    """The extra retransmissions of NewReno, and the rule that predicts them."""
    both = [measured.traces[variant.key] for variant in (RENO, NEWRENO)]
    reno, newreno = (unneeded_from(t, t.timeouts_from(HOLD_AT)[0]) for t in both)
    gone_back = resent_before_fast(both[0], both[0].timeouts_from(HOLD_AT)[0])
    outstanding = outstanding_at_first_duplicate(both[1], both[1].timeouts_from(HOLD_AT)[0])
    rule = None if outstanding is None else outstanding - 1
    return [
        Value("reno", "Unneeded, resent by going back, Reno", gone_back, 10, digits=0),
        Value("more", "Unneeded besides these, NewReno", float(newreno - reno), 5, digits=0),
        Value("rule", "Outstanding at the first duplicate, less one", rule, 5, digits=0),
        Value("grows", "Growth by NewReno", (gone_back + newreno - reno) / gone_back, 1.5),
    ]


def hiccups() -> tuple[Experiment, ...]:
    """The experiments, in the order of the paper."""
    reno, newreno = After(RENO, HOLD_AT), After(NEWRENO, HOLD_AT)
    eager, patient = After(EAGER, 5.0), After(PATIENT, 5.0)
    held = (Mark(HOLD_AT, "the hold begins"), Mark(HOLD_AT + HOLD_FOR, "the hold ends"))
    return (
        hold_experiment(
            id="delays2001/fig1",
            title="A delay of 13 s and Reno of BSDi 3.0",
            source="Gurtov 2001, section 3.1 and Figure 1",
            says=(
                "The oldest segment is retransmitted at 42 s. When ACKs come, all outstanding "
                "segments are retransmitted, and new segments follow. The duplicates' ACKs cause "
                "a spurious fast retransmit at 50 s, and the halved window a pause of some 5 s."
            ),
            did=(
                "Reno without the bugfix and with BSD's clock of 500 ms, over GSM's 9600 bit/s, "
                "with a window of ten segments that is full."
            ),
            variants=(RENO,),
            checks=(
                *fitted(
                    TEN,
                    reno.exactly(10, "outstanding segments resent unneeded", resent_before_fast),
                ),
                reno.exactly(1, "spurious fast retransmits", unneeded_fast_retransmits),
                reno.exactly(
                    6, "outstanding at the first duplicate", outstanding_at_first_duplicate
                ),
                *fitted(
                    FITTED,
                    reno.within(
                        Bounds(41, 43),
                        "the timer expires, s",
                        lambda _, first: first.at,
                        failure_cause=demonstrated(
                            "with one sample a window the timeout is 12 s so early in the "
                            "transfer, and with a sample for each ACK it is too short; the paper "
                            "does not say how BSDi's timer was fed",
                            "rtolab reproduce delays2001/fig1 --assume tcp.rto.sampling=every-ack",
                            "the timer then expires at 39 s, before 41 s rather than after 43 s",
                        ),
                    ),
                    reno.within(Bounds(49, 51), "the fast retransmit, s", fast_at),
                    reno.within(
                        Bounds(53, 55),
                        "no new segments from then on, s",
                        lambda trace, first: pause_of_new_data(trace, first)[0],
                        failure_cause=demonstrated(
                            "the pause begins a sixth of a second early, by the time at which the "
                            "hold is assumed to begin; half a second later it is right, and the "
                            "fast retransmit half a second late",
                            "rtolab reproduce delays2001/fig1 --assume "
                            """'link.wireless.forward.stalls.scripted=[{ at = "32 s", """
                            """for = "13 s" }]'""",
                            "the check passes, and the fast retransmit comes at 51.45 s",
                        ),
                    ),
                    reno.within(
                        Bounds(4, 6),
                        "pause of new segments, s",
                        lambda trace, first: pause_of_new_data(trace, first)[1],
                    ),
                ),
                ALL_COMPLETE,
            ),
            assumptions=HICCUP,
            shown=(30.0, 65.0),
            marks=held,
        ),
        hold_experiment(
            id="delays2001/section-4.1",
            title="NewReno adds half as many unneeded retransmissions",
            source="Gurtov 2001, section 4.1",
            says=(
                "ACKs after the spurious fast retransmit look partial to NewReno, which "
                "retransmits a segment for each: 15 unneeded instead of 10, with six outstanding "
                "at the first duplicate ACK."
            ),
            did="Figure 1 with NewReno beside Reno.",
            variants=(RENO, NEWRENO),
            derive=derive,
            checks=(
                derived(
                    "NewReno adds to the 10", "exact", {1: Bounds(5, 5)}, of="more", fitted=TEN
                ),
                derived_difference(
                    "NewReno adds one less than outstanding at the first duplicate",
                    "exact",
                    ("more", "rule"),
                    {1: Bounds(0, 0)},
                    basis="ours",
                ),
                derived(
                    "growth by NewReno", "ratio", {1: Bounds(1.3, 1.7)}, of="grows", fitted=TEN
                ),
                newreno.exactly(1, "spurious fast retransmits", unneeded_fast_retransmits),
                *fitted(
                    FITTED,
                    newreno.within(
                        Bounds(54, 56), "the first new ACK after it, s", first_new_ack_after_fast
                    ),
                ),
                ALL_COMPLETE,
            ),
            assumptions=HICCUP,
            shown=(30.0, 65.0),
            marks=held,
        ),
        hold_experiment(
            id="delays2001/section-4.1b",
            title="NewReno without new segments on partial ACKs",
            source="Gurtov 2001, section 4.1",
            says=(
                "The retransmissions for partial ACKs cause duplicate ACKs, too, and so another "
                "spurious fast retransmit, until too few segments are in flight."
            ),
            did="Section 4.1 with a NewReno that sends nothing new on partial ACKs.",
            variants=(SILENT, NEWRENO),
            checks=(
                After(SILENT, HOLD_AT).within(
                    Bounds(low=2), "spurious fast retransmits", unneeded_fast_retransmits
                ),
                ALL_COMPLETE,
            ),
            assumptions=HICCUP,
            shown=(30.0, 75.0),
            marks=held,
        ),
        hold_experiment(
            id="delays2001/section-4.2",
            title="Timeouts during fast recovery",
            source="Gurtov 2001, section 4.2",
            says=(
                "An aggressive timer expires while the duplicates' ACKs come in; its "
                "retransmissions cause more of them. Restarting the timer on each duplicate ACK "
                "stops the chain."
            ),
            did=(
                "Section 5's hold, a first window of 16 KB, and a timeout of SRTT + RTTVAR, with "
                "and without the restart; and of SRTT + 4 RTTVAR without it."
            ),
            variants=(EAGER, PATIENT, ORDINARY),
            checks=(
                eager.within(Bounds(low=1), "timeouts in fast recovery", in_fast_recovery),
                eager.within(Bounds(low=2), "timeouts from the hold on", timeouts),
                Check(
                    "timeouts in fast recovery, aggressive timer less K of 4",
                    "order",
                    more_by_aggressive,
                    {1: Bounds(low=0, strict=True)},
                    fitted=JUDGED_LATE,
                    failure_cause=demonstrated(
                        "duplicates that do not restart the timer are enough: with a first window "
                        "of 16 KB they arrive for longer than either timeout",
                        "rtolab reproduce delays2001/section-4.2",
                        "the timer expires 5 times with K of 1, 4 times with K of 4, and 3 times "
                        "with K of 1 if duplicates restart it; the difference in fast recovery is "
                        "0",
                    ),
                ),
                patient.exactly(0, "timeouts in fast recovery", in_fast_recovery),
                *our_own(patient.within(Bounds(low=1), "fast retransmits", fast_retransmits)),
                ALL_COMPLETE,
            ),
            assumptions=(
                assumed("link.wireless.queue", "64 packets", "what a window of 16 KB fills"),
                assumed("tcp.rto.k", "1", "4.2: an aggressive timer"),
                assumed("tcp.rto.sampling", "once-per-window", "as in BSD"),
                assumed("tcp.window.initial", "16384 B", "5.3: as FreeBSD"),
                interpreted("chain", "timeouts after the first fast retransmit", "4.2"),
            ),
            shown=(0.0, 90.0),
        ),
    )
