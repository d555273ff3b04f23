"""The path and the transfer that a capture shows, as a scenario."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.diagnosis.afar import at_sender
from rtolab.diagnosis.line import BARE_ACK, BITS, Answer, Line, Packet, Span
from rtolab.diagnosis.mishaps import befallen, settled
from rtolab.diagnosis.pace import Ack, Pace, changes, delivered, median, paces
from rtolab.diagnosis.queue import fitted
from rtolab.diagnosis.wheel import Wheel, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtolab.diagnosis import Connection

MOST_PACKETS = 50_000
"""What is read of a connection at most."""

FEWEST_ANSWERS = 4
"""From fewer acknowledgments no path is inferred."""

OUTAGE = 3
"""So many packets lost in a row, or a retransmission among them, are an outage."""

TIMESTAMPS = 12
"""What timestamps add to a header, in bytes."""

OPENING = 20
"""What a SYN's options add to it, about, in bytes."""


@dataclass(frozen=True)
class Transfer:
    """What both ends did, apart from how the sender recovers.

    Attributes:
        start: when the sender opened the connection, in seconds.
        end: when all was acknowledged.
        size: of all data, in bytes.
        mss: as offered, in bytes.
        window: the largest that the receiver offered, in bytes.
        ack_every: segments to an acknowledgment.
        quick_acks: acknowledgments of single segments at its beginning.
        timestamps: whether both ends used them.
        sack: likewise.
        dsack: whether the receiver reported duplicates.
    """

    start: float
    end: float
    size: int
    mss: int
    window: int
    ack_every: int
    quick_acks: int
    timestamps: bool
    sack: bool
    dsack: bool


@dataclass(frozen=True)
class Inferred:
    """A path and a transfer over it.

    Attributes:
        line: the link, with what befell it.
        transfer: what both ends did.
        drops: packets of the sender that are lost, counted from 1, without those that the queue
            refused.
        outages: when whatever the sender sent was lost.
        queue: the room before the link for data that wait, in bytes; `None` if nothing overflowed.
        wheel: the slots in which the sender's timers expire; `None` if that does not show.
    """

    line: Line
    transfer: Transfer
    drops: tuple[int, ...]
    outages: tuple[Span, ...]
    queue: int | None
    wheel: Wheel | None


@dataclass(frozen=True)
class Reading:
    """How a capture is read where it can be read in several ways.

    Attributes:
        unknown: what retransmissions are taken for of which the capture does not tell.
        steady: whether the rate is taken to be the same all the time.
        overflows: whether what was lost may have met a full queue.
    """

    unknown: str = "needed"
    steady: bool = True
    overflows: bool = True


@dataclass(frozen=True)
class _Sides:
    """What was sent, how acknowledgments advanced, what they show to have passed, and windows."""

    sent: list[Packet]
    answers: list[Answer]
    passed: list[Ack]
    edges: list[int]


