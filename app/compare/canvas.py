"""The surface that shows pictures: paints only what is on screen, zooms at the cursor, pans by dragging."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.compare.content import Content, One, PaneImage, Wipe
from app.compare.painting import use_device_pixels
from app.compare.surroundings import Backdrop, draw_backdrop, draw_cross, draw_frame, draw_message
from app.compare.viewport import MAX_ZOOM, Region, Size, View

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

__all__ = ["Backdrop", "Canvas", "LinkedView"]

_GRAB_WIDTH = 6  # how near the divider must be pressed, in device-independent pixels
_NOTCH = 120  # one step of a wheel, in Qt's eighths of a degree
_LOUPE_SIDE = 22 * theme.GRID
_LOUPE_ZOOM = 8.0  # device-independent pixels that a picture pixel has in the loupe, at least
_SMALLEST_DRAG = 4  # a rectangle smaller than this was a click

Place = tuple[float, float]


class LinkedView(QObject):
    """The view that one or more canvases share."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view = View()

    @property
    def view(self) -> View:
        """Where all look."""
        return self._view

    @view.setter
    def view(self, view: View) -> None:
        if view != self._view:
            self._view = view
            self.changed.emit()


class _Drag(Enum):
    """What a pressed button moves."""

    PAN = auto()
    OFFSET = auto()  # this pane alone
    DIVIDER = auto()
    ZOOM = auto()  # a rectangle to zoom to
    MEASURE = auto()  # a rectangle to measure


