"""How far annotators agree: on failure modes, on the steps where they hold, on onsets and on regions.

An annotator counts as one of a run when they have tagged anything in it or finished it; a failure mode that
they didn't tag there counts as absent. Tags count whatever their review state: agreement is about what was
seen.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median
from typing import TYPE_CHECKING

from banana100_core.analysis.confusion import (
    NOTHING,
    Confusion,
    PairConfusion,
    confusion_of,
    pair_confusions,
)
from banana100_core.analysis.overlap import Overlap, overlap_of, pictures_of
from banana100_core.analysis.reliability import Kappa, kappas_of, krippendorff_alpha
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import ReviewState
from banana100_core.project.regions import regions
from banana100_core.project.reviews import reviews
from banana100_core.project.runs import runs
from banana100_core.project.tags import tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from banana100_core.project import Project
    from banana100_core.project.records import Region, Run, Tag

__all__ = ["NOTHING", "Agreement", "Figures", "OnsetDifference", "RunDisagreement", "agreement"]

WITHIN = (0, 1, 2)  # steps


@dataclass(frozen=True, slots=True)
class OnsetDifference:
    """How far apart, in steps, two annotators put the onset of what both saw; `count` pairs of onsets."""

    count: int
    mean: float
    median: float
    within: dict[int, float]  # share of pairs at most that many steps apart
    values: tuple[int, ...] = ()

    def share_within(self, steps: int) -> float:
        """The share of pairs that are at most that many steps apart."""
        return fmean(value <= steps for value in self.values)


@dataclass(frozen=True, slots=True)
class Figures:
    """Agreement on a failure mode, or on all of a level with their units pooled.

    Alpha is Krippendorff's, nominal: of presence each run is a unit, of extent each step. None where it is
    not defined: fewer than two annotators, or nothing but one value.
    """

    key: str
    name: str
    level: str
    runs: int  # with two annotators or more, where somebody saw it
    alpha_presence: float | None
    alpha_extent: float | None
    kappas: tuple[Kappa, ...]  # Cohen's, of presence, for each pair of annotators
    onset: OnsetDifference | None
    overlap: Overlap | None

    @property
    def mean_kappa(self) -> float | None:
        """The mean of those kappas that are defined."""
        kappas = [pair.kappa for pair in self.kappas if pair.kappa is not None]
        return fmean(kappas) if kappas else None


@dataclass(frozen=True, slots=True)
class RunDisagreement:
    """How much annotators of a run disagree: 0 is not at all, 1 is no mode in common at any step.

    `first_step` is the first one at which they do, None when they agree on all.
    """

    run_id: int
    initial_image: str
    model: str
    protocol: str
    repeat: int
    annotators: tuple[str, ...]
    disagreement: float
    first_step: int | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of a project's annotators; `by_run` begins with the most disputed run."""

    annotators: tuple[str, ...]
    shared_runs: int
    modes: tuple[Figures, ...]
    levels: tuple[Figures, ...]
    confusion: tuple[Confusion, ...]
    pairs: tuple[PairConfusion, ...]
    by_run: tuple[RunDisagreement, ...]


@dataclass(frozen=True, slots=True)
class _Shared:
    """A run that two annotators or more have tagged or finished."""

    run: Run
    steps: int
    tags: dict[str, dict[str, list[Tag]]]  # by annotator and failure mode

    def held(self, annotator: str, mode: str) -> set[int]:
        """The steps at which an annotator sees a failure mode."""
        return {
            step
            for tag in self.tags[annotator].get(mode, ())
            for step in range(tag.onset, (self.steps if tag.end_step is None else tag.end_step) + 1)
        }

    @property
    def modes(self) -> set[str]:
        """What anybody saw."""
        return {mode for by_mode in self.tags.values() for mode in by_mode}


