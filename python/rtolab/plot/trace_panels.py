"""Panels of a trace plot: packets, windows and timers over time.

The colours are those of Okabe and Ito ("Color Universal Design", 2008), which colour-blind readers
can distinguish; important marks differ in shape, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import altair as alt
import polars as pl

from rtolab.plot import views
from rtolab.plot.style import Layers, Unit
from rtolab.plot.views import FlowPackets, View

BLACK, GREY = "#000000", "#7f7f7f"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

TICK: Final = "M0,-1L0,1"
CROSS: Final = "M-.7,-.7L.7,.7M.7,-.7L-.7,.7"
WIDTH = 900
"""The width of a panel, in pixels; with axis and legend a figure is about 1200 wide."""

DELAYED_S = 0.5
"""The shortest delay by the link that is marked, in seconds."""

ZERO = "datum.value == 0 ? '0' : datum.label"
"""Labels of an axis of bytes: zero has no prefix."""

LOST = ("queue", "error", "outage", "script")


@dataclass(frozen=True)
class MarkStyle:
    """The colour, shape and dash of a class of marks."""

    name: str
    color: str
    shape: str = "circle"
    size: int = 40
    filled: bool = True
    dash: tuple[int, int] = (1, 0)


FIRST = MarkStyle("first transmission", BLUE, TICK, 22, filled=False)
NEEDED = MarkStyle("needed retransmission", GREEN, "triangle-up", 48, filled=False)
UNNEEDED = MarkStyle("unneeded retransmission", VERMILION, "diamond", 48, filled=False)
UNKNOWN = MarkStyle("retransmission, need unknown", GREY, "square", 40, filled=False)
DELAYED = MarkStyle("delayed by the link", PURPLE, "circle", 70, filled=False)
DROPPED = MarkStyle("lost", BLACK, CROSS, 56, filled=False)
PACKETS = (FIRST, NEEDED, UNNEEDED, UNKNOWN, DELAYED, DROPPED)

ACKED = MarkStyle("acknowledged", BLACK)
EDGE = MarkStyle(views.EDGE, ORANGE, dash=(6, 3))
SACKED = MarkStyle("SACK block", SKY)
LINES = (ACKED, EDGE, SACKED)

EVENTS = (
    MarkStyle("timeout", VERMILION, dash=(7, 3)),
    MarkStyle("fast retransmit", PURPLE, dash=(2, 3)),
    MarkStyle("probe", SKY, dash=(1, 2)),
)
SHADES = (MarkStyle("stall", GREY), MarkStyle("outage", ORANGE), MarkStyle("spike", SKY))
WINDOWS = (
    MarkStyle("cwnd", BLUE),
    MarkStyle("ssthresh", ORANGE, dash=(6, 3)),
    MarkStyle("in flight", GREY),
)
TIMERS = (MarkStyle("RTO", VERMILION), MarkStyle("SRTT", BLUE, dash=(6, 3)))


def rows(frame: pl.DataFrame) -> alt.InlineData:
    """A frame as inline data, as text that altair neither copies nor checks.

    Altair itself refuses more than 5000 rows and is slow with fewer.
    """
    return alt.InlineData(values=frame.write_json(), format=alt.JsonDataFormat(type="json"))


def tips(*fields: str) -> list[alt.Tooltip]:
    """The tooltip of a mark; altair takes far longer over bare names."""
    return [alt.Tooltip(field) for field in fields]


def sequence(
    seen: FlowPackets, delayed_s: float, marks: Sequence[tuple[float, str]] = (), *, labelled: bool
) -> alt.LayerChart:
    """Packets: sequence numbers over time."""
    x, (low, high) = seen.view.x(labelled=labelled), seen.ends
    if seen.edge_fits:
        high = max(seen.edges["seq"].to_list(), default=high)
    y = _bytes("seq:Q", "sequence number (bytes)", low, high)
    packets = packet_marks(seen.view.shown(seen.data), delayed_s)
    layers = [*_background(seen.view, x), *_ack_layers(seen, x, y), _point_layer(packets, x, y)]
    return _layered([*layers, *_mark_layers(marks, x)], 400)


def edge(seen: FlowPackets) -> alt.LayerChart:
    """The right edge of the advertised window, in a panel of its own above the packets."""
    edges, x = seen.edges, seen.view.x(labelled=False)
    y = _bytes("seq:Q", "edge", min(edges["seq"].to_list()), max(edges["seq"].to_list()))
    line = Unit(rows(edges)).mark_line(interpolate="step-after", strokeWidth=1.3, clip=True)
    drawn = line.encode(x, y, *_line_looks([EDGE], "Window offered"))
    return _layered([*_background(seen.view, x, legends=False), drawn], 48)


MARK_ROWS = 4
"""The number of rows for the texts of neighbouring marks, so that they do not overlap."""


def _mark_layers(marks: Sequence[tuple[float, str]], x: alt.X) -> list[alt.Chart]:
    """Vertical rules with texts, from the top down."""
    layers: list[alt.Chart] = []
    for number, (at, text) in enumerate(sorted(marks)):
        row = number % MARK_ROWS
        base = Unit(alt.InlineData(values=[{"at_s": at, "text": text}])).encode(x)
        # `alt.value` would mean the same and take a hundred times as long.
        y = alt.YValue(4 + 15 * row)  # type: ignore[no-untyped-call]
        layers += [
            base.mark_rule(color=BLACK, strokeWidth=0.8, strokeDash=[1, 2], clip=True),
            base.mark_text(
                align="left", baseline="top", dx=4, fontSize=12, fontStyle="italic", clip=True
            ).encode(text=alt.Text("text:N"), y=y),
        ]
    return layers


def _bytes(field: str, title: str, low: float, high: float) -> alt.Y:
    """A vertical axis of sequence numbers with margins."""
    margin = max(0.03 * (high - low), 1)
    scale = alt.Scale(domain=[low - margin, high + margin], nice=False, zero=False)
    axis = alt.Axis(format="~s", labelExpr=ZERO, tickCount=3 if title == "edge" else 10)
    return alt.Y(field, title=title, axis=axis, scale=scale)


def _ack_layers(seen: FlowPackets, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Cumulative ACKs, the right edge of the advertised window if it fits, and SACK blocks."""
    acks = seen.view.shown(seen.acks)
    lines = seen.ack_steps.select("at_s", seq="ack", what=pl.lit(ACKED.name))
    if seen.edge_fits:
        lines = pl.concat([lines, seen.edges])
    blocks = sack_blocks(acks).with_columns(what=pl.lit(SACKED.name))
    looks = _present(LINES, [*lines["what"], *blocks["what"]])
    line = Unit(rows(lines)).mark_line(interpolate="step-after", strokeWidth=1.3, clip=True)
    dots = Unit(rows(acks.select("at_s", seq="ack")))
    layers = [
        line.encode(x, y, *_line_looks(looks, "Lines")),
        dots.mark_circle(size=9, color=BLACK, opacity=1, clip=True).encode(x, y),
    ]
    if blocks.height:
        bars = Unit(rows(blocks)).mark_rule(strokeWidth=2.5, clip=True)
        layers.append(bars.encode(x, y, alt.Y2("end:Q"), *_line_looks(looks, None)))
    return layers


