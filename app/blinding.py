"""What an annotator doesn't see while they tag, so that it can't lead them; every panel asks here."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from banana100_core.project.records import Run

NO_MODEL = "model hidden"
NO_STEP = "Step hidden"
NO_SUCH_STEP = "it names a step that isn't here, or has no picture here"


@dataclass(frozen=True, slots=True)
class Blinding:
    """Each is on while it is hidden: tags of others, scores, names of models, numbers of steps."""

    tags: bool = False
    scores: bool = False
    models: bool = False
    steps: bool = False

    @property
    def any(self) -> bool:
        """Whether something is hidden."""
        return any(getattr(self, field.name) for field in fields(self))

    @property
    def suggestions(self) -> bool:
        """Whether suggestions are hidden: they lead as tags of others do, and name steps in their reasons."""
        return self.tags or self.steps

    def of_run(self, run: Run) -> Run:
        """A run as it may be told of: perhaps without the names of its model and provider, or its length."""
        if self.models:
            run = replace(run, provider=NO_MODEL, model=NO_MODEL)
        if self.steps:  # from a known end steps can be counted
            run = replace(run, steps_planned=0, steps_done=0, steps_failed=0, state_reason="")
        return run

    def as_text(self) -> str:
        """As a project remembers it."""
        return " ".join(field.name for field in fields(self) if getattr(self, field.name))

    @classmethod
    def from_text(cls, text: str) -> Blinding:
        """From what a project remembers."""
        words = text.split()
        return cls(*(field.name in words for field in fields(cls)))
