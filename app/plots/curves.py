"""The plot of curves over steps: draws what it is given, and says which step or point was asked for."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app import theme
from app.plots.curve_item import CurveLayer, GridItem
from app.plots.marks import MarkLayer
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent, MouseDragEvent

    from app.plots.look import Look
    from app.plots.marks import StepMark
    from app.plots.series import Curve, FailedScore

REACH = 12
"""How near the pointer must be to a point, in pixels."""
FEW_CURVES = 6
"""Up to so many curves the lines are bold; more of them would hide one another."""
_LABEL = {"position": 1.0, "anchors": [(0, 0), (1, 0)], "movable": False}  # at the top, wholly in the plot


@dataclass(frozen=True, slots=True)
class Hit:
    """A point of a curve, or a failed score, under the pointer."""

    curve: Curve
    step: int
    index: int = -1
    failed: FailedScore | None = None


class StepAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph has no types
    """Numbers whole steps only, however few there are."""

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """Of the spacings that pyqtgraph would take, those of whole steps."""
        spacings: list[tuple[float, float]] = super().tickSpacing(low, high, size)
        return [each for each in spacings if each[0] >= 1] or [(1.0, 0.0)]


class CurvesView(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Curves over steps with a cursor line at the current step."""

    step_chosen = Signal(int)
    point_chosen = Signal(object)  # Hit

    def __init__(self, parent: QWidget | None = None) -> None:
        self._box = _StepBox()
        axes = {"bottom": StepAxis("bottom")}
        super().__init__(parent=parent, viewBox=self._box, axisItems=axes, enableMenu=False)
        self._describe: Callable[[Hit], str] = lambda hit: f"step {hit.step}"
        self._last_step = 1
        self._step = 0
        self._placing = False
        self._axis: tuple[str, tuple[float, float] | None] | None = None
        self._limits: tuple[float, float] | None = None
        self.hideButtons()
        self.setAccessibleName("Scores over steps")
        self.viewport().setMouseTracking(True)
        self._cursor = pg.InfiniteLine(0, angle=90, movable=True, label="{value:.0f}", labelOpts=_LABEL)
        self._cursor.setZValue(1000)
        self._range_lines = [pg.InfiniteLine(0, angle=0) for _ in range(2)]
        self._grid = GridItem(self.getPlotItem().getAxis("left"))
        self._grid.setZValue(-1)
        self._layer = CurveLayer()
        self._marks = MarkLayer()
        for line in (self._grid, *self._range_lines, self._marks, self._layer, self._cursor):
            self.addItem(line, ignoreBounds=True)
        self._cursor.sigPositionChanged.connect(self._cursor_moved)
        self._box.scrubbed.connect(self._choose)
        self._box.clicked.connect(self._clicked)
        self._box.reset_wanted.connect(self.show_all)
        self.setLabel("bottom", "step")
        self.apply_theme()

    # What is shown

    def set_describer(self, describe: Callable[[Hit], str]) -> None:
        """Say how to put a point into words, for tooltips; the text is shown as plain text."""
        self._describe = describe

    def show_curves(self, curves: Sequence[Curve], looks: Sequence[Look], *, bands: bool) -> int:
        """Draw these curves, touching only those that changed; returns how many did."""
        bold = len(curves) <= FEW_CURVES
        changed = self._layer.show_curves(curves, looks, bold=bold, bands=bands)
        if changed:
            self._fit_limits()
        return changed

    def show_marks(self, marks: Sequence[StepMark]) -> None:
        """Mark steps with vertical lines."""
        self._marks.show_marks(marks)

    @property
    def marks(self) -> tuple[StepMark, ...]:
        """The marks on screen."""
        return self._marks.marks

    def set_steps(self, last: int) -> None:
        """Give the number of the last step of the runs shown, the right end of the axis."""
        if last != self._last_step:
            self._last_step = max(1, last)
            self._box.setXRange(0, self._last_step, padding=0.02)

    def set_step(self, number: int) -> None:
        """Move the cursor line to the current step."""
        self._step = number
        self._put_cursor(number)

    def set_axis(self, title: str, typical: tuple[float, float] | None) -> None:
        """Name the vertical axis; `typical` draws the ends of a typical range."""
        if (title, typical) == self._axis:  # a new label lays the whole plot out anew
            return
        self._axis = title, typical
        self.setLabel("left", html.escape(title))
        for line, value in zip(self._range_lines, typical or (0.0, 0.0), strict=True):
            line.setVisible(typical is not None)
            line.setValue(value)

    def show_all(self) -> None:
        """Zoom out to all curves."""
        self._box.free = False
        self._box.setXRange(0, self._last_step, padding=0.02)
        self._limits = None
        self._fit_limits()

    def apply_theme(self) -> None:
        """Take the colours of the theme; the curves' own come with the next `show_curves`."""
        shown = theme.colours()
        self.setBackground(shown.field)
        item = self.getPlotItem()
        for name in ("left", "bottom"):
            axis = item.getAxis(name)
            axis.setPen(QPen(QColor(shown.line)))
            axis.setTextPen(QColor(shown.muted))
            axis.setStyle(tickLength=4)
        self._grid.set_colour(shown.line)
        self._cursor.setPen(_cosmetic(shown.accent, 1.5))
        self._cursor.setHoverPen(_cosmetic(shown.accent, 3.0))
        self._cursor.label.setColor(QColor(shown.on_accent))
        self._cursor.label.fill = QBrush(QColor(shown.accent))
        self._cursor.label.update()
        for line in self._range_lines:
            line.setPen(_cosmetic(shown.disabled, 1.0, Qt.PenStyle.DashLine))

    # What is asked

    def hit_at(self, place: QPointF) -> Hit | None:
        """Find the point nearest to a place in the view's pixels, None when none is near."""
        best, reach = None, float(REACH)
        pixel_x, pixel_y = self._box.viewPixelSize()
        where = self._box.mapSceneToView(self.mapToScene(place.toPoint()))
        for drawing in self._layer.drawings.values():
            near = drawing.nearest(where, pixel_x, pixel_y)
            if near is not None and near[1] <= reach:
                best, reach = Hit(drawing.curve, int(drawing.curve.steps[near[0]]), near[0]), near[1]
        for curve, failed, middle in self._layer.crosses():
            distance = math.dist(middle.toTuple(), place.toTuple())
            if distance <= reach:
                best, reach = Hit(curve, failed.step, failed=failed), distance
        return best

    def place_of(self, curve: Curve, step: int) -> QPoint:
        """Where a step of a curve lies, in the view's pixels."""
        index = int(np.flatnonzero(curve.steps == step)[0])
        return self._to_view(float(step), float(curve.values[index]))

    def place_of_failed(self, failed: FailedScore) -> QPoint:
        """Where the cross of a failed score lies, in the view's pixels."""
        for _curve, other, middle in self._layer.crosses():
            if other == failed:
                return middle.toPoint()
        raise KeyError(failed)

    def cursor_step(self) -> int:
        """The step that the cursor line stands at."""
        step: int = round(self._cursor.value())
        return step

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the figures of the point under the pointer."""
        if isinstance(event, QHelpEvent):
            hit = self.hit_at(QPointF(event.pos()))
            text = self._describe(hit) if hit else self._told_by_marks(event.pos())
            QToolTip.showText(event.globalPos(), plain_tip(text), self.viewport())
            return True
        return bool(super().viewportEvent(event))

    # Inside

    def _told_by_marks(self, place: QPoint) -> str:
        pixel, _height = self._box.viewPixelSize()
        return self._marks.told_at(self._box.mapSceneToView(self.mapToScene(place)).x(), pixel)

    def _to_view(self, x: float, y: float) -> QPoint:
        place: QPoint = self.mapFromScene(self._box.mapViewToScene(QPointF(x, y)))
        return place

    def _fit_limits(self) -> None:
        drawings = self._layer.drawings.values()
        if self._box.free or not drawings:
            return
        ends = [drawing.ends() for drawing in drawings]
        low = min((end[0] for end in ends), default=math.inf)
        high = max((end[1] for end in ends), default=-math.inf)
        if not math.isfinite(low) or not math.isfinite(high):
            low, high = 0.0, 100.0
        if high - low < 1e-9:
            low, high = low - 0.5, high + 0.5
        if self._limits != (low, high):
            self._limits = low, high
            self._box.setYRange(low, high, padding=0.08)

    def _cursor_moved(self) -> None:
        if not self._placing:
            self._choose(self._cursor.value())

    def _put_cursor(self, number: int) -> None:
        # The line tells its own label of the move as well, so its signal can't be blocked.
        self._placing = True
        self._cursor.setValue(number)
        self._placing = False

    def _choose(self, x: float) -> None:
        number = min(max(round(x), 0), self._last_step)
        self._put_cursor(number)
        if number != self._step:
            self._step = number
            self.step_chosen.emit(number)

    def _clicked(self, place: QPointF) -> None:
        hit = self.hit_at(QPointF(self.mapFromScene(place)))
        if hit is not None:
            self.point_chosen.emit(hit)
        else:
            self._choose(self._box.mapSceneToView(place).x())


class _StepBox(pg.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """Left drag moves the current step; the wheel zooms, the middle button pans, a double click shows all."""

    scrubbed = Signal(float)
    clicked = Signal(QPointF)
    reset_wanted = Signal()

    def __init__(self) -> None:
        super().__init__(enableMenu=False)
        self.free = False
        self.disableAutoRange()
        self.setXRange(0, 1, padding=0.02)
        self.sigRangeChangedManually.connect(self._let_go)

    def mouseDragEvent(self, ev: MouseDragEvent, axis: int | None = None) -> None:
        if ev.button() == Qt.MouseButton.LeftButton and axis is None:
            ev.accept()
            self.scrubbed.emit(self.mapSceneToView(ev.scenePos()).x())
        else:
            super().mouseDragEvent(ev, axis)

    def mouseClickEvent(self, ev: MouseClickEvent) -> None:
        if ev.button() != Qt.MouseButton.LeftButton:
            return
        ev.accept()
        if ev.double():
            self.reset_wanted.emit()
        else:
            self.clicked.emit(ev.scenePos())

    def _let_go(self, *_axes: object) -> None:
        self.free = True


def _cosmetic(colour: str, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    pen = QPen(QColor(colour), width, style)
    pen.setCosmetic(True)
    return pen
