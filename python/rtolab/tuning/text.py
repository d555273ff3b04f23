"""A recommendation as text: one sentence, then tables, then commands."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rtolab.stats import Estimate
from rtolab.tables import compact
from rtolab.text import counted
from rtolab.tuning import CURRENT_S, FEWEST_REPAIRS, FEWEST_WAITS, PathClass, Tuning
from rtolab.tuning.commands import commands, delayed_ack, is_unsafe, settings

SHOWN_S = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""The minimum RTOs of the table."""
SHORTEST_S = 60.0
"""Below this length a capture says little about a day."""
CLASSES_SHOWN = 5


def answer(tuning: Tuning) -> str:
    """What to set and what it buys, in a sentence."""
    chosen = settings(tuning)
    if chosen:
        one = max(chosen, key=lambda each: each.at(each.recommended or 0.0).saved.value)
        floor = one.recommended or CURRENT_S
        then, now = one.at(floor), one.at(CURRENT_S)
        more = len(chosen) - 1
        others = f" ({number(more, 'other prefix', 'other prefixes')} below)"
        seconds = then.saved.value
        added = max(then.spurious.high - now.spurious.low, 0.0)
        return (
            f"Set the minimum RTO to {duration(floor)} for {one.network}{others if more else ''}: "
            f"repairs of real losses come {amount(seconds)} s a day earlier than with "
            f"{duration(CURRENT_S)} ({counted(one.genuine, 'repair')} in the capture), and the "
            f"capture shows no added spurious timeout (95 %: at most {amount(added)} a day)."
        )
    if not tuning.classes:
        why = "; ".join(f"{count} {reason}" for reason, count in tuning.unused.items())
        return (
            "No advice: no direction of this capture shows how late acknowledgments come "
            f"({why or 'no data was sent'}). Capture both directions at the sender."
        )
    if any(is_unsafe(one) and one.genuine for one in tuning.classes):
        return (
            f"Keep the minimum RTO of {duration(CURRENT_S)}: acknowledgments come so late here "
            "that any smaller one adds spurious timeouts."
        )
    waits = max(one.waits for one in tuning.classes)
    if waits < FEWEST_WAITS:
        return (
            f"No advice: too little data. The largest class of paths has {counted(waits, 'wait')} "
            f"for an acknowledgment; {FEWEST_WAITS} are needed. Capture for longer."
        )
    repairs = max(one.genuine for one in tuning.classes)
    if repairs:
        return (
            "No advice: too little data. In a class of paths timeouts and probes repaired at most "
            f"{number(repairs, 'loss', 'losses')}; {FEWEST_REPAIRS} are needed. Capture for longer."
        )
    return (
        f"Keep the minimum RTO of {duration(CURRENT_S)}: no timeout or probe repaired a loss in "
        f"this capture, so a smaller one would save nothing."
    )


def page(tuning: Tuning) -> RenderableType:
    """The whole output."""
    parts: list[RenderableType] = [Text(answer(tuning), "bold"), Text("")]
    parts += [Text(said, "yellow") for said in warnings(tuning)]
    for one in tuning.classes[:CLASSES_SHOWN]:
        parts += [Text(""), Text(heading(one), "bold"), table(one)]
    left = len(tuning.classes) - CLASSES_SHOWN
    if left > 0:
        parts.append(Text(f"{left} more classes of paths are in --json", "dim"))
    cap = _cap(tuning)
    parts += [Text(cap)] if cap else []
    given = list(commands(tuning))
    if given:
        parts += [Text(""), Text("Commands", "bold")]
        for what, command in given:
            parts += [Text(f"# {what}", "dim"), Padding(Text(command, no_wrap=True), (0, 0, 0, 2))]
    return Group(*parts)


def heading(one: PathClass) -> str:
    """The class of paths, and how much of it was captured."""
    low, high = one.round_trip
    span = f"from {duration(low)}" if math.isinf(high) else f"{duration(low)} to {duration(high)}"
    span = f"below {duration(high)}" if low == 0.0 else span
    return (
        f"{one.network}, round trips {span}: {counted(one.connections, 'connection')}, "
        f"{counted(one.waits, 'wait')}, {counted(one.genuine, 'repair')} by timeout or probe"
    )


