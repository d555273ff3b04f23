"""Medians with quartiles over an axis, for print."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Any, Unpack

import altair as alt
import polars as pl

from rtolab.plot.boxplots import look
from rtolab.plot.keys import PANEL, Key, height_above, key_rows
from rtolab.plot.label_lines import BREAKS, LINE_EM, expression, wrapped
from rtolab.plot.paper import POINTS, Figure, Format, FormatOptions
from rtolab.plot.style import Chart, Layers, Unit
from rtolab.plot.summaries import (
    Cell,
    Quantity,
    caption,
    cells,
    check_positive,
    choose,
    named,
    no_value,
    thing,
)
from rtolab.plot.trace_panels import BLACK
from rtolab.plot.trace_plot import StackedChart
from rtolab.stats import Summary

APART = 1.6
"""The horizontal offset of lines, in points, so that their bars do not hide each other."""
MOST_LINES = 3
"""The most lines of the label of a place; longer ones stand upright."""
FINISHED_EM = 0.95
"""The height of a row of finished runs."""
DIGITS = ".12~g"
"""The format of places, which shows them as the grid has them.

Without a number of digits the renderer rounds to the distance of the ticks: 125 becomes 1.3e+2.
"""
GEOMETRIC = 8.0
"""The largest value of a logarithmic axis is at least this many times the smallest one."""


@dataclass(frozen=True)
class Point:
    """A point of a line: its place is a number in the shown unit, or a text.

    A point without a value, since no run has finished, has no five numbers.
    """

    cell: Cell
    x: Any
    five: Summary | None


def sweep(
    table: pl.DataFrame | pl.LazyFrame,
    y: str | None = None,
    x: str | None = None,
    *,
    by: Sequence[str] = (),
    x_label: str | None = None,
    y_label: str | None = None,
    log_x: bool | None = None,
    log_y: bool = False,
    **format_: Unpack[FormatOptions],
) -> Figure:
    """The medians of a measure over a key of a sweep, with bars from quartile to quartile.

    Where not all runs have finished, the marker is hollow, with the finished runs of all above the
    panel. They are there, too, where no run has finished, and the axis has that point.

    Args:
        table: a table of a sweep, as `rtolab.sweep.read` gives it.
        y: the measure; by default the completion time, or else the goodput.
        x: the key of the horizontal axis; by default the key with the most values. A key with units
            has a column of numbers, which is taken: `link.radio.delay` means `link.radio.delay_s`.
        by: columns that distinguish lines; by default the sender and the other keys that vary.
        x_label: of the horizontal axis, with its unit.
        y_label: of the vertical axis, with its unit.
        log_x: is the horizontal axis logarithmic? By default if the values grow by factors.
        log_y: is the vertical axis logarithmic?
        format_: `column`, `width_in`, `height_in`, `title`, `font`, `font_pt`.

    Raises:
        Error: there is no such column, or too many lines.
    """
    rows = table.lazy().collect()
    choice = choose(rows, y, x, by, over=True)
    down = Quantity.of(rows, choice.y, y_label)
    across = Quantity.of(rows, str(choice.x), x_label)
    found = cells(rows, choice, down)
    names = named(found, choice.by)
    lines: dict[str, list[Point]] = {name: [] for name in names.values()}
    for cell in found:
        if cell.x is not None:
            at = cell.x if isinstance(cell.x, str) else across.factor * float(cell.x)
            lines[names[cell.group]].append(Point(cell, at, cell.summary))
    fives = [five for points in lines.values() for point in points if (five := point.five)]
    if not fives:
        raise no_value(rows, choice.y)
    places = list(dict.fromkeys(point.x for points in lines.values() for point in points))
    numbers = [place for place in places if not isinstance(place, str)]
    if log_x:
        # A text has no place there, either.
        check_positive(str(choice.x), numbers or [0.0])
    log_x = _is_geometric(numbers) if log_x is None else log_x
    if log_y:
        check_positive(choice.y, (five.q1 for five in fives))
    plan = Plan(lines, across.label, down.label, log_x=log_x, log_y=log_y)
    said = caption(
        found, names, "Medians, with bars from quartile to quartile,", thing(rows), x=choice.x
    )

    def draw(form: Format, width: float, height: float) -> Chart:
        return _Lines(plan, form, width, height).chart()

    form = Format.of(format_)
    extra = plan.rows_above(form) + plan.labels_below(form)
    return Figure(draw, form, 2.2 * POINTS + extra, list(said))


@dataclass(frozen=True)
class Plan:
    """The lines by name, with labels and scales of the axes."""

    lines: dict[str, list[Point]]
    x_label: str
    y_label: str
    log_x: bool
    log_y: bool

    @property
    def partly(self) -> list[str]:
        """The names of the lines with unfinished runs."""
        return [
            name
            for name, points in self.lines.items()
            if any(not point.cell.is_whole for point in points)
        ]

    def rows_above(self, form: Format) -> float:
        """The height of what many lines add above the panel, which keeps its own, in points."""
        return height_above(self.keys, form) + FINISHED_EM * form.font_pt * len(self.partly)

    def labels_below(self, form: Format) -> float:
        """The height of what the labels of places need beyond a line, in points."""
        if not self.has_texts:
            return 0.0
        places, standing = self.labels(form, PANEL * form.width)
        if standing:
            return max(form.text_width(place) for place in self.places) - form.font_pt
        return (max(map(len, places)) - 1) * LINE_EM * form.font_pt

    def labels(self, form: Format, width: float) -> tuple[list[list[str]], bool]:
        """The lines of the labels of places that are texts, and whether they stand upright."""
        room = width / max(1, len(self.places)) - 0.4 * form.font_pt

        def fits(line: str) -> bool:
            return form.text_width(line) <= room

        texts = [wrapped(str(place), fits, BREAKS[:2]) for place in self.places]
        if all(len(lines) <= MOST_LINES and all(map(fits, lines)) for lines in texts):
            return texts, False
        return [[str(place)] for place in self.places], True

    @property
    def has_texts(self) -> bool:
        """Are places texts rather than numbers?"""
        return any(isinstance(place, str) for place in self.places)

    @property
    def places(self) -> list[Any]:
        """The places of the horizontal axis."""
        return list(dict.fromkeys(point.x for point in self.points))

    @property
    def points(self) -> list[Point]:
        """The points of all lines."""
        return [point for points in self.lines.values() for point in points]

    @property
    def fives(self) -> list[Summary]:
        """The five numbers of the points that have values."""
        return [point.five for point in self.points if point.five]

    @property
    def keys(self) -> list[Key]:
        """The entries of the lines in a key."""
        keys = []
        for at, (name, points) in enumerate(self.lines.items()):
            if points:
                color, shape, dash = look(at)
                keys.append(Key(name, "both", color, shape=shape, dash=tuple(dash), filled=True))
        return keys


def _is_geometric(values: Sequence[float]) -> bool:
    """Do sorted positive values grow by factors rather than by steps?"""
    if len(values) < 3 or min(values) <= 0 or max(values) < GEOMETRIC * min(values):
        return False
    found = sorted(values)
    factors = [after / before for before, after in pairwise(found)]
    steps = [after - before for before, after in pairwise(found)]
    return max(factors) / min(factors) < max(steps) / min(steps)


class _Lines:
    """The figure with a panel of this size."""

    def __init__(self, plan: Plan, form: Format, width: float, height: float) -> None:
        self.plan, self.form = plan, form
        self.scale = form.font_pt / 8.0
        ends = [end for five in plan.fives for end in (five.q1, five.q3)]
        self.low = min(ends) / 1.15 if plan.log_y else min(0.0, *ends)
        self.high = max(ends) * (1.15 if plan.log_y else 1.06)
        if self.high <= self.low:
            self.high = self.low + 1.0
        self.looks = {name: look(at) for at, name in enumerate(plan.lines)}
        self.width, self.height = width, height
        self.direct = self._fit_labels()

    def _down(self, value: float) -> float:
        """The distance of a value from the upper edge, as a share of the height."""
        if self.plan.log_y:
            return 1 - log(value / self.low) / log(self.high / self.low)
        return 1 - (value - self.low) / (self.high - self.low)

    def _fit_labels(self) -> dict[str, float]:
        """The vertical places of names at the ends of lines, if they do not overlap."""
        lines = {name: points for name, points in self.plan.lines.items() if points}
        widest = max((self.form.text_width(name, of=0.9) for name in lines), default=0.0)
        if self.plan.has_texts or len(lines) < 2 or widest > 0.27 * self.form.width:
            return {}
        last = max(point.x for points in lines.values() for point in points)
        if any(max(point.x for point in points) != last for points in lines.values()):
            return {}
        ends = {name: max(points, key=lambda p: p.x).five for name, points in lines.items()}
        places = {
            name: self.height * self._down(five.median) for name, five in ends.items() if five
        }
        if len(places) < len(lines):
            return {}
        ordered = sorted(places.values())
        gaps = [after - before for before, after in pairwise(ordered)]
        return places if min(gaps, default=99.0) >= 1.1 * self.form.font_pt else {}

    def chart(self) -> StackedChart:
        layers: list[alt.Chart] = []
        for at, (name, points) in enumerate(self.plan.lines.items()):
            if points:
                layers += self._line(name, points, APART * (at - (len(self.plan.lines) - 1) / 2))
        keys = self.plan.keys
        if self.direct or len(keys) < 2:
            keys = []
        if any(point.five and not point.cell.is_whole for point in self.plan.points):
            keys.append(Key("some runs unfinished", "point", BLACK))
        partly = self.plan.partly
        for row, name in enumerate(reversed(partly)):
            layers += self._finished(name, 2 + row * FINISHED_EM * self.form.font_pt)
        panel = Layers(layer=layers, width=self.width, height=self.height)
        key = key_rows(keys, self.form, self.width, 0.0)
        gap = (0.4 + FINISHED_EM * len(partly)) * self.form.font_pt
        return StackedChart(vconcat=[key, panel], spacing=gap, bounds="flush")

    def _finished(self, name: str, up: float) -> list[alt.Chart]:
        """The finished runs of each point of a line, above the panel.

        Where they would overlap, those of points that are whole are left out.
        """
        points = self.plan.lines[name]
        if self._overlap(points):
            points = [point for point in points if not point.cell.is_whole]
        values = [{"x": point.x, "said": point.cell.said} for point in points]
        looks: dict[str, Any] = {"color": self.looks[name][0], "fontSize": 0.85 * self.form.font_pt}
        text = Unit(alt.InlineData(values=values)).mark_text(baseline="bottom", **looks)
        label = Unit(alt.InlineData(values=[{}])).mark_text(
            text="finished", align="right", baseline="bottom", **looks
        )
        return [
            text.encode(self._x(), y=alt.value(-up), text=alt.Text("said:N")),
            label.encode(x=alt.value(-1.2 * self.form.font_pt), y=alt.value(-up)),
        ]

    def _overlap(self, points: Sequence[Point]) -> bool:
        """Would the finished runs of these points overlap?"""
        room = [(self._across(p.x), self.form.text_width(p.cell.said, of=1.0)) for p in points]
        return any(
            to - at < (first + second) / 2 for (at, first), (to, second) in pairwise(sorted(room))
        )

    def _across(self, place: Any) -> float:
        """About the distance of a place from the left edge of the panel."""
        places = self.plan.places
        if self.plan.has_texts:
            return self.width * (places.index(place) + 0.4) / (len(places) - 0.2)
        low, high = min(places), max(places)
        if low == high:
            return self.width / 2
        if self.plan.log_x:
            return self.width * log(place / low) / log(high / low)
        return float(self.width * (place - low) / (high - low))

    def _x(self) -> alt.X:
        values = self.plan.places
        if self.plan.has_texts:
            return self._x_of_texts(values)
        few = sorted(values) if len(values) <= 9 else alt.Undefined
        axis = alt.Axis(
            title=self.plan.x_label, values=few, labelOverlap="greedy", format=DIGITS, grid=False
        )
        low, high = min(values), max(values)
        aside = APART * self.scale * (len(self.plan.lines) - 1) / 2
        scale: dict[str, Any] = {"nice": False, "zero": False, "padding": 5 + aside}
        # Of a point without a value, no mark has the place.
        scale["domain"] = [low, high]
        if self.plan.log_x:
            scale["type"] = "log"
        elif low == high:
            scale["domain"] = [float(low) - 1, float(high) + 1]
        return alt.X("x:Q", axis=axis, scale=alt.Scale(**scale))

    def _x_of_texts(self, values: list[Any]) -> alt.X:
        shown, standing = self.plan.labels(self.form, self.width)
        lines = dict(zip(map(str, values), shown, strict=True))
        axis = alt.Axis(
            title=self.plan.x_label,
            labelAngle=-90 if standing else 0,
            labelLimit=0,
            labelLineHeight=LINE_EM * self.form.font_pt,
            labelExpr=expression(lines),
            ticks=False,
        )
        return alt.X("x:N", sort=values, axis=axis, scale=alt.Scale(type="point", padding=0.4))

    def _y(self, field: str) -> alt.Y:
        count = max(3, int(self.height / (2.5 * self.form.font_pt)))
        axis = alt.Axis(title=self.plan.y_label, tickCount=count, grid=True)
        kind: dict[str, Any] = {"type": "log"} if self.plan.log_y else {"zero": False}
        scale = alt.Scale(domain=[self.low, self.high], nice=False, **kind)
        return alt.Y(f"{field}:Q", axis=axis, scale=scale)

    def _line(self, name: str, points: Sequence[Point], aside: float) -> list[alt.Chart]:
        color, shape, dash = self.looks[name]
        values = [
            {
                "x": point.x,
                # Where no run has finished, the line is interrupted.
                "median": point.five and point.five.median,
                "q1": point.five and point.five.q1,
                "q3": point.five and point.five.q3,
                "whole": point.cell.is_whole,
            }
            for point in points
        ]
        base = Unit(alt.InlineData(values=values)).encode(self._x())
        thin, offset = 0.8 * self.scale, aside * self.scale
        size = 18 * self.scale**2
        layers = [
            base.mark_rule(color=color, strokeWidth=thin, xOffset=offset).encode(
                self._y("q1"), alt.Y2("q3:Q")
            ),
            base.mark_line(
                color=color, strokeWidth=1.2 * thin, strokeDash=dash, xOffset=offset
            ).encode(self._y("median")),
        ]
        looks: dict[str, Any] = {"shape": shape, "size": size, "strokeWidth": thin, "opacity": 1}
        partly = base.transform_filter("!datum.whole")
        layers += [
            base.transform_filter("datum.whole")
            .mark_point(color=color, filled=True, xOffset=offset, **looks)
            .encode(self._y("median")),
            partly.mark_point(stroke=color, fill="white", xOffset=offset, **looks).encode(
                self._y("median")
            ),
        ]
        if name in self.direct:
            label = Unit(alt.InlineData(values=[{}])).mark_text(
                text=name,
                color=color,
                align="left",
                baseline="middle",
                fontSize=0.9 * self.form.font_pt,
            )
            layers.append(label.encode(x=alt.value(self.width + 3), y=alt.value(self.direct[name])))
        return layers
