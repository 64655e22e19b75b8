"""Works planned runs off, side by side, and can be paused, resumed and cancelled."""

from __future__ import annotations

import contextlib
import itertools
import logging
import sqlite3
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from banana100_core.errors import BananaError, ProjectClosedError, ProviderError
from banana100_core.generation.chain import Chain, StepReport
from banana100_core.generation.first_images import FirstImages
from banana100_core.generation.forecast import AT_SERVICES, here_side_by_side
from banana100_core.generation.gate import Gate
from banana100_core.generation.limits import Limits
from banana100_core.generation.pace import Pace
from banana100_core.generation.providers import capabilities
from banana100_core.generation.seat import EditorSeat, HeldSeat
from banana100_core.listeners import Listeners
from banana100_core.project.images import initial_images
from banana100_core.project.records import Run, RunState
from banana100_core.project.runs import run as stored_run
from banana100_core.project.runs import runs, set_run_state

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from banana100_core.project import Project

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GenerationProgress:
    """How far the runs are that were started together; `seconds_left` is None before the first step."""

    run_id: int | None = None  # of the latest step
    step: int | None = None
    steps_done: int = 0
    steps_planned: int = 0
    failed: int = 0  # runs that stopped
    cost_usd: float = 0.0  # since they were started
    seconds_left: float | None = None
    paused: bool = False
    message: str = ""
    running: bool = False


@dataclass(slots=True, eq=False)
class _Lane:
    """Runs that share what holds them up: this machine's cores, or calls to services."""

    side_by_side: int
    queue: deque[_Job] = field(default_factory=deque)
    busy: int = 0  # threads that have not found the queue empty


@dataclass(slots=True, eq=False)
class _Job:
    """A run to be worked off."""

    run: Run
    gate: Gate
    pixels: int
    done: int
    ended: bool = False
    seat: EditorSeat | None = None
    lane: _Lane = field(default_factory=lambda: _Lane(1))

    @property
    def steps_left(self) -> int:
        return 0 if self.ended else max(0, self.run.steps_planned - self.done)


