"""A line over the foot of the panes: what the keys do to regions now, and what could not be saved."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from app import theme
from app.notifications import plain_label


class Hint(QFrame):
    """Floats over its parent, so that pictures stay where they are when it comes and goes."""

    retry_wanted = Signal()
    discard_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setObjectName("region_hint")
        self._label = plain_label()
        self._retry = QPushButton("Retry")
        self._discard = QPushButton("Discard")
        self._discard.setToolTip("Give these edits up and show what the project has")
        self._retry.clicked.connect(self.retry_wanted)
        self._discard.clicked.connect(self.discard_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GRID + theme.GRID // 2, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        row.setSpacing(theme.GRID)
        row.addWidget(self._label)
        row.addWidget(self._retry)
        row.addWidget(self._discard)
        parent.installEventFilter(self)
        theme.notifier().theme_changed.connect(self._dress)
        self._dress()
        self.show_text("")

    @property
    def text(self) -> str:
        """What is said."""
        return self._label.text()

    def show_text(self, text: str, *, failed: bool = False) -> None:
        """Say something, or nothing; after a failure there is a choice to make."""
        self._label.setText(text)
        self.setAccessibleName(text)
        self._retry.setVisible(failed)
        self._discard.setVisible(failed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, on=not failed)
        self.setVisible(bool(text))
        if text:
            self._place()
            self.raise_()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay at the foot."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return super().eventFilter(watched, event)

    def _place(self) -> None:
        parent = self._over
        margin = theme.GRID
        width = min(self.sizeHint().width(), parent.width() - 2 * margin)
        self._label.setWordWrap(self.sizeHint().width() > width)
        height = max(self.heightForWidth(width), self.sizeHint().height())
        self.setGeometry((parent.width() - width) // 2, parent.height() - height - margin, width, height)

    def _dress(self) -> None:
        shown = theme.colours()
        self.setStyleSheet(
            f"#region_hint {{ background: {shown.panel}; border: 1px solid {shown.line};"
            f" border-radius: {theme.GRID // 2}px; }}"
        )
