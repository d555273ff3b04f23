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
from rtolab.diagnosis.pace import Pace, changes, median, paces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtolab.diagnosis import Connection

MOST_PACKETS = 50_000
MOST_STALLS = 32
"""What is read and inferred of a connection at most."""

FEWEST_ANSWERS = 4
"""From fewer acknowledgments no path is inferred."""

LATE = 0.25
"""Answers later than this wait for more than a delayed acknowledgment, in seconds."""

NEARLY = 1.1
"""An explanation whose answers are off by so much more than the best one's is as good."""

JUMP = 4
"""An acknowledgment of so many times as much as most do follows others that were lost."""

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
        drops: packets of the sender that are lost, counted from 1.
        outages: when whatever the sender sent was lost.
    """

    line: Line
    transfer: Transfer
    drops: tuple[int, ...]
    outages: tuple[Span, ...]


def infer(
    capture: str, connection: Connection, unknown: str = "needed", *, steady: bool = True
) -> Inferred:
    """What befell a connection that was captured at its sender, or with timestamps at its receiver.

    Args:
        capture: the file.
        connection: as it was diagnosed.
        unknown: what retransmissions are taken for of which the capture does not tell.
        steady: whether the rate is taken to be the same all the time.

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
    connection = _decided(connection, unknown)
    number = connection["number"]
    rows = json.loads(_rtolab.trace(capture, [number], MOST_PACKETS))[str(number)]
    if connection["vantage"] == "receiver":
        rows, trip = at_sender(rows, connection)
        connection = {**connection, "start": rows[0]["t"], "min_rtt": trip}
    sent, answers, edges = _sides(rows, connection)
    if len(answers) < FEWEST_ANSWERS:
        raise Error(f"what if needs {FEWEST_ANSWERS} acknowledgments; this one has {len(answers)}")
    transfer = _transfer(connection, (sent, answers, edges))
    line = _line(sent, answers, transfer, steady=steady)
    line = _befallen(line, (sent, answers), _ack_lost(connection))
    unneeded = {r["frame"] for r in connection["retransmissions"] if r["verdict"] == "unneeded"}
    drops, outages = _losses(sent, line, unneeded)
    line = replace(line, silent=[_within(span, outages) for span in line.silent])
    return Inferred(line, transfer, drops, outages)


def _decided(connection: Connection, unknown: str) -> Connection:
    """The connection with this verdict where there is none."""
    decided = [
        one | {"verdict": unknown} if one["verdict"] == "unknown" else one
        for one in connection["retransmissions"]
    ]
    return {**connection, "retransmissions": decided}


def _sides(
    rows: Sequence[dict[str, Any]], connection: Connection
) -> tuple[list[Packet], list[Answer], list[int]]:
    """What was sent, how acknowledgments advanced, and the windows offered."""
    sender, start = connection["sender"], connection["start"]
    lost = _lost(rows, connection)
    opens = sender == "client"
    sent, answers, edges, highest = [], [], [], 0 if opens else 1
    for row in rows:
        t = row["t"] - start
        if row["from"] == sender and row["len"] and (opens or row["seq"] > 0):
            end = row["seq"] + row["len"]
            sent.append(Packet(t, row["seq"], end, row["frame"], row["frame"] in lost))
        elif row["from"] != sender and row["ack"] is not None:
            edges.append(row["edge"] - row["ack"])
            if row["ack"] > highest:
                highest = row["ack"]
                answers.append(Answer(t, highest))
    return sent, answers, edges


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


def _transfer(
    connection: Connection, seen: tuple[list[Packet], list[Answer], list[int]]
) -> Transfer:
    sent, answers, edges = seen
    options = connection["options"]
    payload = Counter(one.end - one.seq for one in sent).most_common(1)[0][0]
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


def _line(
    sent: Sequence[Packet], answers: Sequence[Answer], transfer: Transfer, *, steady: bool
) -> Line:
    """Rate and delay: most acknowledgments come as fast as data passes the narrowest link."""
    overhead = BARE_ACK + TIMESTAMPS * transfer.timestamps
    payload = max(1, transfer.mss - TIMESTAMPS * transfer.timestamps)
    seen = paces(answers, payload, overhead)
    line = _paced(seen, overhead, steady=steady)
    first = {one.end: one.t for one in reversed(sent)}
    trips = []
    for answer in answers:
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
                drops += [one + 1 for one in run]
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


def _befallen(
    line: Line, seen: tuple[list[Packet], list[Answer]], ack_lost: Sequence[float]
) -> Line:
    """The line with the stalls that make its answers come when they came."""
    sent, answers = seen
    for _ in range(MOST_STALLS):
        expected = _expected(line.answers(sent), answers)
        late = [one.t - at > LATE for one, at in zip(answers, expected, strict=True)]
        if True not in late:
            break
        index = late.index(True)
        before = answers[index - 1].t if index else sent[0].t
        lost = _jumps(answers, index) or any(before < t < answers[index].t for t in ack_lost)
        expected_in = Span(min(before, expected[index]), expected[index] - 1e-6)
        found = _explained(line, seen, (expected_in, index, lost))
        if found is None:
            break
        line = found
    return line


def _jumps(answers: Sequence[Answer], index: int) -> bool:
    """Does it acknowledge so much that others before it must have been lost?"""
    steps = [after.ack - before.ack for before, after in pairwise(answers)]
    return index > 0 and steps[index - 1] > JUMP * statistics.median(steps)


def _explained(
    line: Line,
    seen: tuple[list[Packet], list[Answer]],
    gap: tuple[Span, int, bool],
) -> Line | None:
    """The line with what fits best of what may have befallen it; nothing if nothing helps."""
    sent, answers = seen
    expected, index, lost = gap
    after = answers[index].t
    back = line.delay + line.transmission(BARE_ACK)
    candidates = []
    for start in (expected.end, (expected.start + expected.end) / 2, expected.start):
        here = Span(max(0.0, start - back), after - back)
        left = expected.end - start
        ahead = Span(max(0.0, start - back - line.delay), after - back - line.delay - left)
        if lost:
            candidates.append(replace(line, silent=[*line.silent, here]))
        candidates += [
            line.stalled(here, forward=True, backward=True),
            line.stalled(ahead, forward=True, backward=False),
            line.stalled(here, forward=False, backward=True),
        ]
    errors = [_error(one, (sent, answers), index) for one in candidates]
    good = min(errors) * NEARLY + line.transmission(BARE_ACK)
    best = next(at for at, error in enumerate(errors) if error <= good)
    return candidates[best] if errors[best] < _error(line, seen, index) else None


def _error(line: Line, seen: tuple[list[Packet], list[Answer]], index: int) -> float:
    """How far answers are from where they are expected, those soon after the gap."""
    sent, answers = seen
    expected = _expected(line.answers(sent), answers)
    until = answers[index].t + 4 * line.delay + LATE
    near = [
        abs(one.t - at)
        for one, at in zip(answers[index:], expected[index:], strict=True)
        if one.t <= until
    ]
    return statistics.fmean(near)


def _expected(foreseen: Sequence[Answer], answers: Sequence[Answer]) -> list[float]:
    """When as much was to be acknowledged as each answer does; never is as late as it came."""
    found, at = [], 0
    for answer in answers:
        while at < len(foreseen) and foreseen[at].ack < answer.ack:
            at += 1
        found.append(foreseen[at].t if at < len(foreseen) else answer.t)
    return found
