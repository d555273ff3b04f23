"""Clip paths of an SVG become fewer before it becomes a PNG."""

import re
from xml.etree import ElementTree

import pytest

from rtolab.plot.clips import simplified

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
CLIPS = "".join(
    f'<clipPath id="clip{number}"><rect width="{width}" height="9"/></clipPath>'
    for number, width in enumerate((50, 50, 50, 70))
)
BEYOND = "M40,5L60,5"
"""The data of a line that leaves the first clip paths."""


def group(number: int, name: str, more: str = "") -> str:
    """A group of marks with a clip path that cuts them."""
    return f'<g clip-path="url(#clip{number})"{more}><path class="{name}" d="M0,0C9,9"/></g>'


def changed(*groups: str) -> ElementTree.Element:
    """The picture with these groups, simplified."""
    return ElementTree.fromstring(
        simplified(f"{HEAD}<g>{''.join(groups)}</g><defs>{CLIPS}</defs></svg>")
    )


def clipped(*groups: str) -> list[list[str]]:
    """The names of the marks below each clip path that is left."""
    root = changed(*groups)
    names = [[mark.get("class", "") for mark in part.iter()] for part in root.iter() if of(part)]
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == len(
        re.findall("<path", "".join(groups))
    )
    return [[name for name in mine if name.islower()] for mine in names]


def of(part: ElementTree.Element) -> bool:
    return "clip-path" in part.attrib


def test_neighbours_with_equal_clip_paths_share_one() -> None:
    assert clipped(group(0, "a"), group(1, "b"), group(2, "c")) == [["a", "b", "c"]]


def test_another_shape_or_a_mark_between_them_divides_them() -> None:
    assert clipped(group(0, "a"), group(3, "b"), group(3, "c")) == [["a"], ["b", "c"]]
    assert clipped(group(0, "a"), '<g><path class="x"/></g>', group(1, "b")) == [["a"], ["b"]]


def test_a_line_is_clipped_within_its_group() -> None:
    line = f'<g class="LINE pathgroup"><g transform="translate(0,0)">{group(1, "b")}</g></g>'
    assert clipped(group(0, "a"), line, group(2, "c")) == [["a", "b", "c"]]


def test_a_group_that_is_moved_keeps_its_clip_path() -> None:
    moved = group(1, "b", ' transform="translate(3,0)"')
    assert clipped(group(0, "a"), moved) == [["a"], ["b"]]


STROKE = 'stroke="black" stroke-width="2"'
SYMBOL = "M3,0A3,3,0,1,1,-3,0A3,3,0,1,1,3,0"
TEXT = '<text transform="translate({},7)" font-size="5px" text-anchor="start">one</text>'


@pytest.mark.parametrize(
    ("mark", "is_inside"),
    [
        (f'<path d="M4,4L20,4L20,6" {STROKE}/>', True),
        # As wide as the rectangle, but with half of its stroke above.
        (f'<path d="M4,1L20,1L20,6" {STROKE}/>', False),
        # A sharp corner reaches ten half widths far.
        (f'<path d="M4,4L20,5L4,5" {STROKE}/>', False),
        (f'<path d="{BEYOND}" {STROKE}/>', False),
        ('<path d="M5,4C5,4,9,9,5,5"/>', False),
        ('<path d="M1,1h500v2h-500Z" fill="red" stroke="black"/>', False),
        ('<path d="M5,4L5,6" transform="scale(9)"/>', False),
        ('<path d="M5,4L5,6" stroke="black" stroke-linecap="square"/>', False),
        # Along the edges, whose outer halves are no part of the line.
        (f'<line transform="translate(20,0)" x2="0" y2="9" {STROKE}/>', True),
        (f'<line transform="translate(0,5)" x2="50" y2="0" {STROKE}/>', True),
        (f'<line transform="translate(49,0)" x2="0" y2="9" {STROKE}/>', False),
        (f'<line transform="translate(20,0)" x2="0" y2="10" {STROKE}/>', False),
        (TEXT.format(20), True),
        (TEXT.format(45), False),
    ],
)
def test_a_mark_that_lies_inside_does_without_a_clip_path(mark: str, is_inside: bool) -> None:
    assert any(map(of, changed(f'<g clip-path="url(#clip0)">{mark}</g>').iter())) is not is_inside


def test_a_symbol_near_the_edge_keeps_its_clip_path() -> None:
    def marks(*places: int) -> str:
        symbols = "".join(
            f'<path transform="translate({at},4)" d="M1,0A1,1,0,1,1,-1,0" fill="red"/>'
            for at in places
        )
        return f'<g clip-path="url(#clip0)">{symbols}</g>'

    assert not any(map(of, changed(marks(5, 20)).iter()))
    assert any(map(of, changed(marks(5, 49)).iter()))


def test_a_shade_is_cut_instead() -> None:
    shade = '<path class="s" d="M40,0h20v12h-20Z" fill="grey"/>'
    root = changed(f'<g clip-path="url(#clip0)">{shade}</g>')
    assert not any(map(of, root.iter()))
    (found,) = root.iter("{http://www.w3.org/2000/svg}path")
    assert found.get("d") == "M40,0h10v9h-10Z"


def test_a_shade_outside_keeps_its_clip_path() -> None:
    shade = '<path d="M60,0h20v9h-20Z" fill="grey"/>'
    assert any(map(of, changed(f'<g clip-path="url(#clip0)">{shade}</g>').iter()))