def infer(capture: str, connection: Connection, reading: Reading | None = None) -> Inferred:
    """What befell a connection that was captured at its sender, or with timestamps at its receiver.

    Args:
        capture: the file.
        connection: as it was diagnosed.
        reading: how it is read; without one, as most are.

    Raises:
        Error: the capture does not show it: it stands elsewhere, or lacks the handshake.
    """
    if connection["vantage"] not in ("sender", "receiver"):
        where = connection["vantage"]
        raise Error(f"what if needs a capture at the sender or the receiver; this one: {where}")
    if connection["options"] is None:
        raise Error("what if needs the handshake, which the capture lacks")
    if connection["packets"] > MOST_PACKETS:
        raise Error(f"what if takes {MOST_PACKETS} packets; this one has {connection['packets']}")
    reading = reading or Reading()
    connection = _decided(connection, reading.unknown)
    number = connection["number"]
    rows = json.loads(_rtolab.trace(capture, [number], MOST_PACKETS))[str(number)]
    if connection["vantage"] == "receiver":
        rows, trip = at_sender(rows, connection)
        connection = {**connection, "start": rows[0]["t"], "min_rtt": trip}
    seen = _sides(rows, connection)
    answers = seen.answers
    if len(answers) < FEWEST_ANSWERS:
        raise Error(f"what if needs {FEWEST_ANSWERS} acknowledgments; this one has {len(answers)}")
    transfer = _transfer(connection, seen)
    line = _line(seen, transfer, steady=reading.steady)
    unneeded = {r["frame"] for r in connection["retransmissions"] if r["verdict"] == "unneeded"}
    sent: Sequence[Packet] = seen.sent
    queue = None
    if reading.overflows:
        # What a queue refuses does not keep the link busy, and what a stall holds fills the queue.
        refused = [replace(one, refused=one.lost) for one in sent]
        line = settled(line, (refused, answers))
        queue = fitted(line, sent, unneeded)
        line = befallen(line, (queue.sent if queue else sent, answers), _ack_lost(connection))
        queue = fitted(line, sent, unneeded)
    else:
        line = befallen(settled(line, (sent, answers)), (sent, answers), _ack_lost(connection))
    sent = queue.sent if queue else sent
    drops, outages = _losses([one for one in sent if not one.refused], line, unneeded)
    line = replace(line, silent=[_within(span, outages) for span in line.silent])
    room = queue.room if queue else None
    return Inferred(line, transfer, drops, outages, room, told(connection))


def _decided(connection: Connection, unknown: str) -> Connection:
    """The connection with this verdict where there is none."""
    decided = [
        one | {"verdict": unknown} if one["verdict"] == "unknown" else one
        for one in connection["retransmissions"]
    ]
    return {**connection, "retransmissions": decided}


def _sides(rows: Sequence[dict[str, Any]], connection: Connection) -> _Sides:
    sender, start = connection["sender"], connection["start"]
    lost = _lost(rows, connection)
    opens = sender == "client"
    sent, answers, acks, edges = [], [], list[Ack](), []
    number, highest, left = 0, 0 if opens else 1, dict[int, float]()
    for row in rows:
        t, frame = row["t"] - start, row["frame"]
        number += row["from"] == sender
        if row["from"] == sender and row["len"] and (opens or row["seq"] > 0):
            end = row["seq"] + row["len"]
            sent.append(Packet(t, row["seq"], end, frame, frame in lost, number))
            left[row["seq"]] = t
        elif row["from"] != sender and row["ack"] is not None:
            edges.append(row["edge"] - row["ack"])
            if row["ack"] >= highest and (row["ack"] > highest or not row["len"]):
                idle = bool(acks) and row["ack"] > highest and left.get(highest, 0.0) >= acks[-1].t
                acks.append(Ack(t, row["ack"], idle))
            if row["ack"] > highest:
                highest = row["ack"]
                answers.append(Answer(t, highest))
    return _Sides(sent, answers, delivered(acks, _payload(sent)), edges)


def _payload(sent: Sequence[Packet]) -> int:
    """Of most packets, in bytes."""
    return Counter(one.end - one.seq for one in sent).most_common(1)[0][0] if sent else 1


def _lost(rows: Sequence[dict[str, Any]], connection: Connection) -> set[int]:
    """The frames that never arrived: the copies before the last that was needed."""
    resent = {one["frame"]: one["verdict"] for one in connection["retransmissions"]}
    lost: set[int] = set()
    copies: dict[int, list[int]] = {}
    for row in rows:
        if row["from"] == connection["sender"] and row["len"]:
            earlier = copies.setdefault(row["seq"], [])
            if resent.get(row["frame"]) == "needed":
                lost.update(earlier)
            earlier.append(row["frame"])
    return lost


