"""The events of one traced run, as a reader of a packet trace counts them.

Everything is seen at the sender: data leave it, ACKs arrive at it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import polars as pl

from rtolab.result import Result

OF_EVENTS = ("event", "ack", "window_edge", "at_s", "seq", "len", "retransmission", "unneeded")
"""The columns of `segments` from which events follow."""


@dataclass(frozen=True)
class Data:
    """A data segment that left the sender: when (s), its first byte, its length (bytes)."""

    at: float
    seq: int
    length: int
    retransmission: bool
    unneeded: bool


@dataclass(frozen=True)
class Ack:
    """An ACK that reached the sender, what it permits, and the data that left before the next."""

    at: float
    ack: int
    window_edge: int = 0
    released: list[Data] = field(default_factory=list)

    @property
    def new(self) -> list[Data]:
        """The segments that it released for the first time."""
        return [data for data in self.released if not data.retransmission]

    @property
    def retransmitted(self) -> list[Data]:
        """The retransmissions that it released."""
        return [data for data in self.released if data.retransmission]


@dataclass(frozen=True)
class Timeout:
    """A row of `timeouts`: times in seconds, windows in bytes."""

    at: float
    seq: int
    rto: float
    cwnd: int
    needed: bool
    verdict: str | None


class Trace:
    """One traced run of one flow. Its parts are read when they are first needed."""

    def __init__(self, result: Result, run: int, connection: dict[str, Any]) -> None:
        self.connection = connection
        self._result = result
        self._mine = (pl.col("run") == run) & (pl.col("flow") == connection["flow"])

    @classmethod
    def of(cls, result: Result, run: int) -> Trace:
        """The first flow of a run of a result."""
        connections = result.connections.filter(pl.col("run") == run)
        return cls(result, run, connections.row(0, named=True))

    @cached_property
    def events(self) -> Sequence[Data | Ack]:
        """Data sent and ACKs received at the sender, in the order in which it saw them."""
        segments = self._result.segments.select("run", "flow", "place", *OF_EVENTS)
        return _events(segments.filter(self._mine & (pl.col("place") == "sender")))

    @cached_property
    def timeouts(self) -> list[Timeout]:
        """Expiries of the retransmission timer."""
        return _timeouts(self._result.timeouts.filter(self._mine), "timeout")

    @cached_property
    def fast_retransmits(self) -> list[Timeout]:
        """Fast retransmits."""
        return _timeouts(self._result.timeouts.filter(self._mine), "fast_retransmit")

    @cached_property
    def _windows(self) -> pl.DataFrame:
        return self._result.windows.filter(self._mine).sort("at_s", maintain_order=True)

    @property
    def mss(self) -> int:
        """The length of the first data segment; 0 without data."""
        first = next((event for event in self.events if isinstance(event, Data)), None)
        return first.length if first else 0

    @property
    def last_at(self) -> float:
        """When the last event occurred (s)."""
        return self.events[-1].at if self.events else 0.0

    def timeouts_from(self, at: float) -> list[Timeout]:
        """Expiries of the retransmission timer from an instant on."""
        return [timeout for timeout in self.timeouts if timeout.at >= at]

    def fast_retransmits_from(self, at: float) -> list[Timeout]:
        """Fast retransmits from an instant on."""
        return [timeout for timeout in self.fast_retransmits if timeout.at >= at]

    def retransmitted(self, start: float, end: float = float("inf")) -> list[Data]:
        """Retransmissions that left at `start` or later, and before `end`."""
        return [
            event
            for event in self.events
            if isinstance(event, Data) and event.retransmission and start <= event.at < end
        ]

    def sent_from(self, start: float) -> list[Data]:
        """Data that left at `start` or later."""
        return [event for event in self.events if isinstance(event, Data) and event.at >= start]

    def highest_sent_before(self, at: float) -> int | None:
        """The byte after the highest that had left before an instant."""
        sent = (e for e in self.events if isinstance(e, Data) and e.at < at)
        return max((data.seq + data.length for data in sent), default=None)

    def first_flight(self) -> int:
        """Bytes that left before the first ACK of data came."""
        acked = next((e.at for e in self.events if isinstance(e, Ack) and e.ack > 1), float("inf"))
        return sum(data.length for data in self.sent_from(0.0) if data.at < acked)

    def duplicates_until(self, at: float) -> int:
        """ACKs before or at an instant that repeat the one before them, without data between."""
        count, before = 0, -1
        for event in self.events:
            if event.at > at:
                break
            if isinstance(event, Ack):
                count, before = (count + 1 if event.ack == before else 0), event.ack
        return count

    def beyond_window_at(self) -> list[float]:
        """The times (s) at which data segments left beyond the window advertised so far."""
        edge, beyond = 0, []
        for event in self.events:
            if isinstance(event, Ack):
                edge = max(edge, event.window_edge)
            elif edge > 0 and event.seq + event.length > edge:
                beyond.append(event.at)
        return beyond

    def sent_first(self, seq: int) -> Data | None:
        """The first copy of the segment that begins at `seq`."""
        data = (event for event in self.events if isinstance(event, Data))
        return next((one for one in data if one.seq == seq), None)

    def acks(self) -> list[Ack]:
        """All ACKs that arrived, without the segments that they released."""
        return [event for event in self.events if isinstance(event, Ack)]

    def outstanding(self, timeout: Timeout) -> list[int]:
        """First bytes of the segments sent and not yet acknowledged when the timer expired."""
        sent: set[int] = set()
        for event in self.events:
            if _is_retransmission_of(event, timeout):
                break
            if isinstance(event, Data):
                sent.add(event.seq)
            else:
                sent = {seq for seq in sent if seq >= event.ack}
        return sorted(sent)

    def acks_after(self, timeout: Timeout) -> list[Ack]:
        """The ACKs after the timer expired, each with the segments that it released."""
        acks: list[Ack] = []
        expired = False
        for event in self.events:
            if not expired:
                expired = _is_retransmission_of(event, timeout)
            elif isinstance(event, Ack):
                acks.append(Ack(event.at, event.ack, event.window_edge))
            elif acks:
                acks[-1].released.append(event)
        return acks

    def window_at(self, at: float) -> dict[str, Any] | None:
        """The last sample of the sender's windows at or before an instant."""
        before = self.windows_until(at)
        return before.row(-1, named=True) if before.height else None

    def windows_until(self, at: float) -> pl.DataFrame:
        """All samples of the sender's windows at or before an instant."""
        return self._windows.filter(pl.col("at_s") <= at)


def _events(at_sender: pl.DataFrame) -> Sequence[Data | Ack]:
    """Data sent and ACKs received, in order of time."""
    rows = at_sender.select(*OF_EVENTS).sort("at_s", maintain_order=True).iter_rows()
    events: list[Data | Ack] = []
    for event, ack, window_edge, at, seq, length, retransmission, unneeded in rows:
        if event == "sent" and length > 0:
            events.append(Data(at, seq, length, retransmission, unneeded))
        elif event == "received" and ack is not None:
            events.append(Ack(at, ack, window_edge))
    return events


def _timeouts(timeouts: pl.DataFrame, kind: str) -> list[Timeout]:
    mine = (pl.col("kind") == kind) & (pl.col("end") == "sender")
    rows = timeouts.filter(mine).sort("at_s", maintain_order=True)
    return [
        Timeout(row["at_s"], row["seq"], row["rto_s"], row["cwnd"], row["needed"], row["verdict"])
        for row in rows.iter_rows(named=True)
    ]


def _is_retransmission_of(event: Data | Ack, timeout: Timeout) -> bool:
    return isinstance(event, Data) and event.at == timeout.at and event.seq == timeout.seq
