"""How far each annotator has come, in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.background import Background
from app.notifications import plain_label

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.analysis.queues import AnnotatorProgress

HEADINGS = ("Annotator", "Done", "Nothing found", "Accepted", "Rejected", "Tags", "Last at")


class ProgressDialog(QDialog):
    """Runs done by each annotator, of all that have pictures."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Progress")
        self.resize(90 * theme.GRID, 36 * theme.GRID)
        self._session = session
        self._reader = Background("progress", self)
        self._reader.failed.connect(self._refuse)
        self.table = QTableWidget(0, len(HEADINGS))
        self.table.verticalHeader().hide()
        for column, title in enumerate(HEADINGS):
            heading = QTableWidgetItem(title)
            heading.setTextAlignment(_side(column))
            self.table.setHorizontalHeaderItem(column, heading)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setShowGrid(False)
        self.table.setStyleSheet(f"QTableView::item {{ padding: 0 {theme.GRID}px; }}")  # as headings have
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.words = plain_label(muted=True, wrap=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        layout.setSpacing(theme.GRID)
        layout.addWidget(self.table)
        layout.addWidget(self.words)
        layout.addWidget(buttons)
        for news in (session.reviews_updated, session.tags_updated):
            news.connect(self._read)
        self.finished.connect(self._leave)
        self._read()

    def _leave(self) -> None:
        for news in (self._session.reviews_updated, self._session.tags_updated):
            news.disconnect(self._read)
        self._reader.stop()

    def _read(self) -> None:
        from banana100_core.analysis.queues import progress

        project = self._session.project
        if project is not None:
            self._reader.do(lambda: progress(project), self._show)

    def _refuse(self, reason: str) -> None:
        self.words.setText(reason)

    def _show(self, found: list[AnnotatorProgress]) -> None:
        # Others' work is hidden from who tags blind.
        if self._session.blinding.tags:
            found = [each for each in found if each.annotator == self._session.annotator]
        self.table.setRowCount(len(found))
        for row, each in enumerate(found):
            texts = (
                each.annotator,
                f"{each.done:,} of {each.runs:,}",
                f"{each.nothing_found:,}",
                f"{each.accepted:,}",
                f"{each.rejected:,}",
                f"{each.tags:,} in {each.tagged:,} run{'' if each.tagged == 1 else 's'}",
                _moment(each.last_at),
            )
            for column, text in enumerate(texts):
                item = QTableWidgetItem(text)
                item.setTextAlignment(_side(column))
                self.table.setItem(row, column, item)
        hidden = " Others are hidden while you tag blind." if self._session.blinding.tags else ""
        self.words.setText(
            f"Done counts runs marked done, also those where nothing was found.{hidden}"
            if found
            else f"Nobody has tagged or finished a run yet.{hidden}"
        )


def _side(column: int) -> Qt.AlignmentFlag:
    """Words stand at the left of their column, numbers at its right, and headings above them."""
    side = Qt.AlignmentFlag.AlignLeft if column in (0, 6) else Qt.AlignmentFlag.AlignRight
    return side | Qt.AlignmentFlag.AlignVCenter


def _moment(at: str) -> str:
    if not at:
        return ""
    moment = QDateTime.fromString(at, Qt.DateFormat.ISODateWithMs).toLocalTime()
    return QLocale().toString(moment, QLocale.FormatType.ShortFormat)
