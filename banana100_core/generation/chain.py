"""One run worked off: each step is on disk before the next is asked for."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from banana100_core.errors import BananaError, ImageError, WorkerDiedError
from banana100_core.generation.plan import PlannedRun, PlannedStep, add_initial_step
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage, image_bytes, initial_images
from banana100_core.project.records import Call, Image, NewStep, Outcome, Run, RunState
from banana100_core.project.runs import add_call, add_step, set_run_state, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from banana100_core.generation.editor import EditResult
    from banana100_core.generation.gate import Gate
    from banana100_core.generation.seat import EditorSeat
    from banana100_core.project import Project

MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class StepReport:
    """A step that is on disk, and what it took."""

    number: int
    pixels: int
    seconds: float
    cost_usd: float


@dataclass(frozen=True, slots=True)
class _Answer:
    result: EditResult
    image: Image
    call: Call


class _NoImageError(Exception):
    """A step has no image in the end; the reason is the message."""

    def __init__(self, reason: str, call: Call | None = None) -> None:
        super().__init__(reason)
        self.call = call


class _EndedError(Exception):
    """The gate ended while a step was under way."""


class Chain:
    """Works one run off from where it stands."""

    def __init__(
        self,
        project: Project,
        run: Run,
        seat: EditorSeat,
        gate: Gate,
        report: Callable[[StepReport], None],
    ) -> None:
        self._project, self._run, self._seat, self._gate, self._report = project, run, seat, gate, report

    def work_off(self) -> str:
        """Ask for the steps that the run lacks; gives why it stopped, "" when it is done or the gate ended.

        Errors of the project are raised: what was finished is on disk.
        """
        plan = PlannedRun.of(self._run)
        try:
            number, image = _last_image(self._project, self._run)
        except ImageError as error:
            set_run_state(self._project, self._run.id, RunState.STOPPED, str(error))
            return str(error)
        data: bytes | None = None
        while number < plan.steps:
            if not self._gate.passed():
                return ""
            number += 1
            step = plan.step(number)
            try:
                if data is None:
                    data = self._stored(image)
                answer = self._ask(step, data)
            except _EndedError:
                return ""
            except _NoImageError as error:
                return self._stop(step, image, error)
            self._keep(step, image, answer)
            image, data = answer.image, answer.result.data
        set_run_state(self._project, self._run.id, RunState.DONE)
        return ""

    def _stored(self, image: Image) -> bytes:
        try:
            return image_bytes(self._project, image.sha256)
        except ImageError as error:
            raise _NoImageError(str(error)) from error

    def _ask(self, step: PlannedStep, data: bytes) -> _Answer:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            started = time.perf_counter()
            final = True
            try:
                result = self._seat.edit(data, step.prompt, step.settings)
                seconds = time.perf_counter() - started
                image = self._recognised(result)
            except WorkerDiedError as error:
                if self._gate.ended:
                    raise _EndedError from error
                final, reason = False, str(error)
            except BananaError as error:
                final, reason = not isinstance(error, _BadAnswerError), str(error)
            except Exception as error:  # noqa: BLE001 - an editor may be a stranger's: it stops its run, no more
                reason = f"The editor {self._seat.provider} failed: {error!r}. Tell its makers."
            else:
                return _Answer(result, image, self._call(step, attempt, "done", "", seconds, result))
            call = self._call(step, attempt, "failed", reason, time.perf_counter() - started)
            if final:
                raise _NoImageError(reason, call)
            if attempt < MAX_ATTEMPTS:
                add_call(self._project, call)
        raise _NoImageError(f"It failed {MAX_ATTEMPTS} times. {reason} Start the run again to go on.", call)

    def _recognised(self, result: EditResult) -> Image:
        try:
            return inspect(result.data, name=f"the answer of {self._seat.provider}")
        except ImageError as error:
            raise _BadAnswerError(str(error)) from error

    def _keep(self, step: PlannedStep, sent: Image, answer: _Answer) -> None:
        result, call = answer.result, answer.call
        new = NewStep(
            run_id=self._run.id,
            number=step.number,
            outcome=Outcome.DONE,
            prompt=step.prompt,
            reasoning=result.reasoning,
            settings=_sent(step) | {"notes": list(result.notes)},
            sent_sha256=sent.sha256,
            declared_media_type=result.declared_media_type,
            model_version=result.model_version,
            finish_reason=result.finish_reason,
            input_tokens=result.input_tokens,
            output_tokens=result.output_tokens,
            cost_usd=result.cost_usd,
            seconds=call.seconds,
        )
        add_step(self._project, new, NewImage(answer.image, data=result.data), call)
        pixels = answer.image.width * answer.image.height
        self._report(StepReport(step.number, pixels, call.seconds or 0.0, result.cost_usd or 0.0))

    def _stop(self, step: PlannedStep, sent: Image, error: _NoImageError) -> str:
        new = NewStep(
            run_id=self._run.id,
            number=step.number,
            outcome=Outcome.FAILED,
            reason=str(error),
            prompt=step.prompt,
            settings=_sent(step),
            sent_sha256=sent.sha256,
            seconds=None if error.call is None else error.call.seconds,
        )
        add_step(self._project, new, None, error.call)
        reason = f"Step {step.number}: {error}"
        set_run_state(self._project, self._run.id, RunState.STOPPED, reason)
        return reason

    def _call(
        self,
        step: PlannedStep,
        attempt: int,
        outcome: str,
        reason: str,
        seconds: float,
        result: EditResult | None = None,
    ) -> Call:
        return Call(
            run_id=self._run.id,
            step=step.number,
            attempt=attempt,
            outcome=outcome,
            reason=reason,
            input_tokens=None if result is None else result.input_tokens,
            output_tokens=None if result is None else result.output_tokens,
            cost_usd=None if result is None else result.cost_usd,
            seconds=seconds,
        )


class _BadAnswerError(BananaError):
    """An editor answered with what is no image."""


def _sent(step: PlannedStep) -> dict[str, Any]:
    """The settings that a step was asked with: its seed always, the others where they were set."""
    sent = asdict(step.settings)
    return {name: value for name, value in sent.items() if name == "seed" or value is not None}


def _last_image(project: Project, run: Run) -> tuple[int, Image]:
    """Give the run's last step that has an image; one that was added without step 0 gets it now."""
    for step in reversed(steps(project, run.id)):
        if step.image is not None:
            return step.number, step.image
    for initial in initial_images(project):
        if initial.name == run.initial_image:
            add_initial_step(project, run.id, initial)
            return 0, initial.image
    raise ImageError(
        f"The project has no initial image named {run.initial_image!r}. Add it, then start the run again."
    )
