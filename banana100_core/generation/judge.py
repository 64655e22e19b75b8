"""A language model that says whether reasoning summaries admit degradation: yes or no."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.catalog.judge import judge_prices
from banana100_core.generation.editor import NoAnswerError, Trouble
from banana100_core.generation.gate import Gate
from banana100_core.generation.limits import Limits
from banana100_core.generation.providers.gemini import Service
from banana100_core.project.records import Outcome
from banana100_core.project.runs import steps
from banana100_core.project.verdicts import Verdict, add_verdict, keep_judge_prompt, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.genai import types

    from banana100_core.catalog.judge import JudgePrompt
    from banana100_core.progress import Progress
    from banana100_core.project import Project

AT_ONCE = 4
TIMEOUT_MS = 120_000
_SCHEMA = {
    "type": "OBJECT",
    "properties": {"answer": {"type": "STRING", "enum": ["yes", "no"]}},
    "required": ["answer"],
}


@dataclass(frozen=True, slots=True)
class Summary:
    """A reasoning summary to be judged."""

    run_id: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """What a judge is to be asked, before anything is paid; `known` summaries it has judged already."""

    model: str
    prompt: JudgePrompt
    summaries: tuple[Summary, ...]
    known: int

    @property
    def calls(self) -> int:
        """Number of calls, without retries."""
        return len(self.summaries)

    @property
    def cost_usd(self) -> tuple[float, float]:
        """Lowest and highest cost, without retries."""
        prices = [judge_prices().of_call(len(self.prompt.text) + len(each.text)) for each in self.summaries]
        return sum(low for low, _ in prices), sum(high for _, high in prices)


@dataclass(frozen=True, slots=True)
class Judged:
    """How many summaries were judged, at what cost, and why others were not."""

    count: int
    cost_usd: float
    failed: tuple[str, ...]


class Judge:
    """Asks one model with one prompt; to be closed. When `gate` ends it asks no more."""

    def __init__(
        self, model: str, prompt: JudgePrompt, limits: Limits | None = None, gate: Gate | None = None
    ) -> None:
        self.model, self.prompt = model, prompt
        self.gate = gate or Gate()
        self.limits = limits or Limits()
        self._service = Service(model, TIMEOUT_MS)

    def admits(self, reasoning: str) -> tuple[bool, str | None] | None:
        """Whether the text admits degradation, and the model's version; None when the gate ended first.

        NoAnswerError after several tries, BudgetSpentError when one more might overspend the budget.
        """
        most_usd = judge_prices().of_call(len(self.prompt.text) + len(reasoning))[1]
        attempt = 0
        while self.limits.take_turn(self.gate, most_usd):
            attempt += 1
            cost_usd: float | None = None
            try:
                response = self._asked(reasoning)
                cost_usd = _cost(response)
                return _admits(response, self.model), response.model_version
            except NoAnswerError as error:
                if not error.maybe_paid and cost_usd is None:
                    cost_usd = 0.0
                if attempt >= error.trouble.tries:
                    raise
                delay = error.retry_after or self.limits.delay(attempt)
            finally:
                self.limits.answered(most_usd, cost_usd)
            if not self.gate.wait(delay):
                break
        return None

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

    def _asked(self, reasoning: str) -> types.GenerateContentResponse:
        from google.genai import types

        config = types.GenerateContentConfig(
            temperature=0, response_mime_type="application/json", response_schema=_SCHEMA
        )
        text = types.Part.from_text(text=f"{self.prompt.text}\n{reasoning}")
        return self._service.ask([types.Content(role="user", parts=[text])], config)


def plan_judgement(project: Project, model: str, prompt: JudgePrompt, run_ids: Sequence[int]) -> JudgePlan:
    """Find the reasoning summaries of runs that a judge has not judged yet."""
    judged = {(each.run_id, each.step) for each in verdicts(project, model, prompt.version)}
    there = [
        Summary(run_id, step.number, step.reasoning)
        for run_id in dict.fromkeys(run_ids)
        for step in steps(project, run_id)
        if step.outcome is Outcome.DONE and step.reasoning.strip()
    ]
    todo = tuple(each for each in there if (each.run_id, each.step) not in judged)
    return JudgePlan(model, prompt, todo, len(there) - len(todo))


def judge_runs(
    project: Project, judge: Judge, run_ids: Sequence[int], progress: Progress | None = None
) -> Judged:
    """Judge each reasoning summary of runs that this judge hasn't judged, a few at once.

    Each verdict is on disk as soon as it is there, so that an interrupted judge goes on. A summary that the
    judge gives no answer to is passed over; what would go wrong with all of them is raised.
    """
    plan = plan_judgement(project, judge.model, judge.prompt, run_ids)
    if plan.summaries:
        keep_judge_prompt(project, judge.prompt.version, judge.prompt.text)
    court = _Court(project, judge, plan, progress)
    threads = [threading.Thread(target=court.sit, name="judge", daemon=True) for _ in range(AT_ONCE)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:
        judge.gate.end(cancelled=True)
        raise
    if court.error is not None:
        raise court.error
    return Judged(court.done, judge.limits.spent_usd, tuple(court.failed))


class _Court:
    """Hears summaries on several threads."""

    def __init__(self, project: Project, judge: Judge, plan: JudgePlan, progress: Progress | None) -> None:
        self._project, self._judge, self._plan, self._progress = project, judge, plan, progress
        self._state = threading.Lock()
        self._waiting = deque(plan.summaries)
        self.done = 0
        self.failed: list[str] = []
        self.error: Exception | None = None  # that would come with every summary

    def sit(self) -> None:
        """Hear summaries until none waits, or one meets what all would meet."""
        try:
            while not self._judge.gate.ended and (summary := self._next()) is not None:
                self._hear(summary)
        except Exception as error:  # noqa: BLE001 - raised again where it was asked for
            self._judge.gate.end(cancelled=True)
            with self._state:
                self.error = self.error or error

    def _next(self) -> Summary | None:
        with self._state:
            return self._waiting.popleft() if self._waiting else None

    def _hear(self, summary: Summary) -> None:
        judge = self._judge
        where = f"run {summary.run_id}, step {summary.step}"
        try:
            found = judge.admits(summary.text)
        except NoAnswerError as error:
            if error.trouble is not Trouble.NO_IMAGE:
                raise
            with self._state:
                self.failed.append(f"{where}: {error}")
            return
        if found is None:
            return
        admits, version = found
        verdict = Verdict(summary.run_id, summary.step, judge.model, judge.prompt.version, admits, version)
        add_verdict(self._project, verdict)
        with self._state:
            self.done += 1
            if self._progress is not None:
                self._progress(self.done, self._plan.calls, f"{where}: {'yes' if admits else 'no'}")


def _admits(response: types.GenerateContentResponse, model: str) -> bool:
    try:
        answer = json.loads(response.text or "")["answer"]
    except (ValueError, LookupError, TypeError):
        answer = None
    if answer not in {"yes", "no"}:
        raise NoAnswerError(f"{model} answered neither yes nor no.", Trouble.NO_IMAGE)
    return bool(answer == "yes")


def _cost(response: types.GenerateContentResponse) -> float | None:
    usage = response.usage_metadata
    if usage is None:
        return None
    written = (usage.thoughts_token_count or 0) + (usage.candidates_token_count or 0)
    return judge_prices().of_tokens(usage.prompt_token_count or 0, written)
