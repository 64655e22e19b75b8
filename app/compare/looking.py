"""Looking at a picture: a widget that zooms and pans through a view which others share."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtWidgets import QWidget

from app.compare.viewport import Region, Size, View

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


class LookingWidget(QWidget):
    """Looks at a picture through a linked view, from which it can keep an offset of its own.

    Arithmetic is in device pixels throughout, so that 1:1 is exact at any display scale. Places that panes
    tell each other are those of the shared view, without the offset.
    """

    def __init__(self, link: LinkedView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._offset: Place = (0.0, 0.0)
        self._pane: Size | None = None  # once painted: the whole device pixels that it has
        self._corner = QPointF()  # where the first of them lies, in device pixels
        link.changed.connect(self.update)

    @property
    def shown_size(self) -> Size | None:
        """The size of the picture that zoom and position refer to."""
        raise NotImplementedError

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

    # Where it looks

    @property
    def pane(self) -> Size:
        """The pane's size in device pixels."""
        if self._pane is None:
            ratio = self.devicePixelRatioF()
            return Size(max(1, round(self.width() * ratio)), max(1, round(self.height() * ratio)))
        return self._pane

    @property
    def view(self) -> View:
        """Where this pane looks, its own offset included."""
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
        size = self.shown_size
        return None if size is None else self.view.scale(size, self.pane)

    # Zoom and position

    def zoom_in(self, at: QPointF | None = None) -> None:
        """Zoom to the next larger stop, at a point of the widget or at its middle."""
        if (size := self.shown_size) is not None:
            self.look(self.view.zoomed_in(self.point(at), size, self.pane))

    def zoom_out(self, at: QPointF | None = None) -> None:
        """Zoom to the next smaller stop."""
        if (size := self.shown_size) is not None:
            self.look(self.view.zoomed_out(self.point(at), size, self.pane))

    def actual_size(self, at: QPointF | None = None) -> None:
        """Show one pixel of the picture on each device pixel."""
        if (size := self.shown_size) is not None:
            self.look(self.view.actual(self.point(at), size, self.pane))

    def fit(self) -> None:
        """Show whole pictures."""
        self._link.view = self._link.view.fitted()

    def fill(self) -> None:
        """Show the picture as large as leaves nothing of the pane uncovered."""
        if (size := self.shown_size) is not None:
            self.look(self.view.filled(size, self.pane))

    def zoom_to(self, region: Region) -> None:
        """Show a rectangle of the picture as large as fits."""
        if (size := self.shown_size) is not None:
            self.look(self.view.to_region(region, size, self.pane))

    def pan(self, right: float, down: float) -> None:
        """Look further right and down, by parts of the pane."""
        size, pane = self.shown_size, self.pane
        if size is not None:
            self.look(self.view.panned(-right * pane.width, -down * pane.height, size, pane))

    def shift(self, right: float, down: float) -> None:
        """Move this pane alone, by device pixels."""
        if (size := self.shown_size) is not None:
            scale = self.view.scale(size, self.pane)
            x, y = self._offset
            self.set_offset((x - right / (size.width * scale), y - down / (size.height * scale)))

    def place_at(self, at: QPointF) -> Place | None:
        """The place under a point of the widget as parts of the picture's sides; None beside the picture."""
        place = self.place_under(at)
        return place if place and 0 <= place[0] < 1 and 0 <= place[1] < 1 else None

    def place_under(self, at: QPointF) -> Place | None:
        """The same, also beside the picture; None when there is no picture."""
        if (size := self.shown_size) is None:
            return None
        x, y = self.view.place(size, self.pane).to_picture(*self.point(at))
        return x / size.width, y / size.height

    @property
    def visible_region(self) -> Region | None:
        """The part of the picture that is on screen."""
        size = self.shown_size
        if size is None:
            return None
        placement = self.view.place(size, self.pane)
        corners = [placement.to_picture(x, y) for x, y in ((0, 0), self.pane)]
        return Region.between(*((x / size.width, y / size.height) for x, y in corners))

    def look(self, view: View) -> None:
        """Look elsewhere, and the others with it; `view` is with this pane's offset."""
        self._link.view = view.moved(-self._offset[0], -self._offset[1])

    def point(self, at: QPointF | None) -> tuple[float, float]:
        """A point of the widget, or its middle, in the pane's device pixels."""
        if at is None:
            return self.pane.width / 2, self.pane.height / 2
        ratio = self.devicePixelRatioF()
        return at.x() * ratio - self._corner.x(), at.y() * ratio - self._corner.y()
