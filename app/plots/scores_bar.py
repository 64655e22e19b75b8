"""What the curves show: metrics of a run or runs by a metric, normalised or raw, each run or their mean."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QHBoxLayout, QToolButton, QWidget

from app import theme
from app.notifications import plain_label
from app.parts import Choices
from app.plots.chooser import WithoutTicks

if TYPE_CHECKING:
    from app.plots.chooser import MetricModel


class Compare(StrEnum):
    """What has a curve of its own."""

    METRICS = "metrics"
    RUNS = "runs"


class ScoresBar(QWidget):
    """The controls above the plot."""

    compare_changed = Signal()
    metric_changed = Signal()
    normalised_changed = Signal()
    averaged_changed = Signal()

    def __init__(self, model: MetricModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.by_metric = _segment("Metrics", "One curve a metric, of the run on screen")
        self.by_run = _segment("Runs", "One curve a run selected in the list, by one metric")
        self.by_metric.setChecked(True)
        self._segments = QButtonGroup(self)
        self._segments.addButton(self.by_metric)
        self._segments.addButton(self.by_run)
        self.metric_box = Choices()
        self.metric_box.setAccessibleName("Metric")
        self._without_ticks = WithoutTicks(self)
        self._without_ticks.setSourceModel(model)
        self.metric_box.setModel(self._without_ticks)
        self.metric_box.setCurrentIndex(model.row_of("brisque"))
        self.metric_box.hide()
        self.normalised = QCheckBox("Normalised")
        self.normalised.setToolTip("Typical range mapped to 0 to 100, higher is better; never clipped")
        self.normalised.setChecked(True)
        self.averaged = QCheckBox("Mean ± sd of repeats")
        self.averaged.setToolTip(
            "Runs with the same initial image, model and protocol as one curve with a band"
        )
        self.better = plain_label(muted=True)
        self._lay_out()
        self._segments.idToggled.connect(self._compare_toggled)
        self.metric_box.currentIndexChanged.connect(lambda _row: self.metric_changed.emit())
        self.normalised.toggled.connect(lambda _on: self.normalised_changed.emit())
        self.averaged.toggled.connect(lambda _on: self.averaged_changed.emit())

    @property
    def compare(self) -> Compare:
        """Whether the curves are metrics of one run, or runs by one metric."""
        return Compare.RUNS if self.by_run.isChecked() else Compare.METRICS

    def set_compare(self, compare: Compare) -> None:
        """Choose what has a curve of its own."""
        (self.by_run if compare is Compare.RUNS else self.by_metric).setChecked(True)

    @property
    def metric_key(self) -> str:
        """The metric by which runs are compared."""
        return self._model.metric_at(max(0, self.metric_box.currentIndex())).key

    def _lay_out(self) -> None:
        half = theme.GRID // 2
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GRID, half, theme.GRID, half)
        row.setSpacing(theme.GRID)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        segments.addWidget(self.by_metric)
        segments.addWidget(self.by_run)
        row.addLayout(segments)
        row.addWidget(self.metric_box)
        row.addSpacing(theme.GRID)
        row.addWidget(self.normalised)
        row.addWidget(self.averaged)
        row.addStretch(1)
        row.addWidget(self.better)

    def _compare_toggled(self, _segment: int, on: bool) -> None:
        if on:
            self.metric_box.setVisible(self.compare is Compare.RUNS)
            self.compare_changed.emit()


def _segment(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(True)
    return button
