"""Which method version's scores of a metric are shown, and the choice among those there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.parts import Choices
from banana100_core.catalog.metrics import metric

if TYPE_CHECKING:
    from collections.abc import Sequence


class VersionBox(QWidget):
    """Names a metric's method version; where scores by several are kept, one is chosen."""

    chosen = Signal(str, str)  # metric, method version

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._key = ""
        self.label = plain_label(muted=True)
        self.box = Choices()
        self.box.setAccessibleName("Method version")
        self.box.activated.connect(self._activated)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GRID // 2)
        column.addWidget(self.label)
        column.addWidget(self.box)
        self.hide()

    def show_versions(self, key: str | None, known: Sequence[str], shown: str) -> None:
        """Show which of a metric's method versions is on screen; nothing where it has no scores."""
        self.setVisible(bool(known))
        if not known or key is None:
            return
        self._key = key
        several = len(known) > 1
        self.label.setText(
            f"Method version of {metric(key).title}" + (f" (1 of {len(known)})" if several else "")
        )
        if [self.box.itemText(row) for row in range(self.box.count())] != list(known):
            self.box.clear()
            self.box.addItems(list(known))
        self.box.setCurrentText(shown)
        self.box.setEnabled(several)

    def _activated(self, row: int) -> None:
        self.chosen.emit(self._key, self.box.itemText(row))
