"""What is kept of a developed picture is what a fresh one shows, and panning computes only what is new."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtGui import QImage, QPainter

from app.compare.content import Difference, One, PaneImage, Shades
from app.compare.developed import Developed
from app.compare.painting import picture_size
from app.compare.turns import Turn
from app.compare.viewport import Bounds, Size, View
from banana100_core.imaging.comparison import DifferenceMode
from banana100_core.imaging.look import Channel, Look
from banana100_core.imaging.pyramid import build

PANE = Size(160, 120)


def noise(width: int, height: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def pane_image(width: int, height: int, seed: int) -> PaneImage:
    pyramid = build(noise(width, height, seed))
    return PaneImage(picture_size(pyramid), pyramid)


def painted(content: One | Difference, view: View) -> np.ndarray:
    image = QImage(PANE.width, PANE.height, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    content.paint(painter, view, PANE, 1.0)
    painter.end()
    return np.frombuffer(image.constBits(), np.uint8).reshape(PANE.height, PANE.width, 4).copy()


ONE, OTHER, SMALLER = pane_image(500, 400, 1), pane_image(500, 400, 2), pane_image(250, 190, 3)
CONTENTS = {
    "plain": One(ONE),
    "a channel": One(ONE, Look(Channel.RED)),
    "gain": One(ONE, Look(gain=1.5)),
    "turned": One(ONE.turned(Turn(mirrored=True, quarters=1))),
    "signed": Difference(ONE, OTHER, DifferenceMode.SIGNED, 6),
    "grey": Difference(ONE, OTHER, DifferenceMode.ABSOLUTE, 2, Shades.GREY),
    "false colour": Difference(ONE, OTHER, DifferenceMode.RELATIVE, 1, Shades.FALSE_COLOUR),
    "FLIP": Difference(ONE, OTHER, DifferenceMode.FLIP, 1, Shades.FALSE_COLOUR, flip=SMALLER),
    "of a channel": Difference(ONE, OTHER, channel=Channel.A),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_walk_over_the_picture_shows_what_fresh_looks_show(qapp, name):
    content = CONTENTS[name]
    walk = [View(0.5, 0.5)]
    for scale in (0.3, 0.7, 1.0, 3.0):
        walk += [View(0.3 + 0.04 * step, 0.6 - 0.05 * step, scale, Size(500, 400)) for step in range(6)]
        walk.append(View(0.9, 0.1, scale, Size(500, 400)))  # a jump
    for view in [*walk, *reversed(walk)]:
        fresh = replace(content, developed=Developed())
        np.testing.assert_array_equal(painted(content, view), painted(fresh, view))


def test_a_reference_of_another_size_is_resized_to_the_picture(qapp):
    wide = np.kron(noise(50, 40), np.ones((4, 4, 1), np.uint8))
    reference, image = build(np.ascontiguousarray(wide[::2, ::2])), build(wide)
    content = Difference(
        PaneImage(picture_size(reference), reference), PaneImage(picture_size(image), image), gain=1
    )
    shown = painted(content, View(0.5, 0.5, 1.0, picture_size(image)))[..., :3]
    assert (shown == 128).all()  # plain enlarging gives the very same pixels


def test_panning_computes_what_comes_into_view_and_no_more(qapp):
    pyramid = build(noise(900, 700))
    computed = []

    def develop(level: int, bounds: Bounds) -> np.ndarray:
        computed.append(bounds)
        return pyramid.levels[level][bounds.top : bounds.bottom, bounds.left : bounds.right]

    part = Developed().of(pyramid, develop)
    for shift in range(0, 300, 10):
        image, place = part(0, Bounds(shift, shift, shift + 200, shift + 100))
        assert (place.width(), place.height()) == (200, 100)
        red, green, blue = pyramid.levels[0][shift, shift].tolist()
        assert image.pixel(place.topLeft()) & 0xFFFFFF == red << 16 | green << 8 | blue
    areas = [(each.right - each.left) * (each.bottom - each.top) for each in computed]
    assert areas[0] == 200 * 100
    assert max(areas[1:]) <= 10 * 300
    computed.clear()
    part(0, Bounds(290, 290, 490, 390))
    assert computed == []


def test_a_sheet_is_no_larger_than_what_was_looked_at_needs(qapp):
    pyramid = build(noise(2000, 60))
    part = Developed().of(pyramid, lambda level, bounds: pyramid.levels[level][:, bounds.left : bounds.right])
    for left in range(0, 1900, 50):
        image, _place = part(0, Bounds(left, 0, left + 100, 60))
        assert image.width() <= 150
