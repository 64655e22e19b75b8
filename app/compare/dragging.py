"""What the mouse does on a canvas: pans, moves the divider, draws rectangles to zoom to or to measure."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt

from app.compare.viewport import Region, View

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent

    from app.compare.canvas import Canvas
    from app.compare.looking import Place

_SMALLEST_DRAG = 4  # a rectangle smaller than this was a click


class _Drag(Enum):
    """What a pressed button moves."""

    PAN = auto()
    OFFSET = auto()  # this pane alone
    DIVIDER = auto()
    ZOOM = auto()  # a rectangle to zoom to
    MEASURE = auto()  # a rectangle to measure


class Dragging:
    """The drag that is under way on a canvas, from press to release."""

    def __init__(self, canvas: Canvas) -> None:
        self._canvas = canvas
        self._drag: _Drag | None = None
        self._pressed: tuple[QPointF, View, Place] = QPointF(), View(), (0.0, 0.0)
        self.band: tuple[QPointF, QPointF] | None = None
        """Two corners of the rectangle being drawn, as points of the widget."""

    def press(self, event: QMouseEvent) -> None:
        """Take hold of the divider or of the picture, or begin a rectangle."""
        canvas = self._canvas
        self._drag = self._drag_for(event)
        self._pressed = event.position(), canvas.view, canvas.offset
        if self._drag in {_Drag.ZOOM, _Drag.MEASURE}:
            canvas.setCursor(Qt.CursorShape.CrossCursor)
        elif self._drag in {_Drag.PAN, _Drag.OFFSET}:
            canvas.setCursor(Qt.CursorShape.ClosedHandCursor)

    def move(self, event: QMouseEvent) -> None:
        """Move what is held."""
        canvas, at = self._canvas, event.position()
        size = canvas.shown_size
        start, view, offset = self._pressed
        moved = (at - start) * canvas.devicePixelRatioF()
        if self._drag is _Drag.DIVIDER:
            canvas.move_divider(at)
        elif self._drag is _Drag.PAN and size is not None:
            canvas.look(view.panned(moved.x(), moved.y(), size, canvas.pane))
        elif self._drag is _Drag.OFFSET and size is not None:
            canvas.set_offset(offset)
            canvas.shift(moved.x(), moved.y())
        elif self._drag is not None:
            self.band = start, at
            canvas.update()
        else:
            over = canvas.is_over_divider(at)
            canvas.setCursor(Qt.CursorShape.SplitHCursor if over else Qt.CursorShape.ArrowCursor)

    def release(self, event: QMouseEvent) -> None:
        """Let go, and do what a rectangle was drawn for."""
        canvas, at, start = self._canvas, event.position(), self._pressed[0]
        drag, self._drag = self._drag, None
        self.band = None
        canvas.setCursor(Qt.CursorShape.ArrowCursor)
        canvas.update()
        one, other = canvas.place_under(start), canvas.place_under(at)
        if drag not in {_Drag.ZOOM, _Drag.MEASURE} or one is None or other is None:
            return
        drawn = (at - start).manhattanLength() >= _SMALLEST_DRAG
        region = Region.between(one, other)
        if drag is _Drag.MEASURE:
            right, down = canvas.offset
            canvas.measured.emit(region.moved(-right, -down) if drawn else None)
        elif drawn:
            canvas.zoom_to(region)

    def _drag_for(self, event: QMouseEvent) -> _Drag | None:
        """What a press begins: Shift zooms to a rectangle, Ctrl moves this pane alone, right measures."""
        if self._canvas.shown_size is None:
            return None
        button, held = event.button(), event.modifiers()
        if button is Qt.MouseButton.RightButton:
            return _Drag.MEASURE
        if button not in {Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton}:
            return None
        if self._canvas.is_over_divider(event.position()):
            return _Drag.DIVIDER
        if held & Qt.KeyboardModifier.ShiftModifier:
            return _Drag.ZOOM
        return _Drag.OFFSET if held & Qt.KeyboardModifier.ControlModifier else _Drag.PAN
