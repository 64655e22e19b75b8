"""Choosing what a failure mode is merged into, with what that does before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from app import theme
from app.notifications import plain_label
from app.parts import Choices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.mode_merging import ModeMerge


class MergeForm(QFrame):
    """Asks for the other mode, says what would become of the tags, and waits for a yes."""

    target_chosen = Signal(str, str)  # the mode that goes, the one that it goes into
    confirmed = Signal(str, str)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("message_bar")
        self._mode: FailureMode | None = None
        self.title = plain_label(wrap=True)
        self.target = Choices()
        self.target.setAccessibleName("Merge into")
        self.plan = plain_label(wrap=True)
        self.confirm = QPushButton("Merge")
        self.cancel = QPushButton("Cancel")
        row = QHBoxLayout()
        row.setSpacing(theme.GRID)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.confirm)
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        column.setSpacing(theme.GRID)
        for widget in (self.title, self.target, self.plan):
            column.addWidget(widget)
        column.addLayout(row)
        for button in (self.confirm, self.cancel):
            button.setAutoDefault(False)
        self.target.activated.connect(lambda _row: self._ask_plan())
        self.confirm.clicked.connect(self._confirm)
        self.cancel.clicked.connect(self.cancelled)

    def begin(self, mode: FailureMode, modes: Sequence[FailureMode]) -> None:
        """Ask what to merge a mode into; its level's first, as the likelier ones."""
        self._mode = mode
        self.title.setText(f"Merge {mode.name} into")
        self.target.clear()
        others = [each for each in modes if not each.retired and mode.key not in (each.key, each.parent)]
        for each in sorted(others, key=lambda other: other.level is not mode.level):
            self.target.addItem(each.name, each.key)
        self.target.setCurrentIndex(max(0, self.target.findData(mode.merged_into or mode.parent)))
        self.show()
        self.target.setFocus()
        self._ask_plan()

    def show_plan(self, plan: ModeMerge) -> None:
        """Say what would become of the tags."""
        if self._mode is not None:
            self.plan.setText(plan_text(self._mode.name, self.target.currentText(), plan))
            self.confirm.setEnabled(self.target.count() > 0)

    def _ask_plan(self) -> None:
        self.confirm.setEnabled(False)
        self.plan.setText("")
        if self._mode is not None and self.target.count():
            self.target_chosen.emit(self._mode.key, self.target.currentData())

    def _confirm(self) -> None:
        if self._mode is not None:
            self.hide()
            self.confirmed.emit(self._mode.key, self.target.currentData())


def plan_text(name: str, into: str, plan: ModeMerge) -> str:
    """What a merge does, in a few sentences."""
    count = plan.moved + plan.joined
    if not count:
        return f"{name} has no tags. It is retired, and can be brought back."
    tags = "1 tag" if count == 1 else f"{count:,} tags"
    runs = "1 run" if plan.runs == 1 else f"{plan.runs:,} runs"
    words = [f"{tags} in {runs} will be of {into}."]
    if plan.joined:
        words.append(
            f"{plan.joined:,} of them held at the same steps as a tag of {into} by the same annotator: each "
            "such pair becomes one tag, with the notes and regions of both."
        )
    words.append(f"{name} is retired. Undo takes the tags back, one at a time.")
    return " ".join(words)
