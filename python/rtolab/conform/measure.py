"""What one transfer came to, told by the packets on the links, and by the client."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rtolab.emulation import Emulated


class Ended(StrEnum):
    """How a transfer ended."""

    RECOVERED = "recovered"
    HUNG = "hung"
    FAILED = "failed"


@dataclass(frozen=True)
class Measured:
    """One transfer.

    Attributes:
        ended: how.
        took_s: from the first packet to the end, or to the limit; with neither TCP nor UDP from the
            client's beginning.
        late_s: how long after the client's beginning that was.
        held_s: how long the link held or lost everything of a direction meanwhile.
        sent_bytes: of the data's direction, with all headers: what entered the link.
        arrived_bytes: of that, what came out.
        unneeded_bytes: what was sent again although it arrived; `None` where only the comparison
            with the twin can tell, as of QUIC.
        tail: the number of the last packet with data in its direction, from 1.
        doubts: why this machine, rather than the stack, could have changed the result.
        said: the last line that a failed command wrote.
    """

    ended: Ended
    took_s: float
    late_s: float
    held_s: float
    sent_bytes: int
    arrived_bytes: int
    unneeded_bytes: int | None
    tail: int
    doubts: tuple[str, ...] = ()
    said: str = ""


def flow(result: Emulated, limit_s: float) -> Measured:
    """Of the scenario's own flow, between two of the kernel's sockets."""
    (row,) = result.connections.iter_rows(named=True)
    begin, latest = row["start_s"], row["start_s"] + limit_s
    if row["completed"] and row["end_s"] <= latest:
        return _measured(result, Ended.RECOVERED, (begin, row["end_s"]))
    return _measured(result, Ended.HUNG, (begin, latest))


def command(result: Emulated, times: tuple[float, float | None], status: int | None) -> Measured:
    """Of a client.

    Args:
        result: its run.
        times: when it was begun, and how long before its end its first datagram left, if any did.
        status: as `timeout` gives it.
    """
    lead_s, took_s = times
    ended = {0: Ended.RECOVERED, 124: Ended.HUNG, 137: Ended.HUNG}.get(
        status if status is not None else -1, Ended.FAILED
    )
    end = result.reports[0]["elapsed_s"]
    return _measured(result, ended, (lead_s, end), first_s=end - took_s if took_s else None)


def _measured(
    result: Emulated, ended: Ended, span: tuple[float, float], first_s: float | None = None
) -> Measured:
    report = result.reports[0]
    sent = result.segments.filter(pl.col("event") == "sent").sort("copy")
    data = _data(sent)
    if data is None:
        way = max(report["links"], key=lambda way: way["delivered_bytes"])
        unneeded, tail, arrived = None, way["offered"], way["delivered_bytes"]
        # Of packets that did not come out the size is not known: that of the others is taken.
        mean = arrived / way["delivered"] if way["delivered"] else 0.0
        total, began = round(way["offered"] * mean), span[0] if first_s is None else first_s
    else:
        total = int(data["bytes"].sum())
        arrived = int(data.filter(pl.col("fate") == "delivered")["bytes"].sum())
        unneeded = int(data.filter("unneeded")["bytes"].sum())
        tail = _last_with_data(data)
        began = float(sent["at_s"][0])
    held = _overlap(
        (
            (row["from_s"], row["to_s"])
            for row in result.disturbances.iter_rows(named=True)
            if row["kind"] in ("stall", "outage")
        ),
        (began, span[1]),
    )
    return Measured(
        ended=ended,
        took_s=span[1] - began,
        late_s=began - span[0],
        held_s=held,
        sent_bytes=total,
        arrived_bytes=arrived,
        unneeded_bytes=unneeded,
        tail=tail,
        doubts=tuple(result.doubts[0]),
    )


def _data(sent: pl.DataFrame) -> pl.DataFrame | None:
    """What the end sent that sent more; `None` without TCP."""
    if sent.is_empty():
        return None
    by_place = sent.group_by("place").agg(pl.col("bytes").sum()).sort("bytes")
    return sent.filter(pl.col("place") == by_place["place"][-1])


def _last_with_data(sent: pl.DataFrame) -> int:
    """The number of the last packet with data, from 1."""
    return max((number for number, length in enumerate(sent["len"], 1) if length), default=0)


def _overlap(spans: Iterable[tuple[float, float]], within: tuple[float, float]) -> float:
    """How much of `within` the spans cover together."""
    covered, reached = 0.0, within[0]
    for begin, end in sorted(spans):
        begin, end = max(begin, reached), min(end, within[1])  # noqa: PLW2901
        if end > begin:
            covered += end - begin
            reached = end
    return covered