def packet_marks(data: pl.DataFrame, delayed_s: float) -> pl.DataFrame:
    """One row per mark: the kind of each segment, and a second mark if it was delayed or lost."""
    what = (
        pl.when(~pl.col("retransmission"))
        .then(pl.lit(FIRST.name))
        .when(pl.col("unneeded"))
        .then(pl.lit(UNNEEDED.name))
        .when(pl.col("fate") == "unknown")
        .then(pl.lit(UNKNOWN.name))
        .otherwise(pl.lit(NEEDED.name))
    )
    columns = data.select("at_s", "seq", "len", "fate", "held_s", "retransmission", "unneeded")
    kinds = columns.with_columns(what=what)
    delayed = columns.filter(pl.col("held_s") > delayed_s).with_columns(what=pl.lit(DELAYED.name))
    lost = columns.filter(pl.col("fate").is_in(LOST)).with_columns(what=pl.lit(DROPPED.name))
    return pl.concat([kinds, delayed, lost]).drop("retransmission", "unneeded")


def sack_blocks(acks: pl.DataFrame) -> pl.DataFrame:
    """One row per SACK block."""
    blocks = [
        acks.select("at_s", seq=f"sack_{i}_start", end=f"sack_{i}_end").drop_nulls()
        for i in range(1, 5)
    ]
    return pl.concat(blocks)


def _point_layer(packets: pl.DataFrame, x: alt.X, y: alt.Y) -> alt.Chart:
    looks = _present(PACKETS, packets["what"])
    names = [look.name for look in looks]

    def scale(values: Sequence[str | float]) -> alt.Scale:
        # Without an ordinal scale, sizes are interpolated, and a single one is undefined.
        return alt.Scale(type="ordinal", domain=names, range=list(values))

    filled = [look.color if look.filled else "transparent" for look in looks]
    legend = alt.Legend(title="Packets", symbolStrokeWidth=1.5)
    points: alt.Chart = (
        Unit(rows(packets))
        .mark_point(strokeWidth=1.2, opacity=1, clip=True)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape("what:N", scale=scale([look.shape for look in looks]), legend=legend),
            stroke=alt.Stroke("what:N", scale=scale([look.color for look in looks]), legend=legend),
            fill=alt.Fill("what:N", scale=scale(filled), legend=legend),
            size=alt.Size("what:N", scale=scale([look.size for look in looks]), legend=legend),
            tooltip=[
                alt.Tooltip("what:N"),
                alt.Tooltip("at_s:Q", title="at (s)", format=".3f"),
                alt.Tooltip("seq:Q"),
                alt.Tooltip("len:Q", title="bytes"),
                alt.Tooltip("fate:N"),
                alt.Tooltip("held_s:Q", title="held (s)", format=".3f"),
            ],
        )
    )
    return points


