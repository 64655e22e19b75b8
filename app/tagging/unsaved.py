"""What could not be written: in sight until it is, tried again by itself, or given up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from app import theme
from app.notifications import plain_label

if TYPE_CHECKING:
    from collections.abc import Container

    from app.tagging.board import TagBoard
    from app.tagging.work import Work


class UnsavedBar(QFrame):
    """Counts edits and words on runs that are not saved yet, with the reason of those out of sight."""

    def __init__(self, board: TagBoard, work: Work) -> None:
        super().__init__()
        self.setObjectName("message_bar")
        self.setProperty("error", True)  # noqa: FBT003 - Qt takes the value by place
        self._board = board
        self._work = work
        self.text = plain_label(wrap=True)
        self.retry = QPushButton("Retry now")
        self.discard = QPushButton("Discard")
        self.discard.setToolTip("Give these edits up and show what the project has")
        row = QHBoxLayout()
        row.setSpacing(theme.GRID)
        row.addStretch(1)
        row.addWidget(self.retry)
        row.addWidget(self.discard)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        column.setSpacing(theme.GRID)
        column.addWidget(self.text)
        column.addLayout(row)
        for retry in (board.retry, work.words.retry):
            self.retry.clicked.connect(retry)
        for discard in (board.discard_failed, work.words.discard):
            self.discard.clicked.connect(discard)
        self.hide()

    def show_failures(self, shown: Container[int]) -> None:
        """Say how many there are; `shown` are the rows that tell their own reason."""
        failed, said = self._board.failed_rows, self._work.words.unsaved
        self.setVisible(bool(failed or said))
        parts = []
        if failed:
            parts.append("1 edit is not saved." if len(failed) == 1 else f"{len(failed)} edits aren't saved.")
            hidden = next((row for row in failed if row.id not in shown), None)
            if hidden is not None:
                parts.append(f"{self._board.describe(hidden)}, in another run: {hidden.reason}")
        parts += [f"Not saved: {each.words}. {each.reason}" for each in said]
        if parts:
            parts.append("It is tried again every few seconds.")
        self.text.setText(" ".join(parts))
