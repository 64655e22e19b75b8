"""One suggestion: a hollow bar, why it was made, and two buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import Suggestion


class SuggestionRow(QFrame):
    """Asks for a decision; a click elsewhere on it goes to its onset."""

    accepted = Signal(str)
    rejected = Signal(str)
    chosen = Signal(str)

    def __init__(
        self, suggestion: Suggestion, mode: FailureMode | None, last_step: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.suggestion = suggestion
        self._current = False
        name = mode.name if mode else suggestion.failure_mode
        self.setAccessibleName(f"Suggested: {name}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(plain_tip(f"Figure {suggestion.figure:g}, found by {suggestion.method}"))
        self.name = plain_label(f"{name}?")
        self.place = plain_label(f"from {suggestion.onset}", muted=True)
        self.reason = plain_label(suggestion.reason, muted=True, wrap=True)
        self.bar = _HollowBar(
            theme.level_colour(mode.level) if mode else QColor(), suggestion.onset, last_step
        )
        self.accept = QPushButton("Accept")
        self.reject = QPushButton("Reject")
        for button, told in ((self.accept, self.accepted), (self.reject, self.rejected)):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(lambda _checked, told=told: told.emit(suggestion.uuid))
        head = QHBoxLayout()
        head.setSpacing(theme.GRID)
        head.addWidget(self.name, 1)
        head.addWidget(self.place)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GRID)
        buttons.addStretch(1)
        buttons.addWidget(self.reject)
        buttons.addWidget(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        layout.setSpacing(theme.GRID // 2)
        layout.addLayout(head)
        layout.addWidget(self.bar)
        layout.addWidget(self.reason)
        layout.addLayout(buttons)

    def set_current(self, *, on: bool) -> None:
        """Mark the suggestion that the keys decide on."""
        self._current = on
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose this one."""
        self.chosen.emit(self.suggestion.uuid)
        super().mousePressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Put the current one on a surface of its own."""
        super().paintEvent(event)
        if self._current:
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.colours().hover))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
            painter.end()


class _HollowBar(QWidget):
    """From onset to the end over all steps, dashed: it is no tag yet."""

    def __init__(self, colour: QColor, onset: int, last_step: int) -> None:
        super().__init__()
        self._colour, self._onset, self._last_step = colour, onset, max(1, last_step)
        self.setFixedHeight(theme.GRID + theme.GRID // 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(self._colour, 1, Qt.PenStyle.DashLine))
        left = self.width() * (self._onset - 1) / self._last_step
        painter.drawRect(QRectF(left + 0.5, 1.5, max(3.0, self.width() - left - 2), self.height() - 4))
        painter.end()
