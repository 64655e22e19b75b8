"""Curves on the plot: lines, markers, bands, and crosses for failed scores, painted as one item."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

    from app.plots.look import Look
    from app.plots.series import Curve, FailedScore

MOST_MARKERS = 25
"""About so many markers a curve; between them the line tells enough."""

CurveKey = tuple[str, str, tuple[int, ...]]

CROSS = 4.0
CROSS_ROW = 9
_BAND_ALPHA = 44
_BOLD = 1.75
_BESIDE = ((-0.35, -0.35), (0.35, -0.35), (0.0, 0.4))
"""Where three lines of one pixel make a bold one: Qt strokes them in a twentieth of the time."""


class FullViewItem(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """An item that covers whatever part of the plot is on screen, and is never in the way of the pointer."""

    def boundingRect(self) -> QRectF:
        """Give the part of the plot on screen, in data coordinates."""
        return QRectF(self.viewRect())

    def shape(self) -> QPainterPath:
        """Let the pointer through."""
        return QPainterPath()

    def viewTransformChanged(self) -> None:
        """Tell the scene that another part is covered now."""
        self.prepareGeometryChange()
        super().viewTransformChanged()


class CurveLayer(FullViewItem):
    """All curves, as one item of which Qt keeps a picture: it is shown again while only the cursor moves."""

    def __init__(self) -> None:
        super().__init__()
        self.drawings: dict[CurveKey, CurveDrawing] = {}
        self.setCacheMode(pg.GraphicsObject.CacheMode.DeviceCoordinateCache)

    def show_curves(self, curves: Sequence[Curve], looks: Sequence[Look], *, bold: bool, bands: bool) -> int:
        """Draw these curves; gives the number of those that had to be made anew."""
        before, self.drawings = self.drawings, {}
        changed = row = 0
        for curve, look in zip(curves, looks, strict=True):
            drawing = before.pop(curve.key) if curve.key in before else CurveDrawing()
            self.drawings[curve.key] = drawing
            changed += drawing.show(curve, look, bold=bold, band=bands, cross_row=row)
            row += bool(curve.failed)
        changed += len(before)
        if changed:
            self.update()
        return changed

    def crosses(self) -> Iterator[tuple[Curve, FailedScore, QPointF]]:
        """Failed scores and where their crosses are, in pixels of the plot."""
        transform, view = self.deviceTransform_(), self.viewRect()
        for drawing in self.drawings.values():
            for failed in drawing.curve.failed:
                yield drawing.curve, failed, drawing.cross_at(failed.step, transform, view)

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Paint the curves in their order."""
        view = self.viewRect()
        for drawing in self.drawings.values():
            drawing.paint(painter, view)


