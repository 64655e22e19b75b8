"""The heat map of score gaps: metrics across, initial images down, failures of a metric in blue."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QStackedWidget,
    QStyleOptionHeader,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.elided import shortened
from app.notifications import plain_label
from app.parts import Choices
from app.plots.gap_export import FILE_TYPES, save_gaps
from app.plots.gap_model import GapModel, GapTable
from banana100_core.analysis.gaps import GAP_STEPS, gaps
from banana100_core.errors import BananaError

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent, QShowEvent

    from app.actions import ActionRegistry
    from app.plots.source import ScoreSource
    from app.session import Session
    from banana100_core.analysis.gaps import Gap

CELL_WIDTH = 10 * theme.GRID
CELL_HEIGHT = 3 * theme.GRID + theme.GRID // 2
_ALL_MODELS = "All models"
REST = 10
"""All scores take long to read in a large project: so many times as long it rests before the next reading."""


class GapView(QWidget):
    """Δ5, Δ10, Δ20 or the count of failures; a click opens the run at that step."""

    def __init__(
        self, session: Session, registry: ActionRegistry, source: ScoreSource, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._source = source
        self._stale = True
        self._reading = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._read)
        self._found: list[Gap] = []
        self._chosen_by_hand = False
        self.model = GapModel(self)
        self.table = QTableView()
        self.editor_models = Choices()
        self.save_button = QToolButton()
        self.buttons = QButtonGroup(self)
        self.empty_button = QPushButton("Score what is missing")
        self.empty_button.clicked.connect(registry.qaction("score.missing").trigger)
        self.save_button.setDefaultAction(registry.qaction("score.save_gaps"))
        registry.connect("score.save_gaps", self._ask_where_to_save)
        self._build()
        session.project_opened.connect(self._project_changed)
        session.project_closed.connect(self._project_changed)
        session.scores_updated.connect(self._scores_changed)
        session.runs_updated.connect(self._scores_changed)
        source.statuses_read.connect(lambda _statuses: self._scores_changed())
        theme.notifier().theme_changed.connect(self.model.colours_changed)
        self._project_changed()

    @property
    def settled(self) -> bool:
        """Whether what is on screen is up to date."""
        return not self._reading and not (self._stale and self.isVisible())

    def choose(self, step: int | None) -> None:
        """Show the gaps at a step, or with None the counts of failures."""
        self._chosen_by_hand = True
        self.buttons.button(step or 0).setChecked(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: however long the names of rows are, the gaps have room."""
        self.table.verticalHeader().setMaximumWidth(self.width() * 2 // 5)
        super().resizeEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Read what changed while the table was out of sight."""
        super().showEvent(event)
        self._read()

    def _build(self) -> None:
        self._set_up_table()
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        bar.setSpacing(theme.GRID)
        bar.addLayout(self._make_segments())
        self.editor_models.setAccessibleName("Model")
        self.editor_models.activated.connect(lambda _row: self._show_table())
        bar.addWidget(self.editor_models)
        bar.addStretch(1)
        bar.addWidget(plain_label("Blue: a failure, the metric finds the later step better", muted=True))
        bar.addWidget(self.save_button)
        self.empty = plain_label(muted=True, wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setSpacing(theme.GRID)
        column.addStretch(1)
        column.addWidget(self.empty)
        column.addWidget(self.empty_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.table)
        self.stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self.stack, 1)

    def _set_up_table(self) -> None:
        table = self.table
        table.setModel(self.model)
        table.setAccessibleName("Score gaps")
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setFrameShape(QTableView.Shape.NoFrame)
        table.setCornerButtonEnabled(False)
        table.setShowGrid(False)
        table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        table.setVerticalHeader(RowNames(table))
        across, down = table.horizontalHeader(), table.verticalHeader()
        across.setDefaultSectionSize(CELL_WIDTH)
        down.setDefaultSectionSize(CELL_HEIGHT)
        down.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        down.setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        table.clicked.connect(self._open)
        table.activated.connect(self._open)

    def _make_segments(self) -> QHBoxLayout:
        segments = QHBoxLayout()
        segments.setSpacing(0)
        for step in (*GAP_STEPS, None):
            button = QToolButton()
            button.setText("Failures" if step is None else f"Δ{step}")
            tip = f"Normalised score of step {step} minus that of step 1, mean over repeats"
            button.setToolTip("Number of positive gaps, 0 to 3" if step is None else tip)
            button.setCheckable(True)
            self.buttons.addButton(button, step or 0)
            segments.addWidget(button)
        self.buttons.idToggled.connect(self._step_toggled)
        self.buttons.idClicked.connect(lambda step: self.choose(step or None))
        self.buttons.button(GAP_STEPS[-1]).setChecked(True)
        return segments

    def _step_toggled(self, step: int, on: bool) -> None:
        if on:
            self.model.show_step(step or None)

    def _project_changed(self) -> None:
        self._stale, self._reading, self._chosen_by_hand = True, False, False
        self._timer.stop()
        self._show([])
        self._read()

    def _scores_changed(self) -> None:
        self._stale = True
        if not self._timer.isActive():
            self._read()

    def _read(self) -> None:
        project = self._session.project
        if not self._stale or self._reading or project is None or not self.isVisible():
            return
        self._stale, self._reading = False, True
        begun = time.perf_counter()

        def rest() -> None:
            self._reading = False
            self._timer.start(int(1000 * REST * (time.perf_counter() - begun)))

        def take(found: list[Gap]) -> None:
            rest()
            self._show(found)

        self._session.in_background(lambda: gaps(project), take, rest, once=True)

    def _show(self, found: list[Gap]) -> None:
        self._found = found
        models = list(dict.fromkeys(gap.model for gap in found))
        chosen = self.editor_models.currentText()
        self.editor_models.clear()
        self.editor_models.addItems([_ALL_MODELS, *models])
        self.editor_models.setCurrentText(chosen if chosen in models else _ALL_MODELS)
        self.editor_models.setVisible(len(models) > 1)
        self._show_table()

    def _show_table(self) -> None:
        chosen = self.editor_models.currentText()
        found = [gap for gap in self._found if chosen in (gap.model, _ALL_MODELS)]
        table = GapTable(found, self._source.ready)
        self.model.show(table)
        if table.last_step is not None and not self._chosen_by_hand:  # short runs have no step 20
            self.buttons.button(table.last_step).setChecked(True)
        self.save_button.defaultAction().setEnabled(bool(table.rows))
        if self._session.project is None:
            self.empty.setText("Open a project to see what its metrics fail to see.")
        else:
            needs = "No gaps yet: they need scores of step 1 and of step 5, 10 or 20."
            self.empty.setText(f"{needs} Score > Score what is missing.")
        writable = self._session.project is not None and not self._session.project.read_only
        self.empty_button.setVisible(writable)
        self.stack.setCurrentIndex(0 if table.rows else 1)

    def _open(self, index: QModelIndex) -> None:
        found = self.model.run_at(index, self._session.run.id if self._session.run else None)
        if found is not None:
            gap, step = found
            self._session.choose_run(gap.run_id)
            self._session.choose_step(step)

    def save(self, path: Path) -> None:
        """Write what is shown as SVG, PNG or CSV, by the file's suffix; a failure is told by the session."""
        try:
            save_gaps(self.model.table.shown, path)
        except BananaError as error:
            self._session.failed.emit("The score gaps can't be saved", str(error))

    def _ask_where_to_save(self) -> None:
        name, kind = QFileDialog.getSaveFileName(self, "Save score gaps", "gaps.svg", FILE_TYPES)
        if name:
            path = Path(name)
            self.save(path if path.suffix else path.with_suffix(kind[-5:-1]))


class RowNames(QHeaderView):
    """Names of rows, with as much of each as there is room for."""

    def __init__(self, table: QTableView) -> None:
        super().__init__(Qt.Orientation.Vertical, table)
        self.setSectionsClickable(True)
        self.setHighlightSections(True)

    def initStyleOptionForIndex(self, option: QStyleOptionHeader, section: int) -> None:
        """Qt's: what is written in a section."""
        super().initStyleOptionForIndex(option, section)
        name = str(self.model().headerData(section, self.orientation()))
        option.text = shortened(self.fontMetrics(), name, self.width() - 2 * theme.GRID)
