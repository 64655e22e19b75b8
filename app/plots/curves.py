"""The plot of curves over steps: draws what it is given, and says which step or point was asked for."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QToolTip, QWidget

from app import theme
from app.plots.look import Look, cross_path
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyqtgraph.GraphicsScene.mouseEvents import MouseClickEvent, MouseDragEvent

    from app.plots.series import Curve, FailedScore

REACH = 12
"""How near the pointer must be to a point, in pixels."""
FEW_CURVES = 6
"""Up to so many curves the lines are bold; antialiased bold lines cost twenty times as much as thin ones."""
MOST_MARKERS = 25
"""About so many markers a curve; between them the line tells enough."""

CurveKey = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Hit:
    """A point of a curve, or a failed score, under the pointer."""

    curve: Curve
    step: int
    index: int = -1
    failed: FailedScore | None = None


class CurvesView(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph has no types
    """Curves over steps with a cursor line at the current step."""

    step_chosen = Signal(int)
    point_chosen = Signal(object)  # Hit

    def __init__(self, parent: QWidget | None = None) -> None:
        self._box = _StepBox()
        super().__init__(parent=parent, viewBox=self._box, enableMenu=False)
        self._items: dict[CurveKey, _CurveItems] = {}
        self._describe: Callable[[Hit], str] = lambda hit: f"step {hit.step}"
        self._last_step = 1
        self._step = 0
        self._placing = False
        self._limits: tuple[float, float] | None = None
        self.hideButtons()
        self.setAccessibleName("Scores over steps")
        self.viewport().setMouseTracking(True)
        self._cursor = pg.InfiniteLine(
            0, angle=90, movable=True, label="{value:.0f}", labelOpts={"position": 0.97, "movable": False}
        )
        self._cursor.setZValue(100)
        self._range_lines = [pg.InfiniteLine(0, angle=0) for _ in range(2)]
        for line in (*self._range_lines, self._cursor):
            self.addItem(line, ignoreBounds=True)
        self._cursor.sigPositionChanged.connect(self._cursor_moved)
        self._box.scrubbed.connect(self._choose)
        self._box.clicked.connect(self._clicked)
        self._box.reset_wanted.connect(self.show_all)
        self._box.sigYRangeChanged.connect(self._place_crosses)
        self.setLabel("bottom", "step")
        self.apply_theme()

    # What is shown

    def set_describer(self, describe: Callable[[Hit], str]) -> None:
        """Say how to put a point into words, for tooltips; the text is shown as plain text."""
        self._describe = describe

    def show_curves(self, curves: Sequence[Curve], looks: Sequence[Look], *, bands: bool) -> int:
        """Draw these curves, touching only those that changed; returns how many did."""
        bold = len(curves) <= FEW_CURVES
        changed = 0
        wanted: dict[CurveKey, None] = dict.fromkeys(curve.key for curve in curves)
        for key in [key for key in self._items if key not in wanted]:
            self._items.pop(key).remove(self)
            changed += 1
        for place, (curve, look) in enumerate(zip(curves, looks, strict=True)):
            items = self._items.get(curve.key)
            if items is None:
                items = self._items[curve.key] = _CurveItems(self, place)
            changed += items.show(curve, look, bold=bold, band=bands)
        if changed:
            self._fit_limits()
            self._place_crosses()
        return changed

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
        item.showGrid(x=False, y=True, alpha=0.35)
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
        best: tuple[float, Hit] | None = None
        pixel_x, pixel_y = self._box.viewPixelSize()
        where = self._box.mapSceneToView(self.mapToScene(place.toPoint()))
        for items in self._items.values():
            for index, step, distance in items.near(where, pixel_x, pixel_y):
                if distance <= REACH and (best is None or distance < best[0]):
                    best = distance, Hit(items.curve, step, index)
            for failed, x, y in items.crosses():
                distance = math.hypot((x - where.x()) / pixel_x, (y - where.y()) / pixel_y)
                if distance <= REACH and (best is None or distance < best[0]):
                    best = distance, Hit(items.curve, failed.step, failed=failed)
        return best[1] if best else None

    def place_of(self, curve: Curve, step: int) -> QPoint:
        """Where a step of a curve lies, in the view's pixels."""
        index = int(np.flatnonzero(curve.steps == step)[0])
        return self._to_view(float(step), float(curve.values[index]))

    def place_of_failed(self, failed: FailedScore) -> QPoint:
        """Where the cross of a failed score lies, in the view's pixels."""
        for items in self._items.values():
            for other, x, y in items.crosses():
                if other == failed:
                    return self._to_view(x, y)
        raise KeyError(failed)

    def cursor_step(self) -> int:
        """The step that the cursor line stands at."""
        step: int = round(self._cursor.value())
        return step

    def viewportEvent(self, event: QEvent) -> bool:
        """Show the figures of the point under the pointer."""
        if isinstance(event, QHelpEvent):
            hit = self.hit_at(QPointF(event.pos()))
            QToolTip.showText(
                event.globalPos(), plain_tip(self._describe(hit)) if hit else "", self.viewport()
            )
            return True
        return bool(super().viewportEvent(event))

    # Inside

    def _to_view(self, x: float, y: float) -> QPoint:
        place: QPoint = self.mapFromScene(self._box.mapViewToScene(QPointF(x, y)))
        return place

    def _fit_limits(self) -> None:
        if self._box.free or not self._items:
            return
        ends = [items.ends() for items in self._items.values()]
        low = min((end[0] for end in ends), default=math.inf)
        high = max((end[1] for end in ends), default=-math.inf)
        if not math.isfinite(low) or not math.isfinite(high):
            low, high = 0.0, 100.0
        if high - low < 1e-9:
            low, high = low - 0.5, high + 0.5
        if self._limits != (low, high):
            self._limits = low, high
            self._box.setYRange(low, high, padding=0.08)

    def _place_crosses(self) -> None:
        (_, _), (low, high) = self._box.viewRange()
        _, pixel = self._box.viewPixelSize()
        row = 0
        for items in self._items.values():
            row += items.place_crosses(low + pixel * (8 + 9 * row) if high > low else low)

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


