"""The tags of the run on screen, a row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.tagging.row import TagRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.session import Session
    from app.tagging.board import TagBoard
    from app.tagging.rows import Row
    from banana100_core.catalog.failure_modes import FailureMode


class TagList(QWidget):
    """Makes rows as tags come and drops them as they go; one of them is open."""

    chosen = Signal(int)
    removed = Signal(int)

    def __init__(self, session: Session, board: TagBoard) -> None:
        super().__init__()
        self._session = session
        self._board = board
        self._shown: dict[int, TagRow] = {}
        self._open: int | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.GRID // 2)

    @property
    def shown(self) -> Mapping[int, TagRow]:
        """The rows by the id of their tag's row of the board."""
        return self._shown

    def show_rows(self, rows: Sequence[Row], modes: Mapping[str, FailureMode]) -> None:
        """Show these, from top to bottom; `modes` has the failure modes of all."""
        self._sync(rows, modes)
        session, board = self._session, self._board
        run, steps = session.run, session.steps
        last = max(run.steps_planned if run else 1, steps[-1].number if steps else 1, 1)
        for row in rows:
            self._shown[row.id].show_row(
                row,
                own=board.own(row),
                read_only=board.read_only,
                last_step=last,
                step=session.step,
                numbered=not session.blinding.steps,
            )

    def show_modes(self, modes: Mapping[str, FailureMode]) -> None:
        """Have the rows of failure modes that have changed made anew, with the name of now."""
        for row_id, row in list(self._shown.items()):
            if modes.get(row.mode.key) != row.mode:
                self._drop(row_id)

    def open_row(self, row_id: int | None) -> None:
        """Open one tag's editor, and close the others."""
        self._open = row_id
        for each in self._shown.values():
            each.set_open(on=each.row_id == row_id)

    def _sync(self, rows: Sequence[Row], modes: Mapping[str, FailureMode]) -> None:
        wanted = {row.id for row in rows}
        for row_id in [row_id for row_id in self._shown if row_id not in wanted]:
            self._drop(row_id)
        for place, row in enumerate(rows):
            widget = self._shown.get(row.id)
            if widget is None:
                assert row.wanted is not None  # noqa: S101 - rows without are not listed
                widget = self._shown[row.id] = self._make(row.id, modes[row.wanted.failure_mode])
            item = self._column.itemAt(place)
            if item is None or item.widget() is not widget:
                self._column.insertWidget(place, widget)

    def _drop(self, row_id: int) -> None:
        gone = self._shown.pop(row_id)
        self._column.removeWidget(gone)
        gone.hide()
        gone.deleteLater()

    def _make(self, row_id: int, mode: FailureMode) -> TagRow:
        widget = TagRow(row_id, mode)
        widget.chosen.connect(self.chosen)
        widget.changed.connect(lambda row, fields: self._board.change(row, **fields))
        widget.removed.connect(self.removed)
        widget.retry_wanted.connect(self._board.retry)
        widget.step_chosen.connect(self._session.choose_step)
        widget.set_open(on=row_id == self._open)
        return widget