class CurveDrawing:
    """One curve as a few paths: each call of Qt has to get the interpreter back from other threads."""

    def __init__(self) -> None:
        self.curve: Curve
        self._shown: tuple[Look, bool, bool, int] | None = None
        self._cross_row = 0
        self._line = QPainterPath()
        self._band: QPainterPath | None = None
        self._marked = np.empty((0, 2))
        self._outline = np.empty((0, 2))
        self._pen = self._cross_pen = QPen()
        self._lines: tuple[tuple[float, float], ...] = _BESIDE
        self._colour, self._band_colour = QColor(), QColor()

    def show(self, curve: Curve, look: Look, *, bold: bool, band: bool, cross_row: int) -> bool:
        """Take a curve's points; False when nothing has to be painted anew."""
        styled = (look, bold, band, cross_row)
        if self._shown == styled and self.curve.same_points(curve):
            self.curve = curve
            return False
        self._shown = styled
        self.curve = curve
        self._cross_row = cross_row
        self._pen = look.pen(1.0, dashes_of=_BOLD if bold else None)
        self._lines = _BESIDE if bold else ((0.0, 0.0),)
        self._cross_pen = QPen(QColor(look.colour), 2.0)
        self._colour, self._band_colour = QColor(look.colour), QColor(look.colour)
        self._band_colour.setAlpha(_BAND_ALPHA)
        self._outline = _outline(look.marker, 7 if bold else 6)
        self._line = pg.arrayToQPath(curve.steps, curve.values, connect="finite")
        marked = _marked(curve)
        self._marked = np.column_stack([curve.steps[marked], curve.values[marked]])
        self._band = _band_path(curve) if band else None
        return True

    def ends(self) -> tuple[float, float]:
        """Lowest and highest value shown, band included; infinite when there is none."""
        known = np.isfinite(self.curve.values)
        values = self.curve.values[known]
        if not len(values):
            return math.inf, -math.inf
        spread = np.nan_to_num(self.curve.spread[known], nan=0.0) if self._band is not None else 0.0
        return float((values - spread).min()), float((values + spread).max())

    def nearest(self, where: QPointF, pixel_x: float, pixel_y: float) -> tuple[int, float] | None:
        """The point nearest to a place in data coordinates: its index, and how many pixels away it is."""
        steps, values = self.curve.steps, self.curve.values
        distance = np.hypot((steps - where.x()) / pixel_x, (values - where.y()) / pixel_y)
        if not len(distance) or np.all(np.isnan(distance)):
            return None
        index = int(np.nanargmin(distance))
        return index, float(distance[index])

    def cross_at(self, step: int, transform: QTransform, view: QRectF) -> QPointF:
        """Crosses stand in a row above the axis: a failed score has no height of its own."""
        # The y axis points up: the top of the rectangle is the lowest value.
        place = transform.map(QPointF(step, view.top()))
        return QPointF(place.x(), place.y() - 8 - CROSS_ROW * self._cross_row)

    def paint(self, painter: QPainter, view: QRectF) -> None:
        """Paint band and line in data coordinates, markers and crosses in pixels."""
        if self._band is not None:  # its faint edge needs no antialiasing, which would cost as much again
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            painter.fillPath(self._band, self._band_colour)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        transform = painter.transform()
        for dx, dy in self._lines:
            painter.setTransform(transform * QTransform.fromTranslate(dx, dy))
            painter.strokePath(self._line, self._pen)
        painter.resetTransform()
        if len(self._marked):
            painter.fillPath(self._marker_path(transform), self._colour)
        if self.curve.failed:
            steps = sorted({failed.step for failed in self.curve.failed})
            path = QPainterPath()
            for step in steps:
                _add_cross(path, self.cross_at(step, transform, view))
            painter.strokePath(path, self._cross_pen)
        painter.setTransform(transform)

    def _marker_path(self, transform: QTransform) -> QPainterPath:
        """Put the marker's outline on every marked point; the plot is never turned: scale and shift do."""
        scale = np.array([transform.m11(), transform.m22()])
        shift = np.array([transform.dx(), transform.dy()])
        corners = (self._marked * scale + shift)[:, None, :] + self._outline[None, :, :]
        breaks = np.full((len(corners), 1, 2), np.nan)
        points = np.concatenate([corners, breaks], axis=1).reshape(-1, 2)
        path: QPainterPath = pg.arrayToQPath(points[:, 0], points[:, 1], connect="finite")
        return path


class GridItem(FullViewItem):
    """Lines at the heights that the axis names; the grid of pyqtgraph's own axes costs half of a frame."""

    def __init__(self, axis: pg.AxisItem) -> None:
        super().__init__()
        self._axis = axis
        self._pen = QPen()

    def set_colour(self, colour: str) -> None:
        """Take a colour of the theme."""
        self._pen = QPen(QColor(colour))
        self._pen.setCosmetic(True)
        self.update()

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Paint the lines of the axis' first level of ticks."""
        view = self.viewRect()
        levels = self._axis.tickValues(view.top(), view.bottom(), self._axis.size().height())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.setPen(self._pen)
        for height in levels[0][1] if levels else ():
            painter.drawLine(QPointF(view.left(), height), QPointF(view.right(), height))


@cache
def _outline(marker: str, size: int) -> np.ndarray:
    """The corners of a marker around the origin, in pixels, closed."""
    polygon = Symbols[marker].toFillPolygon(QTransform().scale(size, size))
    return np.array([[corner.x(), corner.y()] for corner in polygon])


def _marked(curve: Curve) -> np.ndarray:
    """Which points get a marker: every so many steps, and all that no line reaches."""
    known = np.isfinite(curve.values)
    before = np.concatenate([[False], known[:-1]])
    after = np.concatenate([known[1:], [False]])
    stride = max(1, math.ceil(len(curve.steps) / MOST_MARKERS))
    marked: np.ndarray = known & ((curve.steps % stride == 0) | (~before & ~after))
    return marked


def _band_path(curve: Curve) -> QPainterPath:
    low, high = curve.values - curve.spread, curve.values + curve.spread
    path = QPainterPath()
    known = np.isfinite(low) & np.isfinite(high)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(np.int8), [0]])))
    for start, end in edges.reshape(-1, 2):
        around = np.concatenate([curve.steps[start:end], curve.steps[start:end][::-1]])
        heights = np.concatenate([low[start:end], high[start:end][::-1]])
        path.addPath(pg.arrayToQPath(around, heights))
    return path


def _add_cross(path: QPainterPath, place: QPointF) -> None:
    for rise in (-CROSS, CROSS):
        path.moveTo(place.x() - CROSS, place.y() - rise)
        path.lineTo(place.x() + CROSS, place.y() + rise)
