"""Why a timer expired although its segment had arrived: a delayed ACK, or a longer path."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field

import polars as pl

from rtolab.experiments.measured import Runs
from rtolab.experiments.minrto2007.setup import WRONG

DELAYED, LATE = "delayed ACK", "longer path"
"""Why a timeout was spurious."""

SECOND_LOST = "second packet lost"
"""Why an ACK was delayed: the packet after the one that timed out was lost, so that the receiver
waited for it."""

LOST = ("queue", "error")
"""The fates of packets that are lost in these networks."""

COLUMNS = ("run", "flow", "at_s", "place", "event", "seq", "len", "ack", "fate")
"""The columns of `segments` that are needed."""

LEFT_SENDER, CAME_TO_SENDER, LEFT_RECEIVER, CAME_TO_RECEIVER = (
    (pl.col("place") == place) & (pl.col("event") == event)
    for place in ("sender", "receiver")
    for event in ("sent", "received")
)
HAS_DATA = pl.col("len") > 0


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
    """The packets of one connection from which causes follow, by first sequence number.

    Attributes:
        arrivals: when each first arrived (s).
        ends: the sequence number after each.
        lost: when the first lost copy of each was sent (s).
        sent: the ACKs that the receiver sent.
        received: the ACKs that the sender received.
    """

    arrivals: dict[int, float] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)
    lost: dict[int, float] = field(default_factory=dict)
    sent: Acks = field(default_factory=Acks)
    received: Acks = field(default_factory=Acks)

    def has_lost_after(self, seq: int, at: float) -> bool:
        """Had the packet after `seq` been lost by then?"""
        return self.lost.get(self.ends.get(seq, seq), at) < at


def causes(runs: Runs) -> Counter[str]:
    """The causes of the spurious timeouts of traced runs, counted.

    The cause is the delayed ACK if the ACK would have been in time without its delay at the
    receiver, after as long a way to the sender as the ACK that was sent. `SECOND_LOST` counts those
    of these that are due to a loss.
    """
    found: Counter[str] = Counter()
    wrong = runs.timeouts.filter(WRONG)
    if wrong.is_empty():
        return found
    packets = _connections(runs, wrong)
    for row in wrong.iter_rows(named=True):
        mine, expired, seq = packets[row["run"], row["flow"]], row["at_s"], row["seq"]
        cause = _cause(mine, expired, seq)
        found[cause] += 1
        if cause == DELAYED and mine.has_lost_after(seq, expired):
            found[SECOND_LOST] += 1
    return found


def _cause(packets: Connection, expired: float, seq: int) -> str:
    arrived = packets.arrivals.get(seq)
    left, came = packets.sent.first_above(seq), packets.received.first_above(seq)
    if arrived is None or left is None or came is None:
        return LATE
    return DELAYED if arrived + (came - left) < expired else LATE


def _connections(runs: Runs, flows: pl.DataFrame) -> dict[tuple[int, str], Connection]:
    """By run and flow: first arrivals of segments, and ACKs that advance, at both hosts.

    Args:
        runs: traced runs.
        flows: has the `run` and the `flow` of the connections that are needed.
    """
    # To filter takes time for every column, and most connections have no spurious timeout.
    needed = runs.result.segments.select(*COLUMNS).join(flows, on=("run", "flow"), how="semi")
    in_order = needed.sort("at_s", maintain_order=True)
    return {
        (run, flow): _connection(mine)
        for (run, flow), mine in in_order.partition_by("run", "flow", as_dict=True).items()
    }


def _connection(packets: pl.DataFrame) -> Connection:
    """The packets of one connection, which are in order."""
    sent, arrived = (packets.filter(HAS_DATA & event) for event in (LEFT_SENDER, CAME_TO_RECEIVER))
    lost = sent.filter(pl.col("fate").is_in(LOST))
    return Connection(
        _first(arrived),
        dict(sent.select("seq", end=pl.col("seq") + pl.col("len")).iter_rows()),
        _first(lost),
        _acks(packets.filter(LEFT_RECEIVER)),
        _acks(packets.filter(CAME_TO_SENDER)),
    )


def _first(packets: pl.DataFrame) -> dict[int, float]:
    """When each sequence number occurred for the first time (s)."""
    first = packets.unique("seq", keep="first", maintain_order=True)
    return dict(first.select("seq", "at_s").iter_rows())


def _acks(packets: pl.DataFrame) -> Acks:
    """The packets that acknowledge more than all packets before them."""
    acks = packets.select("at_s", pl.col("ack").cast(pl.Int64)).drop_nulls("ack")
    highest = pl.col("ack").cum_max().shift(1, fill_value=-1)
    advancing = acks.filter(pl.col("ack") > highest)
    return Acks(advancing["at_s"].to_list(), advancing["ack"].to_list())


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
