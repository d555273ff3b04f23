"""Keys of figures for print: lines, points and shades in rows as wide as the figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import altair as alt

from rtolab.plot.label_lines import wrapped
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
    """The entries in as few rows as they fit into; an entry that is wider has several lines.

    Args:
        keys: the entries.
        form: the format of the figure.
        width: the width of the panels, in points.
        left: the room at the left of the panels, which the key uses, too.
    """
    layers: list[alt.Chart] = []
    size = SMALLER * form.font_pt
    places = _places(keys, form, width, left)
    for key, place in zip(keys, places, strict=True):
        at = (place.x, size * (0.6 + ROW_EM * place.row))
        layers += _entry(key, place.lines, form.font_pt / 8.0, at)
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


@dataclass(frozen=True)
class _Place:
    """The left edge of an entry, its first row, and its text in lines."""

    x: float
    row: int
    lines: list[str]


def _places(keys: Sequence[Key], form: Format, width: float, left: float) -> list[_Place]:
    size = SMALLER * form.font_pt
    ends: list[float] = []
    places = []
    for key in keys:
        beside = _symbol(key, size) + size * GAP_EM
        lines = _lines(key.text, form, width + left - beside)
        length = beside + max(form.text_width(line, of=SMALLER) for line in lines)
        fitting = (row for row, end in enumerate(ends) if end + length <= width)
        row = next(fitting, len(ends)) if len(lines) == 1 else len(ends)
        if row == len(ends):
            ends += [-left] * len(lines)
        places.append(_Place(ends[row], row, lines))
        for line in range(row, row + len(lines)):
            ends[line] += length + size * BETWEEN_EM
    return places


def _lines(text: str, form: Format, room: float) -> list[str]:
    """The lines of a text in this room."""
    return wrapped(text, lambda line: form.text_width(line, of=SMALLER) <= room)


def _rows(places: Sequence[_Place]) -> int:
    return max((place.row + len(place.lines) for place in places), default=0)


def _symbol(key: Key, size: float) -> float:
    """The width of the symbol of an entry whose font has this size."""
    return size * SYMBOL_EM.get(key.kind, 0.9)


def _at(values: dict[str, object]) -> alt.Chart:
    return Unit(alt.InlineData(values=[values]))


def _entry(
    key: Key, lines: Sequence[str], scale: float, at: tuple[float, float]
) -> list[alt.Chart]:
    x, y = at
    size = 8.0 * scale * SMALLER
    symbol = _symbol(key, size)
    end, middle, half = x + symbol, x + symbol / 2, 0.42 * size
    base = _at({})
    layers = [
        base.mark_text(text=text, align="left", baseline="middle", fontSize=size).encode(
            x=alt.value(end + GAP_EM * size), y=alt.value(y + row * ROW_EM * size)
        )
        for row, text in enumerate(lines)
    ]
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