def table(one: PathClass) -> Table:
    """The minimum RTOs of a class; rates are per day, with intervals of 95 %."""
    shown = compact()
    for name in ("minimum\nRTO", "ACKs later\nthan it", "spurious time-\nouts a day (95 %)"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.add_column("spurious\nprobes a day", justify="right", no_wrap=True)
    shown.add_column("s saved\na day (95 %)", justify="right", no_wrap=True)
    shown.add_column("", no_wrap=True)
    wanted = {*SHOWN_S, one.recommended}
    for row in one.minimums:
        if row.seconds not in wanted:
            continue
        marks = {CURRENT_S: "default", one.recommended: "advised"}
        shown.add_row(
            duration(row.seconds),
            percent(row.late),
            interval(row.spurious),
            amount(row.probes.value),
            interval(row.saved),
            marks.get(row.seconds, ""),
            style="bold green" if row.seconds == one.recommended else None,
        )
    return shown


def warnings(tuning: Tuning) -> Iterator[str]:
    """What the captures do not show."""
    seconds = sum(one.seconds for one in tuning.sources)
    if tuning.classes and seconds < SHORTEST_S:
        yield f"The captures last {seconds:.1f} s: rates per day are extrapolated from that."
    for reason, count in tuning.unused.items():
        yield f"Not used: {counted(count, 'direction')}: {reason}."
    if any(one.timestamps is False for one in tuning.classes):
        yield (
            "Some connections have no timestamps: whether a retransmission was needed then rests "
            "on D-SACK and on times, and more timeouts stay unknown, which count as spurious."
        )
    left = sum(one.left_out for one in tuning.sources)
    if left:
        yield f"Left out: {counted(left, 'connection')} beyond the limits of a diagnosis."
    for one in settings(tuning):
        yield from _shared(tuning, one)
        delay = delayed_ack(one)
        if delay is not None:
            yield (
                f"{one.network}: delayed acknowledgments hold the minimum at "
                f"{duration(one.recommended or 0.0)}. With at most {duration(delay)} of delay at "
                f"the receivers, {duration(one.without_delay or 0.0)} would do."
            )


def _shared(tuning: Tuning, chosen: PathClass) -> Iterator[str]:
    """The other classes of a prefix, if they would take another minimum."""
    others = sorted(
        {
            one.recommended
            for one in tuning.classes
            if one.network == chosen.network and one.recommended not in (None, chosen.recommended)
        }
    )
    if others:
        alone = " and ".join(duration(floor) for floor in others)
        yield (
            f"{chosen.network}: paths of other round trips in it would take {alone}. A route or a "
            "rule knows no round trip, so the largest minimum is advised; a longer --prefix may "
            "separate them."
        )


def _cap(tuning: Tuning) -> str:
    if tuning.cap is None:
        return ""
    row = next(one for one in tuning.caps if one.seconds == tuning.cap)
    return (
        f"Longest timeout: {duration(tuning.longest)}. A maximum RTO of {duration(row.seconds)} "
        f"saves about {amount(row.saved)} s a day after outages, for {amount(row.sent)} more "
        "retransmissions a day."
    )


def number(count: int, one: str, several: str) -> str:
    """A number with its noun, whose plural is irregular."""
    return f"{count} {one if count == 1 else several}"


def duration(seconds: float) -> str:
    """A time in words."""
    return f"{seconds:g} s" if seconds >= 1.0 else f"{seconds * 1000:g} ms"


def percent(share: float) -> str:
    """A share as a percentage with two significant digits."""
    return f"{share * 100:.2g} %"


def amount(number: float) -> str:
    """A number with two or three significant digits."""
    return f"{number:,.0f}" if abs(number) >= 100.0 else f"{number:.2g}"


def interval(value: Estimate) -> str:
    """A value with its interval."""
    return f"{amount(value.value)} ({amount(value.low)} to {amount(value.high)})"


def document(tuning: Tuning) -> dict[str, Any]:
    """The output of `--json`."""

    def estimate(value: Estimate) -> dict[str, float]:
        return {"value": value.value, "low": value.low, "high": value.high}

    return {
        "answer": answer(tuning),
        "warnings": list(warnings(tuning)),
        "sources": [{"name": one.name, "seconds": one.seconds} for one in tuning.sources],
        "unused": tuning.unused,
        "classes": [
            {
                "network": str(one.network),
                "round_trip": [end if math.isfinite(end) else None for end in one.round_trip],
                "connections": one.connections,
                "waits": one.waits,
                "repairs": one.genuine,
                "timestamps": one.timestamps,
                "recommended": one.recommended,
                "without_delayed_acks": one.without_delay,
                "minimums": [
                    {
                        "seconds": row.seconds,
                        "late": row.late,
                        "spurious_a_day": estimate(row.spurious),
                        "probes_a_day": estimate(row.probes),
                        "saved_a_day": estimate(row.saved),
                        "single_a_day": row.delayed,
                        "preempted_a_day": row.preempted,
                        "unknown_a_day": row.unknown,
                    }
                    for row in one.minimums
                ],
            }
            for one in tuning.classes
        ],
        "longest_timeout": tuning.longest,
        "caps": [
            {"seconds": one.seconds, "saved_a_day": one.saved, "sent_a_day": one.sent}
            for one in tuning.caps
        ],
        "cap": tuning.cap,
        "commands": [{"for": what, "command": command} for what, command in commands(tuning)],
    }
