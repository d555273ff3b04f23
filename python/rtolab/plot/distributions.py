"""Distributions of a measure over runs, for print: box plots and cumulative distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import altair as alt
import polars as pl

from rtolab.plot.boxplots import look
from rtolab.plot.keys import Key, height_above, key_rows
from rtolab.plot.label_lines import LINE_EM, wrapped
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
from rtolab.plot.trace_panels import SKY, rows
from rtolab.plot.trace_plot import StackedChart

LABELS = 0.45
"""The most room of the labels of boxes, relative to the width of the figure."""
BOX_IN = 0.22
"""The distance of boxes, in inches, unless labels of several lines need more."""


def boxes(
    table: pl.DataFrame | pl.LazyFrame,
    y: str | None = None,
    *,
    by: Sequence[str] = (),
    y_label: str | None = None,
    log_y: bool = False,
    **format_: Unpack[FormatOptions],
) -> Figure:
    """Box plots of a measure: quartiles, a line at the median, whiskers to the extremes.

    The boxes lie, so that names of senders have room. Where not all runs have finished, the
    finished runs of all are beside the box.

    Args:
        table: a table of runs, such as `result.connections`.
        y: the measure; by default the completion time, or else the goodput.
        by: columns that distinguish boxes; by default the sender and what else varies.
        y_label: of the axis of the measure, with its unit.
        log_y: is that axis logarithmic?
        format_: `column`, `width_in`, `height_in`, `title`, `font`, `font_pt`.

    Raises:
        Error: there is no such column, no value, or too many boxes.
    """
    plan = _plan(table, y, by, y_label, log=log_y)
    said = caption(plan.cells, plan.names, "Medians, quartiles and extremes", plan.thing)

    def draw(form: Format, width: float, height: float) -> Chart:
        return _boxes(plan, form, width, height)

    form = Format.of(format_)
    most = max(len(plan.lines(name, form)) for name in plan.names.values())
    each = max(BOX_IN * POINTS, (LINE_EM * most + 0.4) * form.font_pt * (most > 1))
    return Figure(draw, form, 0.55 * POINTS + each * len(plan.cells), list(said))


def cdf(
    table: pl.DataFrame | pl.LazyFrame,
    y: str | None = None,
    *,
    by: Sequence[str] = (),
    y_label: str | None = None,
    log_y: bool = False,
    **format_: Unpack[FormatOptions],
) -> Figure:
    """The cumulative distribution of a measure over runs, a line per sender.

    The line of a sender with unfinished runs ends below 1.

    Args:
        table: a table of runs, such as `result.connections`; of other tables, each row counts.
        y: the measure; by default the completion time, or else the goodput.
        by: columns that distinguish lines; by default the sender and what else varies.
        y_label: of the axis of the measure, with its unit.
        log_y: is that axis logarithmic?
        format_: `column`, `width_in`, `height_in`, `title`, `font`, `font_pt`.

    Raises:
        Error: there is no such column, no value, or too many lines.
    """
    plan = _plan(table, y, by, y_label, log=log_y)
    said = caption(plan.cells, plan.names, "Cumulative distribution", plan.thing)

    def draw(form: Format, width: float, height: float) -> Chart:
        return _cdf(plan, form, width, height)

    form = Format.of(format_)
    return Figure(draw, form, 2.0 * POINTS + height_above(plan.keys, form), list(said))


@dataclass(frozen=True)
class Plan:
    """The groups with their names, and the axis of the measure."""

    cells: list[Cell]
    names: dict[tuple[Any, ...], str]
    label: str
    log: bool
    thing: str

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value."""
        values = [value for cell in self.cells for value in cell.values]
        return min(values), max(values)

    @property
    def keys(self) -> list[Key]:
        """The entries of the lines in a key, unless a single one has nothing to say.

        Groups without a value are among them, so that the figure says that they have none.
        """
        keys = []
        for at, cell in enumerate(self.cells):
            name, (color, _, dash) = self.names[cell.group], look(at)
            said = name if cell.is_whole else f"{name} ({cell.said} finished)"
            keys.append(Key(said, "line", color, dash=tuple(dash)))
        return keys if len(self.cells) > 1 or "(" in keys[0].text else []

    def lines(self, name: str, form: Format) -> list[str]:
        """The lines of the label of a box."""
        return wrapped(name, lambda line: form.text_width(line) <= LABELS * form.width)

    def scale(self) -> alt.Scale:
        """The scale of the measure, with a margin."""
        low, high = self.ends
        if self.log:
            return alt.Scale(type="log", domain=[low / 1.1, high * 1.1], nice=False)
        # A distribution far from 0 would be a narrow one if the axis began there.
        begin = 0.0 if low >= 0 and low < 0.5 * high else low - 0.05 * (high - low or 1.0)
        return alt.Scale(domain=[begin, high + 0.04 * (high - begin or 1.0)], nice=False)

    def x(self, field: str, form: Format, width: float, *, grid: bool) -> alt.X:
        """The horizontal axis, which is that of the measure."""
        count = max(3, int(width / (5 * form.font_pt)))
        axis = alt.Axis(title=self.label, tickCount=count, grid=grid)
        return alt.X(f"{field}:Q", axis=axis, scale=self.scale())


