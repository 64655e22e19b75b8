"""Curves of scores over steps, live while scoring runs, with their legend and chooser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.admissions import Admissions
from app.notifications import plain_label
from app.plots.chooser import MetricList, MetricModel
from app.plots.curves import CurvesView, Hit
from app.plots.look import Look, look
from app.plots.marks import admission_marks
from app.plots.run_list import RunList
from app.plots.scores_bar import Compare, ScoresBar
from app.plots.series import Curve, Group, Question, groups_for
from app.plots.source import Answer, ScoreSource
from app.plots.versions import VersionBox
from app.plots.weights_box import WeightsBox
from app.plots.words import axis_in_words, failure_in_words, point_in_words
from banana100_core.catalog.metrics import metric

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.session import Session
    from banana100_core.project.records import Run
    from banana100_core.scoring.methods import MetricStatus

DEFAULT_METRICS = 6
"""So many metrics are ticked when a project is opened: those with scores, then those that can score here."""


class ScoresView(QWidget):
    """The plot with its controls."""

    def __init__(self, session: Session, registry: ActionRegistry, plot: CurvesView | None = None) -> None:
        """`plot`: an empty one, if it is made already."""
        super().__init__()
        self._session = session
        self._registry = registry
        self._groups: tuple[Group, ...] = ()
        self._versions: dict[str, str] = {}  # those chosen by hand
        self._answer: Answer | None = None
        self._chosen_by_hand = False
        self._first: list[str] = []  # chosen when the project was opened
        self.model = MetricModel(self)
        self.source = ScoreSource(session, self)
        self._admissions = Admissions.of(session)
        self.plot = plot or CurvesView()
        self.plot.set_describer(self._describe)
        self._build()
        self._connect()
        self._project_opened()

    # What is shown

    @property
    def compare(self) -> Compare:
        """Whether the curves are metrics of one run, or runs by one metric."""
        return self.bar.compare

    def set_compare(self, compare: Compare) -> None:
        """Choose what has a curve of its own."""
        self.bar.set_compare(compare)

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
        chosen = (self.bar.metric_key,) if self.compare is Compare.RUNS else self.model.chosen
        return Question(
            chosen, self._groups, self.bar.normalised.isChecked(), tuple(sorted(self._versions.items()))
        )

    @property
    def curves(self) -> list[Curve]:
        """The curves on screen."""
        return self._answer.curves if self._answer else []

    # Building

    def _build(self) -> None:
        self.bar = ScoresBar(self.model)
        self.list = MetricList(self.model)
        self.run_list = RunList()
        self.versions = VersionBox()
        self.weights = WeightsBox(self._session, self._registry, self.source)
        self.empty = plain_label(muted=True, wrap=True)
        self.empty_button = QPushButton("Score what is missing")
        half = theme.GRID // 2
        self.legend = QStackedWidget()
        self.legend.addWidget(self.list)
        self.legend.addWidget(self.run_list)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(half, 0, theme.GRID, theme.GRID)
        column.setSpacing(half)
        column.addWidget(self.legend, 1)
        column.addWidget(self.versions)
        column.addWidget(self.weights)
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
        layout.addWidget(self.bar)
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
        self.list.selectionModel().currentChanged.connect(lambda *_indexes: self._metric_looked_at())
        self.bar.compare_changed.connect(self._compare_changed)
        self.bar.metric_changed.connect(self._ask)
        self.bar.normalised_changed.connect(self._ask)
        self.bar.averaged_changed.connect(self._runs_changed)
        self.versions.chosen.connect(self.choose_version)
        self.run_list.run_chosen.connect(session.choose_run)
        self.empty_button.clicked.connect(self._registry.qaction("score.missing").trigger)
        for changed in (self._admissions.changed, session.blinding_changed):
            changed.connect(self._show_marks)
        session.blinding_changed.connect(self._runs_changed)
        theme.notifier().theme_changed.connect(self._theme_changed)

    # The session's changes

    def _project_opened(self) -> None:
        self._answer = None
        self._chosen_by_hand = False
        self._first = []
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
        self.run_list.show_groups(self._groups)

    def _runs_changed(self) -> None:
        told = self._session.blinding.of_run
        groups = groups_for(
            self._shown_runs(), self._session.runs, averaged=self.bar.averaged.isChecked(), told=told
        )
        if groups != self._groups:
            self._groups = groups
            self.run_list.show_groups(self._groups)
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

    def _compare_changed(self) -> None:
        by_run = self.compare is Compare.RUNS
        self.legend.setCurrentWidget(self.run_list if by_run else self.list)
        self._groups = ()
        self._runs_changed()
        self._metric_looked_at()

    def _chosen_changed(self) -> None:
        if self.compare is Compare.METRICS:
            self._ask()

    def _ask(self) -> None:
        if self._session.project is not None:
            self.source.ask(self.question())

    def _take(self, answer: Answer) -> None:
        self.model.add_scored(answer.scored)
        if answer.scored and not self._chosen_by_hand and set(self.model.chosen) == set(self._first):
            first = dict.fromkeys([*self._first, *answer.scored, *self.source.ready])
            if len(first) > len(self._first) < DEFAULT_METRICS:
                self._first = [*first][:DEFAULT_METRICS]
                self.model.choose(self._first)  # asks again
                return
        self._answer = answer
        self._draw()

    def _draw(self) -> None:
        looks = [self._look(curve) for curve in self.curves]
        self.plot.show_curves(self.curves, looks, bands=self.bar.averaged.isChecked())
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
        axis = axis_in_words(shown, normalised=self.bar.normalised.isChecked())
        self.plot.set_axis(axis.title, axis.typical_range)
        self.bar.better.setText(axis.better)

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

    # The metric that is looked at

    def _metric_looked_at(self) -> None:
        row = self.list.currentIndex().row()
        by_run = self.compare is Compare.RUNS
        self.weights.show_metric(None if by_run or row < 0 else self.model.metric_at(row).key)
        self._show_versions()

    def _current_metric(self) -> str | None:
        if self.compare is Compare.RUNS:
            return self.bar.metric_key
        row = self.list.currentIndex().row()
        if row >= 0:
            return self.model.metric_at(row).key
        return next(iter(self.model.chosen), None)

    def _show_versions(self) -> None:
        key, answer = self._current_metric(), self._answer
        if answer is None or key is None:
            self.versions.show_versions(None, (), "")
        else:
            self.versions.show_versions(key, answer.versions.get(key, []), answer.shown_versions.get(key, ""))

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
            normalised=self.bar.normalised.isChecked(),
            averaged=self.bar.averaged.isChecked(),
            several=self.compare is Compare.RUNS,
        )

    def _take_statuses(self, statuses: dict[str, MetricStatus]) -> None:
        self.model.set_statuses(statuses)
        self._ask()

    def _theme_changed(self) -> None:
        self.plot.apply_theme()
        self.model.look_changed()
        self.run_list.show_groups(self._groups)
        self._show_marks()
        self._draw()


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
