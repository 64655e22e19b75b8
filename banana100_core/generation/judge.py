"""A language model that says whether reasoning summaries admit degradation: yes or no."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from banana100_core.generation.editor import NoAnswerError, Trouble
from banana100_core.generation.gate import Gate
from banana100_core.generation.limits import Limits
from banana100_core.generation.providers.gemini import Service
from banana100_core.project.records import Outcome
from banana100_core.project.runs import steps
from banana100_core.project.verdicts import Verdict, add_verdict, verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.catalog.judge import JudgePrompt
    from banana100_core.progress import Progress
    from banana100_core.project import Project

_SCHEMA = {
    "type": "OBJECT",
    "properties": {"answer": {"type": "STRING", "enum": ["yes", "no"]}},
    "required": ["answer"],
}


class Judge:
    """Asks one model with one prompt; to be closed."""

    def __init__(self, model: str, prompt: JudgePrompt, limits: Limits | None = None) -> None:
        self.model, self.prompt = model, prompt
        self._limits = limits or Limits()
        self._service = Service(model)

    def admits(self, reasoning: str) -> tuple[bool, str | None]:
        """Whether the text admits degradation, and the model's version; NoAnswerError after several tries."""
        gate, attempt = Gate(), 0
        while True:
            attempt += 1
            self._limits.take_turn(gate, 0.0)
            try:
                return self._asked(reasoning)
            except NoAnswerError as error:
                if attempt >= error.trouble.tries:
                    raise
                gate.wait(error.retry_after or self._limits.delay(attempt))

    def close(self) -> None:
        """Close the connections."""
        self._service.close()

    def _asked(self, reasoning: str) -> tuple[bool, str | None]:
        from google.genai import types

        config = types.GenerateContentConfig(
            temperature=0, response_mime_type="application/json", response_schema=_SCHEMA
        )
        text = types.Part.from_text(text=f"{self.prompt.text}\n{reasoning}")
        response = self._service.ask([types.Content(role="user", parts=[text])], config)
        try:
            answer = json.loads(response.text or "")["answer"]
        except (ValueError, LookupError, TypeError):
            answer = None
        if answer not in {"yes", "no"}:
            raise NoAnswerError(f"{self.model} answered neither yes nor no.", Trouble.NO_IMAGE)
        return answer == "yes", response.model_version


def judge_runs(
    project: Project, judge: Judge, run_ids: Sequence[int], progress: Progress | None = None
) -> int:
    """Judge each reasoning summary of runs that this judge hasn't judged; gives how many that were.

    Each verdict is on disk before the next is asked for, so that an interrupted judge goes on.
    """
    known = {(each.run_id, each.step) for each in verdicts(project, judge.model, judge.prompt.version)}
    todo = [
        (run_id, step.number, step.reasoning)
        for run_id in run_ids
        for step in steps(project, run_id)
        if step.outcome is Outcome.DONE and step.reasoning.strip() and (run_id, step.number) not in known
    ]
    for done, (run_id, number, reasoning) in enumerate(todo, 1):
        admits, version = judge.admits(reasoning)
        add_verdict(project, Verdict(run_id, number, judge.model, judge.prompt.version, admits, version))
        if progress is not None:
            progress(done, len(todo), f"run {run_id}, step {number}: {'yes' if admits else 'no'}")
    return len(todo)
