"""A diagnosis as tables of text, for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rtolab.diagnosis import logs
from rtolab.diagnosis.verdicts import CLASSES, VERDICTS
from rtolab.text import counted

if TYPE_CHECKING:
    from rtolab.diagnosis import Diagnosis

MAX_EPISODES = 3
"""Episodes shown of a connection."""

NOT_SHOWN = {
    "receiver": "Captured at the receiver: it shows which copies arrived, and not why they were "
    "retransmitted. A capture at the sender shows both.",
    "unknown": "The place of this capture is unknown: verdicts that rest on times may be wrong.",
}
"""The facts that a capture cannot show of a connection, by its vantage."""


def diagnosis(found: Diagnosis, top: int) -> RenderableType:
    """The answer in words, and the worst connections of a capture with their episodes."""
    if found.is_log:
        return _log(found, top)
    summary = found.document["summary"]
    counts = ", ".join(
        f"{summary[key]} {what}{'s' * (summary[key] != 1)}"
        for key, what in (
            ("packets", "TCP packet"),
            ("connections", "connection"),
            ("retransmissions", "retransmission"),
        )
    )
    lines: list[RenderableType] = [Text(found.capture, "bold"), Text(counts, "dim")]
    if summary["packets"]:
        lines.append(Text(captured(found), "dim"))
    lines += [Text(said, "dim") for said in (found.passed_over, found.lacks) if said]
    lines.append(Padding(paragraph(found.document["answer"]), (1, 0)))
    shown = [one for one in found.worst if has_something(one)]
    if shown[:top]:
        lines.append(_connections(found, shown[:top]))
        answers = {one["connection"]: one for one in found.document["answer"]["connections"]}
        several = summary["connections"] > 1
        for one in shown[:top]:
            answer = answers.get(one["number"]) if several else None
            lines.append(_stories(found, one, answer))
        left = len(shown) - top
        if left > 0:
            lines.append(Text(f"and {counted(left, 'more connection')}: --top {len(shown)}", "dim"))
        lines += [Text(said) for said in stacks(shown[:top])]
    return Group(*lines)


def _log(found: Diagnosis, top: int) -> RenderableType:
    """The answer about a QUIC log, and its worst connections."""
    lines: list[RenderableType] = [Text(found.capture, "bold"), Text(logs.counts(found), "dim")]
    if found.document["summary"]["began"]:
        lines.append(Text(captured(found), "dim"))
    if found.passed_over:
        lines.append(Text(found.passed_over, "dim"))
    lines.append(Padding(paragraph(found.document["answer"]), (1, 0)))
    shown = [one for one in found.worst if logs.has_something(one)]
    if shown:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in logs.NAMES:
            heading = name.replace(": ", "\n").replace(", ", " /\n").replace(" (", "\n(")
            table.add_column(heading, justify="left" if name == "log of" else "right")
        for one in shown[:top]:
            table.add_row(*logs.cells(one))
        lines.append(table)
        said = [
            Text(f"#{one['number']} {text}")
            for one in shown[:top]
            for text in (*logs.events(one), *logs.episodes(one))
        ]
        lines.append(Padding(Group(*said), (0, 0, 1, 2)))
    left = len(shown) - top
    if left > 0:
        lines.append(Text(f"and {counted(left, 'more connection')}: --top {len(shown)}", "dim"))
    return Group(*lines)


def has_something(one: Mapping[str, Any]) -> bool:
    """Is there anything to say about a connection?"""
    return any(one[key] for key in ("retransmissions", "habits", "silences", "only_from"))


def paragraph(answer: Mapping[str, Any]) -> Text:
    """The sentences of an answer, each with its figures beside it."""
    said = Text()
    for sentence in answer["sentences"]:
        said.append(sentence["text"])
        said.append(f" [{sentence['basis']}] " if sentence["basis"] else " ", "dim")
    said.rstrip()
    return said


def captured(found: Diagnosis) -> str:
    """When the capture was made."""
    summary = found.document["summary"]
    began, ended = (datetime.fromtimestamp(summary[key], UTC) for key in ("began", "ended"))
    until = f"{ended:%H:%M:%S}" if began.date() == ended.date() else f"{ended:%Y-%m-%d %H:%M:%S}"
    return f"captured {began:%Y-%m-%d %H:%M:%S} to {until} UTC"


def clock(found: Diagnosis, t: float) -> str:
    """The wall-clock time of `t` seconds after the first packet, in UTC."""
    at = datetime.fromtimestamp(found.document["summary"]["began"] + t, UTC)
    return f"{at:%H:%M:%S}"


def stacks(shown: Sequence[Mapping[str, Any]]) -> list[str]:
    """The guess at each host's system: for each host the one with the highest confidence."""
    guesses: dict[str, Mapping[str, Any]] = {}
    for one in shown:
        if one["stack"]:
            host = one[one["sender"]].rpartition(":")[0]
            known = guesses.get(host)
            if not known or known["stack"]["confidence"] < one["stack"]["confidence"]:
                guesses[host] = one
    return [f"{host} {of_stack(one)}" for host, one in guesses.items()]


