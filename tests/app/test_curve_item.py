"""Curves as they are painted: a bold line is made of thin ones."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter

from app.plots.curve_item import CurveDrawing
from app.plots.look import DASHES, Look
from app.plots.series import Curve, Group

HEIGHT = 60


def painted(values, *, bold, dash=()):
    """How dark each pixel is where a black curve of 41 steps is painted, five pixels a step; 0 to 1."""
    nothing = np.full(41, np.nan)
    curve = Curve("piqe", "test-1", Group("r1", (1,)), np.arange(41.0), values, nothing, np.ones(41))
    drawing = CurveDrawing()
    drawing.show(curve, Look("#000000", dash, "o"), bold=bold, band=False, cross_row=0)
    drawing._marked = np.empty((0, 2))
    image = QImage(200, HEIGHT, QImage.Format.Format_Grayscale8)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    painter.scale(5.0, 1.0)
    drawing.paint(painter, QRectF(0, 0, 40, HEIGHT))
    painter.end()
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(HEIGHT, image.bytesPerLine())[:, :200]
    return 1 - pixels / 255.0


@pytest.mark.parametrize("rise", [0.0, 1.0, -2.5, 25.0])
def test_a_bold_line_is_as_wide_as_it_says_at_any_slope(rise, qapp):
    # Ink over the line's length is its width; a zigzag keeps steep lines in the picture.
    values = 30.25 + rise * np.where(np.arange(41) % 2, 0.5, -0.5)
    length = 200 * np.hypot(5, rise) / 5
    assert painted(values, bold=True).sum() / length == pytest.approx(1.75, abs=0.35)
    assert painted(values, bold=False).sum() / length == pytest.approx(1.0, abs=0.25)


def test_dashes_of_a_bold_line_are_as_long_as_its_legend_shows(qapp):
    dash, level = DASHES[1], np.full(41, 30.5)
    for bold, width in ((True, 1.75), (False, 1.0)):
        row = painted(level, bold=bold, dash=dash).max(axis=0) > 0.5
        starts = np.flatnonzero(np.diff(row.astype(int)) == 1)
        assert np.diff(starts).mean() == pytest.approx(width * sum(dash), rel=0.05)
