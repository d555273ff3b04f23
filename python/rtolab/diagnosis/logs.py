"""The diagnosis of a QUIC log as tables of text and as a section of a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from rtolab.diagnosis.verdicts import CLASSES, LOSSES
from rtolab.report import _cells, _table
from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab.diagnosis import Diagnosis

NAMES = (
    *("#", "log of", "declared lost: " + ", ".join(LOSSES), "timeouts: " + ", ".join(CLASSES)),
    *("recovery (s)", "of it spurious (s)", "retransmitted (B)", "of it unneeded (B)"),
    "time lost (s)",
)
"""The columns of the table of connections."""
SHOWN = 3
"""Recovery episodes shown of a connection."""
NAMED = 5
"""Events named of the losses or the timeouts of a class."""


def counts(found: Diagnosis) -> str:
    """The size of the log."""
    summary = found.document["summary"]
    named = (("events", "event"), ("packets", "packet"), ("connections", "connection"))
    parts = [counted(summary[key], what) for key, what in named]
    return ", ".join([*parts, f"qlog {summary['qlog_version'] or 'of unknown version'}"])


def has_something(one: Mapping[str, Any]) -> bool:
    """Is there anything to say about a connection?"""
    return bool(one["losses"] or one["timeouts"])


def cells(one: Mapping[str, Any]) -> tuple[str, ...]:
    """The row of a connection."""
    return (
        str(one["number"]),
        " ".join(filter(None, (one["vantage"], one["implementation"]))),
        _count(one["losses"], "verdict", LOSSES),
        _count(one["timeouts"], "class", CLASSES),
        f"{one['time_in_recovery']:.3f}",
        f"{one['time_in_spurious_recovery']:.3f}",
        str(one["retransmitted_bytes"]),
        str(one["unneeded_bytes"]),
        f"{one['time_lost']:.3f}",
    )


def episodes(one: Mapping[str, Any]) -> Iterator[str]:
    """The recovery episodes of a connection in words, those of spurious losses first."""
    order = sorted(one["episodes"], key=lambda row: (row["class"] != "spurious", row["start"]))
    for row in order[:SHOWN]:
        length = (
            "not over at the end" if row["end"] is None else _seconds(row["end"] - row["start"])
        )
        before, after = row["cwnd"]
        window = "" if None in row["cwnd"] else f", cwnd {before:.0f} to {after:.0f} bytes"
        lost = f"{counted(row['losses'], 'packet')} declared lost, {row['spurious']} spurious"
        yield f"{row['start']:.3f} s, event {row['event']}: recovery, {length}: {lost}{window}"
    if len(order) > SHOWN:
        yield f"and {counted(len(order) - SHOWN, 'more episode')}"


def events(one: Mapping[str, Any]) -> Iterator[str]:
    """The events of the declared losses and of the timeouts of a connection, by class."""
    for what, rows, key, classes in (
        ("declared lost", one["losses"], "verdict", LOSSES),
        ("probe timeouts", one["timeouts"], "class", CLASSES),
    ):
        parts = []
        for name in classes:
            numbers = [row["event"] for row in rows if row[key] == name]
            if numbers:
                shown = ", ".join(map(str, numbers[:NAMED]))
                left = len(numbers) - NAMED
                more = f" and {left} more" if left > 0 else ""
                noun = "event" if len(numbers) == 1 else "events"
                parts.append(f"{len(numbers)} {name} ({noun} {shown}{more})")
        if parts:
            yield f"{what}: {', '.join(parts)}"


def section(found: Diagnosis, name: str, answer: str, notes: str) -> str:
    """The part of a page about a log; `answer` and `notes` are HTML."""
    shown = [one for one in found.worst if has_something(one)]
    body = "".join(_cells(*map(escape, cells(one))) for one in shown)
    overview = _table(NAMES, body) if shown else ""
    head = (
        f'<header class="paper"><h2>{escape(found.capture)}</h2>{answer}{notes}'
        f'<p>{escape(counts(found))}.</p><div class="wide">{overview}</div></header>'
    )
    return "\n".join([head, *(_connection(one, name) for one in shown)])


def _connection(one: Mapping[str, Any], name: str) -> str:
    said = "".join(f"<li>{escape(text)}</li>" for text in (*events(one), *episodes(one)))
    losses = _rows(one["losses"], "verdict", ("event", "t", "packet_number", "trigger", "late"))
    timeouts = _rows(one["timeouts"], "class", ("event", "t", "space", "backoff", "after"))
    details = "".join(
        f'<details><summary>{what}</summary><div class="wide">{table}</div></details>'
        for what, table in (("Declared losses", losses), ("Probe timeouts", timeouts))
        if table
    )
    title = f"{one['number']}: the log of the {one['vantage']}"
    return (
        f'<section id="{name}-{one["number"]}"><h3>{title}</h3><ul>{said}</ul>{details}</section>'
    )


def _rows(rows: Sequence[Mapping[str, Any]], verdict: str, keys: tuple[str, ...]) -> str:
    names = (*keys, verdict, "confidence", "evidence")
    body = "".join(
        _cells(
            *(_cell(row[key]) for key in (*keys, verdict, "confidence")),
            ", ".join(piece["kind"] for piece in row["evidence"]),
        )
        for row in rows
    )
    return _table(names, body) if rows else ""


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))


def _count(rows: Sequence[Mapping[str, Any]], key: str, names: Sequence[str]) -> str:
    return " / ".join(str(sum(row[key] == name for row in rows)) for name in names)


def _seconds(value: float) -> str:
    return f"{value:.3f} s"