class _CurveItems:
    """The graphics items of one curve."""

    def __init__(self, view: CurvesView, place: int) -> None:
        self.curve: Curve
        self._shown: tuple[Look, bool, bool] | None = None
        self._cross_height = 0.0
        self._line = pg.PlotCurveItem(connect="finite", antialias=True, skipFiniteCheck=False)
        self._points = pg.ScatterPlotItem(pxMode=True, pen=None)
        self._crosses = pg.ScatterPlotItem(pxMode=True, symbol=cross_path(), size=8)
        self._band = _Band()
        for depth, item in enumerate((self._band, self._line, self._points, self._crosses)):
            item.setZValue(10 * depth + place / 100)
            view.addItem(item, ignoreBounds=True)

    def show(self, curve: Curve, look: Look, *, bold: bool, band: bool) -> int:
        """Take the curve's points; 0 when nothing had to be drawn anew."""
        styled = (look, bold, band)
        fresh = self._shown is None
        restyled = self._shown != styled
        if not fresh and not restyled and self.curve.same_points(curve):
            self.curve = curve
            return 0
        if restyled:
            self._line.setPen(look.pen(1.75 if bold else 1.0))
            self._points.setBrush(QColor(look.colour))
            self._points.setSymbol(look.marker)
            self._points.setSize(7 if bold else 6)
            self._crosses.setPen(_cosmetic(look.colour, 2.0))
            self._band.set_colour(look.colour)
            self._shown = styled
        self.curve = curve
        self._line.setData(curve.steps, curve.values)
        marked = _marked(curve)
        self._points.setData(curve.steps[marked], curve.values[marked])
        self._band.setVisible(band)
        if band:
            self._band.set_band(curve.steps, curve.values - curve.spread, curve.values + curve.spread)
        self._set_crosses()
        return 1

    def remove(self, view: CurvesView) -> None:
        for item in (self._band, self._line, self._points, self._crosses):
            view.removeItem(item)

    def ends(self) -> tuple[float, float]:
        """Lowest and highest value shown, band included; infinite when there is none."""
        values = self.curve.values[np.isfinite(self.curve.values)]
        if not len(values):
            return math.inf, -math.inf
        if self._band.isVisible():
            spread = np.nan_to_num(self.curve.spread[np.isfinite(self.curve.values)], nan=0.0)
            return float((values - spread).min()), float((values + spread).max())
        return float(values.min()), float(values.max())

    def near(self, where: QPointF, pixel_x: float, pixel_y: float) -> list[tuple[int, int, float]]:
        """The curve's nearest point to a place in data coordinates: (index, step, distance in pixels)."""
        if not len(self.curve.steps):
            return []
        distance = np.hypot(
            (self.curve.steps - where.x()) / pixel_x, (self.curve.values - where.y()) / pixel_y
        )
        if np.all(np.isnan(distance)):
            return []
        index = int(np.nanargmin(distance))
        return [(index, int(self.curve.steps[index]), float(distance[index]))]

    def crosses(self) -> list[tuple[FailedScore, float, float]]:
        """Failed scores and where their crosses are, in data coordinates."""
        return [(failed, float(failed.step), self._cross_height) for failed in self.curve.failed]

    def place_crosses(self, height: float) -> int:
        """Put the row of crosses at a height; 1 when there are any."""
        if not self.curve.failed:
            return 0
        if height != self._cross_height:
            self._cross_height = height
            self._set_crosses()
        return 1

    def _set_crosses(self) -> None:
        steps = sorted({failed.step for failed in self.curve.failed})
        self._crosses.setData(steps, [self._cross_height] * len(steps))


