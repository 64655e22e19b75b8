"""Which failure mode one annotator saw where another saw a different one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    Seen = Mapping[str, Collection[str]]  # the failure modes that each annotator of a run saw

NOTHING = ""  # stands for a failure mode that has no counterpart


@dataclass(frozen=True, slots=True)
class Confusion:
    """In how many runs `one` was seen where `other` was: unordered over all, ordered within a pair."""

    one: str
    other: str
    runs: int


@dataclass(frozen=True, slots=True)
class PairConfusion:
    """The confusion of two annotators over the runs of both: `cells` have what `one` saw first."""

    one: str
    other: str
    runs: int
    cells: tuple[Confusion, ...]

    @property
    def modes(self) -> tuple[str, ...]:
        """The failure modes that either saw, sorted."""
        found = {cell.one for cell in self.cells} | {cell.other for cell in self.cells}
        return tuple(sorted(found - {NOTHING}))

    def count(self, one: str, other: str) -> int:
        """In how many runs the first saw `one` where the second saw `other`."""
        return next((cell.runs for cell in self.cells if (cell.one, cell.other) == (one, other)), 0)


def confusion_of(runs: Sequence[Seen]) -> tuple[Confusion, ...]:
    """The confusion of all pairs of annotators together, whoever of a pair saw which."""
    counts: Counter[tuple[str, str]] = Counter()
    for seen in runs:
        for one, other in combinations(seen, 2):
            counts.update((min(pair), max(pair)) for pair in _pairs(seen[one], seen[other]))
    return _cells(counts)


def pair_confusions(runs: Sequence[Seen]) -> tuple[PairConfusion, ...]:
    """The confusion of each pair of annotators that share a run."""
    counts: dict[tuple[str, str], Counter[tuple[str, str]]] = {}
    shared: Counter[tuple[str, str]] = Counter()
    for seen in runs:
        for pair in combinations(sorted(seen), 2):
            shared[pair] += 1
            counts.setdefault(pair, Counter()).update(_pairs(seen[pair[0]], seen[pair[1]]))
    return tuple(PairConfusion(*pair, shared[pair], _cells(counts[pair])) for pair in sorted(counts))


def _pairs(one: Collection[str], other: Collection[str]) -> Iterator[tuple[str, str]]:
    """What both saw, and what only one saw beside all that only the other saw, or nothing."""
    here, beyond = set(one), set(other)
    yield from ((mode, mode) for mode in here & beyond)
    for a in here - beyond or {NOTHING}:
        for b in beyond - here or {NOTHING}:
            if (a, b) != (NOTHING, NOTHING):
                yield a, b


def _cells(counts: Mapping[tuple[str, str], int]) -> tuple[Confusion, ...]:
    found: Iterable[tuple[tuple[str, str], int]] = sorted(
        counts.items(), key=lambda item: (-item[1], item[0])
    )
    return tuple(Confusion(one, other, count) for (one, other), count in found)
