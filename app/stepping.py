"""Which step of a run is meant: the nearest to the one asked for, or the one beside it."""

from __future__ import annotations

import random
from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.project.records import Step

_FIRST_EDIT = 1  # the reference of the paper: step 0 may be cropped otherwise than what the model returns


class StepWishes:
    """The current and the reference step as they were last asked for; each run has those nearest to them."""

    def __init__(self) -> None:
        self._step: int | None = None  # None: the last step, also when more arrive
        self._reference = _FIRST_EDIT

    def settle(self, steps: Sequence[Step]) -> tuple[int, int]:
        """The numbers of the current and the reference step among these steps; 0 where there are none."""
        if not steps:
            return 0, 0
        last = steps[-1].number
        return (
            nearest(steps, last if self._step is None else self._step),
            nearest(steps, self._reference),
        )

    def ask(self, steps: Sequence[Step], number: int, *, growing: bool) -> int:
        """Ask for a step; the last one of a growing run is followed as it grows."""
        chosen = nearest(steps, number)
        self._step = None if growing and chosen == steps[-1].number else chosen
        return chosen

    def ask_reference(self, steps: Sequence[Step], number: int) -> int:
        """Ask for a reference."""
        self._reference = nearest(steps, number)
        return self._reference


def place_of(steps: Sequence[Step], number: int) -> int:
    """The place of the first step that has this number or a higher one; how many there are if none has."""
    return bisect_left(steps, number, key=lambda step: step.number)


def nearest(steps: Sequence[Step], number: int) -> int:
    """The number of the step nearest to a number; of two as near, the earlier one's."""
    place = place_of(steps, number)
    around = [step.number for step in steps[max(place - 1, 0) : place + 1]]
    return min(around, key=lambda each: abs(each - number))


def drawn(steps: Sequence[Step], seed: str) -> int:
    """The number of a step that has a picture, the same for the same seed; 0 where there is none."""
    numbers = [step.number for step in steps if step.number > 0 and step.image is not None]
    return random.Random(seed).choice(numbers) if numbers else 0  # noqa: S311 - to surprise, not to be safe


def beside(steps: Sequence[Step], number: int, by: int) -> int:
    """The number of the step so many places after another one, or of the last one on the way there."""
    numbers = [step.number for step in steps]
    if number not in numbers:
        return number
    return numbers[min(max(numbers.index(number) + by, 0), len(numbers) - 1)]
