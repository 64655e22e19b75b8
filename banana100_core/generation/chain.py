"""One run worked off: each step is on disk before the next is asked for."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.settings import SessionMode
from banana100_core.errors import BananaError, ImageError, WorkerDiedError
from banana100_core.generation.editor import NoAnswerError, Trouble, Turn
from banana100_core.generation.limits import BudgetSpentError
from banana100_core.generation.plan import PlannedRun, PlannedStep, add_initial_step
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage, image_bytes, initial_images
from banana100_core.project.reasoning import EVALUATES_FROM
from banana100_core.project.records import Call, Image, NewStep, Outcome, Run, RunState
from banana100_core.project.runs import add_call, add_step, set_run_state, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from banana100_core.generation.editor import EditResult, EditSettings
    from banana100_core.generation.first_images import FirstImages
    from banana100_core.generation.gate import Gate
    from banana100_core.generation.limits import Limits
    from banana100_core.generation.seat import EditorSeat
    from banana100_core.project import Project


@dataclass(frozen=True, slots=True)
class StepReport:
    """A step that is on disk, and what it took."""

    number: int
    pixels: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Answer:
    result: EditResult
    image: Image
    call: Call


class _NoImageError(Exception):
    """A step has no image in the end; the reason is the message."""

    def __init__(self, reason: str, call: Call | None = None, result: EditResult | None = None) -> None:
        super().__init__(reason)
        self.call = call
        self.result = result


class _StoppedError(Exception):
    """The run can't go on; the reason is the message."""


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
        limits: Limits,
        report: Callable[[StepReport], None],
        paid: Callable[[float], None],
        firsts: FirstImages,
    ) -> None:
        """`report` is told of each step that is on disk, `paid` of what each call cost, in USD."""
        self._project, self._run, self._seat, self._gate = project, run, seat, gate
        self._limits, self._report, self._paid, self._firsts = limits, report, paid, firsts

    def work_off(self) -> str:
        """Ask for the steps that the run lacks; gives why it stopped, "" when it is done or the gate ended.

        Errors of the project are raised: what was finished is on disk.
        """
        try:
            self._make_steps(PlannedRun.of(self._run))
        except _EndedError:
            return ""
        except (ImageError, BudgetSpentError, _StoppedError) as error:
            set_run_state(self._project, self._run.id, RunState.STOPPED, str(error))
            return str(error)
        set_run_state(self._project, self._run.id, RunState.DONE)
        return ""

    def _make_steps(self, plan: PlannedRun) -> None:
        number, image = self._begin(plan)
        data: bytes | None = None
        single = plan.settings.session is SessionMode.SINGLE
        history = _history(self._project, self._run) if single else ()
        while number < plan.steps:
            if not self._gate.passed():
                raise _EndedError
            number += 1
            step = plan.step(number)
            try:
                if data is None:
                    data = self._stored(image)
                answer = self._ask(step, data, history)
            except _NoImageError as error:
                raise self._failed(step, image, error) from error
            self._keep(step, image, answer)
            if single:
                sent = None if history else data
                history += (Turn(step.prompt, answer.result.data, answer.result.signature, sent),)
            image, data = answer.image, answer.result.data

    def _begin(self, plan: PlannedRun) -> tuple[int, Image]:
        """The run's last step that has an image; its initial image is made first where that is to be."""
        for stored in reversed(steps(self._project, self._run.id)):
            if stored.image is not None:
                return stored.number, stored.image
        if not plan.initial_prompt:
            return 0, self._initial_image()
        if not self._gate.passed():
            raise _EndedError
        name = self._run.initial_image
        with self._firsts.turn(name, self._gate) as mine:
            if not mine:
                raise _EndedError
            if any(initial.name == name for initial in initial_images(self._project)):
                return 0, self._initial_image()
            if reason := self._firsts.failed(name):
                raise ImageError(f"Its initial image could not be made. {reason}")
            step = plan.initial_step()
            try:
                answer = self._ask(step, b"", ())
            except _NoImageError as error:
                self._firsts.fail(name, str(error))
                raise self._failed(step, None, error) from error
            self._keep(step, None, answer)
            return 0, answer.image

    def _initial_image(self) -> Image:
        """The project's initial image of the run, which is made its step 0."""
        name = self._run.initial_image
        for initial in initial_images(self._project):
            if initial.name == name:
                add_initial_step(self._project, self._run.id, initial)
                return initial.image
        raise ImageError(
            f"The project has no initial image named {name!r}. Add it, then start the run again."
        )

    def _stored(self, image: Image) -> bytes:
        try:
            return image_bytes(self._project, image.sha256)
        except ImageError as error:
            raise _NoImageError(str(error)) from error

    def _ask(self, step: PlannedStep, data: bytes, history: tuple[Turn, ...]) -> _Answer:
        settings = replace(step.settings, history=history)
        tries: Counter[Trouble] = Counter()
        while True:
            attempt = tries.total() + 1
            most_usd = self._seat.capabilities.usd(step.settings.resolution)[1]
            if not self._limits.take_turn(self._gate, most_usd):
                raise _EndedError
            started = time.perf_counter()
            try:
                result, image = self._edited(step.prompt, data, settings, most_usd)
            except NoAnswerError as error:
                problem = error
            else:
                call = self._call(step, attempt, "done", "", time.perf_counter() - started, result)
                return _Answer(result, image, call)
            tries[problem.trouble] += 1
            seconds = time.perf_counter() - started
            call = self._call(step, attempt, "failed", str(problem), seconds, problem.result)
            if tries[problem.trouble] >= problem.trouble.tries:
                raise _NoImageError(_final_words(problem, attempt), call, problem.result)
            add_call(self._project, call)
            self._wait(problem, attempt)

    def _edited(
        self, prompt: str, data: bytes, settings: EditSettings, most_usd: float
    ) -> tuple[EditResult, Image]:
        """Make one call; whatever goes wrong with it is a NoAnswerError."""
        cost_usd: float | None = 0.0
        try:
            result = self._seat.edit(data, prompt, settings)
            cost_usd = result.cost_usd
            return result, self._recognised(result)
        except WorkerDiedError as error:
            if self._gate.ended:
                raise _EndedError from error
            raise NoAnswerError(str(error), Trouble.NO_IMAGE) from error
        except NoAnswerError as error:
            if error.maybe_paid:
                cost_usd = None
            elif error.result is not None:
                cost_usd = error.result.cost_usd
            raise
        except BananaError as error:
            raise NoAnswerError(str(error), Trouble.FINAL) from error
        except Exception as error:
            # An editor may be a stranger's: it stops its run, no more.
            words = f"The editor {self._seat.provider} failed: {error!r}. Tell its makers."
            raise NoAnswerError(words, Trouble.FINAL) from error
        finally:
            self._limits.answered(most_usd, cost_usd)
            self._paid(cost_usd or 0.0)

    def _wait(self, problem: NoAnswerError, attempt: int) -> None:
        if problem.retry_after is not None:
            self._limits.hold_off(problem.retry_after)
        in_worker = self._seat.capabilities.in_worker  # there is no one whom haste would trouble
        if not in_worker and not self._gate.wait(self._limits.delay(attempt)):
            raise _EndedError

    def _recognised(self, result: EditResult) -> Image:
        try:
            return inspect(result.data, name=f"the answer of {self._seat.provider}")
        except ImageError as error:
            raise NoAnswerError(str(error), Trouble.NO_IMAGE, result=result) from error

    def _keep(self, step: PlannedStep, sent: Image | None, answer: _Answer) -> None:
        """Keep a step with its image; one that was made with no image sent is the run's initial image."""
        result, call = answer.result, answer.call
        new = NewStep(
            run_id=self._run.id,
            number=step.number,
            outcome=Outcome.INITIAL if sent is None else Outcome.DONE,
            prompt=step.prompt,
            reasoning=result.reasoning,
            settings=_sent(step)
            | dict(result.details)
            | {"notes": list(result.notes)}
            | ({"signature": result.signature} if result.signature else {})
            | ({} if result.evaluates_from is None else {EVALUATES_FROM: result.evaluates_from}),
            sent_sha256=None if sent is None else sent.sha256,
            declared_media_type=result.declared_media_type,
            model_version=result.model_version,
            finish_reason=result.finish_reason,
            input_tokens=result.input_tokens,
            output_tokens=result.output_tokens,
            cost_usd=result.cost_usd,
            seconds=call.seconds,
        )
        name = self._run.initial_image if sent is None else None
        add_step(self._project, new, NewImage(answer.image, data=result.data), call, initial_name=name)
        pixels = answer.image.width * answer.image.height
        self._report(StepReport(step.number, pixels, call.seconds or 0.0))

    def _failed(self, step: PlannedStep, sent: Image | None, error: _NoImageError) -> _StoppedError:
        """Keep a step that has no image, and say why its run stops."""
        result = error.result
        new = NewStep(
            run_id=self._run.id,
            number=step.number,
            outcome=Outcome.FAILED,
            reason=str(error),
            prompt=step.prompt,
            settings=_sent(step),
            sent_sha256=None if sent is None else sent.sha256,
            reasoning="" if result is None else result.reasoning,
            model_version=None if result is None else result.model_version,
            finish_reason=None if result is None else result.finish_reason,
            seconds=None if error.call is None else error.call.seconds,
        )
        add_step(self._project, new, None, error.call)
        return _StoppedError(f"Step {step.number}: {error}")

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


def _final_words(problem: NoAnswerError, attempts: int) -> str:
    if problem.trouble is Trouble.FINAL and attempts == 1:
        return str(problem)
    return f"It failed {attempts} times. {problem} Start the run again to go on."


def _sent(step: PlannedStep) -> dict[str, Any]:
    """The settings that a step was asked with: its seed always, the others where they were set."""
    sent = {name: getattr(step.settings, name) for name in ("temperature", "resolution", "aspect_ratio")}
    return {"seed": step.seed} | {name: value for name, value in sent.items() if value is not None}


def _history(project: Project, run: Run) -> tuple[Turn, ...]:
    """The run's session so far, as it is in the project."""
    turns: list[Turn] = []
    before: Image | None = None
    for step in steps(project, run.id):
        if step.outcome is Outcome.DONE and step.image is not None:
            first = image_bytes(project, before.sha256) if before and not turns else None
            answer = image_bytes(project, step.image.sha256)
            turns.append(Turn(step.prompt, answer, step.settings.get("signature", ""), first))
        before = step.image or before
    return tuple(turns)
