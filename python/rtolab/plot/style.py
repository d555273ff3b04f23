"""Style of all figures, and their files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Self, TypeVar

import altair as alt
import vl_convert

from rtolab._rtolab import Error
from rtolab.files import write_text
from rtolab.machine import check_picture
from rtolab.plot.widths import with_widths

Chart = alt.LayerChart | alt.VConcatChart | alt.HConcatChart

AnyChart = TypeVar("AnyChart", bound=Chart)

LABEL_PX = 12
"""The font size of the labels of axes."""

_sharing = ContextVar("sharing", default=False)


@contextmanager
def sharing() -> Iterator[None]:
    """Within, copies of our charts share their parts, for charts that are drawn and then dropped.

    Altair copies every part of a chart whenever it combines or converts it, which takes longer than
    everything else that a drawing needs.
    """
    before = _sharing.set(True)
    try:
        yield
    finally:
        _sharing.reset(before)


class Shareable:
    """A chart whose copies share their parts within `sharing`."""

    def copy(self, deep: Any = True, ignore: list[str] | None = None) -> Self:
        """A copy, as altair makes it."""
        deep = False if deep is True and _sharing.get() else deep
        copied: Self = super().copy(deep, ignore)  # type: ignore[misc]
        return copied


class Unit(Shareable, alt.Chart):
    """A chart of one kind of marks."""


class Layers(Shareable, alt.LayerChart):
    """Charts on top of each other."""


def save(chart: Chart, stem: Path) -> Path:
    """Write a figure as SVG, without network access.

    Args:
        chart: the figure.
        stem: the path without suffix; its folder is created if needed.

    Raises:
        OSError: a file cannot be written.
    """
    return save_spec(chart.to_dict(validate=False), stem)


@cache
def warm_up() -> None:
    """Start the renderer, which takes longer than a figure, if the machine has room for it."""
    with suppress(Error):
        check_picture("")
        vl_convert.vegalite_to_svg({"mark": "point", "data": {"values": []}})


def save_spec(spec: dict[str, Any], stem: Path) -> Path:
    """As `save`, for a Vega-Lite document."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    check_picture(str(stem))
    path = stem.with_name(f"{stem.name}.svg")
    write_text(path, with_widths(renumbered(vl_convert.vegalite_to_svg(spec))))
    return path


CLIP = re.compile(r'((?:id="|url\(#)clip)(\d+)')


def renumbered(svg: str) -> str:
    """The SVG with clip paths counted from 0; the renderer counts those of earlier figures, too."""
    numbers: dict[str, int] = {}
    return CLIP.sub(lambda clip: f"{clip[1]}{numbers.setdefault(clip[2], len(numbers))}", svg)


def styled(chart: AnyChart, title: alt.TitleParams) -> AnyChart:
    """The chart with a title and our style."""
    chart.title, chart.background = title, "white"
    # Viewers use other fonts than those measured here, so legends need room at the right.
    chart.padding = {"left": 12, "top": 12, "right": 40, "bottom": 12}
    chart.config = alt.Config(
        font="sans-serif",
        axis=alt.AxisConfig(
            labelFontSize=LABEL_PX,
            titleFontSize=13,
            titlePadding=8,
            gridColor="#e6e6e6",
            # Moved inwards, the outermost labels would stand beside their ticks.
            labelFlush=False,
        ),
        legend=alt.LegendConfig(labelFontSize=12, titleFontSize=12, labelLimit=220, rowPadding=3),
        title=alt.TitleConfig(fontSize=17, subtitleFontSize=13, subtitleColor="#444444"),
        view=alt.ViewConfig(stroke="#bbbbbb"),
    )
    return chart
