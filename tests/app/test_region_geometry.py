"""Regions as points: handles, moving, reshaping, and the way from a turned picture to the upright one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.compare.outlines.drawing import free_place
from app.compare.outlines.frame import Frame, mapped
from app.compare.outlines.geometry import (
    contains,
    corners,
    distance_to_edge,
    handles,
    is_vertex,
    kept,
    moved,
    reshaped,
    with_vertex_at,
    without_vertex,
)
from app.compare.turns import Turn
from app.compare.viewport import Size
from banana100_core.imaging.pyramid import Pyramid
from banana100_core.project.records import RegionKind

BOX, POLYGON = RegionKind.BOX, RegionKind.POLYGON
SIZE = Size(100, 80)
PLACE = ((10.0, 20.0), (40.0, 60.0))
TRIANGLE = ((10.0, 10.0), (50.0, 10.0), (10.0, 50.0))
TURNS = [Turn(mirrored, quarters) for mirrored in (False, True) for quarters in range(4)]


@pytest.mark.parametrize("turn", TURNS, ids=lambda turn: turn.text or "upright")
def test_a_pixel_of_a_turned_picture_is_found_in_the_upright_one(turn):
    size = Size(7, 4)
    upright = np.arange(size.width * size.height, dtype=np.uint8).reshape(size.height, size.width, 1)
    shown = turn.pyramid(Pyramid([upright], (0,))).levels[0]
    to_shown = Frame(3, size, turn).to_shown
    for row in range(size.height):
        for column in range(size.width):
            x, y = mapped(to_shown, column + 0.5, row + 0.5)
            assert shown[int(y), int(x), 0] == upright[row, column, 0]
    inverse, _ = to_shown.inverted()
    assert mapped(inverse, *mapped(to_shown, 1.25, 3.5)) == pytest.approx((1.25, 3.5))


def test_a_box_has_handles_at_corners_and_sides_clockwise():
    assert handles(BOX, PLACE) == (
        (10, 20),
        (25, 20),
        (40, 20),
        (40, 40),
        (40, 60),
        (25, 60),
        (10, 60),
        (10, 40),
    )


@pytest.mark.parametrize(
    ("handle", "to", "expected"),
    [
        (0, (5, 15), ((5, 15), (40, 60))),
        (1, (99, 10), ((10, 10), (40, 60))),
        (3, (55, 0), ((10, 20), (55, 60))),
        (4, (50, 70), ((10, 20), (50, 70))),
        (7, (60, 5), ((40, 20), (60, 60))),  # beyond the other side
        (2, (300, -5), ((10, 0), (100, 60))),  # no further than the picture
    ],
)
def test_a_handle_of_a_box_moves_its_sides(handle, to, expected):
    assert reshaped(BOX, PLACE, handle, to, SIZE) == expected


def test_a_vertex_moves_and_the_middle_of_an_edge_becomes_one():
    assert handles(POLYGON, TRIANGLE)[3:] == ((30, 10), (30, 30), (10, 30))
    assert reshaped(POLYGON, TRIANGLE, 1, (60, 12), SIZE) == ((10, 10), (60, 12), (10, 50))
    assert reshaped(POLYGON, TRIANGLE, 5, (2, 30), SIZE) == (*TRIANGLE, (2, 30))
    assert [is_vertex(POLYGON, TRIANGLE, handle) for handle in (0, 2, 3)] == [True, True, False]


def test_a_new_vertex_goes_to_the_nearest_edge_and_a_triangle_loses_none():
    points, vertex = with_vertex_at(TRIANGLE, (31, 31))
    assert (points[vertex], vertex) == ((31, 31), 2)
    assert without_vertex(points, vertex) == TRIANGLE
    assert without_vertex(TRIANGLE, 0) is None


def test_moving_stops_at_the_sides_of_the_picture():
    assert moved(PLACE, (-30, 5), SIZE) == ((0, 25), (30, 65))
    assert moved(PLACE, (500, 500), SIZE) == ((70, 40), (100, 80))


def test_boxes_are_kept_in_whole_pixels_and_polygons_in_hundredths():
    assert kept(BOX, ((1.4, 2.6), (3.5, 9.49))) == ((1, 3), (4, 9))
    assert kept(POLYGON, ((1.234, 2.0), (3.5, 9.499), (0, 0))) == ((1.23, 2.0), (3.5, 9.5), (0, 0))


def test_inside_and_near_the_line():
    ring = corners(POLYGON, TRIANGLE)
    assert contains(ring, (15, 15))
    assert not contains(ring, (40, 40))
    assert distance_to_edge(ring, (30, 7)) == pytest.approx(3)


@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 80)), min_size=3, max_size=8, unique=True),
    st.tuples(st.floats(-200, 200), st.floats(-200, 200)),
)
def test_moving_keeps_the_form_and_stays_inside(points, by):
    there = moved(tuple(points), by, SIZE)
    assert all(-1e-9 <= x <= 100 + 1e-9 and -1e-9 <= y <= 80 + 1e-9 for x, y in there)
    steps = np.array(there) - np.array(points)
    np.testing.assert_allclose(steps, np.broadcast_to(steps[0], steps.shape), atol=1e-9)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60)), max_size=6))
def test_no_label_covers_another_nor_leaves_the_picture_at_its_top(corners_of):
    taken = []
    for left, top in corners_of:
        place = free_place((left, top, left + 20, top + 8), taken, 0)
        assert not any(_cover(place, other) for other in taken)
        assert (place[0], place[2] - place[0], place[3] - place[1]) == (left, 20, 8)
        assert place[1] >= 0
        taken.append(place)


def test_where_a_crowd_is_in_the_way_a_label_stays():
    crowd = [(0, top, 20, top + 8) for top in range(0, 800, 9)]
    assert free_place((5, 400, 25, 408), crowd, 0) == (5, 400, 25, 408)


def _cover(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
