"""Krippendorff's alpha and Cohen's kappa of nominal values that annotators gave to units."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Unit = Mapping[str, int]  # value by annotator; who gave none is absent


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa of two annotators over units that both gave a value; None where chance explains all."""

    one: str
    other: str
    units: int
    kappa: float | None


def krippendorff_alpha(units: Sequence[Unit]) -> float | None:
    """Krippendorff's alpha for nominal values, by the package `krippendorff`.

    None where it is not defined: no unit with two values, or one value everywhere.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    values = sorted({value for unit in pairable for value in unit.values()})
    if len(values) < 2:
        return None
    import krippendorff
    import numpy as np

    counts = np.array([[list(unit.values()).count(value) for value in values] for unit in pairable])
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def kappas_of(units: Sequence[Unit]) -> tuple[Kappa, ...]:
    """Cohen's kappa of each pair of annotators that share a unit."""
    annotators = sorted({annotator for unit in units for annotator in unit})
    found = []
    for one, other in combinations(annotators, 2):
        pairs = [(unit[one], unit[other]) for unit in units if one in unit and other in unit]
        if pairs:
            found.append(Kappa(one, other, len(pairs), cohen_kappa(pairs)))
    return tuple(found)


def cohen_kappa(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Cohen's kappa of pairs of values (Cohen 1960): agreement beyond that of chance; see `Kappa`."""
    total = len(pairs)
    firsts, seconds = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    # In whole numbers, so that chance that explains all is found exactly.
    observed = total * sum(one == other for one, other in pairs)
    expected = sum(count * seconds[value] for value, count in firsts.items())
    return None if expected == total * total else (observed - expected) / (total * total - expected)
