"""Several senders in one panel: colours, direct labels, rows of events."""

import re
from itertools import combinations

import pytest
from test_sequences import result, texts, three

from handmade_tables import burst, held_window
from rtolab import Error
from rtolab.plot import Figure, time_sequence
from rtolab.plot.label_places import Box, Curve, Room, places
from rtolab.plot.overlays import SENDERS


@pytest.fixture(scope="module")
def parted() -> Figure:
    """Two senders whose curves part after the stall."""
    traced = result(
        held_window("sack", frto=False),
        burst("newreno", frto=False, begins=0.0, run=1),
    )
    return time_sequence(traced, overlay=True)


def lightness(color: str) -> float:
    """CIE L* of an sRGB colour (IEC 61966-2-1, CIE 15)."""
    shares = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    y = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y


def test_a_copy_in_grey_tells_the_senders_apart() -> None:
    shades = [lightness(color) for color, _ in SENDERS]
    assert min(abs(one - other) for one, other in combinations(shades, 2)) > 18
    assert max(shades) < 72, "thin lines of it show on white paper"
    assert len(set(SENDERS)) == len(SENDERS)


def test_all_senders_are_in_one_panel_each_in_its_colour(parted: Figure) -> None:
    assert len(parted.chart.vconcat) == 2, "the key and a panel"
    svg = parted.svg()
    for color, _ in SENDERS[:2]:
        # Ticks of first transmissions, ACKs, retransmissions.
        assert len(re.findall(rf'stroke="{color}"', svg)) >= 3
    assert SENDERS[2][0] not in svg
    assert parted.caption[0].startswith("sack: 13.8 s, 13 unneeded retransmissions")


def test_names_stand_beside_the_curves_in_their_colours(parted: Figure) -> None:
    labels = re.findall(r'font-weight="bold" fill="(\S+)"[^>]*>([^<]*)<', parted.svg())
    seen = [(color.lower(), name) for color, name in labels]
    # Each with its white outline.
    assert seen == [
        *(2 * [("#000000", "sack")]),
        *(2 * [(SENDERS[1][0].lower(), "newreno")]),
    ]


def test_runs_that_coincide_are_named_in_the_key() -> None:
    same = result(held_window("sack", frto=False), held_window("reno", frto=False, run=1))
    said = texts(time_sequence(same, overlay=True))
    assert {"sack (13.8 s, 13 unneeded)", "reno (13.8 s, 13 unneeded)"} <= set(said)
    assert "sack" not in said


def test_a_row_of_each_sender_has_its_timeouts() -> None:
    figure = time_sequence(three(), overlay=True)
    said = set(texts(figure))
    assert {"spurious timeout", "timeout", "spurious fast retransmit"} <= said
    assert "fast retransmit" not in said, "there is none that was needed"
    svg = figure.svg()
    rows = {
        color: {
            float(y)
            for y in re.findall(
                rf'translate\([\d.]+,(-[\d.]+)\)"[^>]*fill="(?:white|{color})"[^>]*'
                rf'stroke="{color}"',
                svg,
                re.IGNORECASE,
            )
        }
        for color in (SENDERS[0][0], SENDERS[1][0], SENDERS[2][0])
    }
    heights = [next(iter(row)) for row in rows.values() if len(row) == 1]
    assert len(set(heights)) == 3, rows
    assert heights == sorted(heights), "from top to bottom"


def test_equal_marks_of_two_runs_are_side_by_side() -> None:
    same = result(held_window("sack", frto=False), held_window("reno", frto=False, run=1))
    svg = time_sequence(same, overlay=True, between=(0, 5)).svg()
    ticks = {
        color: re.search(rf'd="M([\d.-]+),[^"]*"[^>]*stroke="{color}"', svg)
        for color, _ in SENDERS[:2]
    }
    black, other = (found for found in ticks.values() if found)
    assert 0.5 < float(other[1]) - float(black[1]) < 2


def test_more_senders_than_colours_are_an_error() -> None:
    five = result(*(held_window(f"s{run}", frto=False, run=run) for run in range(5)))
    with pytest.raises(Error, match="found 5 senders; expected at most 4 in one panel"):
        time_sequence(five, overlay=True)
    only = time_sequence(five, ["s0", "s4"], overlay=True)
    assert len(only.caption) == 2


ROOM = Room(200, 100, 8)


def line(slope: float) -> Curve:
    """A line from the lower left corner of a panel of 200 by 100 points."""
    return [((0.0, 100.0), (200.0, 100.0 - slope * 100.0))]


def test_a_label_is_nearer_to_its_own_curve_and_covers_none() -> None:
    boxes = [Box(40, 9), Box(40, 9)]
    found = places([line(1.0), line(0.3)], boxes, ROOM)
    assert found is not None
    for (left, top), own, other in zip(found, (1.0, 0.3), (0.3, 1.0), strict=True):
        assert 0 <= left <= 160
        assert 0 <= top <= 91
        distances = []
        for slope in (own, other):
            at = [100 - slope * 100 * x / 200 for x in (left, left + 40)]
            # Above or below the whole line: no crossing.
            assert max(at) < top or min(at) > top + 9
            distances.append(min(abs(top + 4.5 - y) for y in at))
        assert distances[0] < distances[1]


def test_labels_without_room_are_refused() -> None:
    assert places([line(1.0), line(1.0)], [Box(40, 9)] * 2, ROOM) is None
    assert places([line(1.0), line(0.3)], [Box(40, 9), Box(300, 9)], ROOM) is None
