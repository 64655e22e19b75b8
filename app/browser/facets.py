"""What the list of runs can be narrowed down by beside words: facets, values, and how many runs have each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from app.browser.listed import Listed, editor_label, size_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ANY, NONE = "any", "none"
MISSING, FAILED = "missing", "failed"


class Facet(StrEnum):
    """One way to narrow the list down."""

    PROTOCOL = "protocol"
    MODEL = "model"
    SIZE = "size"
    TAG = "tag"
    SCORES = "scores"
    STEPS = "steps"


Chosen = dict[Facet, tuple[str, ...]]
"""Values chosen by facet: a run has to have one of each facet's."""


TITLES = {
    Facet.PROTOCOL: "Protocol",
    Facet.MODEL: "Model",
    Facet.SIZE: "Resolution",
    Facet.TAG: "Tags",
    Facet.SCORES: "Scores",
    Facet.STEPS: "Steps",
}
_FIXED = {
    Facet.TAG: {ANY: "Any tag", NONE: "No tag"},
    Facet.SCORES: {MISSING: "Missing scores"},
    Facet.STEPS: {FAILED: "Failed steps"},
}


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value to choose; `count` is how many runs it would leave, under what else is chosen."""

    facet: Facet
    value: str
    label: str
    count: int
    chosen: bool


def values(facet: Facet, entry: Listed) -> tuple[str, ...]:
    """The values that a run has of a facet."""
    run, facts = entry.run, entry.facts
    match facet:
        case Facet.PROTOCOL:
            return (run.protocol,)
        case Facet.MODEL:
            return (f"{run.provider}/{run.model}",)
        case Facet.SIZE:
            return tuple(map(size_text, facts.sizes))
        case Facet.TAG:
            return (ANY, *facts.failure_modes) if run.tag_count else (NONE,)
        case Facet.SCORES:
            return (MISSING,) if entry.missing else ()
        case Facet.STEPS:
            return (FAILED,) if run.steps_failed else ()


def label(facet: Facet, value: str, names: Mapping[str, str]) -> str:
    """What a value is called; `names` are those of failure modes."""
    fixed = _FIXED.get(facet, {}).get(value)
    if fixed is not None:
        return fixed
    if facet is Facet.MODEL:
        provider, _, model = value.partition("/")
        return editor_label(provider, model)[0]
    return names.get(value, value) if facet is Facet.TAG else value


def fits(entry: Listed, words: Sequence[str], chosen: Chosen, *, but: Facet | None = None) -> bool:
    """Whether a run holds all words, lower case in any order, and a chosen value of each facet but one."""
    return all(word in entry.text for word in words) and all(
        facet == but or not wanted or any(value in wanted for value in values(facet, entry))
        for facet, wanted in chosen.items()
    )


def offered(
    entries: Sequence[Listed], words: Sequence[str], chosen: Chosen, names: Mapping[str, str]
) -> dict[Facet, list[FacetValue]]:
    """All values that any run has, by facet; the most frequent first, fixed ones in their order."""
    found: dict[Facet, list[FacetValue]] = {}
    for facet in Facet:
        wanted = chosen.get(facet, ())
        there = {value for entry in entries for value in values(facet, entry)} | set(wanted)
        counts = Counter(
            value
            for entry in entries
            if fits(entry, words, chosen, but=facet)
            for value in values(facet, entry)
        )
        fixed = list(_FIXED.get(facet, ()))
        order = sorted(
            there,
            key=lambda value: (
                fixed.index(value) if value in fixed else len(fixed),
                -counts[value],
                label(facet, value, names),
            ),
        )
        found[facet] = [
            FacetValue(facet, value, label(facet, value, names), counts[value], value in wanted)
            for value in order
        ]
    return found


def toggled(chosen: Chosen, facet: Facet, value: str) -> Chosen:
    """The same choice with a value more or less."""
    before = chosen.get(facet, ())
    after = tuple(each for each in before if each != value) if value in before else (*before, value)
    return {key: kept for key, kept in {**chosen, facet: after}.items() if kept}


def known(chosen: Mapping[str, Sequence[str]]) -> Chosen:
    """The choice without facets that this program doesn't know."""
    return {facet: tuple(map(str, chosen[facet])) for facet in Facet if chosen.get(facet)}
