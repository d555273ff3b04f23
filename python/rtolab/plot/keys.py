"""Keys of figures for print: lines, points and shades in rows as wide as the figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from rtolab.plot.paper import Format
from rtolab.plot.style import Layers, Unit

SYMBOL_EM = {"line": 1.6, "both": 1.8}
"""The widths of symbols; those of other kinds are 0.9 em wide."""
GAP_EM, BETWEEN_EM = 0.35, 1.0
"""The distance of a symbol from its text, and of a text from the next symbol."""
ROW_EM = 1.35
SMALLER = 0.9
"""The font of a key, relative to that of the figure."""
PANEL = 0.85
"""About the width of the panel, relative to that of the figure."""


@dataclass(frozen=True)
class Key:
    """An entry of a key.

    Attributes:
        text: its text.
        kind: "line", "rule" (a vertical line), "point", "both" (line and point), "box" or "shade".
        color: its colour.
        shape: of a point.
        size: the area of a point, in square points at a font of 8 points.
        dash: of a line.
        filled: is the point filled?
    """

    text: str
    kind: str
    color: str
    shape: str = "circle"
    size: float = 12.0
    dash: tuple[float, ...] = (1, 0)
    filled: bool = False


def key_rows(keys: Sequence[Key], form: Format, width: float, left: float) -> alt.LayerChart:
    """The entries in as few rows as they fit into.

    Args:
        keys: the entries.
        form: the format of the figure.
        width: the width of the panels, in points.
        left: the room at the left of the panels, which the key uses, too.
    """
    layers: list[alt.Chart] = []
    size = SMALLER * form.font_pt
    places = _places(keys, form, width, left)
    for key, (x, row) in zip(keys, places, strict=True):
        at = (x, size * (0.6 + ROW_EM * row))
        layers += _entry(key, form.font_pt / 8.0, at, _symbol(key, form))
    if not layers:
        layers.append(_at({}).mark_point(opacity=0).encode(x=alt.value(0), y=alt.value(0)))
    view = alt.ViewConfig(stroke=None)
    return Layers(
        layer=layers,
        width=width,
        height=max(0.1, size * (ROW_EM * _rows(places) - 0.3)),
        view=view,
    )


def height_above(keys: Sequence[Key], form: Format) -> float:
    """The height that a key adds to a figure, in points, so that the panel keeps its own.

    Two rows fit into the height of a figure as it is.
    """
    rows = _rows(_places(keys, form, PANEL * form.width, 0.0))
    return max(0, rows - 2) * ROW_EM * SMALLER * form.font_pt


def _places(
    keys: Sequence[Key], form: Format, width: float, left: float
) -> list[tuple[float, int]]:
    """The horizontal place and the row of each entry."""
    size = SMALLER * form.font_pt
    ends: list[float] = []
    places = []
    for key in keys:
        length = _symbol(key, form) + size * GAP_EM + form.text_width(key.text, of=SMALLER)
        fitting = (row for row, end in enumerate(ends) if end + length <= width)
        row = next(fitting, len(ends))
        if row == len(ends):
            ends.append(-left)
        places.append((ends[row], row))
        ends[row] += length + size * BETWEEN_EM
    return places


def _rows(places: Sequence[tuple[float, int]]) -> int:
    return 1 + max((row for _, row in places), default=-1)


def _symbol(key: Key, form: Format) -> float:
    """The width of the symbol of an entry."""
    return SMALLER * form.font_pt * SYMBOL_EM.get(key.kind, 0.9)


def _at(values: dict[str, object]) -> alt.Chart:
    return Unit(alt.InlineData(values=[values]))


def _entry(key: Key, scale: float, at: tuple[float, float], symbol: float) -> list[alt.Chart]:
    x, y = at
    size = 8.0 * scale * SMALLER
    end, middle, half = x + symbol, x + symbol / 2, 0.42 * size
    base = _at({})
    text = base.mark_text(text=key.text, align="left", baseline="middle", fontSize=size)
    layers = [text.encode(x=alt.value(end + GAP_EM * size), y=alt.value(y))]
    line = base.mark_rule(color=key.color, strokeWidth=0.8 * scale, strokeDash=list(key.dash))
    if key.kind in ("line", "both"):
        layers.append(line.encode(x=alt.value(x), x2=alt.value(end), y=alt.value(y)))
    if key.kind == "rule":
        layers.append(
            line.encode(x=alt.value(middle), y=alt.value(y - half), y2=alt.value(y + half))
        )
    if key.kind in ("shade", "box"):
        box = base.mark_rect(
            color=key.color,
            opacity=0.25 if key.kind == "shade" else 1.0,
            stroke="black" if key.kind == "box" else None,
            strokeWidth=0.5,
        )
        across = {"x": alt.value(middle - half), "x2": alt.value(middle + half)}
        layers.append(box.encode(**across, y=alt.value(y - half), y2=alt.value(y + half)))
    if key.kind in ("point", "both"):
        point = base.mark_point(
            shape=key.shape,
            color=key.color,
            size=key.size * scale**2,
            strokeWidth=0.6 * scale,
            opacity=1,
            filled=key.filled,
        )
        layers.append(point.encode(x=alt.value(middle), y=alt.value(y)))
    return layers
