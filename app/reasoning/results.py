"""What a judge found: the first "yes" and the first of two in a row, of runs and over repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QHeaderView, QTreeWidget, QTreeWidgetItem

from app import theme
from app.elided import MIDDLE
from app.tooltips import plain_tip
from banana100_core.catalog.models import model_title

if TYPE_CHECKING:
    from app.admissions import Findings
    from banana100_core.analysis.admission import Admission, AdmissionSpread

COLUMNS = ("Runs", 'First "yes"', "First of two in a row", "Judged")


class Results(QTreeWidget):
    """Equal runs with mean ± sd, and below them the runs; a click goes to a run's step."""

    chosen = Signal(int, int)  # a run, and a step of it

    def __init__(self) -> None:
        super().__init__()
        self.setHeaderLabels(list(COLUMNS))
        self.setAccessibleName("What the judge found")
        self.setRootIsDecorated(True)
        self.setUniformRowHeights(True)
        self.setTextElideMode(MIDDLE)
        self.setStyleSheet(f"QTreeView::item {{ padding: {theme.GRID // 4}px 0; }}")
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setStretchLastSection(False)
        for column in range(1, len(COLUMNS)):
            self.header().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.headerItem().setToolTip(1, "Mean ± standard deviation over the repeats that admit")
        self.itemClicked.connect(self._go)
        self.itemActivated.connect(self._go)

    def show_found(self, found: Findings) -> None:
        """Show what a judge found."""
        self.clear()
        by_group: dict[tuple[str, str, str], list[Admission]] = {}
        for each in found.by_run.values():
            key = each.run.initial_image, each.run.model, each.run.protocol
            by_group.setdefault(key, []).append(each)
        for spread, of_two in zip(found.spreads, found.spreads_of_two, strict=True):
            runs = by_group[spread.initial_image, spread.model, spread.protocol]
            model = model_title(runs[0].run.provider, spread.model)
            title = f"{spread.initial_image} · {model} · {spread.protocol}"
            judged = sum(each.judged for each in runs)
            group = QTreeWidgetItem([title, spread_in_words(spread), spread_in_words(of_two), str(judged)])
            group.setToolTip(0, plain_tip(title))
            for each in sorted(runs, key=lambda each: each.run.repeat):
                item = QTreeWidgetItem(
                    [f"r{each.run.repeat}", _step(each.first), _step(each.first_of_two), str(each.judged)]
                )
                item.setData(0, Qt.ItemDataRole.UserRole, (each.run.id, each.first, each.first_of_two))
                group.addChild(item)
            self.addTopLevelItem(group)
            group.setExpanded(True)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Say so while there is nothing."""
        super().paintEvent(event)
        if not self.topLevelItemCount():
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.colours().muted))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, "No verdicts yet")
            painter.end()

    def _go(self, item: QTreeWidgetItem, column: int) -> None:
        data = item.data(0, Qt.ItemDataRole.UserRole)
        if data is None:
            return
        run_id, first, first_of_two = data
        step = first_of_two if column == 2 and first_of_two is not None else first
        self.chosen.emit(run_id, 1 if step is None else step)


def spread_in_words(spread: AdmissionSpread) -> str:
    """For instance "20.0 ± 4.0", with how many of the repeats admit where not all do."""
    if spread.mean is None:
        return "never"
    sd = "" if spread.sd is None else f" ± {spread.sd:.1f}"
    some = "" if spread.admitting == spread.repeats else f" ({spread.admitting} of {spread.repeats})"
    return f"{spread.mean:.1f}{sd}{some}"


def _step(number: int | None) -> str:
    return "never" if number is None else str(number)
