"""What a plan takes, in figures, with what to mind and the button that starts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGridLayout, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.generation.estimate import figures
from app.notifications import plain_label
from app.parts import HALF

if TYPE_CHECKING:
    from banana100_core.generation.forecast import Forecast

_NAMES = ("Calls", "Cost", "Time", "Disk")


class PlanSummary(QWidget):
    """Stays in sight below the form."""

    def __init__(self) -> None:
        super().__init__()
        self.hint = plain_label(muted=True, wrap=True)
        self.warning = plain_label(wrap=True)
        self.start = QPushButton("Start")
        self.start.setProperty("primary", True)  # noqa: FBT003 - Qt takes the value by place
        self._values = {name: plain_label(wrap=True) for name in _NAMES}
        self._figures = QWidget()
        grid = QGridLayout(self._figures)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.GRID)
        grid.setVerticalSpacing(HALF // 2)
        grid.setColumnStretch(1, 1)
        for row, (name, value) in enumerate(self._values.items()):
            grid.addWidget(plain_label(name, muted=True), row, 0)
            grid.addWidget(value, row, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        layout.setSpacing(theme.GRID)
        for widget in (self._figures, self.warning, self.hint, self.start):
            layout.addWidget(widget)

    @property
    def figures(self) -> dict[str, str]:
        """The figures on screen by name."""
        return {name: value.text() for name, value in self._values.items()} if self._shown else {}

    @property
    def _shown(self) -> bool:
        return not self._figures.isHidden()

    def show_plan(self, takes: Forecast | None, warning: str, problem: str) -> None:
        """Show what a plan takes and what to mind, or why there is none."""
        for name, value in figures(takes).items() if takes else ():
            self._values[name].setText(value)
        self._figures.setVisible(takes is not None)
        for label, text in ((self.warning, warning), (self.hint, problem)):
            label.setText(text)
            label.setVisible(bool(text))
