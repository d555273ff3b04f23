"""Outcome of one transfer, from the packets on the links and from the client."""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

import polars as pl

from rtolab.emulation import EmulationResult

CONTROL = 100
"""The largest datagram without data (ACKs, the end of a connection), in bytes."""

DATAGRAM_HEADERS = 28
"""The headers of IPv4 and UDP, in bytes."""
BLOCK_HEADER = 12
ENHANCED_PACKET = 6
"""The kind of a block of pcapng with a packet."""


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
        end: the number of the last packet of any size in that direction.
        copied_bytes: datagrams that are equal to an earlier one that arrived, in bytes.
        doubts: reasons why this machine, rather than the stack, may have changed the result.
        said: the last output line of a failed command.
        exit_status: the exit status of a client that failed; else `None`.
        resume_s: the longest time from the end of an outage to the next arrival of data; `None`
            without an outage, or if nothing arrived after one.
        declared_losses: packets that a QUIC sender declared lost; `None` without logs.
        spurious_losses: those of them that arrived.
        episodes: recovery episodes of QUIC, or fast retransmits of TCP; `None` if unknown.
        spurious_episodes: those of them that were spurious.
        timeouts: probe timeouts of QUIC, or retransmission timeouts of TCP; `None` if unknown.
        spurious_timeouts: those of them that were spurious.
        is_datagrams: are the packets UDP datagrams?
        evidence: the folder with captures and logs of the run; empty if they are not kept.
    """

    ended: TransferOutcome
    took_s: float
    held_s: float
    sent_bytes: int
    arrived_bytes: int
    unneeded_bytes: int | None
    tail: int
    end: int = 0
    copied_bytes: int = 0
    doubts: tuple[str, ...] = ()
    said: str = ""
    exit_status: int | None = None
    resume_s: float | None = None
    declared_losses: int | None = None
    spurious_losses: int | None = None
    episodes: int | None = None
    spurious_episodes: int | None = None
    timeouts: int | None = None
    spurious_timeouts: int | None = None
    is_datagrams: bool = False
    evidence: str = ""


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
        episodes=counted("fast_retransmits"),
        spurious_episodes=counted("spurious_fast_retransmits"),
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
    measured = _measured(result, ended, (0.0, result.reports[0]["elapsed_s"]))
    return replace(measured, exit_status=status if ended is TransferOutcome.FAILED else None)


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
        end=sent.height,
        is_datagrams=not has_sequence_numbers,
        copied_bytes=0 if has_sequence_numbers else copied_bytes(result, sent),
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


def copied_bytes(result: EmulationResult, sent: pl.DataFrame) -> int:
    """The bytes of datagrams that are equal to an earlier one that arrives.

    Args:
        result: the run.
        sent: the datagrams of one end, in order.
    """
    if not sent.height:
        return 0
    place = sent["place"][0]
    # The capture has the same packets in the same order as the table.
    at_place = result.segments.filter(pl.col("place") == place)
    heads = packets(result.pcapng(0, place))
    if len(heads) != at_place.height:
        return 0
    arrived: dict[tuple[int, bytes], bool] = {}
    copied = 0
    rows = zip(at_place.select("event", "bytes", "len", "fate").iter_rows(), heads, strict=True)
    for (event, length, payload, fate), head in rows:
        if event != "sent" or payload <= CONTROL:
            continue
        content = length, head[DATAGRAM_HEADERS:]
        copied += length if arrived.get(content) else 0
        arrived[content] = arrived.get(content, False) or fate == "delivered"
    return copied


def packets(pcapng: bytes) -> list[bytes]:
    """The first bytes of each packet of a capture that rtolab wrote."""
    found, at = [], 0
    while at + BLOCK_HEADER <= len(pcapng):
        kind, length = struct.unpack_from("<II", pcapng, at)
        if kind == ENHANCED_PACKET:
            (captured,) = struct.unpack_from("<I", pcapng, at + 20)
            found.append(pcapng[at + 28 : at + 28 + captured])
        at += length
    return found


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
