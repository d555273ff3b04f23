"""Time-sequence figures of several senders, for print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import polars as pl

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.plot.overlays import MOST_OVERLAID, Overlay
from rtolab.plot.paper import POINTS, Figure, Format, FormatOptions
from rtolab.plot.sequence_panels import Options, Panels, TransferOutcome
from rtolab.plot.style import Chart
from rtolab.plot.views import FlowPackets, Traced, check_place, check_span, view_of

MOST_SENDERS = 12


def time_sequence(
    traced: Traced,
    senders: Sequence[str] | None = None,
    *,
    flow: str | None = None,
    place: str = "sender",
    between: tuple[float, float] | None = None,
    window: bool = False,
    marks: Sequence[tuple[float, str]] = (),
    overlay: bool = False,
    **format_: Unpack[FormatOptions],
) -> Figure:
    """Sequence numbers over time, a panel per sender, as wide as a column of a paper.

    Segments are ticks from their first to their last byte. Retransmissions that were needed,
    those that were not, and lost packets have other shapes. The black line is the cumulative ACK.
    Vertical lines are timeouts and fast retransmits, shades are disturbances of the links.

    Args:
        traced: traced runs: a result, or a `Folder` that `rtolab run --out` wrote.
        senders: sender specifications of the runs, from top to bottom; by default all. The first
            run of each is drawn.
        flow: the flow; by default the first one of each run.
        place: "sender" or "receiver", where the packets were seen.
        between: begin and end, in seconds; by default from 0 to the last packet.
        window: also draw the right edge of the advertised window.
        marks: instants to mark, in seconds, each with a short text.
        overlay: draw up to four senders into one panel. Each has a colour and a dash, and a row of
            timeouts and fast retransmits above the panel. Where runs coincide, their marks are side
            by side. SACK blocks are left out.
        format_: `column`, `width_in`, `height_in`, `title`, `font`, `font_pt`.

    Raises:
        Error: no such sender, flow or place, no packets between these instants, too many senders,
            or the runs were not traced.
    """
    check_place(place)
    most = MOST_OVERLAID if overlay else MOST_SENDERS
    runs = _runs(traced.connections, senders or (), most)
    views = [view_of(traced, run, flow=flow, between=between) for run in runs]
    if all(view.segments.is_empty() for view in views):
        raise Error("no packets were recorded: run with trace=True")
    check_span(views, between)
    if between is None:
        whole = (0.0, max(view.span[1] for view in views))
        views = [replace(view, span=whole) for view in views]
    said = [_outcome(traced.connections, run, flow) for run in runs]
    options = Options(place, window, tuple(sorted(marks)))
    # An axis and a key need about half an inch.
    height = (0.55 + (1.9 if overlay or len(views) == 1 else 0.95 * len(views))) * POINTS
    if overlay:
        # Rows of events and of the key.
        height += 0.12 * POINTS * len(views)
    drawn = [FlowPackets.at(view, place) for view in views]
    form = Format.of(format_)
    if overlay:

        def draw_overlay(form: Format, width: float, height: float) -> Chart:
            return Overlay(form, (width, height), drawn, options).chart(said)

        outcomes = [f"{outcome.sender}: {outcome.long}." for outcome in said]
        return Figure(draw_overlay, form, height, outcomes)

    def draw(form: Format, width: float, height: float) -> Chart:
        return Panels(form, (width, height / len(drawn)), drawn, options).chart(said)

    return Figure(draw, form, min(height, 8.5 * POINTS))


def _runs(connections: pl.DataFrame, senders: Sequence[str], most: int) -> list[int]:
    """The first run of each sender."""
    firsts = connections.group_by("sender", maintain_order=True).agg(pl.col("run").min())
    of = dict(firsts.iter_rows())
    for sender in senders:
        if sender not in of:
            expected = _rtolab.suggest(sender, list(of))
            raise Error(f"found no run of the sender {sender}; expected {expected}")
    chosen = list(senders or of)
    if len(chosen) > most:
        where = "in one panel" if most == MOST_OVERLAID else "in a figure"
        raise Error(f"found {len(chosen)} senders; expected at most {most} {where}")
    return [of[sender] for sender in chosen]


def _outcome(connections: pl.DataFrame, run: int, flow: str | None) -> TransferOutcome:
    mine = connections.filter(pl.col("run") == run)
    one = mine.filter(pl.col("flow") == (flow or mine["flow"][0])).row(0, named=True)
    ended = f"{one['elapsed_s']:.1f} s" if one["completed"] else "unfinished"
    return TransferOutcome(str(one["flow_sender"] or one["sender"]), ended, int(one["unneeded"]))
