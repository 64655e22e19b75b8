"""The legend of curves of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.elided import MIDDLE
from app.plots.look import SWATCH, look, swatch
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.plots.series import Group


class RunList(QListWidget):
    """The runs shown, each with its line; one that is activated is to be looked at."""

    run_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(self.Shape.NoFrame)
        self.setAccessibleName("Runs shown")
        self.setIconSize(SWATCH)
        self.setTextElideMode(MIDDLE)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemActivated.connect(lambda item: self.run_chosen.emit(item.data(Qt.ItemDataRole.UserRole)))

    def show_groups(self, groups: Sequence[Group]) -> None:
        """List these, in the looks of their curves."""
        self.clear()
        for row, group in enumerate(groups):
            item = QListWidgetItem(swatch(look(row)), group.title)
            item.setToolTip(plain_tip(group.title))
            item.setData(Qt.ItemDataRole.UserRole, group.run_ids[0])
            self.addItem(item)
