"""A diagnosis as tables of text, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rtolab.diagnosis.verdicts import CLASSES, VERDICTS
from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab.diagnosis import Diagnosis

STORIES = 3
"""Episodes shown of a connection."""

BLIND = {
    "receiver": "Captured at the receiver: it shows which copies arrived, and not why they were "
    "retransmitted. A capture at the sender shows both.",
    "unknown": "The place of this capture is unknown: verdicts that rest on times may be wrong.",
}
"""What a capture cannot show of a connection, by its vantage."""


def diagnosis(found: Diagnosis, top: int) -> RenderableType:
    """The worst connections of a capture with their episodes."""
    summary = found.document["summary"]
    title = Text(found.capture, "bold")
    counts = ", ".join(
        f"{summary[key]} {what}{'s' * (summary[key] != 1)}"
        for key, what in (
            ("packets", "TCP packet"),
            ("connections", "connection"),
            ("retransmissions", "retransmission"),
        )
    )
    shown = [one for one in found.worst if one["retransmissions"] or one["habits"]][:top]
    lines: list[RenderableType] = [Text.assemble(title, "\n", (counts, "dim"))]
    lines += [Text(said, "dim") for said in (found.passed_over, found.lacks) if said]
    if shown:
        lines.append(_connections(shown))
        lines += [_stories(one) for one in shown]
    else:
        lines.append(Text("no retransmissions"))
    return Group(*lines)


def what_if(found: Mapping[str, Any]) -> RenderableType:
    """What other senders would have done, or why that is unknown."""
    if "error" in found:
        return Text(found["error"])
    title = Text(f"What if: connection #{found['connection']}", "bold")
    others = _outcomes("another sender", [(one["sender"], one) for one in found["senders"]])
    settings = [(one["setting"], one) for one in found["linux"]]
    return Group(title, Text(agreement(found)), others, _outcomes("Linux", settings))


def agreement(found: Mapping[str, Any]) -> str:
    """How well the simulation agrees with the capture."""
    captured, nearest = found["captured"], found["nearest"]
    said = (
        f"Captured: {captured['unneeded']} unneeded and {captured['needed']} needed "
        f"retransmissions, {captured['unknown']} unknown, {captured['elapsed_s']:.3f} s. "
        f"Simulated over the path inferred: {nearest['unneeded']} and {nearest['needed']}, "
        f"{_seconds(nearest['elapsed_s'])} s, by {_named(nearest)}."
    )
    if not found["agrees"]:
        said += " They do not agree: the tables below describe another path than the capture's."
    return said


NAMES_OF_OUTCOMES = (
    *("unneeded", "needed", "timeouts", "all acked (s)", "time lost (s)"),
    "found spurious (s after timeout)",
)


def outcomes(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, ...]]:
    """A row per sender: the outcome of its replay."""
    for name, one in rows:
        counts = [str(one[key]) for key in ("unneeded", "needed", "timeouts")]
        times = [_seconds(one[key]) for key in ("elapsed_s", "time_lost_s", "detected_s")]
        yield (name, *counts, *times)


def _outcomes(what: str, rows: list[tuple[str, Mapping[str, Any]]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(what, no_wrap=True, min_width=max(len(name) for name, _ in rows))
    for name in NAMES_OF_OUTCOMES:
        table.add_column(name.replace(" (", "\n("), justify="right")
    for row in outcomes(rows):
        table.add_row(*row)
    return table


def _named(outcome: Mapping[str, Any]) -> str:
    written = ((key, str(value).lower()) for key, value in outcome["set"].items())
    settings = ", ".join(f"{key}={value}" for key, value in written)
    return f"{outcome['sender']} ({settings})" if settings else outcome["sender"]


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _connections(shown: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("#", justify="right")
    table.add_column("client and server", overflow="fold")
    table.add_column("seen at")
    table.add_column("retransmitted\n" + " /\n".join(VERDICTS), justify="right")
    table.add_column("timeouts\n" + " /\n".join(CLASSES), justify="right")
    table.add_column("time lost\n(s)", justify="right")
    for one in shown:
        table.add_row(
            str(one["number"]),
            # An IPv6 address in brackets is no markup.
            Text(f"{one['client']}\n{one['server']}"),
            f"{one['vantage']}\n({one['sender']} sends)",
            _counts(one["retransmissions"], "verdict", VERDICTS),
            _counts(one["timeouts"], "class", CLASSES),
            time_lost(one),
        )
    return table


def time_lost(one: Mapping[str, Any]) -> str:
    """The time lost in all episodes, in seconds, as far as it is known."""
    costs = [episode["cost"]["time_lost"] for episode in one["episodes"]]
    lost = [cost for cost in costs if cost is not None]
    return f"{sum(lost):.3f}" if lost else "-"


def _counts(rows: list[Mapping[str, Any]], key: str, names: tuple[str, ...]) -> str:
    return " / ".join(str(sum(row[key] == name for row in rows)) for name in names)


def _stories(one: Mapping[str, Any]) -> RenderableType:
    lines = []
    for episode in one["episodes"][:STORIES]:
        at = f"{begins(one, episode)}: "
        lines.append(Text.assemble((f"#{one['number']} {at}", "bold"), episode["story"]))
    has_resent = any(resent["from"] == one["sender"] for resent in one["retransmissions"])
    if has_resent and one["vantage"] in BLIND:
        lines.append(Text.assemble((f"#{one['number']} ", "bold"), BLIND[one["vantage"]]))
    left = len(one["episodes"]) - STORIES
    if left > 0:
        lines.append(Text(f"#{one['number']} and {counted(left, 'more episode')}", "dim"))
    for habit in one["habits"]:
        frames = ", ".join(str(frame) for frame in habit["frames"][:5])
        about = f"the {habit['from']} {habit['about']} (frames {frames})"
        lines.append(Text.assemble((f"#{one['number']} ", "bold"), about))
    if one["stack"]:
        lines.append(Text.assemble((f"#{one['number']} ", "bold"), of_stack(one)))
    return Padding(Group(*lines), (0, 0, 0, 2))


def begins(one: Mapping[str, Any], episode: Mapping[str, Any]) -> str:
    """When an episode begins, and its sender if that is not the end that sends most."""
    whose = "" if episode["from"] == one["sender"] else f", data of the {episode['from']}"
    return f"{episode['start']:.3f} s, frame {episode['frames'][0]}{whose}"


def of_stack(one: Mapping[str, Any]) -> str:
    """The systems that the sender may run, with the evidence."""
    stack = one["stack"]
    *others, last = stack["systems"]
    if others:
        said = (
            f"may be {', '.join(others)} or {last}; their SYNs look alike (frame {stack['frame']})"
        )
    else:
        sure = f"{100 * stack['confidence']:.0f} % sure"
        said = f"looks like {last} ({sure}, frame {stack['frame']})"
    return f"the {one['sender']} {said}: {'; '.join(stack['grounds'])}"
