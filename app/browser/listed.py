"""A run as the list shows it: the run, what is known of it beside its counts, and its names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from banana100_core.catalog.models import editor_models
from banana100_core.project.records import ReviewState, Run, RunState
from banana100_core.project.run_facts import RunFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

Size = tuple[int, int]

_NO_FACTS = RunFacts()


@dataclass(frozen=True, slots=True)
class Listed:
    """`missing` is how many scores its pictures lack; `text` is what the filter looks at, in lower case."""

    run: Run
    facts: RunFacts
    missing: int
    modes: tuple[str, ...]  # names of the failure modes of its tags
    editor: str
    editor_note: str
    text: str

    @property
    def tag_state(self) -> TagState:
        """How far its tags have come."""
        reviews = self.facts.reviews
        if not self.run.tag_count:
            return "untagged"
        if ReviewState.DRAFT in reviews or not reviews:
            return "draft"
        return "done" if ReviewState.DONE in reviews else "reviewed"

    @property
    def review_state(self) -> str:
        """Where work on it stands: what is least finished, of all annotators who said a word."""
        states = {state.value for _annotator, state in self.facts.said}
        return next((state for state in REVIEW_STATES if state in states), "none")

    @property
    def outcome(self) -> str:
        """What became of the run, in words."""
        run = self.run
        state = f"{run.state}: {run.state_reason}" if run.state_reason else str(run.state)
        return f"{state}, {run.steps_failed} failed" if run.steps_failed else state


TagState = str

TAG_STATES: dict[TagState, str] = {
    "untagged": "Not tagged",
    "draft": "Tags in draft",
    "done": "Tags done",
    "reviewed": "Tags reviewed",
}


REVIEW_STATES: dict[str, str] = {
    "none": "Not yet done",
    ReviewState.REJECTED.value: "Rejected",
    ReviewState.DRAFT.value: "Draft again",
    ReviewState.DONE.value: "Done, to review",
    ReviewState.ACCEPTED.value: "Accepted",
}


def listed(
    run: Run, facts: RunFacts | None = None, missing: int = 0, names: Mapping[str, str] | None = None
) -> Listed:
    """Make the entry of a run; `names` are those of failure modes by key."""
    facts = facts or _NO_FACTS
    modes = tuple((names or {}).get(key, key) for key in facts.failure_modes)
    editor, note = editor_label(run.provider, run.model)
    text = " ".join(
        (
            run.initial_image,
            run.protocol,
            run.provider,
            editor,
            note,
            run_title(run),
            run.state,
            *modes,
            *facts.annotators,
        )
    )
    return Listed(run, facts, missing, modes, editor, note, text.casefold())


def run_title(run: Run) -> str:
    """What a run is called among its like."""
    return f"r{run.repeat} {run.branch}".rstrip()


@lru_cache(maxsize=1024)
def editor_label(provider: str, model: str) -> tuple[str, str]:
    """The model that made a run, and what kind of thing it is: "Restoration loop" and "embedded"."""
    for known in editor_models():
        if (known.provider, known.key) == (provider, model):
            return known.title.partition(" (")[0], "embedded" if known.embedded else ""
    return model, provider if provider != model else ""


def steps_text(run: Run) -> str:
    """How many steps it has, and of how many if some are to come; nothing where there are none, or hidden."""
    if run.steps_planned > run.steps_done and run.state is not RunState.DONE:
        return f"{run.steps_done}/{run.steps_planned}"
    return str(run.steps_done or "")


def count_text(shown: int, total: int, selected: int) -> str:
    """How many runs the list shows of all; or how many of those are selected, once it is more than one."""
    if selected > 1:
        return f"{selected} of {shown} selected"
    return f"{shown} of {total} runs" if shown != total else f"{total} run{'' if total == 1 else 's'}"


def size_text(size: Size) -> str:
    """A picture's size."""
    return f"{size[0]}×{size[1]}"
