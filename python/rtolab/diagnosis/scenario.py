"""A path and a transfer, written as a scenario."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rtolab.diagnosis.line import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtolab.diagnosis.line import Change
    from rtolab.diagnosis.path import Inferred

LARGEST_UNSCALED = 65_535
"""The largest window that needs no scale, in bytes."""

APART = 2e-6
"""Spans that touch within the digits that are written are one, in seconds."""

SHIFTED = """\
# All is {shift} later than in the capture: so slots of Linux's timers begin at multiples of their
# length (tcp.rto.timer).
"""

SCENARIO = """\
# Inferred from a capture at the sender. Rate and delay are taken to be the same both ways, and an
# outage to end halfway between the last packet known to be lost and the first known to arrive.
{shifted}
title = "A path inferred from a capture"
duration = "{duration:.0f} s"

[[link]]
name = "path"
between = ["sender", "receiver"]
rate = "{rate:.0f} bit/s"
delay = "{delay}"
{changes}{mishaps}
[tcp]
mss = "{mss} B"
timestamps = {timestamps}
{scale}
[receiver]
profile = "linux"
buffer = "{window} B"
ack_every = {ack_every}
quick_acks = {quick_acks}
sack = {sack}
dsack = {dsack}

[[flow]]
name = "transfer"
from = "sender"
to = "receiver"
bytes = "{size} B"
start = "{start}"
"""


def written(inferred: Inferred) -> str:
    """The scenario, as TOML."""
    shift = inferred.wheel.shift if inferred.wheel else 0.0
    inferred = _later(inferred, shift)
    line, transfer = inferred.line, inferred.transfer
    drops = f"drops = {list(inferred.drops)}" if inferred.drops else ""
    stalls, outages = _spans("stalls", line.forward), _spans("outages", inferred.outages)
    queue = f'queue = "{inferred.queue} B"' if inferred.queue else ""
    forward = _section("link.forward", (queue, stalls, outages, drops))
    stalls, outages = _spans("stalls", line.backward), _spans("outages", line.silent)
    backward = _section("link.backward", (stalls, outages))
    scaled = transfer.window > LARGEST_UNSCALED
    return SCENARIO.format(
        shifted=SHIFTED.format(shift=_time(shift)) if shift else "",
        duration=10 * transfer.end + 60,
        rate=line.rate,
        delay=_time(line.delay),
        changes=_changes(line.changes),
        mishaps=forward + backward,
        mss=transfer.mss,
        timestamps=_truth(transfer.timestamps),
        scale="window_scale = 7\n" if scaled else "",
        window=transfer.window,
        ack_every=transfer.ack_every,
        quick_acks=transfer.quick_acks,
        sack=_truth(transfer.sack),
        dsack=_truth(transfer.dsack),
        size=transfer.size,
        start=_time(transfer.start),
    )


def _later(inferred: Inferred, shift: float) -> Inferred:
    """All so many seconds later."""

    def spans(of: Sequence[Span]) -> tuple[Span, ...]:
        return tuple(Span(one.start + shift, one.end + shift) for one in of)

    line, transfer = inferred.line, inferred.transfer
    line = replace(
        line,
        forward=spans(line.forward),
        backward=spans(line.backward),
        silent=spans(line.silent),
        changes=[replace(one, at=one.at + shift) for one in line.changes],
    )
    transfer = replace(transfer, start=transfer.start + shift)
    return replace(inferred, line=line, transfer=transfer, outages=spans(inferred.outages))


def undisturbed(inferred: Inferred) -> Inferred:
    """The same over a path that nothing befalls."""
    line = replace(inferred.line, forward=(), backward=(), silent=())
    return replace(inferred, line=line, drops=(), outages=())


def _section(name: str, lines: Sequence[str]) -> str:
    kept = [line for line in lines if line]
    return "\n".join(["", f"[{name}]", *kept, ""]) if kept else ""


def _changes(changes: Sequence[Change]) -> str:
    each = [f'{{ at = "{_time(one.at)}", rate = "{one.rate:.0f} bit/s" }}' for one in changes]
    return f"rate_changes = [{', '.join(each)}]\n" if each else ""


def _spans(key: str, spans: Sequence[Span]) -> str:
    """Nothing if there are none; those that overlap are one."""
    ordered: list[Span] = []
    for span in sorted(spans, key=lambda span: span.start):
        if ordered and span.start <= ordered[-1].end + APART:
            last = ordered.pop()
            ordered.append(replace(last, end=max(last.end, span.end)))
        elif span.length > APART:
            ordered.append(span)
    each = [f'{{ at = "{_time(one.start)}", for = "{_time(one.length)}" }}' for one in ordered]
    return f"{key}.scripted = [{', '.join(each)}]" if each else ""


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} us"


def _truth(value: bool) -> str:
    return str(value).lower()