def what_if(found: Mapping[str, Any]) -> RenderableType:
    """The conclusion from other senders and settings, and their outcomes; or why none is known."""
    title = Text(heading(found), "bold")
    if "error" in found:
        return Group(title, Text(f"Nothing was replayed: {found['error']}."))
    lines: list[RenderableType] = [title, paragraph({"sentences": found["advice"]})]
    lines.append(Text(agreement(found), "dim"))
    if found["agrees"]:
        lines += [_outcomes(what, rows) for what, rows in compared(found)]
    return Group(*lines)


def heading(found: Mapping[str, Any]) -> str:
    """The connection that was replayed: the worst one."""
    number = found["connection"]
    return "What if" if number is None else f"What if: connection #{number}"


def compared(found: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, Mapping[str, Any]]]]]:
    """The two tables of outcomes, each with the capture's own in its first row."""
    own = {"time_lost_s": None, "detected_s": None, **found["captured"]}
    senders = [("the capture", own), *((one["sender"], one) for one in found["senders"])]
    settings = [("the capture", own), *((one["setting"], one) for one in found["linux"])]
    return [("another sender", senders), ("Linux", settings)]


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
        said += " They do not agree, so that the outcomes describe another path than the capture's."
    return said


NAMES_OF_OUTCOMES = (
    *("unneeded", "needed", "timeouts", "all acked (s)", "more than undisturbed (s)"),
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
        title = name.replace(" (", "\n(").replace(" than ", " than\n")
        longest_word = max(len(word) for word in title.split())
        table.add_column(title, justify="right", min_width=longest_word)
    for row in outcomes(rows):
        table.add_row(*row)
    return table


def _named(outcome: Mapping[str, Any]) -> str:
    settings = ", ".join(_setting(key, str(value)) for key, value in outcome["set"].items())
    return f"{outcome['sender']} ({settings})" if settings else outcome["sender"]


SYSCTLS = {"kernel.congestion": "tcp_congestion_control", "kernel.rto_min": "rto_min"}
"""Names of kernel settings that differ from their keys in a scenario."""


def _setting(key: str, value: str) -> str:
    """A setting as Linux names it, if it is one of the kernel's."""
    value = value.lower()
    if not key.startswith("kernel."):
        return f"{key}={value}"
    name = SYSCTLS.get(key, key.replace("kernel.", "tcp_"))
    flags = {"true": "1", "false": "0"}
    return f"{name}={flags.get(value, value)}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _connections(found: Diagnosis, shown: list[dict[str, Any]]) -> Table:
    totals = found.document["summary"]["totals"]
    several = found.document["summary"]["connections"] > 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=several)
    unneeded, needed, unknown = (str(totals[key]) for key in VERDICTS)
    classes = ("spurious", "ack_lost", "genuine", "unknown_timeouts")
    table.add_column("#", justify="right")
    table.add_column("client and server", overflow="fold", footer="all connections")
    table.add_column("seen at")
    table.add_column(
        "retransmitted\n" + " /\n".join(VERDICTS),
        justify="right",
        footer=f"{unneeded} / {needed} / {unknown}",
    )
    table.add_column(
        "timeouts\n" + " /\n".join(CLASSES),
        justify="right",
        footer=" / ".join(str(totals[key]) for key in classes),
    )
    table.add_column("time lost\n(s)", justify="right", footer=f"{totals['time_lost']:.3f}")
    for one in shown:
        table.add_row(
            str(one["number"]),
            Text(f"{one['client']}\n{one['server']}"),
            f"{one['vantage']}\n({one['sender']} sends)",
            _counts(one["retransmissions"], "verdict", VERDICTS),
            classes_of(one),
            time_lost(one),
        )
    return table


