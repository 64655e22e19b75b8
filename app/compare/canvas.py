"""The surface that shows pictures: paints only what is on screen, zooms at the cursor, pans by dragging."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.compare.content import Content, One, PaneImage, Wipe
from app.compare.painting import use_device_pixels
from app.compare.viewport import Size, View

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

_GRAB_WIDTH = 6  # how near the divider must be pressed, in device-independent pixels
_CHECKER_SIDE = 8
_NOTCH = 120  # one step of a wheel, in Qt's eighths of a degree


class Backdrop(StrEnum):
    """What lies around and behind the pictures."""

    GREY = "grey"
    BLACK = "black"
    WHITE = "white"
    CHECKER = "checker"

    @property
    def colour(self) -> QColor:
        """Its colour, of a checker the darker one."""
        return QColor(
            {"black": "#000000", "white": "#ffffff", "checker": "#707070"}.get(self, theme.CANVAS_GREY)
        )

    @property
    def ink(self) -> QColor:
        """A colour for text on it."""
        return QColor("#e6e6e6" if self is Backdrop.BLACK else "#101010")


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


class Canvas(QWidget):
    """Shows some content through a linked view.

    Arithmetic is in device pixels throughout, so that 1:1 is exact at any display scale.
    """

    hovered = Signal(object)
    """The place under the cursor as (x, y) parts of the picture's sides, or None when it leaves."""
    divider_moved = Signal(float)
    resized = Signal()

    def __init__(self, link: LinkedView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._content: Content = One(PaneImage())
        self._backdrop = Backdrop.GREY
        self._marker: tuple[float, float] | None = None
        self._painted: tuple[object, ...] | None = None
        self._rendered = QImage()
        self._pane: Size | None = None
        self._shift = QPointF()
        self._pressed: tuple[QPointF, View] | None = None
        self._moving_divider = False
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

    def set_marker(self, at: tuple[float, float] | None) -> None:
        """Mark a place, given as parts of the picture's sides: where the cursor is in another pane."""
        if at != self._marker:
            self._marker = at
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
    def scale(self) -> float | None:
        """Device pixels per pixel of the picture shown."""
        size = self._content.image.size
        return None if size is None else self._link.view.scale(size, self.pane)

    def zoom_in(self, at: QPointF | None = None) -> None:
        """Zoom to the next larger stop, at a point of the widget or at its middle."""
        size = self._content.image.size
        if size is not None:
            self._link.view = self._link.view.zoomed_in(self._point(at), size, self.pane)

    def zoom_out(self, at: QPointF | None = None) -> None:
        """Zoom to the next smaller stop."""
        size = self._content.image.size
        if size is not None:
            self._link.view = self._link.view.zoomed_out(self._point(at), size, self.pane)

    def actual_size(self, at: QPointF | None = None) -> None:
        """Show one pixel of the picture on each device pixel."""
        size = self._content.image.size
        if size is not None:
            self._link.view = self._link.view.actual(self._point(at), size, self.pane)

    def fit(self) -> None:
        """Show whole pictures."""
        self._link.view = self._link.view.fitted()

    def pan(self, right: float, down: float) -> None:
        """Look further right and down, by parts of the pane."""
        size, pane = self._content.image.size, self.pane
        if size is not None:
            moved = -right * pane.width, -down * pane.height
            self._link.view = self._link.view.panned(*moved, size, pane)

    def _point(self, at: QPointF | None) -> tuple[float, float]:
        """A point of the widget in the pane's device pixels."""
        if at is None:
            return self.pane.width / 2, self.pane.height / 2
        ratio = self.devicePixelRatioF()
        return at.x() * ratio - self._shift.x(), at.y() * ratio - self._shift.y()

    def place_at(self, at: QPointF) -> tuple[float, float] | None:
        """The place under a point of the widget as parts of the picture's sides; None beside the picture."""
        size = self._content.image.size
        if size is None:
            return None
        x, y = self._link.view.place(size, self.pane).to_picture(*self._point(at))
        place = x / size.width, y / size.height
        return place if 0 <= place[0] < 1 and 0 <= place[1] < 1 else None

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Copy what was rendered, anew if anything changed, and mark the other pane's cursor."""
        painter = QPainter(self)
        painter.save()
        self._pane, self._shift = use_device_pixels(painter, self.size())
        self._render()
        # The backdrop reaches under the strip of a device pixel that a fractional scale can leave uncovered.
        painter.fillRect(-1, -1, self._pane.width + 2, self._pane.height + 2, self._backdrop.colour)
        painter.drawImage(0, 0, self._rendered)
        self._draw_marker(painter)
        painter.restore()
        if self._content.message:
            self._draw_message(painter, self._content.message)

    def _render(self) -> None:
        """Bring the picture of the pane up to date; moving the marker alone costs only a copy."""
        key = (self._content, self._link.view, self.pane, self._backdrop)
        if key == self._painted:
            return
        if self._rendered.width() != self.pane.width or self._rendered.height() != self.pane.height:
            self._rendered = QImage(self.pane.width, self.pane.height, QImage.Format.Format_RGB32)
        painter = QPainter(self._rendered)
        self._draw_backdrop(painter)
        self._content.paint(painter, self._link.view, self.pane, self.devicePixelRatioF())
        painter.end()
        self._painted = key

    def _draw_backdrop(self, painter: QPainter) -> None:
        area = QRect(0, 0, self.pane.width, self.pane.height)
        painter.fillRect(area, self._backdrop.colour)
        if self._backdrop is Backdrop.CHECKER:
            side = round(_CHECKER_SIDE * self.devicePixelRatioF())
            tile = QImage(2 * side, 2 * side, QImage.Format.Format_RGB32)
            tile.fill(self._backdrop.colour)
            corner = QPainter(tile)
            corner.fillRect(0, 0, side, side, QColor("#909090"))
            corner.fillRect(side, side, side, side, QColor("#909090"))
            corner.end()
            painter.fillRect(area, tile)

    def _draw_marker(self, painter: QPainter) -> None:
        size = self._content.image.size
        if self._marker is None or size is None:
            return
        placement = self._link.view.place(size, self.pane)
        x, y = placement.to_pane(self._marker[0] * size.width, self._marker[1] * size.height)
        arm = round(6 * self.devicePixelRatioF())
        for colour, width in ((QColor(0, 0, 0, 160), 3), (QColor(255, 255, 255), 1)):
            painter.setPen(QPen(colour, width))
            painter.drawLine(QPointF(x - arm, y), QPointF(x + arm, y))
            painter.drawLine(QPointF(x, y - arm), QPointF(x, y + arm))

    def _draw_message(self, painter: QPainter, message: str) -> None:
        """The first line as a heading, the rest below it."""
        heading, _, text = message.partition("\n")
        painter.setPen(self._backdrop.ink)
        margin = theme.GRID * 4
        room = self.rect().adjusted(margin, margin, -margin, -margin)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
        bold = QFont(painter.font())
        bold.setWeight(QFont.Weight.DemiBold)
        bold.setPointSizeF(bold.pointSizeF() * 1.2)
        text = text.strip()
        below = painter.boundingRect(room, flags, text).height() if text else 0
        plain = painter.font()
        painter.setFont(bold)
        above = painter.boundingRect(room, flags, heading).height() + theme.GRID
        top = max(room.top(), room.center().y() - (above + below) // 2)
        painter.drawText(QRect(room.left(), top, room.width(), above), flags, heading)
        painter.setFont(plain)
        painter.drawText(
            QRect(room.left(), top + above, room.width(), room.bottom() - top - above), flags, text
        )

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
            view = self._link.view
            scale = view.scale(size, self.pane) * 2 ** (turned / (2 * _NOTCH))
            self._link.view = view.zoomed_to(scale, self._point(event.position()), size, self.pane)
        self._tell_place(event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the divider or of the picture."""
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        self._moving_divider = self._over_divider(event.position())
        if not self._moving_divider and self._content.image.size is not None:
            self._pressed = event.position(), self._link.view
            self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is held, and tell the place under the cursor."""
        size = self._content.image.size
        if self._moving_divider and isinstance(self._content, Wipe):
            self._move_divider(self._content, event.position())
        elif self._pressed is not None and size is not None:
            start, view = self._pressed
            moved = (event.position() - start) * self.devicePixelRatioF()
            self._link.view = view.panned(moved.x(), moved.y(), size, self.pane)
        else:
            over = self._over_divider(event.position())
            self.setCursor(Qt.CursorShape.SplitHCursor if over else Qt.CursorShape.ArrowCursor)
        self._tell_place(event.position())

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Let go."""
        self._pressed, self._moving_divider = None, False
        self.setCursor(Qt.CursorShape.ArrowCursor)

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
        self.hovered.emit(None)

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Measure the pane anew."""
        self._pane = None
        self.resized.emit()

    def _tell_place(self, at: QPointF) -> None:
        self.hovered.emit(self.place_at(at))

    def _over_divider(self, at: QPointF) -> bool:
        if not isinstance(self._content, Wipe):
            return False
        distance = abs(self._content.divider_at(self.pane) - self._point(at)[0])
        return distance <= _GRAB_WIDTH * self.devicePixelRatioF()

    def _move_divider(self, content: Wipe, at: QPointF) -> None:
        divider = min(max(self._point(at)[0] / self.pane.width, 0.0), 1.0)
        self.show_content(replace(content, divider=divider))
        self.divider_moved.emit(divider)
