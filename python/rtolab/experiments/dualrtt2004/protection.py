"""Section IV-A: why DualRTT compares with the smallest round trip, and not with the last one."""

from dataclasses import dataclass
from functools import partial

from rtolab.experiments.base import (
    TIMEOUTS,
    Bounds,
    Check,
    Table,
    Variant,
    assumed,
    from_paper,
    interpreted,
    our_own,
    stated,
)
from rtolab.experiments.dualrtt2004.set_b import HOSTS, PAYLOAD
from rtolab.experiments.dualrtt2004.spikes import session, spikes_experiment
from rtolab.experiments.measured import ExperimentRuns
from rtolab.experiments.trace import Data, Trace
from rtolab.stats import Estimate, wilson

THRESHOLDS = (0.1, 0.2, 0.6)
"""tau of Table V for the slower half of its links, and 0.1 of the example."""

LARGEST = max(THRESHOLDS)

REFERENCES = ("smallest", "last")


ACKS = 2
"""The ACKs after a timeout that the rule looks at (section IV-B)."""


@dataclass(frozen=True)
class AcksAfterTimeout:
    """The first two ACKs of new data after a timeout.

    Attributes:
        needed: was the retransmission needed?
        nrtt: the smaller of the two NRTTs, each from the last transmission of the newest
            acknowledged segment to its ACK, in s.
        smallest: the smallest round trip of the connection so far, in s.
        last: the last RTT sample before the second ACK, in s.
    """

    needed: bool
    nrtt: float
    smallest: float
    last: float

    def is_called(self, tau: float, reference: str) -> bool:
        """Is the timeout called spurious, compared with this round trip?"""
        return self.nrtt < tau * (self.smallest if reference == "smallest" else self.last)


def acks_after_timeouts(trace: Trace) -> list[AcksAfterTimeout]:
    """The ACKs after each timeout that two ACKs of new data follow."""
    timeouts = {(timeout.at, timeout.seq): timeout for timeout in trace.timeouts}
    sent: dict[int, float] = {}
    retransmitted: set[int] = set()
    smallest, last, highest_ack = float("inf"), 0.0, 0
    found: list[AcksAfterTimeout] = []
    pending = None
    nrtts: list[float] = []
    for event in trace.events:
        if isinstance(event, Data):
            if event.retransmission:
                retransmitted.add(event.seq)
            if timeout := timeouts.get((event.at, event.seq)):
                pending, nrtts = timeout, []
            sent[event.seq] = event.at
            continue
        if event.ack <= highest_ack:
            continue
        highest_ack = event.ack
        newest = max((seq for seq in sent if seq < event.ack), default=None)
        if newest is None:
            continue
        elapsed = event.at - sent[newest]
        if pending:
            nrtts.append(elapsed)
            if len(nrtts) == ACKS:
                found.append(AcksAfterTimeout(pending.needed, min(nrtts), smallest, last))
                pending = None
        if newest not in retransmitted:
            last, smallest = elapsed, min(smallest, elapsed)
        sent = {seq: at for seq, at in sent.items() if seq >= event.ack}
    return found


RENO = Variant("reno:careful", "Reno")


def share(measured: ExperimentRuns, tau: float, reference: str, *, needed: bool) -> Estimate | None:
    """The share of the timeouts with a needed (or unneeded) retransmission called spurious.

    `None` if there are none.
    """
    of = [r for r in measured.once(_acks) if r.needed == needed]
    return wilson(sum(r.is_called(tau, reference) for r in of), len(of)) if of else None


def _acks(measured: ExperimentRuns) -> list[AcksAfterTimeout]:
    return acks_after_timeouts(measured.traces[RENO.key])


def tables(measured: ExperimentRuns) -> list[Table]:
    """The shares by threshold and reference."""
    rows = [
        (
            f"{tau:g}",
            reference,
            share(measured, tau, reference, needed=True),
            share(measured, tau, reference, needed=False),
        )
        for tau in THRESHOLDS
        for reference in REFERENCES
    ]
    head = ("threshold", "round trip", "needed called spurious, %", "unneeded called spurious, %")
    return [Table("Timeouts called spurious", head, tuple(rows))]


def low_end(measured: ExperimentRuns, tau: float) -> float | None:
    """The lower end of the share of needed timeouts that are called spurious by the last RTT.

    The end is that of the 95 % interval; `None` if there are no needed timeouts.
    """
    found = share(measured, tau, "last", needed=True)
    return found.low if found else None


def count(measured: ExperimentRuns, tau: float) -> float:
    """The number of needed timeouts that are called spurious by the smallest RTT."""
    return float(sum(r.needed and r.is_called(tau, "smallest") for r in measured.once(_acks)))


PROTECTION = (
    spikes_experiment(
        id="dualrtt2004/minrtt",
        title="The smallest round trip protects DualRTT from queues",
        source="DualRTT, section IV-A",
        says=(
            "MinRTT protects the algorithm from round trips that oscillate with the conditions of "
            "the network."
        ),
        did=(
            "One long transfer at 62.4 kbit/s and 200 ms, whose window of 20 packets fills the "
            "queue and empties it after each loss: round trips of 0.5 to 1.8 s. 3 % of the "
            "packets are lost. The rule is applied to the first two ACKs of data retransmitted "
            "after each timeout, once with the smallest round trip and once with the last one."
        ),
        variants=(RENO,),
        metrics=(TIMEOUTS,),
        tables=tables,
        checks=(
            *from_paper(
                *(
                    Check(
                        f"needed timeouts called spurious, smallest round trip, threshold {tau:g}",
                        "count",
                        partial(count, tau=tau),
                        {1: Bounds(0, 0)},
                    )
                    for tau in THRESHOLDS
                ),
                Check(
                    f"share of them, last round trip, threshold {LARGEST:g}, low end",
                    "order",
                    partial(low_end, tau=LARGEST),
                    {1: Bounds(low=0.02, strict=True)},
                    note="what it protects from; more than one in fifty is our reading",
                ),
            ),
            *our_own(
                Check(
                    "needed timeouts",
                    "count",
                    lambda measured: float(sum(r.needed for r in measured.once(_acks))),
                    {1: Bounds(low=50)},
                ),
            ),
        ),
        assumptions=(
            *HOSTS,
            *PAYLOAD,
            *session(100),
            assumed("link.path.rate", "62.4 kbit/s", "a row of Table V; see the queue"),
            stated("link.path.delay", "200 ms", "Table V"),
            assumed("link.path.loss", "0.03", "enough for needed timeouts"),
            interpreted("the rule", "equation 1, on the first two ACKs", "IV-A"),
        ),
        shown=(0.0, 120.0),
    ),
)
"""The experiment on a claim about MinRTT that the paper makes without a number."""