def classes_of(one: Mapping[str, Any]) -> str:
    """The timeouts by class; a dash where the capture does not show timeouts."""
    hidden = one["only_from"] or (one["vantage"] == "receiver" and not one["timeouts"])
    return "-" if hidden else _counts(one["timeouts"], "class", CLASSES)


def time_lost(one: Mapping[str, Any]) -> str:
    """The time lost to timeouts and late acknowledgments, in seconds, as far as it is known."""
    lost = one["time_lost"]
    return "-" if lost is None else f"{lost:.3f}"


def _counts(rows: list[Mapping[str, Any]], key: str, names: tuple[str, ...]) -> str:
    return " / ".join(str(sum(row[key] == name for row in rows)) for name in names)


def _stories(
    found: Diagnosis, one: Mapping[str, Any], answer: Mapping[str, Any] | None
) -> RenderableType:
    name = (f"#{one['number']} ", "bold")
    lines = [Text.assemble(name, paragraph(answer))] if answer else []
    for episode in one["episodes"][:MAX_EPISODES]:
        at = f"{begins(found, one, episode)}: "
        lines.append(Text.assemble((f"#{one['number']} {at}", "bold"), episode["description"]))
    left = len(one["episodes"]) - MAX_EPISODES
    if left > 0:
        lines.append(Text(f"#{one['number']} and {counted(left, 'more episode')}", "dim"))
    lines += [Text.assemble(name, silence(found, row)) for row in one["silences"][:MAX_EPISODES]]
    left = len(one["silences"]) - MAX_EPISODES
    if left > 0:
        lines.append(Text(f"#{one['number']} and {counted(left, 'more silence')}", "dim"))
    has_resent = any(resent["from"] == one["sender"] for resent in one["retransmissions"])
    if has_resent and one["vantage"] in NOT_SHOWN:
        lines.append(Text.assemble(name, NOT_SHOWN[one["vantage"]]))
    for finding in one["habits"]:
        frames = ", ".join(str(frame) for frame in finding["frames"][:5])
        about = f"the {finding['from']} {finding['about']} (frames {frames})"
        lines.append(Text.assemble(name, about))
    return Padding(Group(*lines), (0, 0, 1, 2))


def begins(found: Diagnosis, one: Mapping[str, Any], episode: Mapping[str, Any]) -> str:
    """When an episode begins, and its sender if that is not the end that sends most."""
    whose = "" if episode["from"] == one["sender"] else f", data of the {episode['from']}"
    at = f"{episode['start']:.3f} s ({clock(found, episode['start'])} UTC)"
    return f"{at}, frame {episode['frames'][0]}{whose}"


WAITS = {
    "network": "an acknowledgment by the {end} came late",
    "window": "the application of the {end} did not read: its window was closed",
    "lost-update": "the window of the {end} had opened, and its announcement was lost",
    "host": "the host of the {end}, or the clock of the capture, stood still",
    "application": "the application of the {end} had nothing to send",
    "unknown": "no data of the {end} came",
}
"""The cause of a silence in words, by its key `wait`."""


def silence(found: Diagnosis, row: Mapping[str, Any]) -> str:
    """A time without packets that no retransmission ended."""
    at = f"{row['start']:.3f} s ({clock(found, row['start'])} UTC)"
    why = WAITS[row["wait"]].format(end=row["for"])
    return f"{at}: for {row['length']:.3f} s {why} (until frame {row['frame']})"


def of_stack(one: Mapping[str, Any]) -> str:
    """The systems that the sender's host may run, with the evidence."""
    stack = one["stack"]
    *others, last = stack["systems"]
    if others:
        said = (
            f"may be {', '.join(others)} or {last}; their SYNs look alike (frame {stack['frame']})"
        )
    else:
        sure = f"{100 * stack['confidence']:.0f} % sure"
        said = f"looks like {last} ({sure}, frame {stack['frame']})"
    return f"{said}: {'; '.join(stack['grounds'])}"
