"""The canvas and its arithmetic: exact pixels, steady positions, what the modes show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPainter, QPixmap

from app.compare.canvas import Canvas
from app.compare.content import Difference, One, PaneImage, Wipe
from app.compare.looking import LinkedView
from app.compare.painting import picture_size
from app.compare.surroundings import Backdrop
from app.compare.viewport import MAX_ZOOM, Size, View, pixel_under, stretched, zoom_text
from banana100_core.imaging.comparison import DifferenceMode
from banana100_core.imaging.pyramid import build

GREY = (128, 128, 128)
sizes = st.builds(Size, st.integers(1, 20_000), st.integers(1, 20_000))
panes = st.builds(Size, st.integers(100, 3840), st.integers(100, 2160))


def noise(width: int, height: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def pane_image(pixels: np.ndarray) -> PaneImage:
    pyramid = build(pixels)
    return PaneImage(picture_size(pyramid), pyramid)


def as_pixels(image: QImage) -> np.ndarray:
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : image.width() * 3].reshape(image.height(), image.width(), 3).copy()


def shown(canvas: Canvas, ratio: float = 1.0) -> np.ndarray:
    """What a canvas paints on a screen of this scale."""
    image = QImage(round(canvas.width() * ratio), round(canvas.height() * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    canvas.render(image)
    return as_pixels(image)


@pytest.fixture
def canvas(qtbot):
    canvas = Canvas(LinkedView())
    qtbot.addWidget(canvas)
    canvas.resize(400, 300)
    return canvas


# Arithmetic


@given(sizes, panes, st.floats(0.02, 64), st.floats(0, 1), st.floats(0, 1))
def test_zooming_keeps_what_is_under_the_cursor(picture, pane, zoom, x, y):
    view = View().zoomed_to(zoom, (pane.width / 2, pane.height / 2), picture, pane)
    at = x * pane.width, y * pane.height
    before = _point_under(view, at, picture, pane)
    zoomed = view.zoomed_to(zoom * 1.7, at, picture, pane)
    after = _point_under(zoomed, at, picture, pane)
    if 0 < zoomed.x < 1 and 0 < zoomed.y < 1:  # at the very edge the picture stops following
        assert after == pytest.approx(before, abs=1e-6 * max(picture) + 1e-9)


def _point_under(view, at, picture, pane):
    scale = view.scale(picture, pane)
    return (
        view.x * picture.width + (at[0] - pane.width / 2) / scale,
        view.y * picture.height + (at[1] - pane.height / 2) / scale,
    )


@given(panes, st.floats(0.1, 32), st.floats(0, 1), st.floats(0, 1))
def test_equal_places_of_pictures_of_different_size_lie_at_equal_places(pane, zoom, x, y):
    large, small = Size(2816, 1504), Size(1408, 752)
    view = View(x, y, zoom, large)
    one, other = view.place(large, pane), view.place(small, pane)
    for part in (0.0, 0.3, 1.0):
        at = one.to_pane(part * large.width, part * large.height)
        assert other.to_pane(part * small.width, part * small.height) == pytest.approx(at, abs=1.0)


@given(sizes, panes)
def test_fit_shows_the_whole_picture_and_touches_the_pane(picture, pane):
    covered = View().place(picture, pane).covered(picture)
    assert covered.left >= -1
    assert covered.top >= -1
    assert covered.right - covered.left <= pane.width + 1
    assert covered.bottom - covered.top <= pane.height + 1
    gap = min(pane.width - (covered.right - covered.left), pane.height - (covered.bottom - covered.top))
    assert abs(gap) <= 1


def test_actual_size_is_exactly_one_for_the_picture_it_was_asked_for():
    picture, pane = Size(5504, 3071), Size(801, 601)
    view = View().actual((13.0, 500.0), picture, pane)
    placement = view.place(picture, pane)
    assert placement.scale_x == placement.scale_y == 1.0
    assert zoom_text(view.scale(picture, pane)) == "1:1"


def test_zoom_stops_at_one_to_one_on_the_way_in_and_out():
    picture, pane = Size(3000, 2000), Size(700, 500)
    middle = 350.0, 250.0
    view, scales = View(), []
    for _ in range(40):
        view = view.zoomed_in(middle, picture, pane)
        scales.append(view.scale(picture, pane))
    assert 1.0 in scales
    assert scales[-1] == MAX_ZOOM
    for _ in range(80):
        view = view.zoomed_out(middle, picture, pane)
        scales.append(view.scale(picture, pane))
    assert scales.count(1.0) == 2
    assert scales[-1] * picture.width >= 16  # it can't be lost


def test_panning_by_a_drag_moves_the_picture_with_the_cursor():
    picture, pane = Size(1000, 800), Size(400, 300)
    view = View(0.5, 0.5, 3.0, picture)
    before = view.place(picture, pane)
    after = view.panned(-30, 17, picture, pane).place(picture, pane)
    assert (after.left - before.left, after.top - before.top) == (-30, 17)


def test_a_picture_of_another_size_can_be_laid_over_the_same_place():
    shown_size, other = Size(600, 350), Size(1200, 800)
    placement = View(0.4, 0.7, 1.5, shown_size).place(shown_size, Size(500, 400))
    over = stretched(placement, shown_size, other)
    assert over.to_pane(*other) == pytest.approx(placement.to_pane(*shown_size))


def test_pixel_under_a_place():
    assert pixel_under(0.0, 0.0, Size(10, 20)) == (0, 0)
    assert pixel_under(0.999, 0.999, Size(10, 20)) == (9, 19)
    assert pixel_under(1.0, 0.5, Size(10, 20)) is None


# Exact pixels


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
@pytest.mark.parametrize("corner", [(0.0, 0.0), (1.0, 1.0), (0.37, 0.61)])
def test_one_to_one_is_exact_at_every_display_scale(canvas, ratio, corner):
    pixels = noise(1023, 769)
    canvas.show_content(One(pane_image(pixels)))
    canvas.link.view = View(*corner, 1.0, Size(1023, 769))
    seen = shown(canvas, ratio)
    height, width = seen.shape[:2]
    placement = canvas.link.view.place(Size(1023, 769), Size(width, height))
    _assert_shows(seen, pixels, placement.left, placement.top)


def _assert_shows(seen: np.ndarray, pixels: np.ndarray, left: int, top: int) -> None:
    """`seen` is grey but for the picture, whose corner lies at left, top."""
    expected = np.full_like(seen, GREY)
    height, width = seen.shape[:2]
    x0, y0 = max(0, left), max(0, top)
    x1, y1 = min(width, left + pixels.shape[1]), min(height, top + pixels.shape[0])
    expected[y0:y1, x0:x1] = pixels[y0 - top : y1 - top, x0 - left : x1 - left]
    np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize("size", [(20_000, 600), (600, 20_000), (40_000, 200)])
def test_very_long_pictures_are_exact_to_the_last_row_and_column(canvas, size):
    pixels = noise(*size)
    canvas.show_content(One(pane_image(pixels)))
    for zoom in (1.0, 4.0):
        canvas.link.view = View(1.0, 1.0, zoom, Size(*size))
        seen = shown(canvas)
        corner = seen[:150, :200]  # the picture ends in the middle of the pane
        step = int(zoom)
        expected = np.repeat(np.repeat(pixels[-150 // step - 1 :, -200 // step - 1 :], step, 0), step, 1)
        np.testing.assert_array_equal(corner, expected[-150:, -200:])
        assert (seen[150:, 200:] == GREY).all()


def test_enlarged_pixels_are_equal_squares(canvas):
    pixels = noise(64, 64)
    canvas.show_content(One(pane_image(pixels)))
    canvas.link.view = View(0.5, 0.5, 6.0, Size(64, 64))
    seen = shown(canvas)
    placement = canvas.link.view.place(Size(64, 64), Size(400, 300))
    large = np.repeat(np.repeat(pixels, 6, axis=0), 6, axis=1)
    _assert_shows(seen, large, placement.left, placement.top)


def test_reduced_pictures_are_means_and_not_picked_pixels(canvas):
    checker = np.indices((800, 800)).sum(axis=0) % 2 * 255
    pixels = np.repeat(checker.astype(np.uint8)[..., None], 3, axis=2)
    canvas.show_content(One(pane_image(pixels)))
    canvas.link.view = View(0.5, 0.5, 0.25, Size(800, 800))
    middle = shown(canvas)[60:240, 110:290].astype(int)
    assert abs(middle - 128).max() <= 1


@settings(max_examples=30, deadline=None)
@given(st.floats(0.03, 0.99), st.floats(0, 1), st.floats(0, 1))
def test_a_reduced_picture_lies_where_it_should(zoom, x, y):
    size = Size(1201, 803)
    ramp = np.zeros((size.height, size.width, 3), np.uint8)
    ramp[..., 0] = np.linspace(0, 255, size.width)[None, :]
    ramp[..., 1] = np.linspace(0, 255, size.height)[:, None]
    image = QImage(300, 200, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    view, pane = View(x, y, zoom, size), Size(300, 200)
    One(pane_image(ramp)).paint(painter, view, pane, 1.0)
    painter.end()
    column, row = view.place(size, pane).to_picture(150.5, 100.5)
    if 8 <= column < size.width - 8 and 8 <= row < size.height - 8:
        red, green, _blue = as_pixels(image)[100, 150]
        assert red == pytest.approx(column / size.width * 255, abs=3)
        assert green == pytest.approx(row / size.height * 255, abs=3)


_SCALED = """
import json, sys
import numpy as np
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from app.compare.canvas import Canvas
from app.compare.content import One, PaneImage
from app.compare.looking import LinkedView
from app.compare.painting import picture_size
from app.compare.viewport import Size, View
from banana100_core.imaging.pyramid import build
application = QApplication([])
pixels = np.random.default_rng(0).integers(0, 256, (700, 900, 3), dtype=np.uint8)
pyramid = build(pixels)
window = QWidget()
row = QHBoxLayout(window)
row.setContentsMargins(7, 3, 5, 9)  # odd ones, so that canvases begin between device pixels
row.setSpacing(1)
link = LinkedView()
canvases = [Canvas(link), Canvas(link)]
for canvas in canvases:
    canvas.show_content(One(PaneImage(picture_size(pyramid), pyramid)))
    row.addWidget(canvas)
