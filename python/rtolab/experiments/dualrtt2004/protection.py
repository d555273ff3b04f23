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
    our_own,
    stated,
    taken,
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
class Reply:
    """The first two ACKs after a timeout.

    Attributes:
        needed: was the retransmission needed?
        nrtt: the shorter time to an ACK from the last transmission of its segment, in s.
        smallest: the smallest round trip of the connection so far, in s.
        last: the last round trip measured before the timeout, in s.
    """

    needed: bool
    nrtt: float
    smallest: float
    last: float

    def is_called(self, tau: float, reference: str) -> bool:
        """Is the timeout called spurious, compared with this round trip?"""
        return self.nrtt < tau * (self.smallest if reference == "smallest" else self.last)


def replies(trace: Trace) -> list[Reply]:
    """The replies to each timeout after which two ACKs of new data came."""
    timeouts = {(timeout.at, timeout.seq): timeout for timeout in trace.timeouts}
    sent: dict[int, float] = {}
    again: set[int] = set()
    smallest, last, top = float("inf"), 0.0, 0
    found: list[Reply] = []
    open_ = None
    waits: list[float] = []
    for event in trace.events:
        if isinstance(event, Data):
            if event.retransmission:
                again.add(event.seq)
            if timeout := timeouts.get((event.at, event.seq)):
                open_, waits = timeout, []
            sent[event.seq] = event.at
            continue
        if event.ack <= top:
            continue
        top = event.ack
        newest = max((seq for seq in sent if seq < event.ack), default=None)
        if newest is None:
            continue
        took = event.at - sent[newest]
        if open_:
            waits.append(took)
            if len(waits) == ACKS:
                found.append(Reply(open_.needed, min(waits), smallest, last))
                open_ = None
        if newest not in again:
            last, smallest = took, min(smallest, took)
        sent = {seq: at for seq, at in sent.items() if seq >= event.ack}
    return found


LINK = Variant("reno:careful", "Reno")


def share(measured: ExperimentRuns, tau: float, reference: str, *, needed: bool) -> Estimate | None:
    """The number of genuine (or spurious) timeouts that are called spurious."""
    of = [r for r in measured.once(_replies) if r.needed == needed]
    return wilson(sum(r.is_called(tau, reference) for r in of), len(of)) if of else None


def _replies(measured: ExperimentRuns) -> list[Reply]:
    return replies(measured.traces[LINK.key])


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
    head = ("threshold", "round trip", "genuine called spurious, %", "spurious found, %")
    return [Table("Timeouts called spurious", head, tuple(rows))]


def low_end(measured: ExperimentRuns, tau: float) -> float | None:
    """Of the genuine timeouts called spurious, by the last round trip."""
    found = share(measured, tau, "last", needed=True)
    return found.low if found else None


def count(measured: ExperimentRuns, tau: float) -> float:
    """Of the genuine timeouts called spurious, by the smallest round trip."""
    return float(sum(r.needed and r.is_called(tau, "smallest") for r in measured.once(_replies)))


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
        variants=(LINK,),
        metrics=(TIMEOUTS,),
        tables=tables,
        checks=(
            *from_paper(
                *(
                    Check(
                        f"genuine timeouts called spurious, smallest round trip, threshold {tau:g}",
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
                    "genuine timeouts",
                    "count",
                    lambda measured: float(sum(r.needed for r in measured.once(_replies))),
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
            assumed("link.path.loss", "0.03", "enough for genuine timeouts"),
            taken("the rule", "equation 1, on the first two ACKs", "IV-A"),
        ),
        shown=(0.0, 120.0),
    ),
)
"""The experiment on a claim about MinRTT that the paper makes without a number."""
