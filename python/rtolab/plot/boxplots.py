"""Box plots, curves as in the papers, and published medians in bands of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from rtolab.plot.label_lines import expression, wrapped
from rtolab.plot.style import LABEL_PX, Layers, Unit, styled
from rtolab.plot.trace_panels import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    rows,
    tips,
)
from rtolab.plot.widths import text_width

if TYPE_CHECKING:
    from rtolab.experiments.base import Curves, Point
    from rtolab.stats import Summary

BOX_WIDTH, BOX_STEP = 56, 130
PUBLISHED, OUTSIDE = "published median", "published median, outside of the band"


@dataclass(frozen=True)
class Box:
    """A box of a box plot: label, five numbers and published median, in the same unit."""

    label: str
    summary: Summary
    published: float | None = None


@dataclass(frozen=True)
class Band:
    """A published median, ours, and the band of medians of equally few runs."""

    group: str
    label: str
    measured: float
    low: float
    high: float
    published: float


def box_plot(title: str, subtitle: str, quantity: str, boxes: Sequence[Box]) -> alt.LayerChart:
    """Boxes from quartile to quartile, a line at the median, whiskers to the extremes.

    Args:
        title: of the figure.
        subtitle: the number of runs.
        quantity: the plotted quantity, with its unit.
        boxes: from left to right.
    """
    values = [
        {
            "label": box.label,
            "low": box.summary.min,
            "q1": box.summary.q1,
            "median": box.summary.median,
            "q3": box.summary.q3,
            "high": box.summary.max,
            "published": box.published,
            "what": PUBLISHED,
        }
        for box in boxes
    ]
    labels = [box.label for box in boxes]
    axis = alt.Axis(
        labelAngle=0,
        labelLimit=0,
        labelExpr=expression({label: wrapped(label, _fits_box) for label in labels}),
        ticks=False,
        labelPadding=8,
        title=None,
    )
    x = alt.X("label:N", sort=labels, axis=axis, scale=alt.Scale(paddingOuter=0.3))
    base = Unit(alt.InlineData(values=values)).encode(x)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=quantity, scale=alt.Scale(zero=True, nice=True))

    named = ("low", "q1", "median", "q3", "high", "published")
    tooltip = tips(*(f"{name}:Q" for name in named))
    layers = [
        base.mark_rule(color="black").encode(y("low"), alt.Y2("high:Q")),
        base.mark_tick(color="black", width=24, opacity=1).encode(y("low")),
        base.mark_tick(color="black", width=24, opacity=1).encode(y("high")),
        base.mark_bar(width=BOX_WIDTH, color=SKY, stroke="black", strokeWidth=1).encode(
            y("q1"), alt.Y2("q3:Q"), tooltip=tooltip
        ),
        base.mark_tick(color="black", width=BOX_WIDTH, thickness=3, opacity=1).encode(y("median")),
    ]
    if any(box.published is not None for box in boxes):
        layers.append(_published(base, [PUBLISHED]).encode(y("published")))
    chart = Layers(layer=layers, width=BOX_STEP * len(boxes), height=380)
    return styled(chart, _title(title, subtitle))


def _fits_box(line: str) -> bool:
    """Does a line of a label fit beside those of the next boxes, in a wider font, too?"""
    return text_width(line, LABEL_PX) < 0.9 * BOX_STEP


CURVE_WIDTH, CURVE_HEIGHT = 620, 400
COLORS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)
SHAPES = ("circle", "square", "triangle-up", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])


def look(place: int) -> tuple[str, str, list[int]]:
    """The colour, shape and dash of the line at this place; no two of 32 are drawn alike.

    Lines of the same colour differ in their dashes, which lines without points have, too.
    """
    dash = place + place // len(COLORS)
    return (
        COLORS[place % len(COLORS)],
        SHAPES[place % len(SHAPES)],
        DASHES[dash % len(DASHES)],
    )


APART = 2.5
"""The horizontal offset of lines, in pixels, so that error bars do not hide each other."""
DENSE = 40
"""The most points of a line whose points have shapes; more would hide the line."""


def curves(
    title: alt.TitleParams, axes: Curves, dots: Sequence[Point], published: Sequence[Point]
) -> alt.LayerChart:
    """A line per series with points and error bars; the paper's points are diamonds.

    Lines differ in colour, shape and dash. Points that a logarithmic axis cannot show are left out.

    Args:
        title: of the figure.
        axes: the declaration with the axes.
        dots: measured points, in the order of the legend.
        published: points from the paper's text, drawn on top.
    """
    lines = list(dict.fromkeys(dot.series for dot in (*dots, *published)))
    at = (
        alt.X("x:Q", title=axes.x, scale=_scale(log=axes.log_x, zero=False)),
        alt.Y("y:Q", title=axes.y, scale=_scale(log=axes.log_y, zero=True)),
    )
    beside = not axes.in_place and any(dot.low is not None for dot in dots)
    apart = APART if beside else 0.0
    layers = []
    for place, line in enumerate(lines):
        mine = [_dot(dot, axes) for dot in dots if dot.series == line and axes.shows(dot.x, dot.y)]
        if not mine:
            continue
        aside = apart * (place - (len(lines) - 1) / 2)
        layers += _line(mine, lines, at, aside)
    theirs = [_dot(dot, axes) for dot in published if axes.shows(dot.x, dot.y)]
    base = Unit(alt.InlineData(values=theirs)).encode(*at, _look("color", lines, COLORS))
    if theirs:
        layers.append(
            base.mark_point(
                shape="diamond", size=230, filled=False, opacity=1, strokeWidth=2.4
            ).encode(tooltip=tips("series:N", "x:Q", "y:Q"))
        )
    layered = Layers(layer=layers, width=CURVE_WIDTH, height=CURVE_HEIGHT)
    return styled(layered, title)


def _line(
    points: Sequence[dict[str, object]],
    lines: Sequence[str],
    at: tuple[alt.X, alt.Y],
    aside: float,
) -> list[alt.Chart]:
    """The error bars, line and points of a series."""
    base = Unit(rows(pl.DataFrame(points, schema=POINT))).encode(
        at[0], _look("color", lines, COLORS)
    )
    _, _, dash = look(lines.index(str(points[0]["series"])))
    tooltip = tips("series:N", "x:Q", "y:Q", "low:Q", "high:Q")
    shown = 60 if len(points) <= DENSE else 0
    return [
        base.mark_rule(strokeWidth=1.4, opacity=0.6, xOffset=aside, x2Offset=aside)
        .transform_filter("isValid(datum.low)")
        .encode(alt.Y("low:Q"), alt.Y2("high:Q")),
        base.mark_line(strokeWidth=1.8, strokeDash=dash, xOffset=aside).encode(at[1]),
        base.mark_point(size=shown, filled=True, opacity=1, xOffset=aside).encode(
            at[1], _look("shape", lines, SHAPES), tooltip=tooltip
        ),
    ]


def _dot(dot: Point, axes: Curves) -> dict[str, object]:
    low = dot.low if dot.low is None or axes.shows(dot.x, dot.low) else dot.y
    return {"series": dot.series, "x": dot.x, "y": dot.y, "low": low, "high": dot.high}


POINT = {"series": pl.String} | dict.fromkeys(("x", "y", "low", "high"), pl.Float64)


def _scale(*, log: bool, zero: bool) -> alt.Scale:
    if log:
        return alt.Scale(type="log", nice=False, padding=12)
    return (
        alt.Scale(zero=True, nice=True) if zero else alt.Scale(zero=False, nice=False, padding=12)
    )


def _look(channel: str, lines: Sequence[str], looks: Sequence[Any]) -> Any:
    """An encoding that distinguishes the lines; colours and shapes share a legend."""
    some = [looks[place % len(looks)] for place in range(len(lines))]
    kinds = {"color": alt.Color, "shape": alt.Shape}
    legend = alt.Legend(title=None, symbolSize=90, symbolOpacity=1, labelLimit=0)
    return kinds[channel]("series:N", scale=alt.Scale(domain=lines, range=some), legend=legend)


def band_plot(title: str, subtitle: str, bands: Sequence[Band]) -> alt.HConcatChart:
    """The published medians in the bands of ours, a panel per group."""
    groups = list(dict.fromkeys(band.group for band in bands))
    panels = [_band_panel(group, bands, labelled=group == groups[0]) for group in groups]
    return styled(alt.hconcat(*panels, spacing=24), _title(title, subtitle))


def _band_panel(group: str, bands: Sequence[Band], *, labelled: bool) -> alt.LayerChart:
    mine = [band for band in bands if band.group == group]
    values = [
        {
            "label": band.label,
            "measured": band.measured,
            "low": band.low,
            "high": band.high,
            "published": band.published,
            "what": PUBLISHED if band.low <= band.published <= band.high else OUTSIDE,
        }
        for band in mine
    ]
    names = [PUBLISHED if band.low <= band.published <= band.high else OUTSIDE for band in bands]
    axis = alt.Axis(title=None, labelLimit=0, ticks=False, labelPadding=8, labels=labelled)
    y = alt.Y("label:N", sort=[band.label for band in mine], axis=axis)
    base = Unit(alt.InlineData(values=values)).encode(y)

    def x(field: str) -> alt.X:
        # A panel has no room for more ticks, nor for labels that move away from its edges.
        axis = alt.Axis(tickCount=5, labelFlush=False)
        return alt.X(f"{field}:Q", title=group, scale=alt.Scale(zero=False, padding=10), axis=axis)

    tooltip = tips("label:N", "published:Q", "measured:Q", "low:Q", "high:Q")
    layers = [
        base.mark_bar(height=14, color=SKY, opacity=0.6).encode(
            x("low"), alt.X2("high:Q"), tooltip=tooltip
        ),
        base.mark_tick(color=BLUE, height=22, thickness=3, opacity=1).encode(x("measured")),
        _published(base, names).encode(x("published")),
    ]
    return Layers(layer=layers, width=270, height=34 * len(mine))


def _published(base: alt.Chart, names: Sequence[str]) -> alt.Chart:
    """The paper's values: diamonds, or crosses outside of the band."""
    present = [name for name in (PUBLISHED, OUTSIDE) if name in names]
    colors = {PUBLISHED: "black", OUTSIDE: VERMILION}
    shapes = {PUBLISHED: "diamond", OUTSIDE: "cross"}
    legend = alt.Legend(title=None, symbolSize=120, orient="bottom")

    def scale(look: dict[str, str]) -> alt.Scale:
        return alt.Scale(domain=present, range=[look[name] for name in present])

    marks: alt.Chart = (
        base.transform_filter("isValid(datum.published)")
        .mark_point(size=120, filled=True, opacity=1, stroke="white", strokeWidth=1)
        .encode(
            color=alt.Color("what:N", scale=scale(colors), legend=legend),
            shape=alt.Shape("what:N", scale=scale(shapes), legend=legend),
        )
    )
    return marks


def _title(title: str, subtitle: str) -> alt.TitleParams:
    return alt.TitleParams(title, subtitle=subtitle, anchor="start", offset=12)
