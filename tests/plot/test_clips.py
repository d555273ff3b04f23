"""Clip paths of an SVG are merged before it becomes a PNG."""

import re
from xml.etree import ElementTree

from rtolab.plot.clips import merged

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
CLIPS = "".join(
    f'<clipPath id="clip{number}"><rect width="{width}" height="9"/></clipPath>'
    for number, width in enumerate((5, 5, 5, 7))
)


def group(number: int, name: str, more: str = "") -> str:
    """A group of marks with a clip path."""
    return f'<g clip-path="url(#clip{number})"{more}><path class="{name}"/></g>'


def clipped(*groups: str) -> list[list[str]]:
    """The names of the marks below each clip path that is left."""
    root = ElementTree.fromstring(
        merged(f"{HEAD}<g>{''.join(groups)}</g><defs>{CLIPS}</defs></svg>")
    )
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
