"""What an import understood, before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class StepNotes:
    """What side files say of a step."""

    prompt: str = ""
    reasoning: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    model_version: str | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class FoundStep:
    """A step and the file of its image; number 0 is the initial image."""

    number: int
    file: Path
    byte_size: int
    notes: StepNotes = field(default_factory=StepNotes)


@dataclass(frozen=True, slots=True)
class FoundRun:
    """A run that an import would add; `source` names it for good, so that it is imported once."""

    source: str
    title: str
    initial_image: str
    protocol: str
    provider: str
    model: str
    repeat: int
    steps: tuple[FoundStep, ...]
    seed: int | None = None
    session_mode: str = "fresh"
    branch: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def has_initial(self) -> bool:
        """Whether step 0 was found."""
        return bool(self.steps) and self.steps[0].number == 0

    @property
    def first(self) -> int | None:
        """The number of the first step after the initial image."""
        return next((step.number for step in self.steps if step.number > 0), None)

    @property
    def last(self) -> int | None:
        """The number of the last step."""
        return self.steps[-1].number if self.steps and self.steps[-1].number > 0 else None

    @property
    def missing(self) -> tuple[int, ...]:
        """The step numbers, from 1 to the last, that no file has."""
        there = {step.number for step in self.steps}
        return tuple(number for number in range(1, (self.last or 0) + 1) if number not in there)


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file of prompts, reasoning summaries or settings; `used` records found their step or run."""

    path: Path
    records: int
    used: int
    reason: str = ""  # why some or all were of no use


@dataclass(frozen=True, slots=True)
class Remark:
    """A file or folder, and what is the matter with it."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """What would be imported from a folder or list, and what would not."""

    root: Path
    runs: tuple[FoundRun, ...]
    side_files: tuple[SideFile, ...] = ()
    duplicates: tuple[Remark, ...] = ()  # left aside: another file has the same run and step
    unreadable: tuple[Remark, ...] = ()  # imported as failed steps
    ignored: tuple[Remark, ...] = ()

    @property
    def step_count(self) -> int:
        """The number of all steps, initial images and unreadable files among them."""
        return sum(len(run.steps) for run in self.runs)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did; `failed` names the files that became failed steps."""

    runs_added: int = 0
    runs_completed: int = 0  # there already, and given steps that were missing
    runs_unchanged: int = 0
    steps_added: int = 0
    failed: tuple[Remark, ...] = ()
    stopped: bool = False  # before its end, as asked; importing again goes on