class Canvas(QWidget):
    """Shows some content through a linked view, from which it can keep an offset of its own.

    Arithmetic is in device pixels throughout, so that 1:1 is exact at any display scale. Places that canvases
    tell each other are those of the shared view, without the offset.
    """

    hovered = Signal(object)
    """The place under the cursor as (x, y) parts of the picture's sides, or None when it leaves."""
    divider_moved = Signal(float)
    measured = Signal(object)
    """A Region was drawn to be measured, or None to end that."""
    resized = Signal()

    def __init__(self, link: LinkedView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._offset: Place = (0.0, 0.0)
        self._content: Content = One(PaneImage())
        self._backdrop = Backdrop.GREY
        self._marker: Place | None = None
        self._region: Region | None = None
        self._loupe = False
        self._hovering = False
        self._painted: tuple[object, ...] | None = None
        self._rendered = QImage()
        self._pane: Size | None = None
        self._shift = QPointF()
        self._drag: _Drag | None = None
        self._pressed: tuple[QPointF, View, Place] = QPointF(), View(), (0.0, 0.0)
        self._band: tuple[QPointF, QPointF] | None = None
        link.changed.connect(self.update)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(theme.GRID * 12, theme.GRID * 12)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    # What it shows

    @property
    def content(self) -> Content:
        """What is shown."""
        return self._content

    def show_content(self, content: Content) -> None:
        """Show something else at the same place and zoom."""
        self._content = content
        self.update()

    def set_backdrop(self, backdrop: Backdrop) -> None:
        """Choose what lies around the pictures."""
        self._backdrop = backdrop
        self._painted = None
        self.update()

    def set_marker(self, at: Place | None) -> None:
        """Mark a place: where the cursor is in another pane."""
        if at != self._marker:
            self._marker = at
            self.update()

    def set_region(self, region: Region | None) -> None:
        """Outline the rectangle that is measured."""
        self._region = region
        self.update()

    def set_loupe(self, *, on: bool) -> None:
        """Show the place under the cursor, in this pane or another, enlarged in a corner."""
        self._loupe = on
        self.update()

    @property
    def link(self) -> LinkedView:
        """The view that it looks through."""
        return self._link

    def follow(self, link: LinkedView) -> None:
        """Look through another view from now on."""
        self._link.changed.disconnect(self.update)
        self._link = link
        link.changed.connect(self.update)
        self.update()

    # Zoom and position

    @property
    def pane(self) -> Size:
        """The pane's size in device pixels."""
        if self._pane is None:
            ratio = self.devicePixelRatioF()
            return Size(max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)))
        return self._pane

    @property
    def view(self) -> View:
        """Where this canvas looks, its own offset included."""
        return self._link.view.moved(*self._offset)

    @property
    def offset(self) -> Place:
        """How far it looks right and down of the shared place, by parts of the picture's sides."""
        return self._offset

    def set_offset(self, offset: Place) -> None:
        """Keep another offset; (0, 0) aligns the pane with the others."""
        if offset != self._offset:
            self._offset = offset
            self.update()

    @property
    def scale(self) -> float | None:
        """Device pixels per pixel of the picture shown."""
        size = self._content.image.size
        return None if size is None else self.view.scale(size, self.pane)

    def zoom_in(self, at: QPointF | None = None) -> None:
        """Zoom to the next larger stop, at a point of the widget or at its middle."""
        if (size := self._content.image.size) is not None:
            self._look(self.view.zoomed_in(self._point(at), size, self.pane))

    def zoom_out(self, at: QPointF | None = None) -> None:
        """Zoom to the next smaller stop."""
        if (size := self._content.image.size) is not None:
            self._look(self.view.zoomed_out(self._point(at), size, self.pane))

    def actual_size(self, at: QPointF | None = None) -> None:
        """Show one pixel of the picture on each device pixel."""
        if (size := self._content.image.size) is not None:
            self._look(self.view.actual(self._point(at), size, self.pane))

    def fit(self) -> None:
        """Show whole pictures."""
        self._link.view = self._link.view.fitted()

    def fill(self) -> None:
        """Show the picture as large as leaves nothing of the pane uncovered."""
        if (size := self._content.image.size) is not None:
            self._look(self.view.filled(size, self.pane))

    def zoom_to(self, region: Region) -> None:
        """Show a rectangle of the picture as large as fits."""
        if (size := self._content.image.size) is not None:
            self._look(self.view.to_region(region, size, self.pane))

    def pan(self, right: float, down: float) -> None:
        """Look further right and down, by parts of the pane."""
        size, pane = self._content.image.size, self.pane
        if size is not None:
            self._look(self.view.panned(-right * pane.width, -down * pane.height, size, pane))

    def shift(self, right: float, down: float) -> None:
        """Move this pane alone, by device pixels."""
        if (size := self._content.image.size) is not None:
            scale = self.view.scale(size, self.pane)
            x, y = self._offset
            self.set_offset((x - right / (size.width * scale), y - down / (size.height * scale)))

    def place_at(self, at: QPointF) -> Place | None:
        """The place under a point of the widget as parts of the picture's sides; None beside the picture."""
        size = self._content.image.size
        place = None if size is None else self._place(at, size)
        return place if place and 0 <= place[0] < 1 and 0 <= place[1] < 1 else None

    @property
    def visible_region(self) -> Region | None:
        """The part of the picture that is on screen."""
        size = self._content.image.size
        if size is None:
            return None
        placement = self.view.place(size, self.pane)
        corners = [placement.to_picture(x, y) for x, y in ((0, 0), self.pane)]
        return Region.between(*((x / size.width, y / size.height) for x, y in corners))

    def _look(self, view: View) -> None:
        self._link.view = view.moved(-self._offset[0], -self._offset[1])

    def _point(self, at: QPointF | None) -> tuple[float, float]:
        """A point of the widget in the pane's device pixels."""
        if at is None:
            return self.pane.width / 2, self.pane.height / 2
        ratio = self.devicePixelRatioF()
        return at.x() * ratio - self._shift.x(), at.y() * ratio - self._shift.y()

    def _place(self, at: QPointF, size: Size) -> Place:
        x, y = self.view.place(size, self.pane).to_picture(*self._point(at))
        return x / size.width, y / size.height

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Copy what was rendered, anew if anything changed, and draw the marks over it."""
        painter = QPainter(self)
        painter.save()
        self._pane, self._shift = use_device_pixels(painter, self.size())
        self._render()
        # The backdrop reaches under the strip of a device pixel that a fractional scale can leave uncovered.
        painter.fillRect(-1, -1, self._pane.width + 2, self._pane.height + 2, self._backdrop.colour)
        painter.drawImage(0, 0, self._rendered)
        self._draw_marks(painter)
        painter.restore()
        if self._band is not None:
            draw_frame(painter, QRectF(*self._band).normalized(), dashed=True)
        if self._content.message:
            draw_message(painter, self._content.message, self._backdrop, self.rect())

    def _render(self) -> None:
        """Bring the picture of the pane up to date; moving a marker alone costs only a copy."""
        key = (self._content, self.view, self.pane, self._backdrop)
        if key == self._painted:
            return
        if self._rendered.width() != self.pane.width or self._rendered.height() != self.pane.height:
            self._rendered = QImage(self.pane.width, self.pane.height, QImage.Format.Format_RGB32)
        ratio = self.devicePixelRatioF()
        painter = QPainter(self._rendered)
        draw_backdrop(painter, self._backdrop, QRect(0, 0, self.pane.width, self.pane.height), ratio)
        self._content.paint(painter, self.view, self.pane, ratio)
        self._content.annotate(painter, self.pane, ratio)
        painter.end()
        self._painted = key

    def _draw_marks(self, painter: QPainter) -> None:
        size = self._content.image.size
        if size is None:
            return
        placement = self.view.place(size, self.pane)

        def on_pane(x: float, y: float) -> tuple[float, float]:
            return placement.to_pane((x + self._offset[0]) * size.width, (y + self._offset[1]) * size.height)

        if self._region is not None:
            left, top = on_pane(self._region.left, self._region.top)
            right, bottom = on_pane(self._region.right, self._region.bottom)
            draw_frame(painter, QRectF(left, top, right - left, bottom - top))
        if self._marker is None:
            return
        x, y = on_pane(*self._marker)
        if not self._hovering:
            draw_cross(painter, x, y, self.devicePixelRatioF())
        if self._loupe:
            self._draw_loupe(painter, self._marker, (x, y), size)

    def _draw_loupe(self, painter: QPainter, place: Place, under: tuple[float, float], size: Size) -> None:
        """Enlarge a place, in the corner that is away from the cursor."""
        ratio = self.devicePixelRatioF()
        # In a small pane it leaves most of the picture to be seen.
        side = min(round(_LOUPE_SIDE * ratio), min(self.pane) * 2 // 5)
        zoom = min(max(_LOUPE_ZOOM * ratio, 4 * self.view.scale(size, self.pane)), MAX_ZOOM)
        look = View(place[0] + self._offset[0], place[1] + self._offset[1], zoom, size)
        image = QImage(side, side, QImage.Format.Format_RGB32)
        image.fill(self._backdrop.colour)
        inner = QPainter(image)
        content = self._content
        if isinstance(content, Wipe):  # the half that the cursor is on
            left = under[0] < content.divider_at(self.pane)
            content = One(content.reference if left else content.image, content.look)
        content.paint(inner, look, Size(side, side), ratio)
        draw_cross(inner, side / 2, side / 2, ratio)
        inner.end()
        margin = round(theme.GRID * ratio)
        upper_right = under[0] > self.pane.width / 2 and under[1] < self.pane.height / 2
        x = margin if upper_right else self.pane.width - side - margin
        painter.drawImage(x, margin, image)
        draw_frame(painter, QRectF(x, margin, side, side))

    # Mouse

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the cursor."""
        size = self._content.image.size
        turned = event.angleDelta().y()
        if size is None or not turned:
            event.ignore()
            return
        if turned % _NOTCH == 0:
            for _ in range(abs(turned) // _NOTCH):
                (self.zoom_in if turned > 0 else self.zoom_out)(event.position())
        else:  # a touchpad: as smooth as the fingers
            scale = self.view.scale(size, self.pane) * 2 ** (turned / (2 * _NOTCH))
            self._look(self.view.zoomed_to(scale, self._point(event.position()), size, self.pane))
        self._tell_place(event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the divider or of the picture, or begin a rectangle."""
        self._drag = self._drag_for(event)
        self._pressed = event.position(), self.view, self._offset
        if self._drag in {_Drag.ZOOM, _Drag.MEASURE}:
            self.setCursor(Qt.CursorShape.CrossCursor)
        elif self._drag in {_Drag.PAN, _Drag.OFFSET}:
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is held, and tell the place under the cursor."""
        size, at = self._content.image.size, event.position()
        start, view, offset = self._pressed
        moved = (at - start) * self.devicePixelRatioF()
        if self._drag is _Drag.DIVIDER and isinstance(self._content, Wipe):
            self._move_divider(self._content, at)
        elif self._drag is _Drag.PAN and size is not None:
            self._look(view.panned(moved.x(), moved.y(), size, self.pane))
        elif self._drag is _Drag.OFFSET and size is not None:
            self._offset = offset
            self.shift(moved.x(), moved.y())
        elif self._drag is not None:
            self._band = start, at
            self.update()
        else:
            over = self._over_divider(at)
            self.setCursor(Qt.CursorShape.SplitHCursor if over else Qt.CursorShape.ArrowCursor)
        self._tell_place(at)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go, and do what a rectangle was drawn for."""
        drag, self._drag = self._drag, None
        self._band = None
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.update()
        size, start = self._content.image.size, self._pressed[0]
        if drag not in {_Drag.ZOOM, _Drag.MEASURE} or size is None:
            return
        drawn = (event.position() - start).manhattanLength() >= _SMALLEST_DRAG
        region = Region.between(self._place(start, size), self._place(event.position(), size))
        if drag is _Drag.MEASURE:
            away = -self._offset[0], -self._offset[1]
            self.measured.emit(region.moved(*away) if drawn else None)
        elif drawn:
            self.zoom_to(region)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Change between the whole picture and 1:1 at the cursor."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        if self._link.view.zoom is None:
            self.actual_size(event.position())
        else:
            self.fit()

    def leaveEvent(self, _event: QEvent) -> None:
        """Tell that no place is under the cursor."""
        self._hovering = False
        self.hovered.emit(None)

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Measure the pane anew."""
        self._pane = None
        self.resized.emit()

    def _drag_for(self, event: QMouseEvent) -> _Drag | None:
        """What a press begins: Shift zooms to a rectangle, Ctrl moves this pane alone, right measures."""
        if self._content.image.size is None:
            return None
        button, held = event.button(), event.modifiers()
        if button is Qt.MouseButton.RightButton:
            return _Drag.MEASURE
        if button not in {Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton}:
            return None
        if self._over_divider(event.position()):
            return _Drag.DIVIDER
        if held & Qt.KeyboardModifier.ShiftModifier:
            return _Drag.ZOOM
        return _Drag.OFFSET if held & Qt.KeyboardModifier.ControlModifier else _Drag.PAN

    def _tell_place(self, at: QPointF) -> None:
        self._hovering = True
        place = self.place_at(at)
        self.hovered.emit(place and (place[0] - self._offset[0], place[1] - self._offset[1]))

    def _over_divider(self, at: QPointF) -> bool:
        if not isinstance(self._content, Wipe):
            return False
        distance = abs(self._content.divider_at(self.pane) - self._point(at)[0])
        return distance <= _GRAB_WIDTH * self.devicePixelRatioF()

    def _move_divider(self, content: Wipe, at: QPointF) -> None:
        divider = min(max(self._point(at)[0] / self.pane.width, 0.0), 1.0)
        self.show_content(replace(content, divider=divider))
        self.divider_moved.emit(divider)
