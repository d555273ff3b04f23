"""Why a timer expired although its segment had arrived: a delayed ACK, or a longer path."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import polars as pl

from rtolab.experiments.measured import Runs
from rtolab.experiments.minrto2007.setup import WRONG

DELAYED, LATE = "delayed ACK", "longer path"
"""Why a timeout was spurious."""


@dataclass
class Acks:
    """ACKs of one connection at one host: when (s), and what each acknowledges, both ascending."""

    at: list[float] = field(default_factory=list)
    ack: list[int] = field(default_factory=list)

    def first_above(self, seq: int) -> float | None:
        """When the first ACK above `seq` was at the host."""
        place = bisect_right(self.ack, seq)
        return self.at[place] if place < len(self.at) else None


@dataclass
class Connection:
    """The packets of one connection from which causes follow."""

    arrivals: dict[int, float] = field(default_factory=dict)
    sent: Acks = field(default_factory=Acks)
    received: Acks = field(default_factory=Acks)


def causes(runs: Runs) -> Counter[str]:
    """The causes of the spurious timeouts of traced runs, counted.

    The cause is the delayed ACK if the ACK would have been in time without its delay at the
    receiver, after as long a way to the sender as the ACK that was sent.
    """
    packets = _connections(runs)
    wrong = runs.timeouts.filter(WRONG)
    return Counter(
        _cause(packets[row["run"], row["flow"]], row["at_s"], row["seq"])
        for row in wrong.iter_rows(named=True)
    )


def _cause(packets: Connection, expired: float, seq: int) -> str:
    arrived = packets.arrivals.get(seq)
    left, came = packets.sent.first_above(seq), packets.received.first_above(seq)
    if arrived is None or left is None or came is None:
        return LATE
    return DELAYED if arrived + (came - left) < expired else LATE


def _connections(runs: Runs) -> defaultdict[tuple[int, str], Connection]:
    """By run and flow: first arrivals of segments, and ACKs that advance, at both hosts."""
    found: defaultdict[tuple[int, str], Connection] = defaultdict(Connection)
    mine = pl.col("run").is_between(runs.first, runs.first + runs.count - 1)
    kept = runs.result.segments.filter(mine).select(
        "run", "flow", "at_s", "place", "event", "seq", "len", "ack"
    )
    for run, flow, at, place, event, seq, length, ack in kept.sort("at_s").iter_rows():
        here = found[run, flow]
        if (place, event) == ("receiver", "received") and length > 0:
            here.arrivals.setdefault(seq, at)
        elif ack is not None and (place, event) in {("receiver", "sent"), ("sender", "received")}:
            acks = here.sent if place == "receiver" else here.received
            if not acks.ack or ack > acks.ack[-1]:
                acks.at.append(at)
                acks.ack.append(ack)
    return found


def in_recovery(runs: Runs, within_s: float = 1.0) -> int:
    """Spurious timeouts at most `within_s` after a fast retransmit of the same flow."""
    table = runs.timeouts.sort("at_s")
    fast: defaultdict[tuple[int, str], list[float]] = defaultdict(list)
    for row in table.filter(pl.col("kind") == "fast_retransmit").iter_rows(named=True):
        fast[row["run"], row["flow"]].append(row["at_s"])
    wrong = table.filter(WRONG)
    return sum(
        _within(fast[row["run"], row["flow"]], row["at_s"], within_s)
        for row in wrong.iter_rows(named=True)
    )


def _within(instants: list[float], at: float, span: float) -> bool:
    place = bisect_left(instants, at)
    return place > 0 and at - instants[place - 1] <= span
