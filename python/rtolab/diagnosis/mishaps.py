"""What befell a link: what makes the answers come when they came."""

from __future__ import annotations

import statistics
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from rtolab.diagnosis.line import BARE_ACK, Answer, Line, Packet, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    Seen = tuple[Sequence[Packet], Sequence[Answer]]
    """What was sent, and how acknowledgments advanced."""

MOST_STALLS = 32
"""What is inferred of a connection at most."""

LATE = 0.25
"""Answers later than this wait for more than a delayed acknowledgment, in seconds."""

NEARLY = 1.1
"""An explanation whose answers are off by so much more than the best one's is as good."""

JUMP = 4
"""An acknowledgment of so many times as much as most do follows others that were lost."""

TOO_SOON = 4
"""An answer may wait for others, but none comes before its packet can: that counts so much more."""

FEW = 4
FULL = 1500
"""By the time of so many packets of so many bytes a change may be off at first."""

STEPS = 8
ROUNDS = 3
"""When a rate changed is looked for in so many steps either way, so often, each time finer."""


def settled(line: Line, seen: Seen) -> Line:
    """The line whose rates change when that explains the answers best.

    Where a sender waits for acknowledgments, their pace tells of a change only later, or sooner.
    """
    for index in range(len(line.changes)):
        reach = 4 * line.delay + LATE + FEW * line.transmission(FULL, line.changes[index].at)
        for _ in range(ROUNDS):
            since = line.changes[index].at - reach
            moved = _moved(line, index, reach)
            line = min(moved, key=lambda one: _off(one, seen, (index, since)))
            reach /= STEPS
    return line


def _moved(line: Line, index: int, reach: float) -> list[Line]:
    """The line as it is, and with the change sooner or later, in order."""
    change = line.changes[index]
    start = line.changes[index - 1].at if index else 0.0
    end = line.changes[index + 1].at if index + 1 < len(line.changes) else float("inf")
    times = [change.at + reach * step / STEPS for step in range(-STEPS, STEPS + 1)]
    found = [line]
    for at in times:
        if start < at < end:
            moved = [*line.changes]
            moved[index] = replace(change, at=at)
            found.append(replace(line, changes=moved))
    return found


def _off(line: Line, seen: Seen, change: tuple[int, float]) -> float:
    """How far answers are from where they are expected, since then and until the next change."""
    sent, answers = seen
    index, since = change
    end = line.changes[index + 1].at if index + 1 < len(line.changes) else float("inf")
    expected = _expected(line.answers(sent), answers)
    pairs = zip(answers, expected, strict=True)
    late = [one.t - at for one, at in pairs if since <= one.t <= end]
    return statistics.fmean([each if each > 0 else -TOO_SOON * each for each in late] or [0.0])


def befallen(line: Line, seen: Seen, ack_lost: Sequence[float]) -> Line:
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
    seen: Seen,
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


def _error(line: Line, seen: Seen, index: int) -> float:
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
