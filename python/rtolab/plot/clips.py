"""Fewer clip paths in an SVG, for a faster PNG.

Vega clips each mark of a panel on its own. For each clip path the rasteriser draws a layer and a
mask as large as the panel, which takes two thirds of its time. Two changes leave the picture as it
is: marks that lie inside their clip path do without it, and the others that are neighbours with
equal rectangles, as those of a panel are, share one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from xml.etree import ElementTree

from rtolab.plot.widths import text_width

SPACE = "http://www.w3.org/2000/svg"
GROUP, CLIP_PATH = f"{{{SPACE}}}g", f"{{{SPACE}}}clipPath"
PATH, LINE, TEXT, RECT = (f"{{{SPACE}}}{tag}" for tag in ("path", "line", "text", "rect"))
ElementTree.register_namespace("", SPACE)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")

NOWHERE = (None, "translate(0,0)")
"""Transformations that move nothing."""
NUMBER = re.compile(r"-?[\d.]+(?:e-?\d+)?")
TRANSLATION = re.compile(r"translate\((-?[\d.e-]+),(-?[\d.e-]+)\)")
RECTANGLE = re.compile(r"M([\d.e-]+),([\d.e-]+)h([\d.e-]+)v([\d.e-]+)h-\3Z")
STRAIGHT = re.compile(r"[^A-Ka-kN-Yn-y]*")
"""Path data of `M`, `L` and `Z` only: every pair of numbers is a point."""
MITER_LIMIT = 10.0
"""A sharp corner of a stroke reaches this many half widths far, as Vega's files have it."""
SMOOTHED = 0.5
"""The rasteriser blurs edges by less than this, in pixels of the chart."""
ROOM = 1.2
"""Fonts can be wider than the one whose widths we know."""
BELOW = 1 / 3
"""A text reaches this share of its height below its baseline, at most."""

Element = ElementTree.Element


@dataclass(frozen=True)
class Box:
    """A rectangle, in the coordinates of what it clips."""

    left: float
    top: float
    right: float
    bottom: float

    def contains(self, other: Box) -> bool:
        """Is the other one inside?"""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


def simplified(svg: str) -> str:
    """The SVG without clip paths that cut nothing, and with one for neighbours; it looks the same.

    Args:
        svg: a picture that Vega made.
    """
    root = ElementTree.fromstring(svg)  # noqa: S314  (the renderer made it)
    clips = {f"url(#{clip.get('id')})": clip for clip in root.iter(CLIP_PATH)}
    boxes = {name: _box(clip) for name, clip in clips.items()}
    for group in _clipped(root):
        box = boxes.get(group.attrib["clip-path"])
        if box is not None and all(_is_inside(mark, box) for mark in group):
            del group.attrib["clip-path"]
    shapes = {
        name: tuple((shape.tag, *shape.items()) for shape in clip) for name, clip in clips.items()
    }
    for parent in list(root.iter(GROUP)):
        runs = groupby(list(parent), key=lambda child: _shape(child, shapes))
        parent[:] = [
            element
            for shape, children in runs
            for element in (children if shape is None else _clipped_once(list(children)))
        ]
    return ElementTree.tostring(root, encoding="unicode")


def _box(clip: Element) -> Box | None:
    """The rectangle of a clip path; `None` if it has another shape."""
    if len(clip) != 1 or clip[0].tag != RECT or "transform" in clip[0].attrib:
        return None
    left, top, width, height = (
        float(clip[0].get(name, 0)) for name in ("x", "y", "width", "height")
    )
    return Box(left, top, left + width, top + height)


def _is_inside(mark: Element, box: Box) -> bool:
    """Does a mark lie inside? A rectangle without outlines is cut, so that it does."""
    if mark.tag == PATH and "stroke" not in mark.attrib and _cut(mark, box):
        return True
    extent = _extent(mark)
    return extent is not None and box.contains(extent)


def _cut(path: Element, box: Box) -> bool:
    """Cuts a rectangle, if the path is one and part of it is inside."""
    found = RECTANGLE.fullmatch(path.get("d", ""))
    if found is None or "transform" in path.attrib:
        return False
    x, y, width, height = map(float, found.groups())
    left, right = max(x, box.left), min(x + width, box.right)
    top, bottom = max(y, box.top), min(y + height, box.bottom)
    if left >= right or top >= bottom:
        return False
    if (left, top, right, bottom) != (x, y, x + width, y + height):
        width, height = right - left, bottom - top
        path.set("d", f"M{left:.12g},{top:.12g}h{width:.12g}v{height:.12g}h-{width:.12g}Z")
    return True


