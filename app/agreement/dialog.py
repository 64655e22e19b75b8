"""The agreement of annotators: figures, confusion, and the runs to talk about, one click away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSpinBox,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.agreement.tables import (
    FIGURE_HEADINGS,
    RUN_HEADINGS,
    TextTable,
    confusion_rows,
    figure_rows,
    run_rows,
    told,
)
from app.notifications import plain_label
from app.parts import Choices
from banana100_core.analysis.agreement import agreement
from banana100_core.analysis.agreement_formats import Part, as_csv

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.analysis.agreement import Agreement

_PARTS = (Part.FIGURES, Part.CONFUSION, Part.RUNS)
_NOBODY = (
    "No run has been tagged, or finished, by two annotators yet. Merge a copy that another annotator worked "
    "on (File, Merge copies…), then look here again."
)


class AgreementDialog(QDialog):
    """Stays open beside the window, and follows what is tagged."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._found: Agreement | None = None
        self._asked = 0
        self.setWindowTitle("Agreement of annotators")
        self.resize(112 * theme.GRID, 72 * theme.GRID)
        self._build()
        session.tags_updated.connect(self.read_again)
        session.project_closed.connect(self.reject)
        session.blinding_changed.connect(self._take_blinding)
        self.read_again()

    def read_again(self) -> None:
        """Measure anew, in the background."""
        project = self._session.project
        if project is None:
            return
        self._asked += 1
        asked = self._asked
        self._session.in_background(lambda: agreement(project), lambda found: self._take(asked, found))

    @property
    def settled(self) -> bool:
        """Whether what is shown is what there is."""
        return self._found is not None and self._taken == self._asked

    def _build(self) -> None:
        self._taken = 0
        self.heading = plain_label("Measuring …", wrap=True)
        self.within = QSpinBox()
        self.within.setRange(0, 999)
        self.within.setValue(2)
        self.within.setPrefix("±")
        self.within.setSuffix(" steps")
        self.within.lineEdit().setTextMargins(theme.GRID // 2, 0, 0, 0)
        self.within.valueChanged.connect(lambda _value: self._show_figures())
        self.pairs = Choices()
        self.pairs.currentIndexChanged.connect(lambda _place: self._show_confusion())
        self.figures, self.confusion, self.runs = TextTable(self), TextTable(self), TextTable(self)
        self.figure_table, self.confusion_table, self.run_table = (
            _table(model) for model in (self.figures, self.confusion, self.runs)
        )
        self.confusion_table.verticalHeader().show()
        self.run_table.setCursor(Qt.CursorShape.PointingHandCursor)
        for chosen in (self.run_table.clicked, self.run_table.activated):
            chosen.connect(lambda index: self._go_to(index.row()))
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.tabs.addTab(_page(self.figure_table, "Onsets within", self.within), "Figures")
        self.confusion_words = plain_label(muted=True)
        self.tabs.addTab(
            _page(self.confusion_table, "Annotators", self.pairs, self.confusion_words), "Confusion"
        )
        self.tabs.addTab(_page(self.run_table), "Runs by disagreement")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.copy = buttons.addButton("Copy as CSV", QDialogButtonBox.ButtonRole.ActionRole)
        self.save = buttons.addButton("Save as CSV…", QDialogButtonBox.ButtonRole.ActionRole)
        for button in buttons.findChildren(QPushButton):
            button.setAutoDefault(False)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.csv()))
        self.save.clicked.connect(self._ask_file)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        layout.setSpacing(theme.GRID)
        layout.addWidget(self.heading)
        layout.addWidget(self.tabs, 1)
        layout.addWidget(buttons)

    def _take_blinding(self) -> None:
        if self._session.blinding.tags:
            self.reject()
        else:
            self._show_runs()

    def csv(self) -> str:
        """The tab on screen as CSV, without what is hidden."""
        if self._found is None:
            return ""
        found = told(self._found, self._session.blinding)
        return as_csv(found, _PARTS[self.tabs.currentIndex()], sorted({0, 1, 2, self.within.value()}))

    def _ask_file(self) -> None:
        part = _PARTS[self.tabs.currentIndex()]
        name, _filter = QFileDialog.getSaveFileName(
            self, "Save as CSV", f"agreement-{part}.csv", "CSV files (*.csv)"
        )
        if name:
            self.save_csv(Path(name))

    def save_csv(self, file: Path) -> None:
        """Write the tab on screen; says why where it can't be."""
        try:
            file.write_text(self.csv(), "utf-8")
        except OSError as error:
            self.heading.setText(f"{file} can't be written: {error.strerror}. Choose another place.")
        else:
            self.heading.setText(f"Saved as {file}")

    def _take(self, asked: int, found: Agreement) -> None:
        self._taken = asked
        self._found = found
        who = ", ".join(found.annotators)
        runs = f"{found.shared_runs:,} {'run' if found.shared_runs == 1 else 'runs'}"
        self.heading.setText(f"{who}: {runs} of two annotators or more" if found.shared_runs else _NOBODY)
        for widget in (self.tabs, self.copy, self.save):
            widget.setVisible(found.shared_runs > 0)
        self._show_figures()
        self._show_pairs(found)
        self._show_runs()

    def _show_runs(self) -> None:
        if self._found is not None:
            self.runs.show_rows(RUN_HEADINGS, run_rows(told(self._found, self._session.blinding)))

    def _show_figures(self) -> None:
        if self._found is not None:
            self.figures.show_rows(FIGURE_HEADINGS, figure_rows(self._found, self.within.value()))

    def _show_pairs(self, found: Agreement) -> None:
        chosen = self.pairs.currentText()
        self.pairs.blockSignals(True)  # noqa: FBT003 - Qt takes the value by place
        self.pairs.clear()
        self.pairs.addItems([f"{pair.one} and {pair.other}" for pair in found.pairs])
        self.pairs.setCurrentIndex(max(0, self.pairs.findText(chosen)))
        self.pairs.blockSignals(False)  # noqa: FBT003
        self._show_confusion()

    def _show_confusion(self) -> None:
        place = self.pairs.currentIndex()
        if self._found is None or not 0 <= place < len(self._found.pairs):
            self.confusion.show_rows((), [])
            return
        pair = self._found.pairs[place]
        titles, rows, shades = confusion_rows(pair, {row.key: row.name for row in self._found.modes})
        headings = [(title, f"{pair.other} saw {title}") for title in titles]
        self.confusion.show_rows(headings, rows, titles, shades)
        self.confusion_words.setText(
            f"Rows: what {pair.one} saw; columns: what {pair.other} saw; in how many of {pair.runs:,} runs"
        )

    def _go_to(self, row: int) -> None:
        if self._found is not None and 0 <= row < len(self._found.by_run):
            run = self._found.by_run[row]
            self._session.choose_run(run.run_id)
            if run.first_step is not None:
                self._session.choose_step(run.first_step)


def _table(model: TextTable) -> QTableView:
    table = QTableView()
    table.setModel(model)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setShowGrid(False)
    table.setStyleSheet(f"QTableView::item {{ padding: 0 {theme.GRID}px; }}")  # as headings have
    table.verticalHeader().hide()
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    table.horizontalHeader().setHighlightSections(False)
    return table


def _page(table: QTableView, words: str = "", *widgets: QWidget) -> QWidget:
    page = QWidget()
    column = QVBoxLayout(page)
    column.setContentsMargins(0, theme.GRID, 0, 0)
    column.setSpacing(theme.GRID)
    if widgets:
        row = QHBoxLayout()
        row.setSpacing(theme.GRID)
        row.addWidget(plain_label(words, muted=True))
        for widget in widgets:
            row.addWidget(widget)
        row.addStretch(1)
        column.addLayout(row)
    column.addWidget(table, 1)
    return page
