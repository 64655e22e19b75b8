"""The failure modes as buttons, by level, each with its key and what it means."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.catalog.failure_modes import FailureMode

CAP = 20
HEIGHT = 24
INDENT = 2 * theme.GRID


class ModeButton(QAbstractButton):
    """One failure mode: its key, its name, and from where this annotator has tagged it."""

    ended = Signal()  # clicked with Shift: the tag ends here

    def __init__(self, mode: FailureMode, *, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.mode = mode
        self.key = key
        self._where = ""
        self._holds = False
        self.setText(mode.name)
        self.setAccessibleName(mode.name)
        self.setAccessibleDescription(mode.definition)
        self.setToolTip(_tip(mode, key))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_state(self, where: str, *, holds: bool) -> None:
        """Say where it is tagged ("7 →"), and whether it holds at the current step."""
        if (where, holds) != (self._where, self._holds):
            self._where, self._holds = where, holds
            self.update()

    @property
    def where(self) -> str:
        """Where it is tagged, as shown."""
        return self._where

    def sizeHint(self) -> QSize:
        """A row of the list."""
        width = self.fontMetrics().horizontalAdvance(self.text()) + CAP + 4 * theme.GRID
        return QSize(width, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Narrower than this the name is cut with dots."""
        return QSize(16 * theme.GRID, HEIGHT)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """With Shift the tag ends at this step instead."""
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self.rect().contains(event.pos()):
            self.setDown(False)
            self.ended.emit()
            return
        super().mouseReleaseEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint key cap, name and place, in the theme's colours of now."""
        shown = theme.colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.isEnabled() and (self.isDown() or self.underMouse() or self.hasFocus()):
            painter.setBrush(QColor(shown.selected if self.isDown() else shown.hover))
            painter.drawRoundedRect(self.rect(), 4, 4)
        left = theme.GRID // 2 + (INDENT if self.mode.parent else 0)
        top = (self.height() - CAP) // 2
        text = QColor(shown.text if self.isEnabled() else shown.disabled)
        muted = QColor(shown.muted if self.isEnabled() else shown.disabled)
        colour = theme.level_colour(self.mode.level)
        if self._holds:
            painter.setBrush(colour)
            painter.drawRoundedRect(left, top, CAP, CAP, 4, 4)
        else:
            painter.setBrush(QColor(shown.field))
            painter.setPen(QColor(shown.line))
            painter.drawRoundedRect(left, top, CAP, CAP, 4, 4)
        painter.setPen(theme.ink_on(colour) if self._holds else text)
        painter.drawText(left, top, CAP, CAP, Qt.AlignmentFlag.AlignCenter, self.key)
        metrics = self.fontMetrics()
        right = metrics.horizontalAdvance(self._where) + theme.GRID if self._where else 0
        start = left + CAP + theme.GRID
        room = self.width() - start - right - theme.GRID // 2
        painter.setPen(text)
        name = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(start, 0, room, self.height(), middle, name)
        painter.setPen(muted)
        end = Qt.AlignmentFlag.AlignRight | middle
        painter.drawText(0, 0, self.width() - theme.GRID // 2, self.height(), end, self._where)
        painter.end()


class Taxonomy(QWidget):
    """All failure modes, grouped by level."""

    begun = Signal(str)  # key of the failure mode
    ended = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: dict[str, ModeButton] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID)
        self._layout.setSpacing(0)

    @property
    def buttons(self) -> Mapping[str, ModeButton]:
        """The buttons by the failure mode's key."""
        return self._buttons

    def show_modes(self, modes: Sequence[FailureMode]) -> None:
        """Make the buttons anew."""
        while (item := self._layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self._buttons.clear()
        for level, members in groupby(modes, key=lambda mode: mode.level):
            heading = plain_label(f"{level.value.capitalize()} level", muted=True)
            heading.setContentsMargins(theme.GRID // 2, theme.GRID, 0, theme.GRID // 2)
            self._layout.addWidget(heading)
            for mode in members:
                button = ModeButton(mode, key=mode.shortcut.upper())
                button.clicked.connect(lambda _on=False, key=mode.key: self.begun.emit(key))
                button.ended.connect(lambda key=mode.key: self.ended.emit(key))
                self._buttons[mode.key] = button
                self._layout.addWidget(button)
        self._layout.addStretch(1)

    def changeEvent(self, event: QEvent) -> None:
        """Paint the buttons anew in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()


def _tip(mode: FailureMode, key: str) -> str:
    how = f"{key} tags it from this step on, Shift+{key} ends it at this step." if key else ""
    return plain_tip(
        "\n\n".join(part for part in (mode.name, mode.definition, f"Example: {mode.example}", how) if part)
    )