def _extent(mark: Element) -> Box | None:
    """A rectangle around a mark; `None` if it is not known."""
    moved = TRANSLATION.fullmatch(mark.get("transform", "translate(0,0)"))
    if moved is None or "stroke-linecap" in mark.attrib:
        return None
    x, y = float(moved[1]), float(moved[2])
    stroke = float(mark.get("stroke-width", 1)) if "stroke" in mark.attrib else 0.0
    if mark.tag == LINE:
        return _of_line(mark, x, y, stroke)
    if mark.tag == TEXT:
        return _of_text(mark, x, y)
    return _of_path(mark.get("d", ""), x, y, stroke) if mark.tag == PATH else None


def _of_line(line: Element, x: float, y: float, stroke: float) -> Box:
    """The extent of a line without caps: its width lies across it."""
    to_x, to_y = float(line.get("x2", 0)), float(line.get("y2", 0))
    across = stroke / 2 + SMOOTHED
    dx, dy = (across if to_y else 0.0), (across if to_x else 0.0)
    xs, ys = (x, x + to_x), (y, y + to_y)
    return Box(min(xs) - dx, min(ys) - dy, max(xs) + dx, max(ys) + dy)


def _of_text(text: Element, x: float, y: float) -> Box | None:
    """The extent of a text, wherever its anchor is; `None` if its size is not known."""
    size = text.get("font-size", "").removesuffix("px")
    if not NUMBER.fullmatch(size) or len(text) or not text.text:
        return None
    high = ROOM * float(size)
    wide = ROOM * text_width(text.text, float(size), bold=True)
    return Box(x - wide, y - high, x + wide, y + BELOW * high)


def _of_path(data: str, x: float, y: float, stroke: float) -> Box | None:
    """The extent of a symbol or a line with corners; `None` if it has other curves."""
    numbers = [float(number) for number in NUMBER.findall(data)]
    if not numbers:
        return None
    if STRAIGHT.fullmatch(data):
        xs, ys = numbers[::2], numbers[1::2]
        # Steps have right angles only.
        steps = all(
            x0 == x1 or y0 == y1 for x0, y0, x1, y1 in zip(xs, ys, xs[1:], ys[1:], strict=False)
        )
        corner = 2**0.5 if steps and "Z" not in data else MITER_LIMIT
        edge = corner * stroke / 2 + SMOOTHED if stroke else SMOOTHED
        return Box(x + min(xs) - edge, y + min(ys) - edge, x + max(xs) + edge, y + max(ys) + edge)
    if set(re.findall("[A-Za-df-z]", data)) - set("MAZ"):
        return None
    # Arcs about the origin: no point is further from it than the sum of a radius and a place.
    edge = 2 * max(map(abs, numbers)) + stroke / 2 + SMOOTHED
    return Box(x - edge, y - edge, x + edge, y + edge)


def _shape(element: Element, shapes: Mapping[str, object]) -> object | None:
    """The shape that clips all marks of a group, or `None` if there is none."""
    is_clipped = "clip-path" in element.attrib or element.get("class", "").endswith("pathgroup")
    if element.tag != GROUP or not is_clipped:
        return None
    if any(group.get("transform") not in NOWHERE for group in element.iter(GROUP)):
        return None
    found = {shapes.get(clipped.get("clip-path", "")) for clipped in _clipped(element)}
    return found.pop() if len(found) == 1 else None


def _clipped(element: Element) -> list[Element]:
    return [one for one in element.iter() if "clip-path" in one.attrib]


def _clipped_once(groups: list[Element]) -> list[Element]:
    """A group with these, with their clip path instead of its parts."""
    clipped = [one for group in groups for one in _clipped(group)]
    if len(clipped) < 2:
        return groups
    whole = ElementTree.Element(GROUP, {"clip-path": clipped[0].attrib["clip-path"]})
    for one in clipped:
        del one.attrib["clip-path"]
    whole.extend(groups)
    return [whole]
