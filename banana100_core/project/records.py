"""The values that go in and out of a project file."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class RunState(StrEnum):
    """Where a run stands."""

    PLANNED = "planned"  # steps remain; `resume` goes on with the next one
    DONE = "done"
    STOPPED = "stopped"  # a person must decide; the reason is kept with the run
    CANCELLED = "cancelled"


class Outcome(StrEnum):
    """What became of a step."""

    INITIAL = "initial"  # step 0: the initial image
    DONE = "done"
    FAILED = "failed"  # no usable image; the reason is kept with the step


class Storage(StrEnum):
    """Where the bytes of an image are kept."""

    BLOB = "blob"  # in the project file's blob table
    FOLDER = "folder"  # in the project's images folder, named by SHA-256
    FILE = "file"  # a file of the user's, referenced by path


class ReviewState(StrEnum):
    """How far a tag has come."""

    DRAFT = "draft"
    DONE = "done"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class RegionKind(StrEnum):
    """The shape of a region."""

    BOX = "box"  # two points: a corner and the one across
    POLYGON = "polygon"  # three points or more, in order; the last is joined to the first


@dataclass(frozen=True, slots=True)
class Image:
    """One image's content: pixel size after EXIF orientation, and true (sniffed) media type."""

    sha256: str
    width: int
    height: int
    media_type: str
    byte_size: int
    notes: tuple[str, ...] = ()  # what the decoder has to say: "first of 12 frames", "16 bit scaled to 8"


@dataclass(frozen=True, slots=True)
class NewRun:
    """A run to be added. `source` names where an imported run came from, so that it is imported once."""

    initial_image: str
    provider: str
    model: str
    protocol: str
    repeat: int = 1
    steps_planned: int = 0
    seed: int | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    session_mode: str = "fresh"
    branch: str = ""
    source: str | None = None
    state: RunState = RunState.PLANNED


@dataclass(frozen=True, slots=True)
class Run:
    """A run and the counts that a list of runs shows."""

    id: int
    uuid: str
    initial_image: str
    initial_sha256: str | None
    last_sha256: str | None
    provider: str
    model: str
    protocol: str
    repeat: int
    branch: str
    session_mode: str
    seed: int | None
    settings: dict[str, Any]
    source: str | None
    state: RunState
    state_reason: str
    steps_planned: int
    steps_done: int
    steps_failed: int
    tag_count: int
    created_at: str


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step to be stored; `number` 0 is the initial image."""

    run_id: int
    number: int
    outcome: Outcome
    reason: str = ""
    prompt: str = ""
    reasoning: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    sent_sha256: str | None = None
    declared_media_type: str | None = None
    model_version: str | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A stored step; `image` is None when it failed."""

    id: int
    run_id: int
    number: int
    outcome: Outcome
    reason: str
    image: Image | None
    prompt: str
    reasoning: str
    settings: dict[str, Any]
    sent_sha256: str | None
    declared_media_type: str | None
    model_version: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None
    created_at: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call to an editor, answered or not; a step may take several."""

    run_id: int
    step: int
    attempt: int
    outcome: str
    reason: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class NewScore:
    """A score of an image by a method; `error` says why there is none."""

    image_sha256: str
    metric: str
    method_version: str
    score: float | None
    error: str | None = None
    device: str = "cpu"
    seconds: float | None = None
    replies: tuple[str, ...] = ()  # what a language model said, word for word, one for each sample


@dataclass(frozen=True, slots=True)
class StepScore:
    """A score seen from a step; `normalised` is on [0, 100] over the typical range, never clipped."""

    run_id: int
    step: int
    image_sha256: str
    metric: str
    method_version: str
    score: float | None
    normalised: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class NewTag:
    """An annotator's claim that a failure mode holds in a run from `onset` to `end_step`, or to the end."""

    run_id: int
    failure_mode: str
    onset: int
    end_step: int | None = None
    severity: int = 2
    certainty: float = 1.0
    note: str = ""
    review_state: ReviewState = ReviewState.DRAFT


@dataclass(frozen=True, slots=True)
class Tag:
    """A stored tag."""

    uuid: str
    run_id: int
    failure_mode: str
    annotator: str
    onset: int
    end_step: int | None
    severity: int
    certainty: float
    note: str
    review_state: ReviewState
    created_at: str
    modified_at: str


@dataclass(frozen=True, slots=True)
class NewRegion:
    """Where in the picture of a step a tag's failure shows; it holds until the tag's next outlined step.

    With an `end_step` it holds up to that step, if no outlined one comes before. `points` are (x, y) in
    pixels of that upright picture: pixel (0, 0) reaches from (0, 0) to (1, 1).
    """

    step: int
    kind: RegionKind
    points: tuple[tuple[float, float], ...]
    end_step: int | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """A stored region; of a box, the first point is the upper left one. See `NewRegion`."""

    uuid: str
    tag_uuid: str
    step: int
    kind: RegionKind
    points: tuple[tuple[float, float], ...]
    created_at: str
    modified_at: str
    end_step: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """One entry of the append-only log of edits to tags; `undoes` names the entry that it takes back.

    `before` and `after` are the tag's row. Where an edit touched regions, both hold under "regions" the row
    of each, by UUID; None where there was none.
    """

    id: int
    at: str
    annotator: str
    action: str
    tag_uuid: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    undoes: int | None


class SuggestionState(StrEnum):
    """Whether an annotator has decided on a suggestion."""

    OPEN = "open"
    ACCEPTED = "accepted"  # there is a tag for it since
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class NewSuggestion:
    """What the program takes for a failure mode; `figure` is what it measured, `reason` says it in words."""

    run_id: int
    failure_mode: str
    onset: int
    figure: float
    reason: str
    method: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A stored suggestion; never a tag, nor counted as one, before an annotator accepts it."""

    uuid: str
    run_id: int
    failure_mode: str
    onset: int
    figure: float
    reason: str
    method: str
    state: SuggestionState
    annotator: str | None  # who decided
    tag_uuid: str | None
    created_at: str
    decided_at: str | None


@dataclass(frozen=True, slots=True)
class InitialImage:
    """An initial image by its name, and whom to thank for it."""

    name: str
    image: Image
    credit: str


@dataclass(frozen=True, slots=True)
class RunCost:
    """What a run has cost so far, all calls counted; None where nothing is known."""

    run_id: int
    model: str
    protocol: str
    steps_done: int
    steps_planned: int
    calls: int
    failed_calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    seconds: float | None
