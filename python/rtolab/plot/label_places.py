"""Places for labels beside the curves that they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Point = tuple[float, float]
Curve = list[tuple[Point, Point]]
"""Lines from point to point, in points from the upper left corner."""
APART_EM = 0.25
"""The least distance of a label from any curve."""
NEARER = 0.5
"""A label is at most this far from its own curve, relative to its distance from any other one."""
MOST_EM = 3.0
"""The largest distance of a label from its own curve."""


@dataclass(frozen=True)
class Room:
    """The size of a panel, and that of its font, in points."""

    width: float
    height: float
    font_pt: float


@dataclass(frozen=True)
class Box:
    """The size of a label, in points."""

    width: float
    height: float


def places(curves: Sequence[Curve], boxes: Sequence[Box], room: Room) -> list[Point] | None:
    """The upper left corners of labels that cover nothing and are nearest to their own curve.

    Args:
        curves: what each label names; a label may cover none of them.
        boxes: the sizes of the labels.
        room: the panel.

    Returns:
        A place per label, or None if one of them has no place.
    """
    step = 0.25 * room.font_pt
    points = [_points(curve, step) for curve in curves]
    found: list[Point] = []
    for number, box in enumerate(boxes):
        others = [there for other, there in enumerate(points) if other != number]
        taken = [_outline(place, boxes[at], step) for at, place in enumerate(found)]
        place = _place(points[number], [*others, *taken], box, room)
        if place is None:
            return None
        found.append(place)
    return found


def _place(
    own: npt.NDArray[np.float64],
    others: Sequence[npt.NDArray[np.float64]],
    box: Box,
    room: Room,
) -> Point | None:
    font_pt = room.font_pt
    margin = 0.4 * font_pt
    lefts = np.arange(margin, room.width - box.width - margin, font_pt)
    tops = np.arange(margin, room.height - box.height - margin, 0.5 * font_pt)
    if not (len(lefts) and len(tops) and len(own)):
        return None
    corners = np.stack(np.meshgrid(lefts, tops), axis=-1).reshape(-1, 2)
    near = _distances(corners, box, own)
    far = _distances(corners, box, np.concatenate([np.empty((0, 2)), *others]))
    fits = (near >= APART_EM * font_pt) & (near <= MOST_EM * font_pt) & (near <= NEARER * far)
    if not fits.any():
        return None
    # Far from the others counts, but not beyond a few ems.
    score = np.where(fits, np.minimum(far, 5 * font_pt) - near, -np.inf)
    left, top = corners[int(np.argmax(score))]
    return float(left), float(top)


def _distances(
    corners: npt.NDArray[np.float64], box: Box, points: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The distance of a box at each corner from the nearest point."""
    nearest = np.full(len(corners), np.inf)
    for at in range(0, len(points), 256):
        some = points[None, at : at + 256]
        low = corners[:, None] - some
        high = some - corners[:, None] - np.array([box.width, box.height])
        apart = np.maximum(np.maximum(low, high), 0)
        nearest = np.minimum(nearest, np.hypot(apart[..., 0], apart[..., 1]).min(axis=1))
    return nearest


def _points(curve: Curve, step: float) -> npt.NDArray[np.float64]:
    """Points along the lines of a curve, no more than a step apart, each place once."""
    if not curve:
        return np.empty((0, 2))
    lines = np.array(curve)
    longest = np.abs(lines[:, 1] - lines[:, 0]).max(axis=1)
    parts = []
    for line, length in zip(lines, longest, strict=True):
        share = np.linspace(0, 1, int(length / step) + 2)[:, None]
        parts.append(line[0] + share * (line[1] - line[0]))
    places = np.round(np.concatenate(parts) / step) * step
    return np.unique(places, axis=0)


def _outline(place: Point, box: Box, step: float) -> npt.NDArray[np.float64]:
    """The edges of a label that has its place."""
    (left, top), (right, bottom) = place, (place[0] + box.width, place[1] + box.height)
    corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
    return _points([*zip(corners, [*corners[1:], corners[0]], strict=True)], step)
