"""The annotator's name: shown as text, a field only while it is being changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget

from app import theme

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent


class NameField(QLineEdit):
    """A click or Return begins, Return ends.

    Until then it takes no text: a window gives its first field the focus, and the letter keys go on working.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setText(name)
        self.setMinimumWidth(11 * theme.GRID)
        self.setAccessibleName("Annotator")
        self.setPlaceholderText("Your name")
        self.setToolTip("Annotator: the name that each of your tags carries. A click changes it")
        self.addAction(theme.icon("user"), QLineEdit.ActionPosition.LeadingPosition)
        self.setReadOnly(True)
        self.editingFinished.connect(lambda: self.setReadOnly(True))

    def setText(self, name: str | None) -> None:
        """Show the name from its beginning, where there is no room for all of it."""
        super().setText(name)
        self.setCursorPosition(0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to change the name."""
        if self.isReadOnly():
            self._begin()
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Begin or end to change the name."""
        if event.key() not in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            super().keyPressEvent(event)
        elif self.isReadOnly():
            self._begin()
        else:
            super().keyPressEvent(event)
            self.setReadOnly(True)
            self.clearFocus()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """End to change the name."""
        super().focusOutEvent(event)
        self.setReadOnly(True)

    def _begin(self) -> None:
        # Who keeps plain keys for text fields looks when the focus comes.
        self.clearFocus()
        self.setReadOnly(False)
        self.setFocus()
        self.selectAll()
