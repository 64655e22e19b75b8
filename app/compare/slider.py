"""The step slider, with the tags of the run as bars along it, and suggestions as hollow ones.

While numbers of steps are hidden it tells nothing of how far the current step is in its run: that one is in
the middle, the track goes through from side to side, and bars lie as far before and after as their steps do.
Neither a key nor a tip tells where the run begins or ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QAbstractSlider, QSizePolicy, QToolTip, QWidget

from app import theme
from app.blinding import NO_STEP
from app.compare.flags import Flag, draw_flags, told_of
from app.compare.tag_bars import Bar, lanes_of, lay_out, nearest_place
from app.tooltips import plain_tip
from banana100_core.project.records import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QWheelEvent

    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import Step, Suggestion, Tag

TRACK_HEIGHT = 4 * theme.GRID
_MIDDLE = theme.GRID + theme.GRID // 2  # where the line of the track lies; the numbers are below it
LANE_HEIGHT = 2 * theme.GRID
_SIDE = 2 * theme.GRID  # room for half a handle and the first and last number
_HANDLE = theme.GRID
_LEAST_LABEL_GAP = 5 * theme.GRID
_HIDDEN_SPACING = 4 * theme.GRID  # from step to step while their numbers are hidden


class StepSlider(QAbstractSlider):
    """Its values are places in the run's list of steps, whose numbers may have gaps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._steps: list[Step] = []
        self._tags: Sequence[Tag] = ()
        self._suggestions: Sequence[Suggestion] = ()
        self._modes: Mapping[str, FailureMode] = {}
        self._annotator: str | None = None
        self._bars: list[Bar] = []
        self._lanes = 1
        self._flags: list[Flag] = []
        self._outlined: Mapping[str, Sequence[int]] = {}
        self._bare: Mapping[str, Sequence[int]] = {}
        self._reference: int | None = None
        self._turned = 0
        self._taken_at = 0.0, 0  # where the handle was taken hold of, and at which place
        self._numbered = True
        self.setOrientation(Qt.Orientation.Horizontal)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Step")
        self.setRange(0, 0)
        theme.notifier().theme_changed.connect(self.update)

    def show_steps(self, steps: list[Step]) -> None:
        """Give the slider the steps of a run."""
        self._steps = steps
        self.setRange(0, max(0, len(steps) - 1))
        self.update()

    def show_tags(
        self,
        tags: Sequence[Tag],
        modes: Mapping[str, FailureMode],
        suggestions: Sequence[Suggestion] = (),
        annotator: str | None = None,
    ) -> None:
        """Draw the tags of the run, and what is suggested; it is said whose those of other annotators are."""
        self._tags, self._modes, self._suggestions, self._annotator = tags, modes, suggestions, annotator
        numbers = [step.number for step in self._steps]
        self._bars = lay_out(tags, numbers, modes, suggestions, numbered=self._numbered, annotator=annotator)
        if lanes_of(self._bars) > self._lanes:  # never fewer again, or pictures would jump from run to run
            self._lanes = lanes_of(self._bars)
            self.updateGeometry()
        self.update()

    def show_numbers(self, *, shown: bool) -> None:
        """Say the numbers of steps, or don't while they are hidden."""
        if shown != self._numbered:
            self._numbered = shown
            self.show_tags(self._tags, self._modes, self._suggestions, self._annotator)

    def mark_outlined(
        self, steps: Mapping[str, Sequence[int]], bare: Mapping[str, Sequence[int]] | None = None
    ) -> None:
        """Mark steps by UUID of a tag: those with regions of their own, those from which on none holds."""
        self._outlined, self._bare = steps, bare or {}
        self.update()

    def outlined_places(self, bar: Bar) -> list[int]:
        """Where a bar is marked as outlined."""
        return self._places(self._outlined, bar)

    def bare_places(self, bar: Bar) -> list[int]:
        """Where it is marked as outlined no longer."""
        return self._places(self._bare, bar)

    def _places(self, marked: Mapping[str, Sequence[int]], bar: Bar) -> list[int]:
        numbers = [step.number for step in self._steps]
        return [numbers.index(step) for step in marked.get(bar.uuid, ()) if step in numbers]

    def show_flags(self, flags: Sequence[Flag]) -> None:
        """Flag steps of the run."""
        self._flags = list(flags)
        self.update()

    @property
    def flags(self) -> list[Flag]:
        """The flags as they are drawn."""
        return list(self._flags)

    def set_reference(self, place: int | None) -> None:
        """Mark the place of the reference."""
        self._reference = place
        self.update()

    @property
    def bars(self) -> list[Bar]:
        """The tags as they are drawn."""
        return list(self._bars)

    def sizeHint(self) -> QSize:
        """The track, and a lane for each row of bars."""
        return QSize(40 * theme.GRID, TRACK_HEIGHT + self._lanes * LANE_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """As high as it needs, narrower."""
        return QSize(10 * theme.GRID, self.sizeHint().height())

    # Geometry

    def _x(self, place: float) -> float:
        if not self._numbered:
            return self.width() / 2 + (place - self.value()) * _HIDDEN_SPACING
        room = self.width() - 2 * _SIDE
        return _SIDE + room * place / max(1, self.maximum())

    def _place(self, x: float) -> int:
        if not self._numbered:
            return self.value() + round((x - self.width() / 2) / _HIDDEN_SPACING)
        room = max(1, self.width() - 2 * _SIDE)
        return round((x - _SIDE) * self.maximum() / room)

    def bar_rect(self, bar: Bar) -> QRectF:
        """Where a tag's bar is drawn: from the middle of its first step to that of its last."""
        left, right = self._x(bar.first), self._x(bar.last)
        if not self._numbered:
            left, right = max(-theme.GRID, left), float(self.width()) if bar.open_end else right
        top = TRACK_HEIGHT + bar.lane * LANE_HEIGHT
        return QRectF(left, top, max(right - left, _HANDLE), LANE_HEIGHT - 2)

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw track, numbers, tags and handle."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._draw_bars(painter)
        self._draw_track(painter)
        if self._steps:
            numbers = [step.number for step in self._steps]
            flags = ((self._x(nearest_place(numbers, step)), text) for step, text in self._flags)
            draw_flags(painter, flags)
            self._draw_handles(painter)

    def _draw_track(self, painter: QPainter) -> None:
        colours = theme.colours()
        middle = _MIDDLE
        painter.setPen(QPen(QColor(colours.line), 2))
        if not self._numbered:
            painter.drawLine(QPointF(0, middle), QPointF(self.width(), middle))
            return
        first = self._x(0)
        painter.drawLine(QPointF(first, middle), QPointF(self._x(self.maximum()), middle))
        spacing = (self.width() - 2 * _SIDE) / max(1, self.maximum())
        every = next(
            n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if n * spacing >= _LEAST_LABEL_GAP
        )
        ticks: dict[str, list[QLineF]] = {colours.line: [], colours.muted: []}
        labels: list[tuple[QRectF, str]] = []
        for place, step in enumerate(self._steps):
            x = first + place * spacing
            labelled = step.number % every == 0
            if step.outcome is Outcome.FAILED:
                mark = QRectF(x - 2, middle - theme.GRID / 2, 4, theme.GRID)
                painter.fillRect(mark, QColor(colours.error))
            elif labelled or spacing >= theme.GRID:
                ticks[colours.muted if labelled else colours.line].append(
                    QLineF(x, middle - 3, x, middle + 3)
                )
            if labelled:
                below = middle + theme.GRID // 2
                labels.append((QRectF(x - _SIDE, below, 2 * _SIDE, TRACK_HEIGHT - below), str(step.number)))
        for colour, lines in ticks.items():
            painter.setPen(QPen(QColor(colour), 1))
            painter.drawLines(lines)
        for room, text in labels:
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)

    def _draw_bars(self, painter: QPainter) -> None:
        colours = theme.colours()
        for bar in self._bars:
            if not bar.shown:
                continue
            rect = self.bar_rect(bar)
            colour = QColor(bar.colour)
            if bar.suggested:
                painter.setPen(QPen(colour, 1, Qt.PenStyle.DashLine))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
                self._draw_bar_text(painter, bar.text, rect, QColor(colours.muted))
                continue
            fill = QColor(colour)
            fill.setAlpha(70)
            painter.fillRect(rect, fill)
            painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), colour)
            if not bar.open_end:
                painter.fillRect(QRectF(rect.right() - 3, rect.top(), 3, rect.height()), colour)
            # A small frame, as around what is outlined; struck out where nothing is from there on.
            bare = self.bare_places(bar)
            marked = sorted({*self.outlined_places(bar), *bare})
            for place in marked:
                frame = QRectF(self._x(place) - 3.5, rect.center().y() - 3.5, 7, 7)
                painter.fillRect(frame, QColor(colours.panel))
                painter.setPen(QPen(colour, 1.5))
                painter.drawRect(frame)
                if place in bare:
                    painter.drawLine(frame.bottomLeft(), frame.topRight())
            self._draw_bar_text(
                painter, bar.text, rect, QColor(colours.text), [self._x(place) for place in marked]
            )

        if hidden := self._without_lane():
            painter.setPen(QColor(colours.muted))
            painter.drawText(self._beside_lanes(), Qt.AlignmentFlag.AlignCenter, f"+{len(hidden)}")

    def _without_lane(self) -> list[Bar]:
        return [bar for bar in self._bars if not bar.shown]

    def _beside_lanes(self) -> QRectF:
        """Where it is said that there are more bars, before the last lane."""
        return QRectF(0, self.sizeHint().height() - LANE_HEIGHT, 1.5 * _SIDE, LANE_HEIGHT - 2)

    def _draw_bar_text(
        self, painter: QPainter, text: str, rect: QRectF, colour: QColor, marks: Sequence[float] = ()
    ) -> None:
        """Inside the bar, or beside it where it is too short; behind marks that it would cover."""
        metrics = painter.fontMetrics()
        gap = theme.GRID
        wanted = metrics.horizontalAdvance(text)
        room = rect.adjusted(gap, 0, -gap / 2, 0)
        for x in marks:
            if x - gap < room.left() + wanted and x + gap > room.left():
                room.setLeft(x + gap)
        if wanted > room.width():
            beside = gap if any(abs(x - rect.right()) < gap for x in marks) else gap / 2
            after = QRectF(rect.right() + beside, rect.top(), wanted + gap, rect.height())
            before = QRectF(rect.left() - gap / 2 - wanted, rect.top(), wanted, rect.height())
            room = after if after.right() <= self.width() else before if before.left() >= 0 else room
        painter.setPen(colour)
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideRight, round(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)

    def _draw_handles(self, painter: QPainter) -> None:
        colours = theme.colours()
        middle = _MIDDLE
        if self._reference is not None and self._numbered:
            painter.setPen(QPen(QColor(colours.muted), 2))
            painter.setBrush(QColor(colours.panel))
            painter.drawEllipse(QPointF(self._x(self._reference), middle), _HANDLE * 0.5, _HANDLE * 0.5)
        at = QPointF(self._x(self.value()), middle)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.text), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(at, _HANDLE + 1, _HANDLE + 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.accent))
        painter.drawEllipse(at, _HANDLE - 2, _HANDLE - 2)

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the step nearest to the press, and take hold of the handle."""
        if event.button() is Qt.MouseButton.LeftButton and event.position().y() < TRACK_HEIGHT:
            self.setSliderDown(True)
            self.setValue(self._place(event.position().x()))
            self._taken_at = event.position().x(), self.value()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the cursor."""
        if not self.isSliderDown():
            return
        if self._numbered:
            self.setValue(self._place(event.position().x()))
        else:
            x, place = self._taken_at
            self.setValue(place + round((event.position().x() - x) / _HIDDEN_SPACING))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """Let go of the handle."""
        self.setSliderDown(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Step, but not to either end while numbers are hidden: from there steps could be counted."""
        if not self._numbered and event.key() in {Qt.Key.Key_Home, Qt.Key.Key_End}:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Turn through the steps, down to later ones."""
        self._turned -= event.angleDelta().y() or event.angleDelta().x()
        steps = int(self._turned / 120)
        self._turned -= steps * 120
        self.setValue(self.value() + steps)
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Tell of the step or the tag under the cursor."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            text = self._told_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(text), self)
            return True
        return super().event(event)

    def _told_at(self, at: QPointF) -> str:
        for bar in self._bars:
            if bar.shown and self.bar_rect(bar).contains(at):
                return f"{bar.text}\n{bar.told}"
        if self._beside_lanes().contains(at) and (hidden := self._without_lane()):
            return "\n".join(["There is no room for:", *(bar.text for bar in hidden)])
        place = self._place(at.x())
        told = range(len(self._steps)) if self._numbered else (self.value(),)
        if at.y() < TRACK_HEIGHT and self._steps and place in told:
            step = self._steps[place]
            failed = " failed" if step.outcome is Outcome.FAILED else ""
            name = f"Step {step.number}" if self._numbered else NO_STEP
            return f"{name}{failed}\n{told_of(self._flags, step.number)}".strip()
        return ""
