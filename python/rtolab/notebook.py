"""Notebook output: the tables of the command line as HTML for light and dark pages."""

from collections.abc import Iterator
from html import escape
from itertools import pairwise

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

CELL = "padding:0.15em 0.6em;border:none;background:none;color:inherit"
RULE = "border-bottom:1px solid currentColor"
TITLE = "caption-side:top;text-align:left;font-style:italic;color:inherit"


def html(shown: RenderableType) -> str:
    """Terminal output as HTML that inherits the colours of its page."""
    return "".join(_parts(shown))


def _parts(shown: RenderableType) -> Iterator[str]:
    match shown:
        case Group():
            for part in shown.renderables:
                yield from _parts(part)
        case Padding():
            yield f'<div style="margin-left:{shown.left}em">{html(shown.renderable)}</div>'
        case Table():
            yield from _table(shown)
        case _:
            yield f'<p style="white-space:pre-line;color:inherit">{_inline(shown)}</p>'


def _table(table: Table) -> Iterator[str]:
    yield '<table class="rtolab" style="border-collapse:collapse;margin:0.6em 0;color:inherit">'
    if table.title:
        yield f'<caption style="{TITLE}">{_inline(table.title)}</caption>'
    sides = [
        f"text-align:{column.justify if column.justify == 'right' else 'left'}"
        for column in table.columns
    ]
    if table.show_header:
        yield "<thead><tr>"
        for side, column in zip(sides, table.columns, strict=True):
            yield f'<th style="{CELL};{RULE};{side}">{_inline(column.header)}</th>'
        yield "</tr></thead>"
    yield "<tbody>"
    for row in zip(*(column.cells for column in table.columns), strict=True):
        cells = zip(sides, row, strict=True)
        yield "<tr>" + "".join(
            f'<td style="{CELL};{side}">{_inline(cell)}</td>' for side, cell in cells
        )
        yield "</tr>"
    yield "</tbody></table>"


def _inline(shown: RenderableType) -> str:
    """A text with bold and italic spans, but without colours."""
    if isinstance(shown, str):
        shown = Text(shown)
    if not isinstance(shown, Text):
        return html(shown)
    found = []
    for line in shown.split("\n"):
        ends = sorted({0, len(line), *(end for span in line.spans for end in span[:2])})
        found.append("".join(_run(line, begin, end) for begin, end in pairwise(ends)))
    return "<br>".join(found).removeprefix("<br>")


def _run(line: Text, begin: int, end: int) -> str:
    words = escape(line.plain[begin:end])
    said = " ".join(str(style) for style in (line.style, *_styles(line, begin))).split()
    for style, tag in (("bold", "b"), ("italic", "i"), ("dim", "small")):
        if style in said:
            words = f"<{tag}>{words}</{tag}>"
    return words


def _styles(line: Text, at: int) -> Iterator[str | Style]:
    return (span.style for span in line.spans if span.start <= at < span.end)
