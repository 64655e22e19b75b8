"""Failure modes that arithmetic can see: what a run's pictures measure, and what follows from it.

A suggestion says from which step on, by which figure, and why. It is no tag: annotators decide.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from banana100_core.analysis.measures import Measured, Turn, best_turn, measure
from banana100_core.errors import ImageError
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.project.images import image_bytes
from banana100_core.project.records import NewSuggestion
from banana100_core.project.runs import run as find_run
from banana100_core.project.runs import runs, steps
from banana100_core.project.suggestions import replace_suggestions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from banana100_core.progress import Progress
    from banana100_core.project import Project

METHOD = "arithmetic-2"
ASPECT_TOLERANCE = 0.01  # the paper's crop from 5632x3072 to 2816x1504 changes width to height by 2.1 %
CHROMA_LEFT = 3.0  # in CIELAB; the greys of a JPEG stay below 2
GREEN_DRIFT = -3.0  # of the mean a*; about what an eye sees side by side
NOISE_GROWTH = 1.3  # times that of step 1
NOISE_LEAST = 0.7  # in grey levels more than at step 1
NOISE_OVER_INITIAL = 1.15  # times that of the initial image
TURN_MARGIN = 0.05  # of correlation; symmetric pictures look the same whichever way they are turned

_MONOCHROME = re.compile(
    r"monochrom|black[ -]and[ -]white|gr[ea]y[- ]?scale|decolou?r|desaturat", re.IGNORECASE
)
# To colour a monochrome picture is the opposite; "decolour" begins no word with "colour".
_COLOUR = re.compile(r"\b(?:re-?)?colou?ri[sz]|\bback (?:in)?to colou?r|\badd colou?r", re.IGNORECASE)
_MIRROR = re.compile(r"mirror|flip\b.*\bhorizontal|horizontal\w*\b.*\bflip", re.IGNORECASE)
_ROTATE = re.compile(r"(rotat|turn).*\b90\b", re.IGNORECASE)
_COUNTER = re.compile(r"counter-?\s?clockwise|anti-?\s?clockwise", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Looked:
    """A step with a picture, and what that measures; number 0 is the initial image."""

    number: int
    prompt: str
    measured: Measured


@dataclass(frozen=True, slots=True)
class Finding:
    """A failure mode that the pictures of a run suggest: from which step on, by which figure, and why."""

    failure_mode: str
    onset: int
    figure: float
    reason: str


@dataclass(frozen=True, slots=True)
class Search:
    """What a search for failure modes came to; `unreadable` says which runs were passed over, and why."""

    runs: int
    new: int
    unreadable: tuple[str, ...]
    stopped: bool


_Pair = tuple[Looked, Measured, Measured]  # a step, its picture, and the picture that was sent


def suggest(
    project: Project,
    run_ids: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> Search:
    """Look for failure modes in runs and keep what is found.

    Open suggestions of these runs are replaced, decided ones stay. `stop` is asked between pictures; what was
    found in runs looked at whole is kept. A run with a picture that can't be read is left as it was.
    """
    chosen = (
        [run.id for run in runs(project)] if run_ids is None else [find_run(project, i).id for i in run_ids]
    )
    new, unreadable = 0, []
    for done, run_id in enumerate(chosen):
        if progress is not None:
            progress(done, len(chosen), f"run {run_id}")
        try:
            found = find_suggestions(project, run_id, stop)
        except ImageError as error:
            unreadable.append(f"run {run_id}: {error}")
            continue
        if stop is not None and stop():
            return Search(done, new, tuple(unreadable), stopped=True)
        new += replace_suggestions(project, [run_id], found)
    if progress is not None:
        progress(len(chosen), len(chosen), "")
    return Search(len(chosen), new, tuple(unreadable), stopped=False)


def find_suggestions(
    project: Project, run_id: int, stop: Callable[[], bool] | None = None
) -> list[NewSuggestion]:
    """What a run's pictures suggest; nothing is kept. Each picture is decoded once.

    `stop` is asked between pictures; nothing is suggested then. Raises ImageError when one can't be read.
    """
    looked = []
    for step in steps(project, run_id):
        if stop is not None and stop():
            return []
        if step.image is not None:
            data = image_bytes(project, step.image.sha256)
            picture = decode(data, Purpose.DISPLAY, name=f"step {step.number} of run {run_id}")
            looked.append(Looked(step.number, step.prompt, measure(picture.pixels)))
    return [
        NewSuggestion(run_id, found.failure_mode, found.onset, round(found.figure, 4), found.reason, METHOD)
        for found in findings(looked)
    ]


def findings(looked: Iterable[Looked]) -> list[Finding]:
    """What measured pictures of a run suggest, given in order, the initial image first."""
    pictures = list(looked)
    # A step that failed gave no picture: what was sent next is the last one there was.
    pairs = [(there, there.measured, sent.measured) for sent, there in pairwise(pictures)]
    edits = [(there, there.measured) for there in pictures if there.number >= 1]
    found = (_aspect(pairs), _monochrome(edits), *_turns(pairs), _green(edits), _noise(pictures))
    return [Finding(*each) for each in found if each is not None]


_Found = tuple[str, int, float, str]


def asks_to_turn(prompt: str) -> bool:
    """Tell whether a prompt asks to mirror or turn the picture."""
    return bool(_MIRROR.search(prompt) or _ROTATE.search(prompt))


def _aspect(pairs: list[_Pair]) -> _Found | None:
    for step, there, sent in pairs:
        ratio, was = there.width / there.height, sent.width / sent.height
        expected = 1 / was if _ROTATE.search(step.prompt) else was
        change = ratio / expected - 1
        # A picture that was not turned when it should be is another failure.
        if abs(change) > ASPECT_TOLERANCE and abs(ratio / was - 1) > ASPECT_TOLERANCE:
            reason = (
                f"Step {step.number} is {there.width}x{there.height}, the picture sent was "
                f"{sent.width}x{sent.height}: width to height changed by {change:+.1%}."
            )
            return "aspect_ratio", step.number, change, reason
    return None


def _monochrome(edits: list[tuple[Looked, Measured]]) -> _Found | None:
    for step, there in edits:
        if _asks_for_grey(step.prompt) and there.chroma > CHROMA_LEFT:
            reason = (
                f"Step {step.number} was to be monochrome, but one pixel in 20 has a chroma above "
                f"{there.chroma:.1f} (greys stay below {CHROMA_LEFT:g})."
            )
            return "monochrome_failure", step.number, there.chroma, reason
    return None


def _asks_for_grey(prompt: str) -> bool:
    return bool(_MONOCHROME.search(prompt)) and not _COLOUR.search(prompt)


def _turns(pairs: list[_Pair]) -> Iterator[_Found | None]:
    yield next((found for pair in pairs if (found := _turn("mirroring_failure", _mirror_of, pair))), None)
    yield next((found for pair in pairs if (found := _turn("rotation_failure", _rotation_of, pair))), None)


def _mirror_of(prompt: str) -> Turn | None:
    return Turn.MIRRORED if _MIRROR.search(prompt) else None


def _rotation_of(prompt: str) -> Turn | None:
    if not _ROTATE.search(prompt):
        return None
    return Turn.COUNTERCLOCKWISE if _COUNTER.search(prompt) else Turn.CLOCKWISE


def _turn(mode: str, asked: Callable[[str], Turn | None], pair: _Pair) -> _Found | None:
    step, there, sent = pair
    wanted = asked(step.prompt)
    if wanted is None:
        return None
    best, likeness = best_turn(sent.small, there.small)
    lead = likeness[best] - likeness[wanted]
    if lead <= TURN_MARGIN:
        return None
    reason = (
        f"Step {step.number} was to be the picture sent {wanted}, but is more like it {best}: correlation "
        f"{likeness[best]:.2f} against {likeness[wanted]:.2f}."
    )
    return mode, step.number, lead, reason


def _green(edits: list[tuple[Looked, Measured]]) -> _Found | None:
    asked_for_colour = [(step, there) for step, there in edits if not _asks_for_grey(step.prompt)]
    # Grey is no tint, also where an earlier step was to be monochrome.
    drifts = [
        (step, there.a_star - asked_for_colour[0][1].a_star)
        for step, there in asked_for_colour
        if there.chroma > CHROMA_LEFT
    ]
    onset = _lasting([drift <= GREEN_DRIFT for _, drift in drifts])
    if onset is None:
        return None
    step, drift = drifts[onset]
    reason = (
        f"From step {step.number} on the mean a* stays {-GREEN_DRIFT:g} or more below that of step "
        f"{asked_for_colour[0][0].number}: {drift:+.1f} there, {drifts[-1][1]:+.1f} at the end."
    )
    return "green_tint", step.number, drift, reason


def _noise(pictures: list[Looked]) -> _Found | None:
    edits = [there for there in pictures if there.number >= 1]
    if not edits:
        return None
    first = edits[0].measured.noise
    # What a harder compression took from step 1 may come back without being new.
    initial = max((there.measured.noise for there in pictures if there.number == 0), default=0.0)
    least = max(first * NOISE_GROWTH, first + NOISE_LEAST, initial * NOISE_OVER_INITIAL)
    onset = _lasting([there.measured.noise >= least for there in edits])
    if onset is None:
        return None
    there = edits[onset]
    reason = (
        f"From step {there.number} on the noise stays {NOISE_GROWTH:g} or more times that of step "
        f"{edits[0].number}, and above the initial image's: {first:.1f} grey levels there, "
        f"{there.measured.noise:.1f} at step {there.number}, {edits[-1].measured.noise:.1f} at the end."
    )
    return "persistent_noise", there.number, there.measured.noise, reason


def _lasting(holds: list[bool]) -> int | None:
    """The place from which on all hold; None when the last doesn't."""
    place = len(holds)
    while place and holds[place - 1]:
        place -= 1
    return place if place < len(holds) else None
