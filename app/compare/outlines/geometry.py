"""Boxes and polygons as points of a picture: their handles, and what moving one of these makes of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.project.regions import Points

Point = tuple[float, float]

BOX_HANDLES = 8
"""Corners and middles of the sides, clockwise from the upper left corner."""
_LEFT, _TOP, _RIGHT, _BOTTOM = {0, 6, 7}, {0, 1, 2}, {2, 3, 4}, {4, 5, 6}
_ROUNDED = 2  # digits after the point of a polygon's pixels


def corners(kind: RegionKind, points: Points) -> Points:
    """The corners of the outline, in turn."""
    if kind is RegionKind.POLYGON:
        return points
    (left, top), (right, bottom) = points
    return ((left, top), (right, top), (right, bottom), (left, bottom))


def handles(kind: RegionKind, points: Points) -> Points:
    """Where an outline can be taken hold of.

    Of a box these are `BOX_HANDLES`; of a polygon all its vertices, then the middle of the edge after each.
    """
    ring = corners(kind, points)
    middles = [
        ((x0 + x1) / 2, (y0 + y1) / 2) for (x0, y0), (x1, y1) in zip(ring, (*ring[1:], ring[0]), strict=True)
    ]
    if kind is RegionKind.POLYGON:
        return (*ring, *middles)
    return tuple(point for pair in zip(ring, middles, strict=True) for point in pair)


def is_vertex(kind: RegionKind, points: Points, handle: int) -> bool:
    """Whether a handle is a vertex of a polygon, which can be removed."""
    return kind is RegionKind.POLYGON and handle < len(points)


def moved(points: Points, by: Point, size: tuple[int, int]) -> Points:
    """The same outline elsewhere, as far as the picture reaches."""
    x, y = (
        min(max(shift, -min(values)), side - max(values))
        for shift, values, side in zip(by, zip(*points, strict=True), size, strict=True)
    )
    return tuple((px + x, py + y) for px, py in points)


def reshaped(kind: RegionKind, points: Points, handle: int, to: Point, size: tuple[int, int]) -> Points:
    """The outline with one handle at another place; that of a polygon's edge becomes a vertex."""
    x, y = within(to, size)
    if kind is RegionKind.POLYGON:
        if handle < len(points):
            return (*points[:handle], (x, y), *points[handle + 1 :])
        after = handle - len(points) + 1
        return (*points[:after], (x, y), *points[after:])
    (left, top), (right, bottom) = points
    if handle in _LEFT:
        left = x
    elif handle in _RIGHT:
        right = x
    if handle in _TOP:
        top = y
    elif handle in _BOTTOM:
        bottom = y
    return box((left, top), (right, bottom))


def without_vertex(points: Points, vertex: int) -> Points | None:
    """A polygon with one vertex fewer; None when it would enclose nothing."""
    left = (*points[:vertex], *points[vertex + 1 :])
    return left if len(left) >= 3 else None


def with_vertex_at(points: Points, at: Point) -> tuple[Points, int]:
    """A polygon with a vertex more, on the edge nearest to a point; and its number."""
    ring = (*points, points[0])
    after = min(range(len(points)), key=lambda edge: _distance(at, ring[edge], ring[edge + 1])) + 1
    return (*points[:after], at, *points[after:]), after


def box(one: Point, other: Point) -> Points:
    """The box between two corners: its upper left and its lower right one."""
    (x0, y0), (x1, y1) = one, other
    return ((min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1)))


def within(point: Point, size: tuple[int, int]) -> Point:
    """The point of the picture that is nearest."""
    return min(max(point[0], 0.0), float(size[0])), min(max(point[1], 0.0), float(size[1]))


def kept(kind: RegionKind, points: Points) -> Points:
    """Points as they are worth keeping: of a box whole pixels, of a polygon hundredths."""
    digits = 0 if kind is RegionKind.BOX else _ROUNDED
    return tuple((round(x, digits), round(y, digits)) for x, y in points)


def contains(ring: Sequence[Point], at: Point) -> bool:
    """Whether a point lies inside an outline."""
    x, y = at
    inside = False
    for (x0, y0), (x1, y1) in zip(ring, (*ring[1:], ring[0]), strict=True):
        if (y0 > y) != (y1 > y) and x < (x1 - x0) * (y - y0) / (y1 - y0) + x0:
            inside = not inside
    return inside


def distance_to_edge(ring: Sequence[Point], at: Point) -> float:
    """How far a point is from the line of an outline."""
    return min(_distance(at, one, other) for one, other in zip(ring, (*ring[1:], ring[0]), strict=True))


def _distance(at: Point, one: Point, other: Point) -> float:
    dx, dy = other[0] - one[0], other[1] - one[1]
    length = dx * dx + dy * dy
    part = 0.0 if length == 0 else ((at[0] - one[0]) * dx + (at[1] - one[1]) * dy) / length
    part = min(max(part, 0.0), 1.0)
    return math.dist(at, (one[0] + part * dx, one[1] + part * dy))
