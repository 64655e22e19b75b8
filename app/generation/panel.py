"""The panel of generation: plan runs, see what they will ask for, start them and follow them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QDockWidget, QFrame, QScrollArea, QTabWidget, QVBoxLayout, QWidget

from app import theme
from app.generation import starting
from app.generation.editors import read_editors
from app.generation.form import PlanForm
from app.generation.planner import Planner
from app.generation.progress import SHOWN_FAILURES, UNFINISHED, ProgressView
from app.generation.summary import PlanSummary
from app.generation.work import RUN_ROLE
from banana100_core.generation.picture_files import add_files, find_paper_images
from banana100_core.project.calls import failed_calls
from banana100_core.project.images import initial_images
from banana100_core.project.records import RunState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from app.actions import ActionRegistry
    from app.generation.trouble import Retry
    from app.session import Session
    from banana100_core.generation.editor import Capabilities
    from banana100_core.generation.executor import GenerationProgress
    from banana100_core.generation.plan import Plan
    from banana100_core.project import Project
    from banana100_core.project.calls import FailedCall
    from banana100_core.project.records import InitialImage


class GenerationPanel(QWidget):
    """What to make and what that takes in one tab, how far it is in the other."""

    def __init__(self, session: Session, registry: ActionRegistry, *, whole: bool = True) -> None:
        """With `whole` off there is nothing in it before `fill`."""
        super().__init__()
        self.setObjectName("generation_panel")
        self._session = session
        self._registry = registry
        self._started: set[int] = set()
        self._starting = self._running = self._paused = False
        self._reading_failures = self._failures_stale = False
        self._turn = 0  # of the reading of initial images that counts
        self._added: set[str] = set()  # images to tick when they are read
        self._awaited: set[str] = set()  # images that are being made from prompts
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.tabs)
        if whole:
            deque(self.fill(), maxlen=0)

    def fill(self) -> Iterator[None]:
        """Make what is in it, giving way after each part that takes long."""
        # From the outside in: what is put into a tree that grows is styled once.
        new = QWidget()
        self.tabs.addTab(new, "New runs")
        column = QVBoxLayout(new)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.form = PlanForm(self._session)
        column.addWidget(_scrolled(self.form), 1)
        yield from self.form.fill()
        yield
        self.planner = Planner(self._session, self)
        self.summary = PlanSummary()
        column.addWidget(_line())
        column.addWidget(self.summary)
        yield
        self.progress = ProgressView(self._session)
        self.tabs.addTab(self.progress, "In work")
        self._new = new
        self._connect()
        self._project_changed()

    # What can be done

    @property
    def plan(self) -> Plan | None:
        """The plan of the form as it stands; None while there is nothing to do."""
        return self.planner.plan

    def start(self) -> None:
        """Add the plan's runs to the project and begin with them."""
        project, executor, plan = self._session.project, self._session.executor, self.plan
        if project is None or executor is None or plan is None or self._starting:
            return
        self._starting = True
        self._show_buttons()
        wishes = self.form.wishes()
        self._session.in_background(
            lambda: starting.start(project, executor, plan, wishes.budget_usd, wishes.calls_per_minute),
            self._take_started,
            self._end_starting,
        )

    def go_on(self) -> None:
        """Take up the runs that were not finished, those that stopped among them."""
        self._take_up([run.id for run in self._session.runs if run.state in UNFINISHED])

    def retry(self, retry: Retry) -> None:
        """Take up stopped runs, with what they lacked."""
        executor = self._session.executor
        if executor is not None and retry.budget_usd is not None:
            self.form.budget.setValue(retry.budget_usd)
            starting.limit(executor, retry.budget_usd, self.form.wishes().calls_per_minute)
        self._take_up(list(retry.run_ids), retry.model)

    def pause(self) -> None:
        """Wait after the step in work."""
        if self._session.executor is not None:
            self._session.executor.pause()

    def resume(self) -> None:
        """Go on after a pause."""
        if self._session.executor is not None:
            self._session.executor.resume()

    def cancel(self) -> None:
        """Give up unfinished runs; finished steps are kept."""
        executor = self._session.executor
        if executor is not None:
            self._session.in_background(executor.cancel)

    def add_files(self, files: list[Path]) -> None:
        """Add pictures as initial images of the project, and tick them."""
        project = self._writable()
        if project is not None:
            self._session.in_background(lambda: add_files(project, files), self._take_added)

    def add_paper_images(self, folder: Path) -> None:
        """Add those of the paper's initial images that are in a folder."""
        project = self._writable()
        if project is not None:
            self._session.in_background(lambda: _add_found(project, folder), self._take_added)

    def is_settled(self) -> bool:
        """Whether nothing is being started, and the plan's estimate is there."""
        return not self._starting and self.planner.settled

    def _connect(self) -> None:
        session, registry = self._session, self._registry
        session.project_opened.connect(self._project_changed)
        session.project_closed.connect(self._project_changed)
        session.runs_updated.connect(self._runs_changed)
        session.generation_progressed.connect(self._take_progress)
        session.calls_updated.connect(self._read_failures)
        self.form.changed.connect(self._make_plan)
        self.planner.changed.connect(self._show_plan)
        self.form.pictures.files_chosen.connect(self.add_files)
        self.form.pictures.folder_chosen.connect(self.add_paper_images)
        self.form.budget.valueChanged.connect(lambda _value: self._change_limits())
        self.form.rate.valueChanged.connect(lambda _value: self._change_limits())
        self.summary.start.clicked.connect(self.start)
        progress = self.progress
        progress.pause_button.clicked.connect(self.pause)
        progress.resume_button.clicked.connect(self.resume)
        progress.cancel_button.clicked.connect(self.cancel)
        progress.go_on_button.clicked.connect(self.go_on)
        progress.trouble.retry_wanted.connect(self.retry)
        progress.view.activated.connect(self._look_at)
        for key, slot in {
            "generate.start": self._come_forward,
            "generate.pause": self.pause,
            "generate.resume": self.resume,
            "generate.cancel": self.cancel,
        }.items():
            registry.connect(key, slot)

    # The session's changes

    def _project_changed(self) -> None:
        self._started.clear()
        self._added.clear()
        self._awaited.clear()
        self.form.pictures.to_make.clear()
        self._starting = self._running = self._paused = False
        self._reading_failures = self._failures_stale = False
        self.progress.say(None, None)
        self.progress.show_failures([], [])
        if self._session.project is None:
            self.form.pictures.show_images([])
        else:
            self._session.in_background(read_editors, self._take_editors)
            self._read_images()
        self._runs_changed()
        unfinished = any(run.state in UNFINISHED for run in self._session.runs)
        self.tabs.setCurrentWidget(self.progress if unfinished else self._new)
        if self._session.executor is not None:
            self._take_progress(self._session.executor.progress())
        self._read_failures()

    def _take_editors(self, read: tuple[list[Capabilities], list[str]]) -> None:
        self.form.editors.show_editors(*read)

    def _read_images(self) -> None:
        project = self._session.project
        if project is not None:
            self._turn += 1
            turn = self._turn
            self._session.in_background(
                lambda: initial_images(project), lambda found: self._take_images(turn, found)
            )

    def _take_images(self, turn: int, found: list[InitialImage]) -> None:
        if turn == self._turn:  # threads may answer in another order than they were asked
            self.form.pictures.show_images(found, choose=tuple(self._added))
            self._added.clear()

    def _take_added(self, added: tuple[list[str], list[str]]) -> None:
        names, problems = added
        self._added.update(names)
        self._read_images()
        if problems:
            self._session.failed.emit("Some files can't be initial images", "\n".join(problems))

    def _runs_changed(self) -> None:
        shown = [run for run in self._session.runs if run.id in self._started or run.state in UNFINISHED]
        self.progress.show_runs(shown, self._budget)
        if self._session.executor is not None:
            self.progress.say(self._session.executor.progress(), self._session.executor.limits)
        made = {run.initial_image for run in shown if run.initial_sha256} & self._awaited
        if made:
            self._awaited -= made
            self._added |= made
            self._read_images()
        self.tabs.setTabText(1, f"In work ({len(shown)})" if shown else "In work")
        if self._failures_stale:  # news of calls may come before their run is shown
            self._read_failures()
        self._make_plan()
        self._show_buttons()

    def _take_progress(self, progress: GenerationProgress) -> None:
        began = progress.running and not self._running
        self._running, self._paused = progress.running, progress.paused
        if progress.running:
            self._started.update(run.id for run in self._session.runs if run.state is RunState.PLANNED)
        if began:
            self.tabs.setCurrentWidget(self.progress)
        executor = self._session.executor
        self.progress.say(progress, executor.limits if executor is not None else None)
        self._show_buttons()

    def _end_starting(self) -> None:
        self._starting = False
        self._show_buttons()

    def _take_started(self, result: list[int] | str) -> None:
        self._starting = False
        if isinstance(result, str):
            self._session.failed.emit("The runs can't be started", result)
        else:
            self._started.update(result)
            self._awaited |= set(self.form.pictures.to_make.prompts)
            self.form.pictures.to_make.clear()
            self.tabs.setCurrentWidget(self.progress)  # runs that stop at once are never told to be running
        self._runs_changed()

    def _take_up(self, run_ids: list[int], model: str | None = None) -> None:
        project, executor = self._session.project, self._session.executor
        if project is None or executor is None or not run_ids:
            return
        self._started.update(run_ids)
        self._session.in_background(
            lambda: starting.go_on(project, executor, run_ids, model),
            lambda problem: self._session.failed.emit("The runs can't go on", problem) if problem else None,
        )

    def _change_limits(self) -> None:
        """A limit that is changed holds at once."""
        executor, wishes = self._session.executor, self.form.wishes()
        if executor is not None and self._running:
            starting.limit(executor, wishes.budget_usd, wishes.calls_per_minute)
            self.progress.say(executor.progress(), executor.limits)

    def _read_failures(self) -> None:
        project = self._session.project
        shown = [run.id for run in self.progress.work.runs]
        self._failures_stale = True
        if project is None or self._reading_failures or not shown:
            return
        self._reading_failures, self._failures_stale = True, False
        self._session.in_background(
            lambda: failed_calls(project, shown, SHOWN_FAILURES),
            self._take_failures,
            self._end_reading_failures,
            once=True,
        )

    def _take_failures(self, failed: list[FailedCall]) -> None:
        self._end_reading_failures()
        self.progress.show_failures(failed, self._session.runs)

    def _end_reading_failures(self) -> None:
        self._reading_failures = False
        if self._failures_stale:
            self._read_failures()

    # Plan and words

    def _make_plan(self) -> None:
        self.planner.make(self.form.wishes(), self.form.pictures.known)

    def _show_plan(self) -> None:
        planner = self.planner
        problem = self.form.editors.problem if planner.plan or self._writable() else ""
        self.summary.show_plan(planner.takes, planner.warning, problem or planner.problem)
        self.form.show_plan(planner.plan)
        self._show_buttons()

    def _show_buttons(self) -> None:
        running, paused = self._running, self._paused
        ready = self.plan is not None and not self._starting and not self.form.editors.problem
        self.summary.start.setEnabled(ready)
        unfinished = any(run.state in UNFINISHED for run in self._session.runs)
        self.progress.show_buttons(
            running=running,
            paused=paused,
            unfinished=unfinished and self._session.executor is not None,
        )
        for key, enabled in {
            "generate.pause": running and not paused,
            "generate.resume": running and paused,
            "generate.cancel": running,
        }.items():
            self._registry.set_enabled(key, enabled=enabled)

    @property
    def _budget(self) -> float | None:
        executor = self._session.executor
        return executor.limits.budget_usd if executor is not None else None

    def _writable(self) -> Project | None:
        project = self._session.project
        return None if project is None or project.read_only else project

    def _look_at(self, index: QModelIndex) -> None:
        self._session.choose_run(index.data(RUN_ROLE).id)
        self._session.last_step()

    def _come_forward(self) -> None:
        """Show this panel, before its neighbours among tabs."""
        widget: QWidget | None = self
        while widget is not None and not isinstance(widget, QDockWidget):
            widget = widget.parentWidget()
        if widget is not None:
            widget.show()
            widget.raise_()
        self.tabs.setCurrentIndex(0)
        self.form.pictures.list.setFocus()


def _add_found(project: Project, folder: Path) -> tuple[list[str], list[str]]:
    files, others = find_paper_images(folder)
    if not files and not others:
        others = [f"{folder} has no file that is one of the paper's images by name and size."]
    names, problems = add_files(project, files)
    return names, others + problems


def _scrolled(form: QWidget) -> QScrollArea:
    inside = QWidget()
    area = QScrollArea()
    area.setWidget(inside)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    layout = QVBoxLayout(inside)
    layout.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
    layout.addWidget(form)
    layout.addStretch(1)
    return area


def _line() -> QFrame:
    line = QFrame()
    line.setObjectName("rule")
    line.setFixedHeight(1)
    return line
