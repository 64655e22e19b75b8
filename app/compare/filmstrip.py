"""A strip of thumbnails, one cell a step; only what is visible is asked for and painted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHelpEvent, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app import theme
from app.compare.steps import title
from app.tooltips import plain_tip
from banana100_core.project.records import Outcome

if TYPE_CHECKING:
    from PySide6.QtGui import QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from app.thumbnails import Thumbnails
    from banana100_core.project.records import Step

CELL_WIDTH = 9 * theme.GRID
PICTURE_HEIGHT = 6 * theme.GRID
LABEL_HEIGHT = 2 * theme.GRID
_GAP = theme.GRID // 2
_SCALED_KEPT = 200


class Filmstrip(QWidget):
    """The steps of a run; follows the current one, and scrolls no further than it must.

    While numbers of steps are hidden, only the current one, in the middle, and those beside it.
    """

    step_chosen = Signal(int)
    steps_turned = Signal(int)
    """The wheel was turned by so many steps."""

    def __init__(self, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._steps: list[Step] = []
        self._places: dict[int, int] = {}
        self._cells_of: dict[str, list[int]] = {}
        self._current = self._reference = 0
        self._offset = 0
        self._scaled: dict[str, QPixmap] = {}
        self._turned = 0
        self._numbered = True
        thumbnails.thumbnail_ready.connect(self._show_thumbnail)
        theme.notifier().theme_changed.connect(self.update)
        self.setFixedHeight(PICTURE_HEIGHT + LABEL_HEIGHT + 2 * _GAP)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Filmstrip of the run's steps")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # so that scrolling moves what is painted

    def show_steps(self, steps: list[Step]) -> None:
        """Show the steps of a run."""
        self._steps = steps
        self._places = {step.number: place for place, step in enumerate(steps)}
        self._cells_of = {}
        for place, step in enumerate(steps):
            if step.image:
                self._cells_of.setdefault(step.image.sha256, []).append(place)
        self._scaled.clear()
        self._scroll()
        self.update()

    def show_numbers(self, *, shown: bool) -> None:
        """Say the numbers of steps, or don't while they are hidden."""
        if shown != self._numbered:
            self._numbered = shown
            self._scroll()
            self.update()

    def set_current(self, number: int, reference: int) -> None:
        """Outline the current step and the reference."""
        before = self._current, self._reference, self._offset
        self._current, self._reference = number, reference
        self._scroll()
        if self._numbered:
            self.scroll(before[2] - self._offset, 0)
        elif self._offset != before[2]:
            self.update()
        for changed in {number, reference, before[0], before[1]}:
            if changed in self._places:
                self.update(self._cell(self._places[changed]))

    def is_settled(self) -> bool:
        """Whether the thumbnails in view have arrived."""
        shown = [self._steps[place] for place in self._visible(self.rect())]
        return all(
            step.image is None
            or step.image.sha256 in self._scaled
            or self._thumbnails.failed(step.image.sha256)
            for step in shown
        )

    def sizeHint(self) -> QSize:
        """Some cells wide."""
        return QSize(6 * CELL_WIDTH, self.height())

    # Geometry

    def _cell(self, place: int) -> QRect:
        return QRect(place * CELL_WIDTH - self._offset, 0, CELL_WIDTH, self.height())

    def _visible(self, area: QRect) -> range:
        first = (area.left() + self._offset) // CELL_WIDTH
        last = (area.right() + self._offset) // CELL_WIDTH
        if not self._numbered:
            place = self._places.get(self._current, 0)
            first, last = max(first, place - 1), min(last, place + 1)
        return range(max(0, first), min(len(self._steps), last + 1))

    def _step_at(self, x: float) -> Step | None:
        place = int((x + self._offset) // CELL_WIDTH)
        return self._steps[place] if place in self._visible(self.rect()) else None

    def _scroll(self) -> None:
        """Bring the current step and the one on either side of it into view."""
        place = self._places.get(self._current, 0)
        if not self._numbered:
            self._offset = place * CELL_WIDTH + (CELL_WIDTH - self.width()) // 2
            return
        whole = len(self._steps) * CELL_WIDTH
        left = (place - 1) * CELL_WIDTH
        right = (place + 2) * CELL_WIDTH
        if self.width() < right - left:
            left = right = place * CELL_WIDTH + (CELL_WIDTH - self.width()) // 2
            right += self.width()
        offset = min(max(self._offset, right - self.width()), left)
        self._offset = max(0, min(offset, whole - self.width()))

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the cells in view."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.palette().window())
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for place in self._visible(event.rect()):
            self._draw_cell(painter, self._steps[place], self._cell(place))

    def _draw_cell(self, painter: QPainter, step: Step, cell: QRect) -> None:
        colours = theme.colours()
        room = QRect(cell.left() + _GAP, cell.top() + _GAP, CELL_WIDTH - 2 * _GAP, PICTURE_HEIGHT)
        picture = room
        pixmap = self._thumbnail(step, room.size())
        if step.outcome is Outcome.FAILED:
            painter.fillRect(room, QColor(colours.field))
            painter.fillRect(room, QBrush(QColor(colours.error), Qt.BrushStyle.BDiagPattern))
        elif pixmap is not None:
            size = pixmap.deviceIndependentSize().toSize()
            # Not by centres: Qt rounds one left of 0 in the other direction, where scrolling would tell.
            beside, above = (room.width() - size.width()) // 2, (room.height() - size.height()) // 2
            picture = QRect(room.left() + beside, room.top() + above, size.width(), size.height())
            painter.drawPixmap(picture.topLeft(), pixmap)
        else:
            painter.fillRect(room, QColor(colours.hover))
        current = step.number == self._current
        reference = self._numbered and step.number == self._reference
        if current or reference:
            painter.setPen(QPen(QColor(colours.accent if current else colours.muted), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(picture).adjusted(-1, -1, 1, 1))
        if not self._numbered:
            return
        painter.setPen(QColor(colours.text if current else colours.muted))
        label = QRect(cell.left(), room.bottom() + 1, CELL_WIDTH, LABEL_HEIGHT)
        painter.drawText(
            label, Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom, str(step.number)
        )

    def _thumbnail(self, step: Step, room: QSize) -> QPixmap | None:
        """The thumbnail at the size of a cell, scaled once."""
        if step.image is None:
            return None
        scaled = self._scaled.get(step.image.sha256)
        if scaled is None:
            pixmap = self._thumbnails.pixmap(step.image.sha256)
            if pixmap is None:
                return None
            ratio = self.devicePixelRatioF()
            scaled = pixmap.scaled(
                room * ratio,
                Qt.AspectRatioMode.KeepAspectRatio,
                Qt.TransformationMode.SmoothTransformation,
            )
            scaled.setDevicePixelRatio(ratio)
            while len(self._scaled) >= _SCALED_KEPT:
                self._scaled.pop(next(iter(self._scaled)))
            self._scaled[step.image.sha256] = scaled
        return scaled

    def _show_thumbnail(self, sha256: str) -> None:
        for place in self._cells_of.get(sha256, []):
            self.update(self._cell(place))

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose a step."""
        step = self._step_at(event.position().x())
        if step is not None and event.button() is Qt.MouseButton.LeftButton:
            self.step_chosen.emit(step.number)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Turn through the steps."""
        self._turned -= event.angleDelta().y() or event.angleDelta().x()
        steps = int(self._turned / 120)
        self._turned -= steps * 120
        if steps:
            self.steps_turned.emit(steps)
        event.accept()

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Keep the current step in view."""
        self._scroll()

    def event(self, event: QEvent) -> bool:
        """Tell of the step under the cursor."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            step = self._step_at(event.pos().x())
            if step is not None:
                told = [title(step, numbered=self._numbered)]
                if self._numbered and step.number == self._reference:
                    told.append("reference, in the left pane")
                if step.outcome is Outcome.FAILED:
                    told.append(f"failed: {step.reason}")
                QToolTip.showText(event.globalPos(), plain_tip("\n".join(told)), self)
            return True
        return super().event(event)