window.resize(531, 323)
window.show()
application.processEvents()
link.view = View(0.5, 0.5, 1.0, Size(900, 700))
application.processEvents()
window.grab().save(sys.argv[1])
ratio = window.devicePixelRatioF()
print(json.dumps({"ratio": ratio, "left": [canvas.x() * ratio for canvas in canvases],
    "width": [canvas.width() * ratio for canvas in canvases]}))
"""


@pytest.mark.parametrize("scale", ["1.25", "1.5", "2"])
def test_panes_that_begin_between_device_pixels_are_exact(tmp_path, scale):
    """In a real window of its own process, because the display scale is fixed when a program starts."""
    picture = tmp_path / "window.png"
    done = subprocess.run(
        [sys.executable, "-c", _SCALED, str(picture)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": scale},
    )
    told = json.loads(done.stdout)
    assert told["ratio"] == float(scale)
    seen = as_pixels(QImage(str(picture)))
    pixels = noise(900, 700)
    for left, width in zip(told["left"], told["width"], strict=True):
        middle = round(left + width / 2)
        row = seen.shape[0] // 2
        patch = seen[row - 60 : row + 60, middle - 60 : middle + 60]
        assert _found_in(patch, pixels), "the pane shows other values than the picture's"


def _found_in(patch: np.ndarray, pixels: np.ndarray) -> bool:
    """Whether the patch occurs in the picture, value for value."""
    height, width = patch.shape[:2]
    corners = np.argwhere((pixels == patch[0, 0]).all(axis=2))
    return any(
        np.array_equal(pixels[row : row + height, column : column + width], patch) for row, column in corners
    )


# What is shown at high zoom


def test_the_grid_appears_only_where_pixels_are_large(canvas):
    pixels = np.full((64, 64, 3), 200, np.uint8)
    canvas.show_content(One(pane_image(pixels)))
    canvas.link.view = View(0.5, 0.5, 6.0, Size(64, 64))
    assert set(np.unique(shown(canvas)[10:-10, 60:-60])) == {200}
    canvas.link.view = View(0.5, 0.5, 16.0, Size(64, 64))
    seen = shown(canvas)[..., 0]
    placement = canvas.link.view.place(Size(64, 64), Size(400, 300))
    lines = [x for x in range(400) if (x - placement.left) % 16 == 0]
    assert (seen[::16][:, lines] != 200).all()
    assert (seen[(8 - placement.top) % 16 :: 16, [x + 8 for x in lines[:-1]]] == 200).all()


def test_values_are_written_into_very_large_pixels(canvas):
    pixels = np.full((16, 16, 3), 255, np.uint8)
    canvas.show_content(One(pane_image(pixels)))
    canvas.link.view = View(0.5, 0.5, 32.0, Size(16, 16))
    without = int((shown(canvas).min(axis=2) < 100).sum())
    canvas.link.view = View(0.5, 0.5, 64.0, Size(16, 16))
    written = int((shown(canvas).min(axis=2) < 100).sum())
    assert without == 0
    assert written > 200


def test_values_that_an_edge_would_cut_are_left_out(canvas):
    pixels = np.full((64, 64, 3), 255, np.uint8)
    canvas.show_content(One(pane_image(pixels)))
    side = 64.0
    for shift in range(0, int(side), 3):
        canvas.link.view = View((32 * side + shift) / (64 * side), 0.5, side, Size(64, 64))
        dark = shown(canvas).min(axis=2) < 100
        assert dark.any()
        assert not dark[:, [0, -1]].any()


# Modes


def test_a_wipe_shows_the_reference_left_and_the_current_picture_right(canvas):
    left, right = noise(400, 300, 1), noise(400, 300, 2)
    canvas.show_content(Wipe(pane_image(left), pane_image(right), 0.25))
    canvas.link.view = View(0.5, 0.5, 1.0, Size(400, 300))
    seen = shown(canvas)
    np.testing.assert_array_equal(seen[:100, :90], left[:100, :90])
    np.testing.assert_array_equal(seen[:100, 110:], right[:100, 110:])


def test_the_divider_follows_the_mouse(canvas, qtbot):
    canvas.show_content(Wipe(pane_image(noise(400, 300, 1)), pane_image(noise(400, 300, 2))))
    canvas.show()
    moved: list[float] = []
    canvas.divider_moved.connect(moved.append)
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(201, 40))
    qtbot.mouseMove(canvas, QPoint(301, 45))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(301, 45))
    assert moved[-1] == pytest.approx(0.75, abs=0.01)
    assert canvas.link.view.zoom is None  # nothing was panned


@pytest.mark.parametrize("gain", [1, 6, 32])
def test_differences_are_those_of_the_pixels(canvas, gain):
    before, after = noise(400, 300, 1), noise(400, 300, 2)
    change = after.astype(int) - before
    canvas.link.view = View(0.5, 0.5, 1.0, Size(400, 300))
    expected = {
        DifferenceMode.SIGNED: np.clip(128 + gain * change, 0, 255),
        DifferenceMode.ABSOLUTE: np.clip(gain * abs(change), 0, 255),
    }
    for mode, values in expected.items():
        canvas.show_content(Difference(pane_image(before), pane_image(after), mode, gain))
        assert abs(shown(canvas).astype(int) - values)[:240].max() <= 1  # the scale lies below


def test_a_difference_of_pictures_of_two_sizes_is_taken_at_the_current_ones_place(canvas):
    flat, twice = np.full((150, 200, 3), 90, np.uint8), np.full((300, 400, 3), 100, np.uint8)
    canvas.show_content(Difference(pane_image(flat), pane_image(twice), DifferenceMode.ABSOLUTE, 2.0))
    canvas.link.view = View(0.5, 0.5, 1.0, Size(400, 300))
    assert (shown(canvas)[:240] == 20).all()


def gradient(width: int, height: int) -> np.ndarray:
    """Red grows to the right and green downwards."""
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[..., 0] = np.linspace(0, 255, width).round()
    pixels[..., 1] = np.linspace(0, 255, height).round()[:, None]
    return pixels


@pytest.mark.parametrize("zoom", [0.4, 1.5, 3.0, 7.9])
def test_a_preview_lies_where_its_picture_will(canvas, zoom):
    size = Size(4096, 2048)
    small = gradient(32, 16)
    rows = QImage(small.data, 32, 16, 32 * 3, QImage.Format.Format_RGB888)
    canvas.link.view = View(0.4, 0.3, zoom, size)
    canvas.show_content(One(pane_image(gradient(*size))))
    expected = shown(canvas).astype(int)
    canvas.show_content(One(PaneImage(size, preview=QPixmap.fromImage(rows))))
    seen = shown(canvas).astype(int)
    assert np.abs(seen - expected).max() <= 8  # half a pixel of the preview, which has 16 rows


def test_a_message_stands_in_place_of_a_picture(canvas):
    blank = shown(canvas)
    canvas.show_content(One(PaneImage(message="Step 7 failed\n\n<b>no</b> image came")))
    assert (shown(canvas) != blank).any()


@pytest.mark.parametrize("backdrop", list(Backdrop))
def test_the_backdrop_is_neutral(canvas, backdrop):
    canvas.set_backdrop(backdrop)
    seen = shown(canvas).astype(int)
    assert (seen.max(axis=2) == seen.min(axis=2)).all()
    if backdrop is Backdrop.GREY:
        assert (seen == 128).all()


# Mouse


def test_double_click_changes_between_fit_and_one_to_one_at_the_cursor(canvas, qtbot):
    canvas.show_content(One(pane_image(noise(800, 600))))
    canvas.show()
    under = canvas.place_at(QPointF(300, 100))
    qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(300, 100))
    assert canvas.scale == 1.0
    assert canvas.place_at(QPointF(300, 100)) == pytest.approx(under, abs=1 / 600)
    qtbot.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=QPoint(300, 100))
    assert canvas.link.view.zoom is None


def test_dragging_pans_all_that_share_the_view(canvas, qtbot):
    other = Canvas(canvas.link)
    qtbot.addWidget(other)
    other.resize(canvas.size())
    image = pane_image(noise(800, 600))
    for each in (canvas, other):
        each.show_content(One(image))
    canvas.show()
    canvas.actual_size()
    qtbot.mousePress(canvas, Qt.MouseButton.LeftButton, pos=QPoint(200, 150))
    qtbot.mouseMove(canvas, QPoint(150, 170))
    qtbot.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=QPoint(150, 170))
    np.testing.assert_array_equal(shown(canvas), shown(other))
    assert canvas.place_at(QPointF(150, 170)) == pytest.approx((0.5, 0.5), abs=0.01)


def test_the_place_under_the_cursor_is_told_as_parts_of_the_sides(canvas, qtbot):
    canvas.show_content(One(pane_image(noise(400, 300))))
    canvas.show()
    told: list[object] = []
    canvas.hovered.connect(told.append)
    qtbot.mouseMove(canvas, QPoint(100, 150))
    assert told[-1] == pytest.approx((0.25, 0.5), abs=0.01)
    canvas.show_content(One(PaneImage()))
    qtbot.mouseMove(canvas, QPoint(120, 150))
    assert told[-1] is None
