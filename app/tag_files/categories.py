"""Which failure mode each category of another program's file is: one of the project's, a new one, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QScrollArea, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.parts import Choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.exchange.foreign_coco import Category

LEAVE_OUT, MAKE_NEW = "Leave out", "Add as a new failure mode"


class CategoryChooser(QWidget):
    """A box for each category of the file, on the failure mode of its name where there is one."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.boxes: dict[str, Choices] = {}
        self._modes: list[FailureMode] = []
        content = QWidget()
        self._form = QFormLayout(content)
        self._form.setContentsMargins(0, 0, theme.GRID, 0)
        self._form.setHorizontalSpacing(2 * theme.GRID)
        self._form.setVerticalSpacing(theme.GRID)
        area = QScrollArea()
        area.setWidget(content)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(plain_label("Which failure mode is each category of the file?", muted=True))
        layout.addWidget(area, 1)

    def show_categories(self, categories: Sequence[Category], modes: Sequence[FailureMode]) -> None:
        """Ask for these."""
        self._modes = [mode for mode in modes if not mode.retired]
        for category in categories:
            box = self.boxes[category.name] = Choices()
            box.setAccessibleName(category.name)
            box.addItems([LEAVE_OUT, MAKE_NEW, *(mode.name for mode in self._modes)])
            keys = [mode.key for mode in self._modes]
            if category.mode in keys:
                box.setCurrentIndex(2 + keys.index(category.mode))
            box.currentIndexChanged.connect(lambda _place: self.changed.emit())
            noun = "annotation" if category.annotations == 1 else "annotations"
            self._form.addRow(plain_label(f"{category.name} · {category.annotations:,} {noun}"), box)

    def chosen(self) -> dict[str, str | None]:
        """The failure mode of each category that has one already."""
        return {
            name: self._modes[box.currentIndex() - 2].key if box.currentIndex() >= 2 else None
            for name, box in self.boxes.items()
        }

    def new(self) -> list[str]:
        """The categories that become failure modes of their own."""
        return [name for name, box in self.boxes.items() if box.currentIndex() == 1]