class _Band(pg.GraphicsObject):  # type: ignore[misc]  # pyqtgraph has no types
    """The area between two curves. Not antialiased: its faint edge is not seen, and it costs half."""

    def __init__(self) -> None:
        super().__init__()
        self._path = QPainterPath()
        self._rect = QRectF()
        self._brush = QBrush(Qt.BrushStyle.NoBrush)

    def set_colour(self, colour: str) -> None:
        shade = QColor(colour)
        shade.setAlpha(44)
        self._brush = QBrush(shade)
        self.update()

    def set_band(self, steps: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        self.prepareGeometryChange()
        self._path = QPainterPath()
        known = np.isfinite(low) & np.isfinite(high)
        for start, end in _stretches(known):
            around = np.concatenate([steps[start:end], steps[start:end][::-1]])
            heights = np.concatenate([low[start:end], high[start:end][::-1]])
            self._path.addPath(pg.arrayToQPath(around, heights))
        self._rect = self._path.boundingRect()
        self.update()

    def boundingRect(self) -> QRectF:
        return self._rect

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.fillPath(self._path, self._brush)

    def shape(self) -> QPainterPath:
        return QPainterPath()  # the pointer goes through to the view


def _marked(curve: Curve) -> np.ndarray:
    """Which points get a marker: every so many steps, and all that no line reaches."""
    known = np.isfinite(curve.values)
    before = np.concatenate([[False], known[:-1]])
    after = np.concatenate([known[1:], [False]])
    stride = max(1, math.ceil(len(curve.steps) / MOST_MARKERS))
    marked: np.ndarray = known & ((curve.steps % stride == 0) | (~before & ~after))
    return marked


def _stretches(known: np.ndarray) -> list[tuple[int, int]]:
    """Give the half-open index ranges of consecutive True values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(np.int8), [0]])))
    return [(int(start), int(end)) for start, end in edges.reshape(-1, 2)]


def _cosmetic(colour: str, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    pen = QPen(QColor(colour), width, style)
    pen.setCosmetic(True)
    return pen
