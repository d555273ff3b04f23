"""Packets of a flow at one host: when and why each was sent, and its fate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from rtolab.serve.packing import Packing

REASONS = (
    *("new", "timeout", "fast retransmit", "probe"),
    *("after a timeout", "after a fast retransmit", "after a probe"),
    "retransmission",
)
"""Causes of a transmission: new data, a timer, a duplicate ACK, or the recovery after one."""
FATES = (
    *("delivered", "underway", "queue", "error", "outage", "script", "early", "lifetime"),
    *("retries", "corrupt", "absorbed"),
)
KINDS = ("first", "needed", "unneeded")


SEGMENTS = (
    *("flow", "at_s", "place", "event", "copy", "seq", "len", "ack"),
    *(f"sack_{block}_{end}" for block in range(1, 5) for end in ("start", "end")),
    *("retransmission", "unneeded", "fate", "fate_at_s", "held_s"),
)
"""The columns that are read of a trace, which may be long."""
OF_DATA = (
    *("at_s", "copy", "seq", "len", "retransmission", "unneeded", "fate", "fate_at_s", "held_s"),
)
OF_ACKS = ("at_s", "ack", *(name for name in SEGMENTS if name.startswith("sack")))


@dataclass(frozen=True)
class Trace:
    """The tables of one flow of a run."""

    segments: pl.DataFrame
    timeouts: pl.DataFrame
    windows: pl.DataFrame

    def end_s(self) -> float:
        """The time of the last event."""
        ends = pl.concat([self.segments["at_s"], self.windows["at_s"]])
        return float(ends.max() or 0.0)  # type: ignore[arg-type]


def seen(trace: Trace, request: Mapping[str, Any], packing: Packing) -> dict[str, Any]:
    """Packets, ACKs and windows within the requested time; many are thinned out."""
    most = request["packets"]
    start, end = request["between"] or (0.0, trace.end_s())
    packets, acks = _at(trace, request["place"])
    packets = packets.with_columns(acked_s=acknowledged(packets, acks))
    packets, acks, windows = (
        frame.filter(pl.col("at_s").is_between(start, end))
        for frame in (packets, acks, trace.windows)
    )
    every = -(-max(packets.height, acks.height, windows.height, 1) // most)
    if every > 1:
        # Keep retransmissions and lost packets, unless there are too many of them.
        odd = (pl.col("kind") != "first") | ~pl.col("fate").is_in(("delivered", "underway"))
        packets = _thinned(packets, every, odd & (pl.int_range(pl.len()) % (every // 8 + 1) == 0))
        acks, windows = _thinned(acks, every), _thinned(windows, every)
    return {
        "shown": [start, end],
        "every": every,
        "packets": {
            **numbers(packets, ("at_s", "seq", "len", "sent_s", "cause_s"), packing),
            **numbers(packets, ("fate_at_s", "held_s", "acked_s"), packing),
            "kind": packing.codes(packets["kind"], KINDS),
            "cause": packing.codes(packets["cause"], REASONS),
            "fate": packing.codes(packets["fate"], FATES),
        },
        "acks": numbers(acks, ("at_s", "ack"), packing),
        "sacks": numbers(_blocks(acks), ("at_s", "start", "end"), packing),
        "windows": numbers(windows, ("at_s", "cwnd", "ssthresh", "srtt_s", "rto_s"), packing),
        "names": {"kind": KINDS, "cause": REASONS, "fate": FATES},
    }


def acknowledged(packets: pl.DataFrame, acks: pl.DataFrame) -> pl.Series:
    """The time of the first cumulative ACK that covers each packet, or null."""
    ascending = acks["ack"].cum_max()
    first = ascending.search_sorted(packets["seq"] + packets["len"], side="left")
    return pl.Series("acked_s", [*acks["at_s"], None], dtype=pl.Float64).gather(first)


def _thinned(frame: pl.DataFrame, every: int, kept: pl.Expr | None = None) -> pl.DataFrame:
    """Every `every`-th row, and those in `kept`."""
    chosen = pl.int_range(pl.len()) % every == 0
    return frame.filter(chosen if kept is None else chosen | kept)


def numbers(frame: pl.DataFrame, columns: tuple[str, ...], packing: Packing) -> dict[str, Any]:
    """The packed columns of a frame, by name."""
    return {name: packing.numbers(frame[name]) for name in columns}


def _at(trace: Trace, place: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The data segments and ACKs that a host sends or receives."""
    data = pl.col("len") > 0
    sent = _where(trace, OF_DATA, ("sender", "sent"), data)
    segments = _with_causes(sent.sort("at_s", maintain_order=True), trace.timeouts)
    if place == "receiver":
        arrived = _where(trace, ("at_s", "copy"), ("receiver", "received"), data)
        segments = arrived.join(segments.drop("at_s"), on="copy")
    back = "received" if place == "sender" else "sent"
    acks = _where(trace, OF_ACKS, (place, back), pl.col("ack").is_not_null())
    return segments, acks.sort("at_s", maintain_order=True)


def _where(
    trace: Trace, columns: tuple[str, ...], seen: tuple[str, str], what: pl.Expr
) -> pl.DataFrame:
    """Columns of the packets that were sent or received at a host."""
    place, event = seen
    here = (pl.col("place") == place) & (pl.col("event") == event) & what
    return trace.segments.lazy().filter(here).select(columns).collect()


def _with_causes(sent: pl.DataFrame, timeouts: pl.DataFrame) -> pl.DataFrame:
    """The cause of each segment: a timeout at the same time, or the recovery after the last one."""
    causes = timeouts.select(
        "at_s",
        cause_s="at_s",
        cause_seq="seq",
        cause_kind=pl.col("kind").str.replace("_", " "),
    ).sort("at_s")
    joined = sent.join_asof(causes, on="at_s", strategy="backward")
    is_it = (pl.col("cause_s") == pl.col("at_s")) & (pl.col("cause_seq") == pl.col("seq"))
    article = pl.when(pl.col("cause_kind").is_null()).then(None).otherwise(pl.lit("after a "))
    reason = (
        pl.when(is_it)
        .then(pl.col("cause_kind"))
        .when(~pl.col("retransmission"))
        .then(pl.lit("new"))
        .otherwise((article + pl.col("cause_kind")).fill_null("retransmission"))
    )
    kind = (
        pl.when(~pl.col("retransmission"))
        .then(pl.lit("first"))
        .otherwise(pl.when("unneeded").then(pl.lit("unneeded")).otherwise(pl.lit("needed")))
    )
    segments = joined.with_columns(sent_s="at_s", cause=reason, kind=kind)
    is_new = pl.col("cause") == "new"
    return segments.with_columns(cause_s=pl.when(is_new).then(None).otherwise("cause_s"))


def _blocks(acks: pl.DataFrame) -> pl.DataFrame:
    """One row per SACK block."""
    blocks = [
        acks.select("at_s", start=f"sack_{i}_start", end=f"sack_{i}_end").drop_nulls()
        for i in range(1, 5)
    ]
    return pl.concat(blocks)
