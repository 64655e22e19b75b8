"""Conflicts of a merge: a table of them, both versions of the chosen one side by side, and what to take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.merging import words
from app.notifications import plain_label
from banana100_core.project.merge import Prefer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.project.merge import Conflict

_HEADINGS = ("Run", "Failure mode", "Annotator", "Differs in", "Copy", "Take")
_LATER = "mine for now, ask again"
CHOICES: tuple[tuple[Prefer | None, str, str], ...] = (
    (Prefer.MINE, "Mine", "Keep this project's side; the question doesn't come again"),
    (Prefer.THEIRS, "Theirs", "Take the copy's side"),
    (Prefer.BOTH, "Both", "Keep this project's side, and the copy's as a tag of its own"),
    (None, "Later", "Keep this project's side for now; the next merge asks again"),
)
_Index = QModelIndex | QPersistentModelIndex


class ConflictTable(QAbstractTableModel):
    """A row for each conflict; `decisions` are those made so far."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.conflicts: list[Conflict] = []
        self.decisions: dict[tuple[str, str], Prefer] = {}
        self._modes: Mapping[str, str] = {}
        self._runs: Mapping[int, str] = {}

    def show_conflicts(
        self, conflicts: Sequence[Conflict], modes: Mapping[str, str], runs: Mapping[int, str]
    ) -> None:
        """Show other conflicts; what was decided on those that stay holds."""
        self.beginResetModel()
        self.conflicts, self._modes, self._runs = list(conflicts), modes, runs
        known = {(each.tag_uuid, each.other) for each in conflicts}
        self.decisions = {key: taken for key, taken in self.decisions.items() if key in known}
        self.endResetModel()

    def decide(self, rows: Sequence[int], taken: Prefer | None) -> None:
        """Say which side of some conflicts is taken; None leaves them for later."""
        for row in rows:
            conflict = self.conflicts[row]
            key = (conflict.tag_uuid, conflict.other)
            self.decisions.pop(key, None)
            if taken is not None:
                self.decisions[key] = taken
            self.dataChanged.emit(self.index(row, 0), self.index(row, len(_HEADINGS) - 1))
        self.changed.emit()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        """The number of conflicts."""
        return 0 if parent.isValid() else len(self.conflicts)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: ARG002, B008 - as Qt has it
        """The number of columns."""
        return len(_HEADINGS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        """The headings."""
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            return _HEADINGS[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The words of a cell."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        conflict = self.conflicts[index.row()]
        state = conflict.mine or conflict.theirs
        row = {} if state is None else state.row
        taken = self.decisions.get((conflict.tag_uuid, conflict.other))
        mode = str(row.get("failure_mode"))
        return (
            self._runs.get(row.get("run_id", 0), str(row.get("run_id"))),
            self._modes.get(mode, mode),
            str(row.get("annotator")),
            words.differing(conflict),
            Path(conflict.other).name,
            _LATER if taken is None else taken.value,
        )[index.column()]


class ConflictChooser(QWidget):
    """The table, the chosen conflict's two versions, and a button for each choice."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = ConflictTable(self)
        self._modes: Mapping[str, str] = {}
        self._numbered = True
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setAlternatingRowColors(False)
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setStyleSheet(f"QTableView::item {{ padding: 0 {theme.GRID}px; }}")  # as headings have
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setHighlightSections(False)
        self.table.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        )
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_versions())
        self.buttons: dict[Prefer | None, QPushButton] = {}
        row = QHBoxLayout()
        row.setSpacing(theme.GRID)
        row.addWidget(plain_label("Take for the chosen rows", muted=True))
        for taken, name, tip in CHOICES:
            button = self.buttons[taken] = QPushButton(name)
            button.setToolTip(tip)
            button.setAutoDefault(False)
            button.clicked.connect(lambda _checked, taken=taken: self.decide(taken))
            row.addWidget(button)
        row.addStretch(1)
        self.versions = QWidget()
        self._grid = QGridLayout(self.versions)
        self._grid.setContentsMargins(theme.GRID, 0, theme.GRID, 0)
        self._grid.setHorizontalSpacing(2 * theme.GRID)
        self._grid.setVerticalSpacing(theme.GRID // 2)
        self._grid.setColumnStretch(1, 1)
        self._grid.setColumnStretch(2, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.GRID)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.versions)
        layout.addLayout(row)

    def show_conflicts(
        self,
        conflicts: Sequence[Conflict],
        modes: Mapping[str, str],
        runs: Mapping[int, str],
        *,
        numbered: bool = True,
    ) -> None:
        """Show these conflicts, with numbers of steps or without.

        `modes` are names of failure modes by key, `runs` those of runs by id.
        """
        self._modes, self._numbered = modes, numbered
        self.model.show_conflicts(conflicts, modes, runs)
        self.setVisible(bool(conflicts))
        if conflicts:
            self.table.selectRow(0)

    def decide(self, taken: Prefer | None) -> None:
        """Decide on the chosen rows, and go on to the next one where one was chosen."""
        rows = self._rows()
        self.model.decide(rows, taken)
        if len(rows) == 1 and rows[0] + 1 < self.model.rowCount():
            self.table.selectRow(rows[0] + 1)

    def _rows(self) -> list[int]:
        return sorted(index.row() for index in self.table.selectionModel().selectedRows())

    def _show_versions(self) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        rows = self._rows()
        if len(rows) != 1:
            self._grid.addWidget(
                plain_label(f"{len(rows):,} conflicts are chosen" if rows else "", muted=True), 0, 0
            )
            return
        conflict = self.model.conflicts[rows[0]]
        for column, heading in enumerate(("", "Mine", "Theirs")):
            self._grid.addWidget(plain_label(heading, muted=True), 0, column)
        for line, (name, title) in enumerate(words.FIELDS.items(), start=1):
            if name == "removed" and name not in conflict.fields:
                continue
            self._grid.addWidget(plain_label(title, muted=True), line, 0)
            values = words.values(conflict, name, self._modes, numbered=self._numbered)
            for column, text in enumerate(values, start=1):
                label = plain_label(text, wrap=name == "note")
                label.setProperty("strong", name in conflict.fields)
                self._grid.addWidget(label, line, column)
