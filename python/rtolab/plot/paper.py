"""Figures at the size of a printed column, as PDF, SVG, PNG or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

import altair as alt
import vl_convert

from rtolab import _rtolab
from rtolab._rtolab import Error
from rtolab.files import write_bytes, write_text
from rtolab.machine import check_picture
from rtolab.plot.pdf import canonical
from rtolab.plot.style import Chart, renumbered
from rtolab.plot.widths import text_width, with_widths

COLUMNS = {
    "ieee": 3.5,
    "ieee-wide": 7.16,
    "acm": 241.14749 / 72.27,
    "acm-wide": 506.295 / 72.27,
}
"""The widths of one and of two columns, in inches.

IEEE: Author Center, "Size requirements for graphics". ACM: the lengths `columnwidth` and
`textwidth` of the LaTeX class acmart with the format sigconf, in TeX points of 1/72.27 inch.
"""
POINTS = 72.0
"""Units of a figure per inch: a size of 8 is a font of 8 points."""
PNG_PPI = 300
"""Pixels of a PNG per inch."""
SUFFIXES = (".pdf", ".svg", ".png", ".html")
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
"""The first one is part of the renderer, so that figures are the same on every machine."""
SIZE = re.compile(r'width="[\d.]+" height="[\d.]+" viewBox="0 0 ([\d.]+) ([\d.]+)"')
BACKGROUND = re.compile(r'<rect width="[\d.]+" height="[\d.]+" fill="white"/>')
PLACES = re.compile(r"(?<=[MLHVAC(,\s-])\d+\.\d{3,}(?=[^<>]*>)")
ROUNDS = 3
"""The most corrections of a size: legends and ticks may change with it."""


class FormatOptions(TypedDict, total=False):
    """The options that all figures for print have."""

    column: str
    width_in: float | None
    height_in: float | None
    title: str | None
    font: str
    font_pt: float


@dataclass(frozen=True)
class Format:
    """The size, title and font of a figure.

    Attributes:
        column: a name of `COLUMNS`.
        width_in: the width in inches, instead of that of the column.
        height_in: the height in inches; by default it follows from the figure.
        title: a title; by default none, since papers have captions.
        font: font families, the first one that is installed.
        font_pt: the font size, in points.
    """

    column: str = "ieee"
    width_in: float | None = None
    height_in: float | None = None
    title: str | None = None
    font: str = FONT
    font_pt: float = 8.0

    def __post_init__(self) -> None:
        if self.column not in COLUMNS:
            known = _rtolab.suggest(str(self.column), [*COLUMNS])
            raise Error(f"column: found {self.column}; expected {known}")
        for name, low, high in (
            ("width_in", 1.0, 40.0),
            ("height_in", 0.5, 40.0),
            ("font_pt", 4.0, 24.0),
        ):
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise Error(f"{name}: found {value}; expected {low:g} to {high:g}")

    @classmethod
    def of(cls, options: FormatOptions) -> Format:
        """The format that these options describe; raises Error for an unknown or wrong one."""
        return cls().changed(options)

    def changed(self, options: FormatOptions) -> Format:
        """A copy with some options changed."""
        known = [field.name for field in fields(self)]
        for name in options:
            if name not in known:
                raise Error(f"found the option {name}; expected {_rtolab.suggest(name, known)}")
        return replace(self, **options)

    @property
    def width(self) -> float:
        """The width, in points."""
        return POINTS * (COLUMNS[self.column] if self.width_in is None else self.width_in)

    def height(self, default: float) -> float:
        """The height, in points."""
        return default if self.height_in is None else POINTS * self.height_in

    def text_width(self, text: str, *, of: float = 1.0, bold: bool = False) -> float:
        """The width of a text in points; `of` is its size relative to the font."""
        return text_width(text, of * self.font_pt, bold=bold)


Draw = Callable[[Format, float, float], Chart]
"""Draws a figure whose panels have this width and, together, this height, in points."""


class Figure:
    """A figure of an exact size. Notebooks show it; `save` writes it.

    The same input gives the same bytes.

    Attributes:
        format: size, title and font.
        caption: sentences for a caption, such as how many runs have finished.
    """

    def __init__(
        self, draw: Draw, format_: Format, height: float, caption: Sequence[str] = ()
    ) -> None:
        self._draw = draw
        self._height = height
        self.format = format_
        self.caption = tuple(caption)
        self._fitted: tuple[Chart, str] | None = None

    def properties(self, **changed: Unpack[FormatOptions]) -> Figure:
        """A copy with another size, title or font.

        Raises:
            Error: an option is unknown, or its value is out of range.
        """
        return Figure(self._draw, self.format.changed(changed), self._height, self.caption)

    @property
    def chart(self) -> Chart:
        """The figure as an altair chart."""
        return self._drawn()[0]

    def svg(self) -> str:
        """The figure as SVG, with its size in inches; no viewer needs the default font."""
        return with_widths(self._sized("in", POINTS))

    def pdf(self) -> bytes:
        """The figure as PDF: one page of its size, vectors, fonts embedded."""
        return canonical(vl_convert.svg_to_pdf(self._sized("", 1.0)))

    def png(self) -> bytes:
        """The figure as PNG, with 300 pixels per inch."""
        return bytes(vl_convert.svg_to_png(self._sized("", 1.0), ppi=PNG_PPI))

    def save(self, path: str | Path) -> Path:
        """Write the figure in the format of the suffix: .pdf, .svg, .png or .html.

        A page of HTML can be zoomed and needs no network access.

        Args:
            path: the file; its folder is created if needed.

        Raises:
            Error: another suffix.
            OSError: the file cannot be written.
        """
        path = Path(path)
        check_suffix(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".html":
            write_text(path, vl_convert.vegalite_to_html(self._spec(self.chart), bundle=True))
        elif path.suffix == ".svg":
            write_text(path, self.svg())
        else:
            write_bytes(path, self.pdf() if path.suffix == ".pdf" else self.png())
        return path

    def _repr_svg_(self) -> str:
        return self.svg()

    def _sized(self, unit: str, per_unit: float) -> str:
        """The SVG with its exact size, in this unit."""
        width, height = self._size()
        box = f'width="{width:.6g}" height="{height:.6g}"'
        sides = f'width="{width / per_unit:.6g}{unit}" height="{height / per_unit:.6g}{unit}"'
        svg = BACKGROUND.sub(f'<rect {box} fill="white"/>', self._drawn()[1], count=1)
        return SIZE.sub(f'{sides} viewBox="0 0 {width:.6g} {height:.6g}"', svg, count=1)

    def _size(self) -> tuple[float, float]:
        return self.format.width, self.format.height(self._height)

    def _drawn(self) -> tuple[Chart, str]:
        """The chart, and its SVG as rendered."""
        if self._fitted is None:
            self._fitted = self._fit()
        return self._fitted

    def _fit(self) -> tuple[Chart, str]:
        """Draw, measure, and draw again with panels that fill the size."""
        check_picture(self.format.title or "figure")
        width, height = self._size()
        inner = [0.8 * width, 0.8 * height]
        for _ in range(ROUNDS):
            chart = _dressed(self._draw(self.format, *inner), self.format)
            svg = _short(renumbered(vl_convert.vegalite_to_svg(self._spec(chart))))
            size = SIZE.search(svg)
            if size is None:
                raise Error("the renderer gave a picture without a size")
            # The renderer rounds a size up.
            left = [int(width) - float(size[1]), int(height) - float(size[2])]
            if left == [0, 0]:
                break
            inner = [max(10.0, side + more) for side, more in zip(inner, left, strict=True)]
        return chart, svg

    def _spec(self, chart: Chart) -> dict[str, Any]:
        return chart.to_dict(validate=False)


def _short(svg: str) -> str:
    """The SVG with coordinates in hundredths of a point, which nobody sees."""
    return PLACES.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), svg)


def check_suffix(path: Path) -> None:
    """Raises Error unless figures have a format with this suffix."""
    if path.suffix not in SUFFIXES:
        expected = _rtolab.suggest(path.suffix, [*SUFFIXES])
        raise Error(f"{path}: found the suffix `{path.suffix}`; expected {expected}")


def _dressed(chart: Chart, format_: Format) -> Chart:
    """The chart in the style of figures for print."""
    size, font = format_.font_pt, format_.font
    chart.background, chart.padding = "white", 1
    if format_.title:
        chart.title = alt.TitleParams(format_.title, anchor="start", offset=0.5 * size)
    axis = alt.AxisConfig(
        labelFontSize=size,
        titleFontSize=size,
        titleFontWeight="normal",
        titlePadding=0.4 * size,
        labelPadding=2,
        tickSize=3,
        tickWidth=0.5,
        domainWidth=0.5,
        gridWidth=0.4,
        gridColor="#e4e4e4",
        domainColor="black",
        tickColor="black",
        labelFlush=False,
    )
    chart.config = alt.Config(
        aria=False,
        font=font,
        axis=axis,
        title=alt.TitleConfig(fontSize=1.1 * size, font=font),
        text=alt.MarkConfig(font=font, fontSize=size),
        view=alt.ViewConfig(stroke="#999999", strokeWidth=0.5),
    )
    return chart