def _transfer(connection: Connection, seen: _Sides) -> Transfer:
    sent, answers, edges = seen.sent, seen.answers, seen.edges
    options = connection["options"]
    payload = _payload(sent)
    offered = [mss for mss in options["mss"] if mss]
    timestamps = options["timestamps"]
    mss = min(offered, default=payload + TIMESTAMPS * timestamps)
    counts = [max(1, round((b.ack - a.ack) / payload)) for a, b in pairwise(answers) if a.ack > 1]
    single = [count == 1 for count in counts]
    every = 1 if statistics.fmean(single or [True]) > 2 / 3 else 2
    opening = 0.0 if sent[0].seq == 0 else connection["min_rtt"] or 0.0
    quick = single.index(False) if every == 2 and False in single else 0
    return Transfer(
        start=max(0.0, sent[0].t - opening),
        end=answers[-1].t,
        size=_size(connection),
        mss=mss,
        window=max(edges[1:] or edges),
        ack_every=every,
        quick_acks=quick,
        timestamps=timestamps,
        sack=options["sack"],
        dsack=options["dsack"],
    )


def _size(connection: Connection) -> int:
    """Of the data, each byte once."""
    sender = connection["sender"]
    again = sum(one["len"] for one in connection["retransmissions"] if one["from"] == sender)
    total = int(connection["bytes"][("client", "server").index(sender)])
    return total - int(again)


def _line(seen: _Sides, transfer: Transfer, *, steady: bool) -> Line:
    """Rate and delay: most acknowledgments come as fast as data passes the narrowest link."""
    overhead = BARE_ACK + TIMESTAMPS * transfer.timestamps
    payload = max(1, transfer.mss - TIMESTAMPS * transfer.timestamps)
    line = _paced(paces(seen.passed, payload, overhead), overhead, steady=steady)
    first = {one.end: one.t for one in reversed(seen.sent)}
    trips = []
    for answer in seen.answers:
        if answer.ack in first:
            size = overhead + (payload if answer.ack > 1 else OPENING)
            left = first[answer.ack]
            fast = max(line.rate_at(t) for t in (left, answer.t))
            trips.append(answer.t - left - BITS * (size + BARE_ACK) / fast)
    if not trips:
        raise Error("what if needs acknowledgments of whole packets, of which there are none")
    delay = max(0.0, min(trips) / 2)
    # A change is seen when an acknowledgment has come back.
    changed = [replace(one, at=max(0.0, one.at - delay)) for one in line.changes]
    return replace(line, delay=delay, changes=changed)


def _paced(seen: Sequence[Pace], overhead: int, *, steady: bool) -> Line:
    """A link without delay that is as fast as acknowledgments came."""
    if steady:
        return Line(median(seen), 0.0, overhead)
    first, *others = changes(seen)
    return Line(first.rate, 0.0, overhead, changes=others)


def _losses(
    sent: Sequence[Packet], line: Line, unknown: set[int]
) -> tuple[tuple[int, ...], tuple[Span, ...]]:
    """Single packets by number, and outages by when packets were transmitted.

    An outage ends halfway between the last that is known to be lost and the first known to arrive.
    """
    drops: list[int] = []
    outages = []
    run: list[int] = []
    seen: set[int] = set()
    leaves = line.departures(sent)
    for index, packet in enumerate(sent):
        if packet.lost:
            run.append(index)
        elif run and packet.frame not in unknown:
            again = any(sent[one].seq in seen for one in run)
            seen.update(sent[one].seq for one in run)
            if len(run) >= OUTAGE or again:
                takes = line.transmission(packet.end - packet.seq + line.overhead)
                until = (leaves[run[-1]] + leaves[index] - takes) / 2
                outages.append(Span(leaves[run[0]] - takes / 2, until))
            else:
                drops += [sent[one].number for one in run]
            run = []
    return tuple(drops), tuple(outages)


def _ack_lost(connection: Connection) -> list[float]:
    """When timeouts came that lost acknowledgments caused."""
    start = connection["start"]
    return [one["t"] - start for one in connection["timeouts"] if one["class"] == "ack-lost"]


def _within(span: Span, outages: Sequence[Span]) -> Span:
    """Acknowledgments are lost no longer than data that is lost at the same time."""
    ends = [one.end for one in outages if one.start < span.end and span.start < one.end]
    return Span(span.start, min([span.end, *ends]))