def _plan(
    table: pl.DataFrame | pl.LazyFrame,
    y: str | None,
    by: Sequence[str],
    label: str | None,
    *,
    log: bool,
) -> Plan:
    frame = table.lazy().collect()
    choice = choose(frame, y, None, by, over=False)
    quantity = Quantity.of(frame, choice.y, label)
    found = cells(frame, choice, quantity)
    values = [value for cell in found for value in cell.values]
    if not values:
        raise no_value(frame, choice.y)
    if log:
        check_positive(choice.y, values)
    return Plan(found, named(found, choice.by), quantity.label, log, thing(frame))


def _boxes(plan: Plan, form: Format, width: float, height: float) -> StackedChart:
    scale, thickness = form.font_pt / 8.0, 0.8 * form.font_pt
    values = []
    names = []
    for cell in plan.cells:
        five = cell.summary
        lines = plan.lines(plan.names[cell.group], form)
        names.append("\n".join(lines))
        up = (1 - len(lines)) * LINE_EM * form.font_pt / 2
        numbers = (
            {"q1": None}
            if five is None
            else {
                "low": five.min,
                "q1": five.q1,
                "median": five.median,
                "q3": five.q3,
                "high": five.max,
            }
        )
        label = {"name": names[-1], "up": up}
        values.append({**label, "said": cell.said, "whole": cell.is_whole, **numbers})
    # The labels of an axis would begin at the middle of a box, rather than lie around it.
    axis = alt.Axis(title=None, ticks=False, labels=False, domain=False)
    y = alt.Y("name:N", sort=names, axis=axis)
    base = Unit(alt.InlineData(values=values)).encode(y)

    def x(field: str) -> alt.X:
        return plan.x(field, form, width, grid=True)

    thin = 0.7 * scale
    tick: dict[str, Any] = {"color": "black", "opacity": 1, "thickness": thin}
    labels = base.mark_text(
        align="right",
        baseline="middle",
        lineBreak="\n",
        lineHeight=LINE_EM * form.font_pt,
        dy=alt.ExprRef("datum.up"),
    )
    layers = [
        labels.encode(x=alt.value(-2), text=alt.Text("name:N")),
        base.mark_rule(color="black", strokeWidth=thin).encode(x("low"), alt.X2("high:Q")),
        base.mark_tick(height=0.5 * thickness, **tick).encode(x("low")),
        base.mark_tick(height=0.5 * thickness, **tick).encode(x("high")),
        base.mark_bar(height=thickness, color=SKY, stroke="black", strokeWidth=thin).encode(
            x("q1"), alt.X2("q3:Q")
        ),
        base.mark_tick(height=thickness, **(tick | {"thickness": 2 * thin})).encode(x("median")),
    ]
    if not all(cell.is_whole for cell in plan.cells):
        small: dict[str, Any] = {"align": "left", "fontSize": 0.85 * form.font_pt}
        said = base.transform_filter("!datum.whole").mark_text(baseline="middle", **small)
        head = Unit(alt.InlineData(values=[{}])).mark_text(
            text="finished", baseline="bottom", **small
        )
        layers += [
            said.encode(x=alt.value(width + 3), text=alt.Text("said:N")),
            head.encode(x=alt.value(width + 3), y=alt.value(-1)),
        ]
    panel = Layers(layer=layers, width=width, height=height)
    return StackedChart(vconcat=[panel], bounds="flush")


def _cdf(plan: Plan, form: Format, width: float, height: float) -> StackedChart:
    scale = form.font_pt / 8.0
    end = float(plan.scale().domain[1])
    x = plan.x("x", form, width, grid=False)
    axis = alt.Axis(
        title=f"Fraction of {plan.thing}s",
        values=[0, 0.2, 0.4, 0.6, 0.8, 1],
        format=".1f",
        grid=True,
    )
    y = alt.Y("share:Q", axis=axis, scale=alt.Scale(domain=[0, 1.02], nice=False))
    layers = []
    for at, cell in enumerate(plan.cells):
        if not cell.values:
            continue
        color, _, dash = look(at)
        line = Unit(rows(_steps(cell, end))).mark_line(
            color=color,
            interpolate="step-after",
            strokeWidth=scale,
            strokeDash=dash,
            clip=True,
        )
        layers.append(line.encode(x, y))
    key = key_rows(plan.keys, form, width, 0.0)
    panel = Layers(layer=layers, width=width, height=height)
    return StackedChart(vconcat=[key, panel], spacing=0.4 * form.font_pt, bounds="flush")


def _steps(cell: Cell, end: float) -> pl.DataFrame:
    """The fraction of runs up to each value, from 0 to the right edge."""
    values = pl.Series(sorted(cell.values))
    of = max(cell.runs, len(values))
    share = [(number + 1) / of for number in range(len(values))]
    return pl.DataFrame({"x": [values[0], *values, end], "share": [0.0, *share, share[-1]]})