def agreement(project: Project, run_ids: Sequence[int] | None = None) -> Agreement:
    """The agreement in all runs, or in some."""
    shared = _shared_runs(project, run_ids)
    by_tag: dict[str, list[Region]] = defaultdict(list)
    for region in regions(project):
        by_tag[region.tag_uuid].append(region)
    pictures = {there.run.id: pictures_of(project, there.run.id) for there in shared}
    overlaps = {
        (there.run.id, mode): [
            overlap
            for one, other in combinations(there.tags, 2)
            if mode in there.tags[one]
            and mode in there.tags[other]
            and (
                overlap := overlap_of(
                    there.tags[one][mode], there.tags[other][mode], by_tag, pictures[there.run.id]
                )
            )
            is not None
        ]
        for there in shared
        for mode in there.modes
    }
    seen = {mode for there in shared for mode in there.modes}
    known = [mode for mode in failure_modes(project) if mode.key in seen]
    levels: dict[str, list[str]] = defaultdict(list)
    for mode in known:
        levels[mode.level.value].append(mode.key)
    return Agreement(
        tuple(sorted({annotator for there in shared for annotator in there.tags})),
        len(shared),
        tuple(
            _figures(mode.key, mode.name, mode.level.value, [mode.key], shared, overlaps) for mode in known
        ),
        tuple(_figures(level, level, level, keys, shared, overlaps) for level, keys in levels.items()),
        confusion_of([there.tags for there in shared]),
        pair_confusions([there.tags for there in shared]),
        tuple(sorted(map(_disagreement, shared), key=lambda run: (-run.disagreement, run.run_id))),
    )


def disagreements(project: Project) -> list[RunDisagreement]:
    """The runs whose annotators don't say the same, the most disputed first."""
    found = [run for run in map(_disagreement, _shared_runs(project, None)) if run.disagreement > 0]
    return sorted(found, key=lambda run: (-run.disagreement, run.run_id))


def _shared_runs(project: Project, run_ids: Sequence[int] | None) -> list[_Shared]:
    found: dict[int, dict[str, dict[str, list[Tag]]]] = defaultdict(dict)
    for tag in tags(project):
        found[tag.run_id].setdefault(tag.annotator, {}).setdefault(tag.failure_mode, []).append(tag)
    for review in reviews(project):
        if review.state is not ReviewState.DRAFT:
            found[review.run_id].setdefault(review.annotator, {})
    return [
        _Shared(
            run,
            max(run.steps_planned, run.steps_done + run.steps_failed),
            dict(sorted(found[run.id].items())),
        )
        for run in runs(project)
        if len(found.get(run.id, ())) > 1 and (run_ids is None or run.id in run_ids)
    ]


def _figures(
    key: str,
    name: str,
    level: str,
    modes: list[str],
    shared: list[_Shared],
    overlaps: dict[tuple[int, str], list[Overlap]],
) -> Figures:
    units = [(there, mode) for there in shared for mode in modes]
    presence = [{who: int(mode in there.tags[who]) for who in there.tags} for there, mode in units]
    differences = [
        abs(_onset(there.tags[one][mode]) - _onset(there.tags[other][mode]))
        for there, mode in units
        for one, other in combinations(there.tags, 2)
        if mode in there.tags[one] and mode in there.tags[other]
    ]
    return Figures(
        key,
        name,
        level,
        len({there.run.id for there, mode in units if mode in there.modes}),
        krippendorff_alpha(presence),
        krippendorff_alpha(list(_extents(units))),
        kappas_of(presence),
        _onset_difference(differences),
        Overlap.of_all(
            overlap for there, mode in units for overlap in overlaps.get((there.run.id, mode), ())
        ),
    )


def _extents(units: Iterable[tuple[_Shared, str]]) -> Iterable[dict[str, int]]:
    for there, mode in units:
        held = {who: there.held(who, mode) for who in there.tags}
        for step in range(1, there.steps + 1):
            yield {who: int(step in steps) for who, steps in held.items()}


def _onset(found: list[Tag]) -> int:
    return min(tag.onset for tag in found)


def _onset_difference(differences: list[int]) -> OnsetDifference | None:
    if not differences:
        return None
    within = {steps: fmean(difference <= steps for difference in differences) for steps in WITHIN}
    return OnsetDifference(
        len(differences), fmean(differences), median(differences), within, tuple(sorted(differences))
    )


def _disagreement(there: _Shared) -> RunDisagreement:
    claims = [
        {(mode, step) for mode in by_mode for step in there.held(who, mode)}
        for who, by_mode in there.tags.items()
    ]
    apart = [len(one ^ other) / max(len(one | other), 1) for one, other in combinations(claims, 2)]
    disputed = {step for one, other in combinations(claims, 2) for _mode, step in one ^ other}
    run = there.run
    return RunDisagreement(
        run_id=run.id,
        initial_image=run.initial_image,
        model=run.model,
        protocol=run.protocol,
        repeat=run.repeat,
        annotators=tuple(there.tags),
        disagreement=fmean(apart),
        first_step=min(disputed, default=None),
    )
