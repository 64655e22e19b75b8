"""What lies below the panes, and scrolls where the window is low rather than make it higher."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from app import theme

LEAST = 17 * theme.GRID
"""So much of it is always seen: the readings of four panes with the filmstrip, or the figures measured."""


class Strips(QScrollArea):
    """Parts below each other, the most important one first; as high as those shown, while there is room."""

    def __init__(self, *parts: QWidget) -> None:
        super().__init__()
        self._content = QWidget()
        column = QVBoxLayout(self._content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in parts:
            column.addWidget(part)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys that scroll turn steps here

    def sizeHint(self) -> QSize:
        """Qt's: room for all that is shown."""
        return self._content.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Qt's: room for all of a little, for some of much."""
        return QSize(self._content.minimumSizeHint().width(), min(LEAST, self.sizeHint().height()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's: other parts are shown, or one has become higher."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self._content:
            self.updateGeometry()
        return super().eventFilter(watched, event)
