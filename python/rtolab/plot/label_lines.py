"""Labels of axes in as many lines as they need."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

LINE_EM = 1.15
"""The height of a line of a label."""
BREAKS = (r"(?<=, )", r"(?<=[+ ])", r"(?<=[:/_.-])", r"(?<=.)")
"""Where a line may end, the best places first: after a key, after a policy, within a word."""


def wrapped(text: str, fits: Callable[[str], bool], breaks: Sequence[str] = BREAKS) -> list[str]:
    """The lines of a text; nothing is left out.

    Args:
        text: the text.
        fits: does a line fit?
        breaks: where a line may end, as in `BREAKS`.
    """
    if fits(text) or not breaks:
        return [text]
    lines: list[str] = []
    for piece in _pieces(text, fits, breaks):
        if lines and fits((lines[-1] + piece).rstrip()):
            lines[-1] += piece
        else:
            lines.append(piece)
    return [line.strip() for line in lines]


def _pieces(text: str, fits: Callable[[str], bool], breaks: Sequence[str]) -> Iterator[str]:
    """The parts of a text, each of which fits if there are places where it may end."""
    for piece in re.split(breaks[0], text):
        if piece and (fits(piece.rstrip()) or len(breaks) == 1):
            yield piece
        elif piece:
            yield from _pieces(piece, fits, breaks[1:])


def expression(lines: Mapping[str, Sequence[str]]) -> str:
    """The expression by which an axis shows each of these labels in its lines."""
    return f"{json.dumps({label: list(parts) for label, parts in lines.items()})}[datum.label]"
