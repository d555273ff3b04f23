"""The paper's six steps on a packet trace, taken literally and apart from the simulator's.

What the sender of a trace did is compared with what these steps say it had to do.
"""

from dataclasses import dataclass

import polars as pl

from rtolab.experiments.measured import Runs

EXTENDED_S = 0.5
"""R: the floor under packets whose ACKs may be delayed (section 5.1)."""


@dataclass(frozen=True)
class Train:
    """Packets sent back to back: when (s), their first bytes, and the step that they make.

    Attributes:
        at: when they left, in s.
        seqs: their first bytes, in order.
        step: 2 to 5; the step taken when D was evaluated.
        state: 1 ("noMINRTO") or 2 ("extended MINRTO") after it.
    """

    at: float
    seqs: tuple[int, ...]
    step: int
    state: int

    @property
    def extended(self) -> int | None:
        """The packet that gets the extended floor: the last one, in state 2."""
        return self.seqs[-1] if self.state == 2 else None


def departures(runs: Runs) -> list[tuple[float, tuple[int, ...]]]:
    """The packets that left at each instant, in order, of the first run."""
    sent = (
        runs.result.segments.filter(
            (pl.col("run") == runs.first)
            & (pl.col("place") == "sender")
            & (pl.col("event") == "sent")
            & (pl.col("len") > 0)
        )
        .group_by("at_s", maintain_order=True)
        .agg("seq")
    )
    return [(row["at_s"], tuple(row["seq"])) for row in sent.iter_rows(named=True)]


def trains(runs: Runs) -> list[Train]:
    """Section 3's steps 2 to 6 on the trains of a run without losses."""
    found, set_odd = [], False
    for at, seqs in departures(runs):
        if len(seqs) % 2 == 0:
            step = 4 if set_odd else 2
        else:
            step = 5 if set_odd else 3
            set_odd = not set_odd
        found.append(Train(at, seqs, step, 2 if set_odd else 1))
    return found


def expected(runs: Runs) -> set[int]:
    """Which packets get the extended floor, by their first bytes; step 1's is the first."""
    followed = trains(runs)
    first = {followed[0].seqs[0]} if followed else set()
    return first | {train.extended for train in followed if train.extended is not None}


def heads(runs: Runs) -> pl.DataFrame:
    """At each ACK of the first run, the packet that the timer runs for: the oldest outstanding."""
    return (
        runs.result.segments.filter(
            (pl.col("run") == runs.first)
            & (pl.col("place") == "sender")
            & (pl.col("event") == "received")
        )
        .select("at_s", "ack")
        .unique("at_s", keep="last", maintain_order=True)
    )


def observed(runs: Runs) -> dict[int, bool]:
    """Of each packet that the timer ran for: was the timeout not below R?"""
    timeouts = (
        runs.windows.filter(pl.col("run") == runs.first)
        .filter(pl.col("srtt_s").is_not_null() & (pl.col("flight") > 0))
        .select("at_s", "rto_s")
        .unique("at_s", keep="last", maintain_order=True)
    )
    joined = heads(runs).join(timeouts, on="at_s", how="inner", maintain_order="left")
    rows = joined.iter_rows(named=True)
    return {row["ack"]: row["rto_s"] >= EXTENDED_S for row in rows}


def disagreements(runs: Runs) -> int:
    """Packets whose timeout differs from that of the steps."""
    due = expected(runs)
    return sum((head in due) != floored for head, floored in observed(runs).items())
