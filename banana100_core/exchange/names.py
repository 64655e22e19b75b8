"""What a file name says: the number of its step, the number of its run, and what is left to name the run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_INITIAL_WORDS = {"original", "orig", "initial", "init", "input", "source", "start"}
_GENERIC_WORDS = {
    *("image", "images", "img", "imgs", "picture", "photo", "pic"),
    *("data", "dataset", "runs", "experiment", "experiments"),
    *("output", "outputs", "out", "result", "results", "edited", "generated", "step", "steps"),
}

# Named groups in order of strength: what an earlier one takes, a later one can't.
_NUMBERS = re.compile(
    r"""
      (?P<size>    (?<![a-z0-9]) \d{2,5}x\d{2,5} (?![a-z0-9]) | (?<![a-z0-9]) [124]k (?![a-z0-9]) )
    | (?P<date>    (?<!\d) (?: 20\d{2}-\d{2}-\d{2} | \d{8}[-_t]\d{6} | \d{8,} ) (?!\d) )
    | (?P<seed>    (?<![a-z]) seed [ _=-]? (?P<seed_number>\d{1,18}) )
    | (?P<setting> (?<![a-z]) (?:temp|temperature|cfg|quality|q|v|version) [ _=-]? \d+ (?:\.\d+)* )
    | (?P<step>    (?<![a-z]) (?:step|iteration|iter|turn|round|edit|frame|generation|gen|cycle) s?
                   [ _.=\#-]* (?P<step_number>\d{1,6}) (?!\d) )
    | (?P<run>     (?<![a-z]) (?:run|repeat|rep|trial|attempt|chain|sequence|seq|sample|r)
                   [ _.=\#-]? (?P<run_number>\d{1,4}) (?![a-z0-9]) )
    | (?P<decimal> \d+\.\d+ )
    | (?P<plain>   (?<!\d) \d{1,6} (?!\d) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_COPY = re.compile(r"(?: - copy| copy| ?\(\d{1,3}\))+$", re.IGNORECASE)
_SEPARATORS = " _-.,()[]#=+"
_WORD = re.compile(r"[^\W_]+")
_DROPPED = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(sorted(_GENERIC_WORDS | _INITIAL_WORDS))})(?![^\W_])", re.IGNORECASE
)


class Kind(Enum):
    """What a number in a name is."""

    STEP = auto()
    RUN = auto()
    SEED = auto()
    PLAIN = auto()
    SIZE = auto()  # a pixel size or a date: never tells one run from another


_KINDS = {
    "size": Kind.SIZE,
    "date": Kind.SIZE,
    "seed": Kind.SEED,
    "setting": None,
    "step": Kind.STEP,
    "run": Kind.RUN,
    "decimal": None,
    "plain": Kind.PLAIN,
}


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a name and where it, with the word before it, stands."""

    kind: Kind
    value: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Name:
    """A file name without its ending, read."""

    stem: str
    numbers: tuple[Number, ...]
    is_copy: bool

    @property
    def says_initial(self) -> bool:
        """Whether it is named as the initial image: a word for it and no number that could be a step's."""
        words = {word.lower() for word in _WORD.findall(self.stem)}
        no_step = not any(number.kind in {Kind.STEP, Kind.PLAIN} for number in self.numbers)
        return no_step and not _INITIAL_WORDS.isdisjoint(words)

    @property
    def repeat(self) -> int | None:
        """The number of the run, when one is named."""
        return next((number.value for number in self.numbers if number.kind is Kind.RUN), None)

    @property
    def shape(self) -> tuple[object, ...]:
        """Equal for names that differ only in their unnamed numbers."""
        pieces: list[object] = []
        position = 0
        for number in self.numbers:
            pieces += [self.stem[position : number.start].lower(), number.kind]
            position = number.end
        return (*pieces, self.stem[position:].lower())

    def words_beside(self, step: Number | None) -> list[str]:
        """Return the fields left once the step, pixel sizes, dates and generic words are taken out."""
        left, position = "", 0
        for number in self.numbers:
            if number is step or number.kind in {Kind.SIZE, Kind.RUN, Kind.SEED}:
                left += self.stem[position : number.start].rstrip(_SEPARATORS)
                word = {Kind.RUN: f"_r{number.value}", Kind.SEED: f"_seed{number.value}"}
                left += word.get(number.kind, "") + "_"
                position = number.end
        left += self.stem[position:]
        fields = (field.strip(_SEPARATORS) for field in re.split(r"[_ ]+", _DROPPED.sub("", left)))
        return [field for field in fields if field.strip()]


def read_name(stem: str) -> Name:
    """Read a file name given without its ending."""
    without_copy = _COPY.sub("", stem)
    numbers = _numbers(without_copy)
    # "step_3 (1)" is a copy of step 3, but "Dongpo (1)" is numbered.
    if without_copy != stem and any(number.kind in {Kind.STEP, Kind.PLAIN} for number in numbers):
        return Name(without_copy, numbers, is_copy=True)
    return Name(stem, _numbers(stem), is_copy=False)


def _numbers(stem: str) -> tuple[Number, ...]:
    numbers = []
    for match in _NUMBERS.finditer(stem):
        kind = _kind(match)
        if kind is not None:
            digits = next(filter(None, match.group("step_number", "run_number", "seed_number", "plain")), "0")
            numbers.append(Number(kind, int(digits), match.start(), match.end()))
    return tuple(numbers)


def _kind(match: re.Match[str]) -> Kind | None:
    group = next(group for group in _KINDS if match[group])
    return _KINDS[group]


def steps_of(names: Sequence[Name]) -> list[Number | None]:
    """Find the number of the step in each of the names of one folder, None where there is none.

    A named number ("step 12") wins. Else, among names of one shape, it is the unnamed number that changes
    most, of equals the last: in Dongpo_100-fruits_7 and Dongpo_100-fruits_8 it is not the 100.
    """
    by_shape: dict[tuple[object, ...], list[int]] = {}
    for index, name in enumerate(names):
        by_shape.setdefault(name.shape, []).append(index)
    found: list[Number | None] = [None] * len(names)
    for indices in by_shape.values():
        position = _step_position([names[index] for index in indices])
        if position is not None:
            for index in indices:
                found[index] = names[index].numbers[position]
    return found


def _step_position(names: Sequence[Name]) -> int | None:
    kinds = [number.kind for number in names[0].numbers]
    for position in reversed(range(len(kinds))):
        if kinds[position] is Kind.STEP:
            return position
    plain = [position for position, kind in enumerate(kinds) if kind is Kind.PLAIN]
    if not plain:
        return None
    return max(plain, key=lambda position: (len({name.numbers[position].value for name in names}), position))
