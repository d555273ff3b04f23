"""Pictures of statistics: box plots as in the papers, and published medians against our scatter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import altair as alt

from rtolab.panels import BLUE, SKY, VERMILION
from rtolab.plot import styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rtolab.stats import Summary

BOX_WIDTH = 56
PUBLISHED, OUTSIDE = "published median", "published median, outside of the band"


@dataclass(frozen=True)
class Box:
    """A box of a box plot: a label, five numbers and the published median, in one unit."""

    label: str
    summary: Summary
    published: float | None = None


@dataclass(frozen=True)
class Band:
    """A published median beside ours and the band in which medians of so few runs fall."""

    group: str
    label: str
    measured: float
    low: float
    high: float
    published: float


def box_plot(title: str, subtitle: str, quantity: str, boxes: Sequence[Box]) -> alt.LayerChart:
    """Boxes from quartile to quartile, a line at the median, whiskers to the extremes.

    Args:
        title: of the picture.
        subtitle: what the boxes are of.
        quantity: what is plotted, with its unit.
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
    axis = alt.Axis(labelAngle=0, labelLimit=140, ticks=False, labelPadding=8, title=None)
    labels = [box.label for box in boxes]
    x = alt.X("label:N", sort=labels, axis=axis, scale=alt.Scale(paddingOuter=0.3))
    base = alt.Chart(alt.InlineData(values=values)).encode(x)

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", title=quantity, scale=alt.Scale(zero=True, nice=True))

    tooltip = [f"{name}:Q" for name in ("low", "q1", "median", "q3", "high", "published")]
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
    chart = alt.LayerChart(layer=layers, width=130 * len(boxes), height=380)
    return styled(chart, _title(title, subtitle))


def band_plot(title: str, subtitle: str, bands: Sequence[Band]) -> alt.HConcatChart:
    """The published medians against the bands of ours, a panel a group."""
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
    axis = alt.Axis(title=None, labelLimit=180, ticks=False, labelPadding=8, labels=labelled)
    y = alt.Y("label:N", sort=[band.label for band in mine], axis=axis)
    base = alt.Chart(alt.InlineData(values=values)).encode(y)

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=group, scale=alt.Scale(zero=False, padding=10))

    tooltip = ["label:N", "published:Q", "measured:Q", "low:Q", "high:Q"]
    layers = [
        base.mark_bar(height=14, color=SKY, opacity=0.6).encode(
            x("low"), alt.X2("high:Q"), tooltip=tooltip
        ),
        base.mark_tick(color=BLUE, height=22, thickness=3, opacity=1).encode(x("measured")),
        _published(base, names).encode(x("published")),
    ]
    return alt.LayerChart(layer=layers, width=270, height=34 * len(mine))


def _published(base: alt.Chart, names: Sequence[str]) -> alt.Chart:
    """Diamonds where the paper's values lie, crosses where they lie outside of a band."""
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
