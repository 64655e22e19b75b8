"""A layout that sets widgets side by side and begins a new line where there is no more room."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSizePolicy, QWidget


class Flow(QLayout):
    """Widgets like words of a text."""

    def __init__(self, spacing: int) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        """Qt's: one more."""
        self._items.append(item)

    def count(self) -> int:
        """Qt's: how many there are."""
        return len(self._items)

    def itemAt(self, place: int) -> QLayoutItem | None:
        """Qt's: one of them."""
        return self._items[place] if 0 <= place < len(self._items) else None

    def takeAt(self, place: int) -> QLayoutItem | None:
        """Qt's: one less."""
        return self._items.pop(place) if 0 <= place < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Qt's: as high as it needs to be."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Qt's: the narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Qt's: the lines that this width takes."""
        return self._arrange(QRect(0, 0, width, 0), place=False)

    def setGeometry(self, rect: QRect) -> None:
        """Qt's: put all in their places."""
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def sizeHint(self) -> QSize:
        """Qt's: what it would like."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Qt's: room for the widest."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            size = item.sizeHint()
            width = min(size.width(), max(rect.width(), 0))
            if line and x + width > rect.right() + 1:
                x, y, line = rect.x(), y + line + self.spacing(), 0
            if place:
                item.setGeometry(QRect(x, y, width, size.height()))
            x += width + self.spacing()
            line = max(line, size.height())
        return y + line - rect.y()


def flow_widget(layout: Flow) -> QWidget:
    """A widget whose height follows its lines."""
    widget = QWidget()
    policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)
    widget.setLayout(layout)
    return widget