class Executor:
    """Makes the steps of planned runs, several at a time.

    `limits` are those of calls to services; they may be changed while it is at work.

    What is finished is on disk; an unfinished run goes on with its next step when it is started again.
    """

    def __init__(
        self,
        project: Project,
        *,
        side_by_side: int | None = None,
        at_services: int = AT_SERVICES,
        limits: Limits | None = None,
    ) -> None:
        """`side_by_side` runs work on this machine, and `at_services` call services.

        The first is `here_side_by_side()` if not given.
        """
        self._project = project
        self.limits = limits or Limits()
        self._here = _Lane(side_by_side or here_side_by_side())
        self._services = _Lane(at_services)
        self._alone = _Lane(1)
        self._lanes = self._here, self._services, self._alone
        self._state = threading.Condition()
        self._gate = Gate()
        self._jobs: list[_Job] = []  # of the progress that is shown
        self._threads: list[threading.Thread] = []
        self._firsts = FirstImages()
        self._pace = Pace()
        self._latest: tuple[int | None, int | None, str] = (None, None, "")
        self._cost_usd = 0.0
        self._failed = 0
        self._closed = False
        self._listeners: Listeners[GenerationProgress] = Listeners("generation")

    def start(self, run_ids: Sequence[int] | None = None) -> None:
        """Queue runs: all planned ones, or those named that are not done, even if stopped or cancelled.

        Raises ProjectError for a run that isn't there, ProjectClosedError after `close`.
        """
        if run_ids is None:
            wanted = [run for run in runs(self._project) if run.state is RunState.PLANNED]
        else:
            named = [stored_run(self._project, run_id) for run_id in dict.fromkeys(run_ids)]
            wanted = [run for run in named if run.state is not RunState.DONE]
        images = {initial.name: initial.image for initial in initial_images(self._project)}
        lanes = {run.id: self._lane_of(run) for run in wanted}
        with self._state:
            if self._closed:
                raise ProjectClosedError("Generation was closed with its project. Open the project again.")
            if not self._working:
                self._jobs, self._cost_usd, self._failed, self._latest = [], 0.0, 0, (None, None, "")
                self._gate.resume()
            self._firsts.try_again(run.initial_image for run in wanted)
            busy = {job.run.id for job in self._jobs if not job.ended and not job.gate.ended}
            for run in wanted:
                if run.id in busy:
                    continue
                image = images.get(run.initial_image)
                pixels = image.width * image.height if image else 1
                job = _Job(run, self._gate, pixels, run.steps_done, lane=lanes[run.id])
                self._jobs.append(job)
                job.lane.queue.append(job)
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            for lane in self._lanes:
                for _ in range(min(lane.side_by_side - lane.busy, len(lane.queue))):
                    thread = threading.Thread(target=self._work, args=(lane,), name="generation", daemon=True)
                    self._threads.append(thread)
                    lane.busy += 1
                    thread.start()
        self._tell()

    def pause(self) -> None:
        """Begin no further step until `resume`."""
        with self._state:
            self._gate.pause()
        self._tell()

    def resume(self) -> None:
        """Go on after `pause`."""
        with self._state:
            self._gate.resume()
        self._tell()

    def cancel(self) -> None:
        """Give up the unfinished runs at once; their finished steps stay, and `start` by id takes them up."""
        self._end(cancelled=True)
        self._tell()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do; False when `timeout` seconds went by first."""
        with self._state:
            return self._state.wait_for(lambda: not self._working, timeout)

    def close(self, timeout: float = 30.0) -> None:
        """End at once; unfinished runs stay planned. To be called before the project is closed."""
        with self._state:
            self._closed = True
            threads = [thread for thread in self._threads if thread is not threading.current_thread()]
        self._end(cancelled=False)
        for thread in threads:
            thread.join(timeout)
        self._listeners.clear()

    def progress(self) -> GenerationProgress:
        """How far the runs are."""
        with self._state:
            seconds = self._seconds_left()
            return GenerationProgress(
                run_id=self._latest[0],
                step=self._latest[1],
                steps_done=sum(job.done for job in self._jobs),
                steps_planned=sum(job.run.steps_planned for job in self._jobs),
                failed=self._failed,
                cost_usd=self._cost_usd,
                seconds_left=seconds,
                paused=self._gate.paused,
                message=self._latest[2],
                running=self._working,
            )

    def subscribe(self, listener: Callable[[GenerationProgress], None]) -> Callable[[], None]:
        """Tell `listener` of every step and change, on the thread that made it; returns how to end it."""
        return self._listeners.subscribe(listener)

    def _end(self, *, cancelled: bool) -> None:
        with self._state:
            self._gate.end(cancelled=cancelled)
            self._gate = Gate()
            seats = [job.seat for job in self._jobs if job.seat is not None and job.gate.ended]
        for seat in seats:
            seat.stop()

    @property
    def _working(self) -> bool:
        return any(lane.busy for lane in self._lanes)

    def _lane_of(self, run: Run) -> _Lane:
        try:
            editor = capabilities(run.provider, run.model)
        except ProviderError:  # told when its turn comes
            return self._here
        if not editor.in_worker:
            return self._services
        return self._alone if editor.alone else self._here

    def _seconds_left(self) -> float | None:
        """Of the lane that takes longest."""
        longest: float | None = None
        for lane in self._lanes:
            live = [job for job in self._jobs if job.lane is lane and not job.ended]
            seconds = self._pace.seconds_for((job.run.provider, job.steps_left, job.pixels) for job in live)
            if seconds is None:
                return None
            longest = max(longest or 0.0, seconds / max(1, min(lane.side_by_side, len(live))))
        return longest

    def _work(self, lane: _Lane) -> None:
        held = HeldSeat()
        while True:
            job = self._next_job(lane, leave=held.empty)
            if job is not None:
                self._work_off(job, held)
                self._tell()
            elif held.empty:
                break
            else:
                held.close()
        self._tell()

    def _next_job(self, lane: _Lane, *, leave: bool) -> _Job | None:
        """The next job of a lane; where there is none, the thread that asks may be counted out of it."""
        with self._state:
            while lane.queue:
                job = next((each for each in lane.queue if self._is_free(each)), None)
                if job is not None:
                    lane.queue.remove(job)
                    return job
                self._state.wait()
            if leave:
                lane.busy -= 1
                self._state.notify_all()
            return None

    def _is_free(self, job: _Job) -> bool:
        """Whether nothing is at its run any more; what was cancelled a moment ago may still be ending."""
        earlier = itertools.takewhile(lambda each: each is not job, self._jobs)
        return all(each.ended or each.run.id != job.run.id for each in earlier)

    def _work_off(self, job: _Job, held: HeldSeat) -> None:
        reason = ""
        try:
            if not job.gate.ended:
                reason = self._make_steps(job, held)
            if job.gate.cancelled and stored_run(self._project, job.run.id).state is RunState.PLANNED:
                set_run_state(self._project, job.run.id, RunState.CANCELLED)
        except ProjectClosedError:
            pass
        except (BananaError, sqlite3.Error, OSError) as error:
            reason = self._halt(job, str(error))
        except Exception as error:
            log.exception("Run %s failed", job.run.id)
            reason = self._halt(job, f"The program has a fault: {error!r}. Please report it.")
        with self._state:
            job.ended = True
            self._state.notify_all()
            if reason:
                self._failed += 1
                self._latest = (job.run.id, self._latest[1], f"{_title(job.run)} stopped. {reason}")

    def _make_steps(self, job: _Job, held: HeldSeat) -> str:
        run = stored_run(self._project, job.run.id)
        if run.state is not RunState.PLANNED or run.state_reason:
            set_run_state(self._project, run.id, RunState.PLANNED)
        try:
            seat = held.take(run.provider, run.model)
        except ProviderError as error:
            set_run_state(self._project, run.id, RunState.STOPPED, str(error))
            return str(error)
        with self._state:
            job.seat = seat
        try:
            chain = Chain(
                self._project,
                run,
                seat,
                job.gate,
                self.limits,
                lambda report: self._made(job, report),
                self._paid,
                self._firsts,
            )
            return chain.work_off()
        finally:
            with self._state:
                job.seat = None
            held.put_back()

    def _made(self, job: _Job, report: StepReport) -> None:
        with self._state:
            job.done = report.number
            if report.number == 0:
                job.pixels = report.pixels  # not known before
            self._pace.saw(job.run.provider, report.pixels, report.seconds)
            what = f"{_title(job.run)}: step {report.number} of {job.run.steps_planned}"
            self._latest = (job.run.id, report.number, what)
        self._tell()

    def _paid(self, cost_usd: float) -> None:
        with self._state:
            self._cost_usd += cost_usd

    def _halt(self, job: _Job, reason: str) -> str:
        """Begin no other run either, since it would fail in the same way; all stay planned."""
        with self._state:
            for lane in self._lanes:
                for waiting in lane.queue:
                    waiting.ended = True
                lane.queue.clear()
        # Where the project can't be written, this can't be either.
        with contextlib.suppress(BananaError, sqlite3.Error):
            set_run_state(self._project, job.run.id, RunState.PLANNED, reason)
        return reason

    def _tell(self) -> None:
        self._listeners.tell(self.progress())


def _title(run: Run) -> str:
    return f"{run.initial_image}, repeat {run.repeat}"
