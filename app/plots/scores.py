"""Curves of scores over steps, live while scoring runs, with their legend and chooser."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.admissions import Admissions
from app.notifications import plain_label
from app.plots.chooser import MetricList, MetricModel, WithoutTicks
from app.plots.curves import CurvesView, Hit
from app.plots.look import SWATCH, Look, look, swatch
from app.plots.marks import admission_marks
from app.plots.series import Curve, Group, Question, groups_for
from app.plots.source import Answer, ScoreSource
from app.plots.words import axis_in_words, failure_in_words, point_in_words
from app.tooltips import plain_tip
from banana100_core.catalog.metrics import metric

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.session import Session
    from banana100_core.project.records import Run
    from banana100_core.scoring.methods import MetricStatus

DEFAULT_METRICS = 6
"""So many metrics are ticked when a project with scores of more is opened."""


class Compare(StrEnum):
    """What has a curve of its own."""

    METRICS = "metrics"
    RUNS = "runs"


class ScoresView(QWidget):
    """The plot with its controls."""

    def __init__(self, session: Session, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._registry = registry
        self._groups: tuple[Group, ...] = ()
        self._versions: dict[str, str] = {}  # those chosen by hand
        self._answer: Answer | None = None
        self._chosen_by_hand = False
        self.model = MetricModel(self)
        self.source = ScoreSource(session, self)
        self._admissions = Admissions.of(session)
        self.plot = CurvesView()
        self.plot.set_describer(self._describe)
        self._build()
        self._connect()
        self._project_opened()

    # What is shown

    @property
    def compare(self) -> Compare:
        """Whether the curves are metrics of one run, or runs by one metric."""
        return Compare.RUNS if self.by_run.isChecked() else Compare.METRICS

    def set_compare(self, compare: Compare) -> None:
        """Choose what has a curve of its own."""
        (self.by_run if compare is Compare.RUNS else self.by_metric).setChecked(True)

    def choose_metrics(self, keys: list[str]) -> None:
        """Show these metrics."""
        self._chosen_by_hand = True
        self.model.choose(keys)

    def choose_version(self, key: str, version: str) -> None:
        """Show the scores that one method version gave."""
        self._versions[key] = version
        self._ask()

    def question(self) -> Question:
        """What the controls ask for now."""
        if self.compare is Compare.RUNS:
            row = max(0, self.metric_box.currentIndex())
            chosen: tuple[str, ...] = (self.model.metric_at(row).key,)
        else:
            chosen = self.model.chosen
        return Question(
            chosen, self._groups, self.normalised.isChecked(), tuple(sorted(self._versions.items()))
        )

    @property
    def curves(self) -> list[Curve]:
        """The curves on screen."""
        return self._answer.curves if self._answer else []

    # Building

    def _build(self) -> None:
        self.by_metric = _segment("Metrics", "One curve a metric, of the run on screen")
        self.by_run = _segment("Runs", "One curve a run selected in the list, by one metric")
        self.by_metric.setChecked(True)
        self._segments = QButtonGroup(self)
        self._segments.addButton(self.by_metric)
        self._segments.addButton(self.by_run)
        self.metric_box = QComboBox()
        self.metric_box.setAccessibleName("Metric")
        self._without_ticks = WithoutTicks(self)
        self._without_ticks.setSourceModel(self.model)
        self.metric_box.setModel(self._without_ticks)
        self.metric_box.setCurrentIndex(self.model.row_of("brisque"))
        self.metric_box.hide()
        self.normalised = QCheckBox("Normalised")
        self.normalised.setToolTip("Typical range mapped to 0 to 100, higher is better; never clipped")
        self.normalised.setChecked(True)
        self.averaged = QCheckBox("Mean ± sd of repeats")
        self.averaged.setToolTip(
            "Runs with the same initial image, model and protocol as one curve with a band"
        )
        self.better = plain_label(muted=True)
        self.list = MetricList(self.model)
        self.run_list = QListWidget()
        self.run_list.setFrameShape(MetricList.Shape.NoFrame)
        self.run_list.setAccessibleName("Runs shown")
        self.run_list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.version_label = plain_label(muted=True)
        self.version_box = QComboBox()
        self.version_box.setAccessibleName("Method version")
        self.version_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.empty = plain_label(muted=True, wrap=True)
        self.empty_button = QPushButton("Score what is missing")
        self._lay_out()

    def _lay_out(self) -> None:
        half = theme.GRID // 2
        bar = QHBoxLayout()
        bar.setContentsMargins(theme.GRID, half, theme.GRID, half)
        bar.setSpacing(theme.GRID)
        segments = QHBoxLayout()
        segments.setSpacing(0)
        segments.addWidget(self.by_metric)
        segments.addWidget(self.by_run)
        bar.addLayout(segments)
        bar.addWidget(self.metric_box)
        bar.addSpacing(theme.GRID)
        bar.addWidget(self.normalised)
        bar.addWidget(self.averaged)
        bar.addStretch(1)
        bar.addWidget(self.better)
        self.legend = QStackedWidget()
        self.legend.addWidget(self.list)
        self.legend.addWidget(self.run_list)
        side = QWidget()
        side_layout = QVBoxLayout(side)
        side_layout.setContentsMargins(half, 0, theme.GRID, theme.GRID)
        side_layout.setSpacing(half)
        side_layout.addWidget(self.legend, 1)
        side_layout.addWidget(self.version_label)
        side_layout.addWidget(self.version_box)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.plot)
        self.stack.addWidget(_empty_page(self.empty, self.empty_button))
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.addWidget(self.stack)
        splitter.addWidget(side)
        splitter.setStretchFactor(0, 1)
        splitter.setSizes([80 * theme.GRID, 26 * theme.GRID])
        splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(splitter, 1)

    def _connect(self) -> None:
        session = self._session
        session.project_opened.connect(self._project_opened)
        session.project_closed.connect(self._project_closed)
        for signal in (session.run_changed, session.selection_changed, session.runs_updated):
            signal.connect(self._runs_changed)
        session.steps_updated.connect(self._steps_changed)
        session.step_changed.connect(self.plot.set_step)
        session.scoring_progressed.connect(lambda _progress: self._say_if_empty())
        self.plot.step_chosen.connect(session.choose_step)
        self.plot.point_chosen.connect(self._go_to)
        self.source.answered.connect(self._take)
        self.source.statuses_read.connect(self._take_statuses)
        self.model.chosen_changed.connect(self._chosen_changed)
        self.list.selectionModel().currentChanged.connect(lambda *_indexes: self._show_versions())
        self._segments.idToggled.connect(self._compare_toggled)
        self.metric_box.currentIndexChanged.connect(lambda _row: self._ask())
        self.normalised.toggled.connect(lambda _on: self._ask())
        self.averaged.toggled.connect(lambda _on: self._runs_changed())
        self.version_box.activated.connect(self._version_activated)
        self.run_list.itemActivated.connect(self._run_activated)
        self.empty_button.clicked.connect(self._registry.qaction("score.missing").trigger)
        for changed in (self._admissions.changed, session.blinding_changed):
            changed.connect(self._show_marks)
        session.blinding_changed.connect(self._runs_changed)
        theme.notifier().theme_changed.connect(self._theme_changed)

    # The session's changes

    def _project_opened(self) -> None:
        self._answer = None
        self._chosen_by_hand = False
        self._versions.clear()
        self.model.forget_scored()
        self.model.choose(())
        if self._session.project is not None:
            self.source.read_statuses()
        self._runs_changed()
        self._draw()

    def _project_closed(self) -> None:
        self._answer = None
        self._groups = ()
        self._draw()
        self._show_marks()
        self._fill_run_list()

    def _runs_changed(self) -> None:
        told = self._session.blinding.of_run
        groups = groups_for(
            self._shown_runs(), self._session.runs, averaged=self.averaged.isChecked(), told=told
        )
        if groups != self._groups:
            self._groups = groups
            self._fill_run_list()
            self._show_marks()
            self._ask()
        self._steps_changed()

    def _steps_changed(self) -> None:
        shown = {run_id for group in self._groups for run_id in group.run_ids}
        counts = [run.steps_done + run.steps_failed for run in self._session.runs if run.id in shown]
        counts += [step.number for step in self._session.steps[-1:]]
        self.plot.set_steps(max(counts, default=1))
        self.plot.set_step(self._session.step)
        self._say_if_empty()

    def _shown_runs(self) -> list[Run]:
        current = self._session.run
        if self.compare is Compare.METRICS:
            return [current] if current else []
        by_id = {run.id: run for run in self._session.runs}
        return [by_id[run_id] for run_id in self._session.selected_runs if run_id in by_id]

    # Asking and showing

    def _compare_toggled(self, _segment: int, on: bool) -> None:
        if not on:
            return
        by_run = self.compare is Compare.RUNS
        self.metric_box.setVisible(by_run)
        self.legend.setCurrentWidget(self.run_list if by_run else self.list)
        self._groups = ()
        self._runs_changed()

    def _chosen_changed(self) -> None:
        if self.compare is Compare.METRICS:
            self._ask()

    def _ask(self) -> None:
        if self._session.project is not None:
            self.source.ask(self.question())

    def _take(self, answer: Answer) -> None:
        self.model.add_scored(answer.scored)
        if answer.scored and not self._chosen_by_hand and not self.model.chosen:
            self.model.choose(answer.scored[:DEFAULT_METRICS])  # asks again
            return
        self._answer = answer
        self._draw()

    def _draw(self) -> None:
        looks = [self._look(curve) for curve in self.curves]
        self.plot.show_curves(self.curves, looks, bands=self.averaged.isChecked())
        self._say_axis()
        self._show_versions()
        self._say_if_empty()

    def _show_marks(self) -> None:
        by_run = self.compare is Compare.RUNS
        colours = [
            look(row).colour if by_run else theme.colours().warning for row in range(len(self._groups))
        ]
        shown = [] if self._session.blinding.tags else self._groups
        self.plot.show_marks(admission_marks(shown, colours, self._admissions.steps_of))

    def _look(self, curve: Curve) -> Look:
        if self.compare is Compare.RUNS:
            groups = [group.run_ids for group in self._groups]
            return look(groups.index(curve.group.run_ids) if curve.group.run_ids in groups else 0)
        return self.model.look_of(curve.metric)

    def _say_axis(self) -> None:
        shown = [metric(key) for key in dict.fromkeys(curve.metric for curve in self.curves)]
        axis = axis_in_words(shown, normalised=self.normalised.isChecked())
        self.plot.set_axis(axis.title, axis.typical_range)
        self.better.setText(axis.better)

    def _say_if_empty(self) -> None:
        text, offer = self._emptiness()
        self.empty.setText(text)
        self.empty_button.setVisible(offer)
        self.stack.setCurrentIndex(1 if text else 0)

    def _emptiness(self) -> tuple[str, bool]:
        """What to say instead of a plot, and whether to offer to score; nothing while curves are shown."""
        session = self._session
        if session.project is None:
            return "Open a project to see its scores.", False
        if session.run is None:
            none = "No runs yet. Import a folder (File menu) or generate some (Run menu)."
            return (none if not session.runs else "Choose a run to see its scores."), False
        if self._answer is None or self.curves:
            return "", False
        if self.compare is Compare.METRICS and self._answer.scored and not self.model.chosen:
            return "Tick a metric in the list to see its curve.", False
        progress = session.pool.progress() if session.pool is not None else None
        if progress is not None and progress.done < progress.total and not progress.paused:
            return "Scoring. Points appear here as they are made.", False
        return "No scores yet. Score > Score what is missing.", not session.project.read_only

    # Versions

    def _current_metric(self) -> str | None:
        if self.compare is Compare.RUNS:
            return self.question().metrics[0]
        row = self.list.currentIndex().row()
        if row >= 0:
            return self.model.metric_at(row).key
        return next(iter(self.model.chosen), None)

    def _show_versions(self) -> None:
        key = self._current_metric()
        known = self._answer.versions.get(key, []) if self._answer and key else []
        self.version_label.setVisible(bool(known))
        self.version_box.setVisible(bool(known))
        if not known or key is None or self._answer is None:
            return
        shown = self._answer.shown_versions.get(key, "")
        several = len(known) > 1
        self.version_label.setText(
            f"Method version of {metric(key).title}" + (f" (1 of {len(known)})" if several else "")
        )
        if [self.version_box.itemText(row) for row in range(self.version_box.count())] != known:
            self.version_box.clear()
            self.version_box.addItems(known)
        self.version_box.setCurrentText(shown)
        self.version_box.setEnabled(several)
        self.version_box.setToolTip(plain_tip(shown))

    def _version_activated(self, row: int) -> None:
        key = self._current_metric()
        if key is not None:
            self.choose_version(key, self.version_box.itemText(row))

    # Points, runs, theme

    def _go_to(self, hit: Hit) -> None:
        run_ids = hit.curve.group.run_ids
        if hit.failed is not None:
            run_ids = (hit.failed.run_id,)
        if self._session.run is None or self._session.run.id not in run_ids:
            self._session.choose_run(run_ids[0])
        self._session.choose_step(hit.step)

    def _describe(self, hit: Hit) -> str:
        if hit.failed is not None:
            run = next((each for each in self._session.runs if each.id == hit.failed.run_id), None)
            told = self._session.blinding.of_run(run) if run is not None else None
            return failure_in_words(hit.curve, hit.failed, told)
        return point_in_words(
            hit.curve,
            hit.index,
            normalised=self.normalised.isChecked(),
            averaged=self.averaged.isChecked(),
            several=self.compare is Compare.RUNS,
        )

    def _fill_run_list(self) -> None:
        self.run_list.clear()
        self.run_list.setIconSize(SWATCH)
        for row, group in enumerate(self._groups):
            item = QListWidgetItem(swatch(look(row)), group.title)
            item.setToolTip(plain_tip(group.title))
            item.setData(Qt.ItemDataRole.UserRole, group.run_ids[0])
            self.run_list.addItem(item)

    def _run_activated(self, item: QListWidgetItem) -> None:
        self._session.choose_run(item.data(Qt.ItemDataRole.UserRole))

    def _take_statuses(self, statuses: dict[str, MetricStatus]) -> None:
        self.model.set_statuses(statuses)
        self._ask()

    def _theme_changed(self) -> None:
        self.plot.apply_theme()
        self.model.look_changed()
        self._fill_run_list()
        self._show_marks()
        self._draw()


def _segment(text: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(True)
    return button


def _empty_page(label: QLabel, button: QPushButton) -> QWidget:
    page = QWidget()
    layout = QVBoxLayout(page)
    layout.setSpacing(theme.GRID)
    layout.addStretch(1)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    layout.addWidget(label)
    layout.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
    layout.addStretch(1)
    return page
