"""The surface that shows pictures: paints only what is on screen, zooms at the cursor, pans by dragging."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QSizePolicy

from app import theme
from app.compare.content import Content, One, PaneImage, Wipe
from app.compare.dragging import Dragging
from app.compare.looking import LinkedView, LookingWidget, Place
from app.compare.loupe import draw_loupe
from app.compare.painting import use_device_pixels
from app.compare.surroundings import Backdrop, draw_backdrop, draw_cross, draw_frame, draw_message

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent
    from PySide6.QtWidgets import QWidget

    from app.compare.viewport import Region, Size

_GRAB_WIDTH = 6  # how near the divider must be pressed, in device-independent pixels
_NOTCH = 120  # one step of a wheel, in Qt's eighths of a degree


class Canvas(LookingWidget):
    """Shows some content, with marks over it, and takes what the mouse does."""

    hovered = Signal(object)
    """The place under the cursor as (x, y) parts of the picture's sides, or None when it leaves."""
    divider_moved = Signal(float)
    measured = Signal(object)
    """A Region was drawn to be measured, or None to end that."""
    resized = Signal()

    def __init__(self, link: LinkedView, parent: QWidget | None = None) -> None:
        super().__init__(link, parent)
        self._content: Content = One(PaneImage())
        self._backdrop = Backdrop.GREY
        self._marker: Place | None = None
        self._region: Region | None = None
        self._loupe = False
        self._hovering = False
        self._painted: tuple[object, ...] | None = None
        self._rendered = QImage()
        self._dragging = Dragging(self)
        self.overlay: Callable[[QPainter, Canvas], None] | None = None
        """Draws over the picture and under the marks, in device pixels."""
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(theme.GRID * 12, theme.GRID * 10)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def sizeHint(self) -> QSize:
        """Qt's: what is below the panes gives way before a picture is much lower than this."""
        return QSize(self.minimumWidth(), 32 * theme.GRID)

    # What it shows

    @property
    def shown_size(self) -> Size | None:
        """The size of the picture that zoom and position refer to."""
        return self._content.image.size

    @property
    def content(self) -> Content:
        """What is shown."""
        return self._content

    def show_content(self, content: Content) -> None:
        """Show something else at the same place and zoom."""
        if content != self._content:
            self._content = content
            self._painted = None  # it would hold on to the pictures of a pane that is hidden
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

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Copy what was rendered, anew if anything changed, and draw the marks over it."""
        painter = QPainter(self)
        painter.save()
        self._pane, self._corner = use_device_pixels(painter, self.size())
        self._render()
        # The backdrop reaches under the strip of a device pixel that a fractional scale can leave uncovered.
        painter.fillRect(-1, -1, self._pane.width + 2, self._pane.height + 2, self._backdrop.colour)
        painter.drawImage(0, 0, self._rendered)
        if self.overlay is not None:
            self.overlay(painter, self)
        self._draw_marks(painter)
        painter.restore()
        if self._dragging.band is not None:
            draw_frame(painter, QRectF(*self._dragging.band).normalized(), dashed=True)
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
        size = self.shown_size
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
            content = self._content
            if isinstance(content, Wipe):  # the half that the cursor is on
                left = x < content.divider_at(self.pane)
                content = One(content.reference if left else content.image, content.look)
            draw_loupe(
                painter,
                content,
                (self._marker[0] + self._offset[0], self._marker[1] + self._offset[1]),
                under=(x, y),
                scale=self.view.scale(size, self.pane),
                pane=self.pane,
                display_scale=self.devicePixelRatioF(),
                backdrop=self._backdrop.colour,
            )

    # Mouse

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the cursor."""
        size = self.shown_size
        turned = event.angleDelta().y()
        if size is None or not turned:
            event.ignore()
            return
        if turned % _NOTCH == 0:
            for _ in range(abs(turned) // _NOTCH):
                (self.zoom_in if turned > 0 else self.zoom_out)(event.position())
        else:  # a touchpad: as smooth as the fingers
            scale = self.view.scale(size, self.pane) * 2 ** (turned / (2 * _NOTCH))
            self.look(self.view.zoomed_to(scale, self.point(event.position()), size, self.pane))
        self.tell_place(event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the divider or of the picture, or begin a rectangle."""
        self._dragging.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is held, and tell the place under the cursor."""
        self._dragging.move(event)
        self.tell_place(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go, and do what a rectangle was drawn for."""
        self._dragging.release(event)

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

    def is_over_divider(self, at: QPointF) -> bool:
        """Whether a point of the widget is so near the divider of a wipe that a press takes hold of it."""
        if not isinstance(self._content, Wipe):
            return False
        distance = abs(self._content.divider_at(self.pane) - self.point(at)[0])
        return distance <= _GRAB_WIDTH * self.devicePixelRatioF()

    def move_divider(self, at: QPointF) -> None:
        """Move the divider of a wipe to a point of the widget."""
        if isinstance(self._content, Wipe):
            divider = min(max(self.point(at)[0] / self.pane.width, 0.0), 1.0)
            self.show_content(replace(self._content, divider=divider))
            self.divider_moved.emit(divider)

    def tell_place(self, at: QPointF) -> None:
        """Tell which place is under a point of the widget, where the cursor is."""
        self._hovering = True
        place = self.place_at(at)
        self.hovered.emit(place and (place[0] - self._offset[0], place[1] - self._offset[1]))
