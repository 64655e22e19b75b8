"""What an editor is: it says what it can do, and edits one image at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from banana100_core.catalog.models import Effort, editor_models
from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an editor is and can do; `title` and `note` are shown wherever its pictures are."""

    provider: str
    model: str
    title: str
    note: str
    media_types: tuple[str, ...]  # of the images it gives
    deterministic: bool  # the same image, prompt and settings give the same bytes
    needs_key: bool = False
    in_worker: bool = True  # it computes here, so it works in a process of its own
    usd_per_image: tuple[float, float] = (0.0, 0.0)  # lowest and highest
    usd_by_size: Mapping[str, tuple[float, float]] = field(default_factory=dict)  # by resolution asked for
    keeps_session: bool = False  # it heeds the history of `EditSettings`
    honours: frozenset[str] = frozenset({"seed"})  # those of seed, temperature, resolution and aspect_ratio
    sizes: tuple[str, ...] = ()  # resolutions that it can be asked for
    reads_prompt: bool = True
    from_text: bool = False  # it makes an image from a prompt alone: `edit` is then given no bytes
    alone: bool = False  # one run at a time: it takes most of this machine's memory
    effort: Effort = field(default_factory=Effort)  # for plans of an editor that was not seen at work yet

    def usd(self, resolution: str | None) -> tuple[float, float]:
        """Lowest and highest price of an image of that resolution."""
        return self.usd_by_size.get(resolution or "", self.usd_per_image)


@dataclass(frozen=True, slots=True)
class Turn:
    """What went before in a session: the prompt, with an image in the first turn only, and the answer."""

    prompt: str
    answer: bytes
    signature: str  # by which the editor knows its answer again
    image: bytes | None = None


@dataclass(frozen=True, slots=True)
class EditSettings:
    """Settings of one edit; None leaves one to the editor, which takes no heed of those it lacks."""

    seed: int | None = None
    temperature: float | None = None
    resolution: str | None = None  # "512", "1K", "2K" or "4K"
    aspect_ratio: str | None = None
    history: tuple[Turn, ...] = ()  # of a session that goes on; the image is that of its last turn


@dataclass(frozen=True, slots=True)
class EditResult:
    """An edited image as the editor gave it, and what it said of it; `notes` tells what was done unasked."""

    data: bytes
    declared_media_type: str
    reasoning: str = ""
    model_version: str | None = None
    finish_reason: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    notes: tuple[str, ...] = ()
    signature: str = ""  # to be sent back when the session goes on
    details: Mapping[str, Any] = field(default_factory=dict)  # kept with the step's settings
    evaluates_from: int | None = None  # the first section of `reasoning` that came after an image


class Trouble(StrEnum):
    """Why a call gave no image, and with it what is to be done."""

    BUSY = "busy"  # overloaded, over a limit, or cut off: asked again, ever later
    NO_IMAGE = "no image"  # answered without one, or refused: asked again a few times
    FINAL = "failed"  # asking again would not help: a person must decide

    @property
    def tries(self) -> int:
        """How often a step is asked for before its run stops."""
        return {Trouble.BUSY: 8, Trouble.NO_IMAGE: 3, Trouble.FINAL: 1}[self]


class NoAnswerError(ProviderError):
    """A call gave no image; `result` is what came with its answer, without data, where there was one."""

    def __init__(
        self,
        message: str,
        trouble: Trouble,
        *,
        retry_after: float | None = None,  # seconds, as the service asks
        maybe_paid: bool = False,  # the answer was lost on its way
        result: EditResult | None = None,
    ) -> None:
        super().__init__(message)
        self.trouble = trouble
        self.retry_after = retry_after
        self.maybe_paid = maybe_paid
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:
        """Travel whole from the process of a worker."""
        return _no_answer, (str(self), self.trouble, self.retry_after, self.maybe_paid, self.result)


def _no_answer(
    message: str,
    trouble: Trouble,
    retry_after: float | None,
    maybe_paid: bool,
    result: EditResult | None,
) -> NoAnswerError:
    return NoAnswerError(message, trouble, retry_after=retry_after, maybe_paid=maybe_paid, result=result)


class Editor(Protocol):
    """Edits images; one instance serves one run at a time."""

    @property
    def capabilities(self) -> Capabilities:
        """What it is and can do."""
        ...

    def edit(self, image: bytes, prompt: str, settings: EditSettings) -> EditResult:
        """Give the edited image; ImageError when it can't read this one, ProviderError when it can't edit.

        No bytes: a new image from the prompt alone, of editors only that say that they can (`from_text`).
        NoAnswerError, a ProviderError, says whether to ask again.
        """
        ...


def shipped(provider: str, media_types: tuple[str, ...]) -> list[Capabilities]:
    """The catalog's models of a deterministic provider that ships with the program and works here."""
    return [
        Capabilities(
            model.provider,
            model.key,
            model.title,
            model.note,
            media_types,
            deterministic=True,
            reads_prompt=False,
            effort=model.effort,
        )
        for model in editor_models()
        if model.provider == provider
    ]
