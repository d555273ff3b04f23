"""Set-up a: the emulated link of section 5.1, and its metrics."""

import re
from functools import partial
from itertools import pairwise

import polars as pl

from rtolab.experiments.base import (
    FAST_RETRANSMITS,
    REXMITS,
    TIME,
    TIMEOUTS,
    UNNEEDED,
    Alternative,
    Experiment,
    Metric,
    Variant,
    assumed,
    stated,
)
from rtolab.experiments.delays2001.unknown import (
    BSD,
    LINUX_2_2,
    LINUX_2_4,
    UPLOAD_HOLD,
    WIN_98,
    WIN_NT,
    held,
)
from rtolab.experiments.measured import ExperimentRuns, Runs
from rtolab.experiments.trace import Timeout, Trace

JUDGED_LATE = "the claim or its bounds were chosen after the result had been seen"
"""What was fitted in some checks."""

HOLD_AT, HOLD_FOR = 5.0, 10.0
"""Begin and length of the link's hold, in s (section 5.1)."""

BEGIN = re.compile(r'at = "([\d.]+) s"')
"""The start of a scripted hold, in s."""

LINUX_22 = Variant("linux-2.2", "Linux 2.2.12", composed=LINUX_2_2)
LINUX_24 = Variant("linux-2.4", "Linux 2.4.0", composed=LINUX_2_4)
FREEBSD = Variant("freebsd-4.1", "FreeBSD 4.1", composed=BSD)
WINDOWS_98 = Variant("windows-98", "Windows 98", composed=WIN_98)
WINDOWS_NT = Variant("windows-nt", "Windows NT 4.0", composed=WIN_NT)
SYSTEMS = (FREEBSD, WINDOWS_98, LINUX_22, LINUX_24)
"""The four of section 5, in the order of its figures."""

SENT = Metric("sent", "Segments sent", "", lambda runs: runs.connections["segments"])
"""Data segments that left the sender, each copy counted."""


def duplicate_acks(runs: Runs) -> pl.Series:
    """Duplicate ACKs that reached the sender, per run."""
    return runs.a_run(runs.duplicates)


DUPLICATE_ACKS = Metric("duplicate_acks", "Duplicate ACKs", "", duplicate_acks)
METRICS = (TIME, SENT, REXMITS, UNNEEDED, TIMEOUTS, FAST_RETRANSMITS, DUPLICATE_ACKS)

HOLD = (
    stated("link.wireless.rate", "9600 bit/s", "5.1; the way back is assumed the same"),
    assumed("link.wireless.delay", "300 ms", "5.1: a propagation delay of 300 ms; each way"),
    assumed("link.wireless.queue", "200 packets", "nothing was lost: it holds any window"),
    stated(
        UPLOAD_HOLD,
        held(f"{HOLD_AT:g} s"),
        "5.1: ten seconds, five seconds after the beginning; the direction of data is assumed",
    ),
    stated("tcp.mss", "256 B", "5.1"),
    stated("receiver.buffer", "16 KiB", "5.1: a receive window of 16 kilobytes"),
    stated("flow.upload.bytes", "100 KiB", "5.1: 100 kilobytes from the mobile host"),
    assumed("receiver.ack_every", "2", "delayed ACKs"),
    assumed("receiver.delayed_ack", "200 ms", "delayed ACKs"),
)
"""The assumptions of section 5's tests and section 6's remedies."""

SACK_OFF = stated("receiver.sack", "false", "5.1: the SACK option disabled")

OTHER_CHOICES = (
    Alternative(
        "both directions held",
        {"link.wireless.backward.stalls.scripted": held(f"{HOLD_AT:g} s")},
        "the emulator may hold both",
    ),
    Alternative("an ACK a segment", {"receiver.ack_every": "1"}, "not stated"),
    Alternative("a queue of 64 packets", {"link.wireless.queue": "64 packets"}, "not stated"),
    Alternative("150 ms each way", {"link.wireless.delay": "150 ms"}, "300 ms may be both ways"),
)
"""Other choices for values that the paper omits."""

hold_experiment = partial(Experiment, scenario="delays2001-hold", metrics=METRICS)
"""An experiment with the held link."""


def into_the_hold(measured: ExperimentRuns, variant: Variant) -> float | None:
    """The first expiry of the timer, in s after the start of the hold."""
    script = measured.experiment.variant(variant.key).set.get(UPLOAD_HOLD, "")
    found = BEGIN.search(script)
    begin = float(found[1]) if found else HOLD_AT
    timeouts = measured.traces[variant.key].timeouts_from(begin)
    return timeouts[0].at - begin if timeouts else None


def resent_before_fast(trace: Trace, timeout: Timeout) -> float:
    """Segments resent unneeded before the first fast retransmit, each counted once."""
    fast = trace.fast_retransmits_from(timeout.at)
    end = fast[0].at if fast else float("inf")
    return len({data.seq for data in trace.retransmitted(timeout.at, end) if data.unneeded})


def in_fast_recovery(trace: Trace, timeout: Timeout) -> float:
    """Timeouts after the first fast retransmit of the segment that it resent."""
    fast = trace.fast_retransmits_from(timeout.at)
    if not fast:
        return 0.0
    return sum(late.seq >= fast[0].seq for late in trace.timeouts_from(fast[0].at))


def outstanding_at_first_duplicate(trace: Trace, timeout: Timeout) -> float | None:
    """Outstanding segments at the first duplicate ACK after the timeout."""
    acks = trace.acks_after(timeout)
    pairs = pairwise(acks)
    first = next((later for before, later in pairs if later.ack == before.ack), None)
    if first is None:
        return None
    sent = trace.highest_sent_before(first.at)
    return None if sent is None else (sent - first.ack) / trace.mss


def first_new_ack_after_fast(trace: Trace, timeout: Timeout) -> float | None:
    """The first ACK of new data after the first fast retransmit, in s."""
    fast = trace.fast_retransmits_from(timeout.at)
    pairs = pairwise(trace.acks_after(timeout))
    return next((b.at for a, b in pairs if fast and b.at > fast[0].at and b.ack > a.ack), None)


def pause_of_new_data(trace: Trace, timeout: Timeout) -> tuple[float, float]:
    """Begin and length of the longest time without new data after the timeout's end, in s."""
    new = [data.at for data in trace.sent_from(timeout.at) if not data.retransmission]
    begin, end = max(pairwise(new), key=lambda pair: pair[1] - pair[0], default=(0.0, 0.0))
    return begin, end - begin


def longest_pause(trace: Trace, timeout: Timeout) -> float:
    """The longest time without data sent after the first fast retransmit, in s."""
    fast = trace.fast_retransmits_from(timeout.at)
    after = [data.at for data in trace.sent_from(fast[0].at if fast else timeout.at)]
    return max((b - a for a, b in pairwise(after)), default=0.0)