def _background(view: View, x: alt.X, *, legends: bool = True) -> list[alt.Chart]:
    """Shaded disturbances of the links, and the sender's timeouts; one panel has the legend."""
    start, end = view.span
    layers = []
    disturbed = view.disturbances.filter((pl.col("to_s") > start) & (pl.col("from_s") < end))
    if disturbed.height:
        looks = _present(SHADES, disturbed["kind"])
        shades = disturbed.select("to_s", "link", "direction", at_s="from_s", what="kind")
        legend = alt.Legend(title="Shaded", symbolType="square", symbolOpacity=0.3)
        color = alt.Color("what:N", scale=_colors(looks), legend=legend if legends else None)
        tooltip = tips("what:N", "link:N", "direction:N", "at_s:Q", "to_s:Q")
        shade = Unit(rows(shades)).mark_rect(opacity=0.22, clip=True)
        layers.append(shade.encode(x, alt.X2("to_s:Q"), color, tooltip=tooltip))
    events = view.shown(view.timeouts)
    if events.height:
        what = pl.col("kind").str.replace("_", " ")
        marks = events.select("at_s", "needed", "rto_s", "verdict", what=what)
        lines = _line_looks(_present(EVENTS, marks["what"]), "Events" if legends else None)
        tooltip = tips("what:N", "at_s:Q", "needed:N", "rto_s:Q", "verdict:N")
        rule = Unit(rows(marks)).mark_rule(strokeWidth=1.5, clip=True)
        layers.append(rule.encode(x, *lines, tooltip=tooltip))
    return layers


@dataclass(frozen=True)
class Steps:
    """A panel of step lines: columns of `windows`, by the names of their looks."""

    columns: Mapping[str, str]
    looks: Sequence[MarkStyle]
    legend: str
    axis: alt.Axis
    labelled: bool = False


CONGESTION = Steps(
    {"flight": "in flight", "cwnd": "cwnd", "ssthresh": "ssthresh"},
    WINDOWS,
    "Windows",
    alt.Axis(title="bytes", format="~s", labelExpr=ZERO, tickCount=5),
)
TIMER = Steps(
    {"rto_s": "RTO", "srtt_s": "SRTT"},
    TIMERS,
    "Timer",
    alt.Axis(title="seconds", tickCount=5),
    labelled=True,
)


def steps(view: View, what: Steps, height: int) -> alt.LayerChart:
    """The windows or timers of the sender over time."""
    named = [pl.col(column).cast(pl.Float64).alias(name) for column, name in what.columns.items()]
    values = view.steps(view.windows).select("at_s", *named)
    lines = values.unpivot(index="at_s", variable_name="what", value_name="value").drop_nulls()
    x = view.x(labelled=what.labelled)
    top = 1.08 * max(lines["value"].to_list(), default=1.0)
    y = alt.Y("value:Q", axis=what.axis, scale=alt.Scale(domain=[0, top], nice=False))
    line = Unit(rows(lines)).mark_line(interpolate="step-after", strokeWidth=1.5, clip=True)
    looks = _line_looks(_present(what.looks, lines["what"]), what.legend)
    return _layered([*_background(view, x, legends=False), line.encode(x, y, *looks)], height)


def _layered(layers: Sequence[alt.Chart], height: int) -> alt.LayerChart:
    channels = ("color", "strokeDash", "shape", "fill", "stroke", "size")
    own: dict[str, Literal["independent"]] = dict.fromkeys(channels, "independent")
    own_scales = alt.ScaleResolveMap(**own)
    resolve = alt.Resolve(scale=own_scales)
    return Layers(layer=list(layers), width=WIDTH, height=height, resolve=resolve)


def _present(looks: Sequence[MarkStyle], names: Sequence[str] | pl.Series) -> list[MarkStyle]:
    """The looks that occur, for the legend."""
    there = set(names)
    return [look for look in looks if look.name in there]


def _colors(looks: Sequence[MarkStyle]) -> alt.Scale:
    return alt.Scale(domain=[look.name for look in looks], range=[look.color for look in looks])


def _line_looks(looks: Sequence[MarkStyle], title: str | None) -> tuple[alt.Color, alt.StrokeDash]:
    """The colours and dashes of lines; without a title there is no legend."""
    legend = None
    if title:
        legend = alt.Legend(title=title, symbolType="stroke", symbolStrokeWidth=2, symbolSize=300)
    names, dashes = [look.name for look in looks], [list(look.dash) for look in looks]
    dash = alt.Scale(domain=names, range=dashes)
    return (
        alt.Color("what:N", scale=_colors(looks), legend=legend),
        alt.StrokeDash("what:N", scale=dash, legend=legend),
    )
