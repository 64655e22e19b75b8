"""What is open and what is looked at; the one place where the threads of the core meet the window."""

from __future__ import annotations

import getpass
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.background import Background, NewsDesk, side_by_side
from app.blinding import Blinding
from app.stepping import StepWishes, beside, drawn
from banana100_core.errors import BananaError
from banana100_core.project.records import RunState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from banana100_core.generation.executor import Executor
    from banana100_core.project import Project
    from banana100_core.project.records import Run, Step
    from banana100_core.scoring.pool import ScoringPool


@dataclass(frozen=True, slots=True)
class ChosenTag:
    """The tag that is looked at, stored already or about to be."""

    uuid: str
    failure_mode: str
    annotator: str
    onset: int
    end_step: int | None


class Session(QObject):
    """One window's project, its scoring pool and executor, and the run and step on screen.

    All attributes belong to the UI thread. `runs` are all runs of the project, `steps` those of `run`, in
    order; `step` is the number of the current one (right pane), `reference_step` that of the left pane.
    Edits to tags and their regions are all written on `edit_thread`, in the order in which they were made.
    """

    project_opened = Signal()
    project_closed = Signal()
    run_changed = Signal()
    step_changed = Signal(int)
    reference_changed = Signal(int)
    selection_changed = Signal()
    runs_updated = Signal()
    steps_updated = Signal()
    scores_updated = Signal()
    tags_updated = Signal()
    reviews_updated = Signal()
    modes_updated = Signal()
    annotator_changed = Signal()
    blinding_changed = Signal()
    suggestions_updated = Signal()
    tag_chosen = Signal()
    calls_updated = Signal()
    verdicts_updated = Signal()
    scoring_progressed = Signal(object)
    generation_progressed = Signal(object)
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None, *, annotator: str = "") -> None:
        super().__init__(parent)
        self.project: Project | None = None
        self.pool: ScoringPool | None = None
        self.executor: Executor | None = None
        self._annotator = annotator or getpass.getuser()
        self.blinding = Blinding()
        self.runs: list[Run] = []
        self.run: Run | None = None
        self.steps: list[Step] = []
        self.step = 0
        self.reference_step = 0
        self.chosen_tag: ChosenTag | None = None
        self.edit_thread: ThreadPoolExecutor | None = None
        self._wishes = StepWishes()
        self._selected_runs: list[int] = []
        self._unsubscribe: list[Callable[[], None]] = []
        self._background = Background("session", self)
        self._background.failed.connect(self._tell_failure)
        self._reading = False
        self._stale: frozenset[str] = frozenset()
        self._told_of = {
            frozenset({"score"}): self.scores_updated,
            frozenset({"tag", "edit"}): self.tags_updated,
            frozenset({"review"}): self.reviews_updated,
            frozenset({"failure_mode"}): self.modes_updated,
            frozenset({"suggestion"}): self.suggestions_updated,
            frozenset({"call"}): self.calls_updated,
            frozenset({"verdict"}): self.verdicts_updated,
        }
        self._news = NewsDesk(self)
        self._news.delivered.connect(self._take_news)

    # Opening and closing

    def open_project(self, path: Path, *, read_only: bool = False) -> bool:
        """Open a project file in place of the one open; tells `failed` and returns False if it can't be."""
        from banana100_core.project import Project

        try:
            project = Project.open(path, read_only=read_only)
        except BananaError as error:
            self.failed.emit(f"{path.name} can't be opened", str(error))
            return False
        self.adopt_project(project)
        return True

    def adopt_project(self, project: Project) -> None:
        """Show a project that is open already, and own it from now on."""
        from banana100_core.project.runs import runs

        self.close_project()
        self.project = project
        self._unsubscribe.append(project.subscribe(self._news.tell_change))
        if not project.read_only:
            from banana100_core.generation.executor import Executor
            from banana100_core.scoring.pool import ScoringPool

            self.pool = ScoringPool(project)
            self.executor = Executor(project)
            for kind, worker in (("scoring", self.pool), ("generation", self.executor)):
                self._unsubscribe.append(worker.subscribe(self._teller(kind)))
        self.runs = runs(project)
        self.edit_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tags")
        self._remember_blinding()
        self.project_opened.emit()
        if self.runs:
            self.choose_run(self.runs[0].id)

    def close_project(self) -> None:
        """End scoring and generation, wait for their threads, close the file."""
        project, pool, executor = self.project, self.pool, self.executor
        if project is None:
            return
        for unsubscribe in self._unsubscribe:
            unsubscribe()
        self._unsubscribe.clear()
        self._news.clear()
        self.project = self.pool = self.executor = self.run = None
        self.runs, self.steps, self._selected_runs = [], [], []
        self.step = self.reference_step = 0
        self.chosen_tag = None
        self._wishes = StepWishes()
        self._reading = False
        self._stale = frozenset()
        self.project_closed.emit()
        if self.edit_thread is not None:
            self.edit_thread.shutdown()
            self.edit_thread = None
        side_by_side([each.close for each in (pool, executor) if each is not None])
        self._background.stop()
        project.close()

    # Who looks, and what they don't see

    @property
    def annotator(self) -> str:
        """Whose tags are made here."""
        return self._annotator

    @annotator.setter
    def annotator(self, name: str) -> None:
        if name != self._annotator:
            self._annotator = name
            self._remember_blinding()
            self.annotator_changed.emit()

    def set_blinding(self, blinding: Blinding) -> None:
        """Hide these things from this annotator, here and whenever they work on this project."""
        from banana100_core.project.annotators import remember

        if blinding == self.blinding:
            return
        self.blinding = blinding
        if self.project is not None and self.edit_thread is not None and not self.project.read_only:
            self.edit_thread.submit(remember, self.project, self._annotator, {"hidden": blinding.as_text()})
        self.blinding_changed.emit()

    def _remember_blinding(self) -> None:
        """Read before anything is shown, so that nothing shows for a moment."""
        from banana100_core.project.annotators import annotator_settings

        if self.project is not None:
            kept = annotator_settings(self.project, self._annotator)
            blinding = Blinding.from_text(kept.get("hidden", ""))
            if blinding != self.blinding:
                self.blinding = blinding
                self.blinding_changed.emit()

    # What is looked at

    def choose_run(self, run_id: int) -> None:
        """Look at a run, at the same step as before if it has it; at a drawn one while numbers are hidden."""
        from banana100_core.project.runs import steps

        chosen = next((run for run in self.runs if run.id == run_id), None)
        if self.project is None or chosen is None or (self.run is not None and self.run.id == run_id):
            return
        before = self.step, self.reference_step
        self.run = chosen
        self.steps = steps(self.project, run_id)
        if self.blinding.steps and self.steps:
            place = drawn(self.steps, f"{self._annotator}\n{chosen.uuid}")
            self._wishes.ask(self.steps, place, growing=False)
        self.step, self.reference_step = self._wishes.settle(self.steps)
        self._prefer()
        self.choose_tag(None)
        step, reference = self.step, self.reference_step
        self.run_changed.emit()
        # Who follows the run has shown its step; the same number again would have them do it once more.
        if step != before[0]:
            self.step_changed.emit(self.step)
        if reference != before[1]:
            self.reference_changed.emit(self.reference_step)

    def choose_step(self, number: int) -> None:
        """Look at the step nearest to a number; the last one of a growing run is followed as it grows."""
        if not self.steps:
            return
        growing = self.run is not None and self.run.state is RunState.PLANNED
        chosen = self._wishes.ask(self.steps, number, growing=growing)
        if chosen != self.step:
            self.step = chosen
            self._prefer()
            self.step_changed.emit(chosen)

    def choose_reference(self, number: int) -> None:
        """Put the step nearest to a number into the left pane."""
        if not self.steps:
            return
        chosen = self._wishes.ask_reference(self.steps, number)
        if chosen != self.reference_step:
            self.reference_step = chosen
            self.reference_changed.emit(chosen)

    def next_step(self) -> None:
        """Look at the step after the current one."""
        self.choose_step(beside(self.steps, self.step, 1))

    def previous_step(self) -> None:
        """Look at the step before the current one."""
        self.choose_step(beside(self.steps, self.step, -1))

    def first_step(self) -> None:
        """Look at the first step."""
        self.choose_step(0)

    def last_step(self) -> None:
        """Look at the last step."""
        if self.steps:
            self.choose_step(self.steps[-1].number)

    def next_reference(self) -> None:
        """Move the left pane one step on."""
        self.choose_reference(beside(self.steps, self.reference_step, 1))

    def previous_reference(self) -> None:
        """Move the left pane one step back."""
        self.choose_reference(beside(self.steps, self.reference_step, -1))

    def step_numbered(self, number: int) -> Step | None:
        """The step of the current run that has a number."""
        return next((step for step in self.steps if step.number == number), None)

    def choose_tag(self, tag: ChosenTag | None) -> None:
        """Look at a tag, or at none."""
        if tag != self.chosen_tag:
            self.chosen_tag = tag
            self.tag_chosen.emit()

    @property
    def selected_runs(self) -> list[int]:
        """Runs chosen in the list, in its order; the current run when there are none."""
        return list(self._selected_runs) or ([self.run.id] if self.run else [])

    @selected_runs.setter
    def selected_runs(self, run_ids: list[int]) -> None:
        if run_ids != self._selected_runs:
            self._selected_runs = list(run_ids)
            self.selection_changed.emit()

    # Work

    def in_background(
        self,
        work: Callable[[], Any],
        then: Callable[[Any], object] | None = None,
        otherwise: Callable[[], object] | None = None,
        *,
        once: bool = False,
    ) -> None:
        """Do `work` off the UI thread and hand its result to `then` on it; not if the project closes first.

        A BananaError is told by `failed`; any other exception is raised on the UI thread. `otherwise` is
        called before that, and with `once` the same failure is told once while the project is open.
        """
        if self.project is not None:
            self._background.do(work, then, otherwise, once=once)

    def start_pool(self) -> None:
        """Start the scoring pool; from then on it scores new steps as they arrive."""
        if self.pool is not None:
            self.pool.start()

    def score_missing(self, run_ids: list[int] | None = None) -> None:
        """Ask for every score that is missing, in these runs or in all."""
        if self.pool is not None:
            self.pool.start()
            self.pool.request_missing(run_ids)

    def pause_scoring(self) -> None:
        """Wait after the pictures in work."""
        if self.pool is not None:
            self.pool.pause()

    def resume_scoring(self) -> None:
        """Go on after a pause."""
        if self.pool is not None:
            self.pool.resume()

    def cancel_scoring(self) -> None:
        """Forget what was asked for; scores made are kept."""
        if self.pool is not None:
            self.pool.cancel()

    def retry_failed(self) -> None:
        """Forget failed scores and ask for them again."""
        if self.pool is not None:
            self.pool.start()
            self.pool.retry_failed()

    def _tell_failure(self, message: str) -> None:
        self.failed.emit("That did not work", message)

    # News from the core

    def _teller(self, kind: str) -> Callable[[object], None]:
        return lambda progress: self._news.tell_progress(kind, progress)

    def _take_news(self, tables: frozenset[str], progress: dict[str, Any]) -> None:
        # As far as they are now: what several threads tell may come in another order than it happened.
        if "scoring" in progress and self.pool is not None:
            self.scoring_progressed.emit(self.pool.progress())
        if "generation" in progress and self.executor is not None:
            generation = self.executor.progress()
            if generation.running:
                self.start_pool()  # what is generated is scored as it arrives
            self.generation_progressed.emit(generation)
        if tables & {"run", "step", "tag"}:
            self._read_again(tables)
        for changed, told in self._told_of.items():
            if changed & tables:
                told.emit()

    def _read_again(self, tables: frozenset[str]) -> None:
        """Read runs and steps anew; one reading at a time, so that an older one can't replace a newer one."""
        self._stale |= tables
        project, run = self.project, self.run
        if self._reading or project is None:
            return
        run_id = run.id if run is not None and "step" in self._stale else None
        self._reading, self._stale = True, frozenset()
        self.in_background(lambda: _read(project, run_id), self._take_runs, self._read_stale, once=True)

    def _read_stale(self) -> None:
        self._reading = False
        if self._stale:
            self._read_again(frozenset())

    def _take_runs(self, read: tuple[list[Run], int | None, list[Step]]) -> None:
        self._reading = False
        self.runs, run_id, steps = read
        current = self.run
        if current is not None:
            self.run = next((run for run in self.runs if run.id == current.id), current)
        self.runs_updated.emit()
        if current is None and self.runs:
            self.choose_run(self.runs[0].id)
        elif self.run is not None and self.run.id == run_id and steps != self.steps:
            self._take_steps(steps)
        if self._stale:
            self._read_again(frozenset())

    def _take_steps(self, steps: list[Step]) -> None:
        before = self.step, self.reference_step
        self.steps = steps
        self.step, self.reference_step = self._wishes.settle(self.steps)
        self._prefer()
        self.steps_updated.emit()
        if self.step != before[0]:
            self.step_changed.emit(self.step)
        if self.reference_step != before[1]:
            self.reference_changed.emit(self.reference_step)

    def _prefer(self) -> None:
        """Have the picture on screen scored first, then the rest of its run."""
        if self.pool is None:
            return
        shown = self.step_numbered(self.step)
        on_screen = shown.image.sha256 if shown and shown.image else None
        self.pool.prefer(on_screen, [step.image.sha256 for step in self.steps if step.image])


def _read(project: Project, run_id: int | None) -> tuple[list[Run], int | None, list[Step]]:
    from banana100_core.project.runs import runs, steps

    return runs(project), run_id, [] if run_id is None else steps(project, run_id)
