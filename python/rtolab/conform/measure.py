"""Outcome of one transfer, from the packets on the links and from the client."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import polars as pl

from rtolab.emulation import EmulationResult

CONTROL = 100
"""The largest datagram without data (ACKs, the end of a connection), in bytes."""


class TransferOutcome(StrEnum):
    """Outcomes of a transfer."""

    RECOVERED = "recovered"
    HUNG = "hung"
    FAILED = "failed"


@dataclass(frozen=True)
class TransferMeasurement:
    """One transfer.

    Attributes:
        ended: the outcome.
        took_s: the time from the first packet to the end, or to the limit.
        held_s: the time during which the link held or lost everything in a direction.
        sent_bytes: bytes that entered the link in the data direction, with all headers.
        arrived_bytes: those of them that left the link.
        unneeded_bytes: unneeded retransmissions; `None` for encrypted transports such as QUIC,
            where only the comparison with the reference run shows them.
        tail: the number of the last packet with data in its direction, from 1.
        doubts: reasons why this machine, rather than the stack, may have changed the result.
        said: the last output line of a failed command.
        resume_s: the longest time from the end of an outage to the next arrival of data; `None`
            without an outage, or if nothing arrived after one.
        declared_losses: packets that a QUIC sender declared lost; `None` without logs.
        spurious_losses: those of them that arrived.
        recoveries: recovery episodes of QUIC, or fast retransmits of TCP; `None` if unknown.
        spurious_recoveries: those of them that were spurious.
        timeouts: probe timeouts of QUIC, or retransmission timeouts of TCP; `None` if unknown.
        spurious_timeouts: those of them that were spurious.
    """

    ended: TransferOutcome
    took_s: float
    held_s: float
    sent_bytes: int
    arrived_bytes: int
    unneeded_bytes: int | None
    tail: int
    doubts: tuple[str, ...] = ()
    said: str = ""
    resume_s: float | None = None
    declared_losses: int | None = None
    spurious_losses: int | None = None
    recoveries: int | None = None
    spurious_recoveries: int | None = None
    timeouts: int | None = None
    spurious_timeouts: int | None = None


def flows(result: EmulationResult, limit_s: float) -> TransferMeasurement:
    """Measures the scenario's own flows between sockets of the kernels, all together."""
    rows = result.connections.to_dicts()
    begin = min(row["start_s"] for row in rows)
    latest = begin + limit_s
    if all(row["completed"] and row["end_s"] <= latest for row in rows):
        ended, end = TransferOutcome.RECOVERED, max(row["end_s"] for row in rows)
    else:
        ended, end = TransferOutcome.HUNG, latest

    def counted(name: str) -> int:
        return sum(row[name] or 0 for row in rows)

    return replace(
        _measured(result, ended, (begin, end)),
        recoveries=counted("fast_retransmits"),
        spurious_recoveries=counted("spurious_fast_retransmits"),
        timeouts=counted("timeouts"),
        spurious_timeouts=counted("spurious_timeouts"),
    )


def command(result: EmulationResult, status: int | None) -> TransferMeasurement:
    """Measures a client; the time of its links begins with the first packet.

    Args:
        result: the run.
        status: the exit status of `timeout`.
    """
    ended = {
        0: TransferOutcome.RECOVERED,
        124: TransferOutcome.HUNG,
        137: TransferOutcome.HUNG,
    }.get(status if status is not None else -1, TransferOutcome.FAILED)
    return _measured(result, ended, (0.0, result.reports[0]["elapsed_s"]))


def _measured(
    result: EmulationResult, ended: TransferOutcome, span: tuple[float, float]
) -> TransferMeasurement:
    sent = _data(result.segments)
    arrived = sent.filter(pl.col("fate") == "delivered")
    spans = [
        (row["kind"], row["from_s"], row["to_s"])
        for row in result.disturbances.iter_rows(named=True)
        if row["kind"] in ("stall", "outage")
    ]
    held = _overlap(((begin, end) for _, begin, end in spans), span)
    # The content of datagrams is unknown.
    has_sequence_numbers = "udp" not in set(result.connections["flow_sender"])
    return TransferMeasurement(
        ended=ended,
        took_s=span[1] - span[0],
        held_s=held,
        sent_bytes=int(sent["bytes"].sum()),
        arrived_bytes=int(arrived["bytes"].sum()),
        unneeded_bytes=_unneeded_bytes(sent) if has_sequence_numbers else None,
        tail=_last_with_data(sent, 0 if has_sequence_numbers else CONTROL),
        doubts=tuple(result.doubts[0]),
        resume_s=_resume(arrived, [end for kind, _, end in spans if kind == "outage"], span[1]),
    )


def _resume(arrived: pl.DataFrame, ends: Iterable[float], until: float) -> float | None:
    """The longest time from the end of an outage to the next arrival of data."""
    data = arrived.filter((pl.col("len") > 0) & (pl.col("fate_at_s") <= until))
    times: list[float] = data["fate_at_s"].sort().to_list()
    firsts = ((end, next((at for at in times if at >= end), None)) for end in set(ends))
    return max((first - end for end, first in firsts if first is not None), default=None)


def _unneeded_bytes(sent: pl.DataFrame) -> int:
    """The bytes that were sent although they had arrived."""
    return int(sent.filter("unneeded")["bytes"].sum())


def _data(segments: pl.DataFrame) -> pl.DataFrame:
    """The packets of the end that sent more, in the order in which they entered the link."""
    sent = segments.filter(pl.col("event") == "sent").sort("copy")
    by_place = sent.group_by("place").agg(pl.col("bytes").sum()).sort("bytes")
    return sent.filter(pl.col("place") == by_place["place"][-1]) if sent.height else sent


def _last_with_data(sent: pl.DataFrame, control: int) -> int:
    """The number of the last packet of more than `control` bytes, from 1."""
    numbered = (number for number, length in enumerate(sent["len"], 1) if length > control)
    return max(numbered, default=0)


def _overlap(spans: Iterable[tuple[float, float]], within: tuple[float, float]) -> float:
    """The time within `within` that the spans cover together."""
    covered, reached = 0.0, within[0]
    for begin, end in sorted(spans):
        begin, end = max(begin, reached), min(end, within[1])  # noqa: PLW2901
        if end > begin:
            covered += end - begin
            reached = end
    return covered
