"""One curve on the plot: its line, markers, band, and crosses for failed scores, painted in a single item."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import Symbols
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap, QPolygonF, QTransform

if TYPE_CHECKING:
    from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

    from app.plots.look import Look
    from app.plots.series import Curve, FailedScore

MOST_MARKERS = 25
"""About so many markers a curve; between them the line tells enough."""

CROSS = 4.0
CROSS_ROW = 9
_BAND_ALPHA = 44


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


class CurveItem(FullViewItem):
    """A curve. Four items of pyqtgraph's would do the same, at three times the cost of a frame."""

    def __init__(self) -> None:
        super().__init__()
        self.curve: Curve
        self.cross_row = 0
        self._shown: tuple[Look, bool, bool] | None = None
        self._line = QPainterPath()
        self._band: QPainterPath | None = None
        self._marked = np.empty((0, 2))
        self._pen = QPen()
        self._cross_pen = QPen()
        self._band_colour = QColor()
        self._marker = QPixmap()

    def show_curve(self, curve: Curve, look: Look, *, bold: bool, band: bool) -> bool:
        """Take a curve's points; False when nothing has to be painted anew."""
        styled = (look, bold, band)
        if self._shown == styled and self.curve.same_points(curve):
            self.curve = curve
            return False
        if self._shown is None or self._shown[:2] != styled[:2]:
            self._pen = look.pen(1.75 if bold else 1.0)
            self._cross_pen = QPen(QColor(look.colour), 2.0)
            self._band_colour = QColor(look.colour)
            self._band_colour.setAlpha(_BAND_ALPHA)
            self._marker = _marker(look, 7 if bold else 6)
        self._shown = styled
        self.curve = curve
        self._line = pg.arrayToQPath(curve.steps, curve.values, connect="finite")
        marked = _marked(curve)
        self._marked = np.column_stack([curve.steps[marked], curve.values[marked]])
        self._band = _band_path(curve) if band else None
        self.update()
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

    def crosses(self) -> list[tuple[FailedScore, QPointF]]:
        """Failed scores and where their crosses are, in pixels of the plot."""
        return [(failed, self._cross_at(failed.step)) for failed in self.curve.failed]

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Paint band, line, markers and crosses."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        if self._band is not None:  # its faint edge needs no antialiasing, which would cost as much again
            painter.fillPath(self._band, self._band_colour)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        painter.setPen(self._pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self._line)
        transform = painter.transform()
        painter.resetTransform()
        ratio = self._marker.devicePixelRatio()
        half = self._marker.width() / ratio / 2
        inside = _mapped(transform, self._marked)
        for x, y in inside:
            painter.drawPixmap(QPointF(x - half, y - half), self._marker)
        if self.curve.failed:
            painter.setPen(self._cross_pen)
            for step in sorted({failed.step for failed in self.curve.failed}):
                _draw_cross(painter, self._cross_at(step, transform))

    def _cross_at(self, step: int, transform: QTransform | None = None) -> QPointF:
        """Crosses stand in a row above the axis: a failed score has no height of its own."""
        view = self.viewRect()
        corner = QPointF(
            step, view.top()
        )  # the y axis points up: the top of the rectangle is the lowest value
        place = (transform or self.deviceTransform_()).map(corner)
        return QPointF(place.x(), place.y() - 8 - CROSS_ROW * self.cross_row)


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


def _marker(look: Look, size: int) -> QPixmap:
    ratio = 2.0
    side = size + 2
    pixmap = QPixmap(round(side * ratio), round(side * ratio))
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(side / 2, side / 2)
    painter.scale(size, size)
    painter.fillPath(Symbols[look.marker], QColor(look.colour))
    painter.end()
    return pixmap


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


def _mapped(transform: QTransform, points: np.ndarray) -> list[list[float]]:
    """Map points from data to device coordinates; the plot is never turned."""
    if not len(points):
        return []
    scale = np.array([transform.m11(), transform.m22()])
    moved: list[list[float]] = (points * scale + np.array([transform.dx(), transform.dy()])).tolist()
    return moved


def _draw_cross(painter: QPainter, place: QPointF) -> None:
    for rise in (-CROSS, CROSS):
        painter.drawPolyline(
            QPolygonF(
                [QPointF(place.x() - CROSS, place.y() - rise), QPointF(place.x() + CROSS, place.y() + rise)]
            )
        )
