"""The panel of generation: plan runs, see what they will ask for, start them and follow them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.generation.estimate import Estimate, estimate
from app.generation.form import PlanForm, Wishes
from app.generation.work import RUN_ROLE, WorkModel, WorkView
from app.notifications import plain_label
from app.status import duration
from app.thumbnails import Thumbnails
from banana100_core.errors import BananaError, ImageError
from banana100_core.generation.plan import Plan, add_plan, make_plan
from banana100_core.generation.providers import capabilities
from banana100_core.project.images import NewImage, add_initial_image, initial_images
from banana100_core.project.records import RunState

if TYPE_CHECKING:
    from pathlib import Path

    from app.actions import ActionRegistry
    from app.session import Session
    from banana100_core.generation.executor import Executor, GenerationProgress
    from banana100_core.project import Project
    from banana100_core.project.records import InitialImage


class GenerationPanel(QWidget):
    """What to make, what that takes, and how far it is."""

    def __init__(self, session: Session, registry: ActionRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("generation_panel")
        self._session = session
        self._registry = registry
        self._plan: Plan | None = None
        self._started: set[int] = set()
        self._starting = self._running = self._paused = False
        self._turn = 0  # of the reading of initial images that counts
        self._added: set[str] = set()  # images to tick when they are read
        self.form = PlanForm(session)
        self.work = WorkModel(self)
        self.view = WorkView(self.work, Thumbnails.of(session))
        self._build()
        self._connect()
        self._project_changed()

    # What can be done

    @property
    def plan(self) -> Plan | None:
        """The plan of the form as it stands; None while there is nothing to do."""
        return self._plan

    def start(self) -> None:
        """Add the plan's runs to the project and begin with them."""
        project, executor, plan = self._session.project, self._session.executor, self._plan
        if project is None or executor is None or plan is None or self._starting:
            return
        self._starting = True
        self._show_buttons()

        self._session.in_background(lambda: _start(project, executor, plan), self._take_started)

    def go_on(self) -> None:
        """Take up the runs that were not finished, those that stopped among them."""
        executor = self._session.executor
        ids = [run.id for run in self._session.runs if run.state in {RunState.PLANNED, RunState.STOPPED}]
        if executor is not None and ids:
            self._started.update(ids)
            self._session.in_background(lambda: executor.start(ids))

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
        project = self._session.project
        if project is None or project.read_only:
            return
        self._session.in_background(lambda: _add_images(project, files), self._take_added)

    def is_settled(self) -> bool:
        """Whether nothing is being read or added."""
        return not self._starting

    # Building

    def _build(self) -> None:
        self.headline = plain_label(wrap=True)
        self.prompts_heading = plain_label("Prompts", muted=True)
        self.prompts = plain_label(wrap=True)
        self.start_button = QPushButton("Start")
        self.start_button.setProperty("primary", True)  # noqa: FBT003 - Qt takes the value by place
        self.hint = plain_label(muted=True, wrap=True)
        top = QWidget()
        column = QVBoxLayout(top)
        column.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        column.setSpacing(theme.GRID)
        column.addWidget(self.form)
        column.addWidget(self.prompts_heading)
        column.addWidget(self.prompts)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidget(top)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self._with_foot(area))
        splitter.addWidget(self._make_progress())
        splitter.setChildrenCollapsible(False)
        splitter.setSizes([72 * theme.GRID, 40 * theme.GRID])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(splitter)

    def _with_foot(self, area: QScrollArea) -> QWidget:
        """Keep what the plan takes, and its button, in sight below the form."""
        foot = QVBoxLayout()
        foot.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        foot.setSpacing(theme.GRID)
        for widget in (self.headline, self.hint, self.start_button):
            foot.addWidget(widget)
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(area, 1)
        column.addLayout(foot)
        return whole

    def _make_progress(self) -> QWidget:
        self.overall = plain_label(wrap=True)
        self.message = plain_label(muted=True, wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.GRID // 2)
        self.pause_button = _tool("pause", "Pause: wait after the step in work")
        self.resume_button = _tool("play", "Resume")
        self.cancel_button = _tool("stop", "Cancel; finished steps are kept")
        self.go_on_button = QPushButton("Go on with unfinished runs")
        row = QHBoxLayout()
        row.setSpacing(theme.GRID // 2)
        row.addWidget(self.overall, 1)
        for button in (self.pause_button, self.resume_button, self.cancel_button):
            row.addWidget(button)
        progress = QWidget()
        column = QVBoxLayout(progress)
        column.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        column.setSpacing(theme.GRID // 2)
        column.addLayout(row)
        column.addWidget(self.bar)
        column.addWidget(self.message)
        column.addWidget(self.view, 1)
        column.addWidget(self.go_on_button)
        return progress

    def _connect(self) -> None:
        session, registry = self._session, self._registry
        session.project_opened.connect(self._project_changed)
        session.project_closed.connect(self._project_changed)
        session.runs_updated.connect(self._runs_changed)
        session.generation_progressed.connect(self._take_progress)
        self.form.changed.connect(self._make_plan)
        self.form.files_chosen.connect(self.add_files)
        self.start_button.clicked.connect(self.start)
        self.pause_button.clicked.connect(self.pause)
        self.resume_button.clicked.connect(self.resume)
        self.cancel_button.clicked.connect(self.cancel)
        self.go_on_button.clicked.connect(self.go_on)
        self.view.activated.connect(self._look_at)
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
        self._starting = self._running = self._paused = False
        self.message.setText("")
        self.bar.setValue(0)
        if self._session.project is None:
            self.form.show_images([])
        self._read_images()
        self._runs_changed()
        self._make_plan()
        if self._session.executor is not None:
            self._take_progress(self._session.executor.progress())

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
            self.form.show_images(found, choose=tuple(self._added))
            self._added.clear()

    def _take_added(self, added: tuple[list[str], list[str]]) -> None:
        names, problems = added
        self._added.update(names)
        self._read_images()
        if problems:
            self._session.failed.emit("Some files can't be initial images", "\n".join(problems))

    def _runs_changed(self) -> None:
        shown = [
            run
            for run in self._session.runs
            if run.id in self._started or run.state in {RunState.PLANNED, RunState.STOPPED}
        ]
        self.work.show(shown)
        self._make_plan()
        self._say_overall(None)

    def _take_progress(self, progress: GenerationProgress) -> None:
        self._running, self._paused = progress.running, progress.paused
        if progress.running:
            self._started.update(run.id for run in self._session.runs if run.state is RunState.PLANNED)
        self.bar.setMaximum(max(1, progress.steps_planned))
        self.bar.setValue(progress.steps_done)
        self.message.setText(progress.message)
        self._say_overall(progress)

    def _take_started(self, result: list[int] | str) -> None:
        self._starting = False
        if isinstance(result, str):
            self._session.failed.emit("The runs can't be started", result)
        else:
            self._started.update(result)
        self._runs_changed()

    # Plan and words

    def _make_plan(self) -> None:
        wishes = self.form.wishes()
        self._plan = None
        summary: Estimate | None = None
        problem = self._missing(wishes)
        if not problem:
            try:
                self._plan = make_plan(
                    wishes.images,
                    wishes.protocol,
                    wishes.provider,
                    wishes.model,
                    wishes.steps,
                    wishes.repeats,
                    wishes.seed,
                    existing=self._session.runs,
                )
                kinds = capabilities(wishes.provider, wishes.model).media_types
                summary = estimate(self._plan, self.form.known, kinds)
            except BananaError as error:
                problem = str(error)
        self.headline.setText(summary.headline() if summary else "")
        self.prompts.setText("\n".join(summary.prompt_lines()) if summary else "")
        self.headline.setVisible(summary is not None)
        self.prompts.setVisible(summary is not None)
        self.prompts_heading.setVisible(summary is not None)
        self.hint.setText(problem)
        self.hint.setVisible(bool(problem))
        self._show_buttons()

    def _missing(self, wishes: Wishes) -> str:
        project = self._session.project
        if project is None:
            return "Open a project or make a new one, then plan runs here."
        if project.read_only:
            return "This project is open for reading only."
        if not self.form.known:
            return "Add the pictures that the runs start from."
        return "" if wishes.images else "Tick an initial image."

    def _say_overall(self, progress: GenerationProgress | None) -> None:
        if progress is None and self._session.executor is not None:
            progress = self._session.executor.progress()
        if progress is None or not progress.steps_planned:
            self.overall.setText("Runs appear here once they are started.")
            self.bar.hide()
        else:
            parts = [f"{progress.steps_done:,} of {progress.steps_planned:,} steps"]
            if progress.paused:
                parts.append("paused")
            elif progress.running and progress.seconds_left is not None:
                parts.append(f"{duration(progress.seconds_left)} left")
            if progress.cost_usd:
                parts.append(f"${progress.cost_usd:,.2f} spent")
            if progress.failed:
                parts.append("1 run stopped" if progress.failed == 1 else f"{progress.failed:,} runs stopped")
            self.overall.setText(" · ".join(parts))
            self.bar.show()
        self._show_buttons()

    def _show_buttons(self) -> None:
        running, paused = self._running, self._paused
        self.start_button.setEnabled(self._plan is not None and not self._starting)
        self.pause_button.setVisible(running and not paused)
        self.resume_button.setVisible(running and paused)
        self.cancel_button.setVisible(running)
        unfinished = any(run.state in {RunState.PLANNED, RunState.STOPPED} for run in self._session.runs)
        self.go_on_button.setVisible(unfinished and not running and self._session.executor is not None)
        for key, enabled in {
            "generate.pause": running and not paused,
            "generate.resume": running and paused,
            "generate.cancel": running,
        }.items():
            self._registry.set_enabled(key, enabled=enabled)

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
        self.form.images.setFocus()


def _tool(icon: str, tip: str) -> QToolButton:
    button = QToolButton()
    button.setIcon(theme.icon(icon))
    button.setToolTip(tip)
    button.setAccessibleName(tip.partition(":")[0].partition(";")[0])
    button.setAutoRaise(True)
    return button


def _start(project: Project, executor: Executor, plan: Plan) -> list[int] | str:
    """Give the new runs, or the reason why there are none."""
    try:
        run_ids = add_plan(project, plan)
        executor.start(run_ids)
    except BananaError as error:
        return str(error)
    return run_ids


def _add_images(project: Project, files: list[Path]) -> tuple[list[str], list[str]]:
    """Keep pictures in the project; gives the names they got, and what went wrong."""
    from banana100_core.imaging.decode import inspect

    names, problems = [], []
    taken = {each.name: each.image.sha256 for each in initial_images(project)}
    for file in files:
        try:
            data = _read(file)
            image = inspect(data, name=file.name)
            name = _free_name(file.stem, image.sha256, taken)
            add_initial_image(project, name, NewImage(image, data=data))
        except BananaError as error:
            problems.append(str(error))
            continue
        taken[name] = image.sha256
        names.append(name)
    return names, problems


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ImageError(f"{file} can't be read: {error.strerror}. Choose another file.") from None


def _free_name(stem: str, sha256: str, taken: dict[str, str]) -> str:
    name, number = stem, 1
    while taken.get(name, sha256) != sha256:
        number += 1
        name = f"{stem} ({number})"
    return name
