"""Mirrored and turned pictures: views of the same pixels, so that a turn is free until it is painted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QTransform

from banana100_core.catalog.protocols import protocols

if TYPE_CHECKING:
    from PySide6.QtGui import QPixmap

    from app.compare.viewport import Size
    from banana100_core.imaging.pyramid import Pyramid
    from banana100_core.project.records import Run

_NAMED = ("mirror", "rotate")
_PICTURE = r"(?:the |this |that |my |a )?(?:\w+ ){0,2}?(?:image|picture|photo|photograph|it)\b"
_ASKS_MIRROR = re.compile(rf"\b(?:mirror|flip) {_PICTURE}")
_ASKS_ROTATION = re.compile(rf"\b(?:rotate|turn) {_PICTURE}")
_BACKWARDS = re.compile(r"\b(?:counter-?\s?clockwise|anti-?\s?clockwise|to the left)\b")
_UPSIDE_DOWN = re.compile(r"\b(?:vertically|upside down|top to bottom)\b")


@dataclass(frozen=True, slots=True)
class Turn:
    """Mirrored left to right if `mirrored`, then turned clockwise by so many quarters."""

    mirrored: bool = False
    quarters: int = 0

    @property
    def neutral(self) -> bool:
        """Whether nothing is turned."""
        return not self.mirrored and self.quarters == 0

    @property
    def text(self) -> str:
        """In words; empty when nothing is turned."""
        parts = ["mirrored"] if self.mirrored else []
        if self.quarters:
            parts.append(f"turned {90 * self.quarters}°")
        return ", ".join(parts)

    def mirrored_once_more(self) -> Turn:
        """The same, mirrored as it is seen now."""
        return Turn(not self.mirrored, -self.quarters % 4)

    def turned_right(self, quarters: int = 1) -> Turn:
        """The same, turned further."""
        return replace(self, quarters=(self.quarters + quarters) % 4)

    def then(self, other: Turn) -> Turn:
        """This turn, and then another one."""
        mirrored = self.mirrored_once_more() if other.mirrored else self
        return mirrored.turned_right(other.quarters)

    def back(self) -> Turn:
        """The turn that undoes it."""
        return self if self.mirrored else Turn(quarters=-self.quarters % 4)

    def size(self, size: Size) -> Size:
        """The size of a picture after the turn."""
        return type(size)(size.height, size.width) if self.quarters % 2 else size

    def pyramid(self, pyramid: Pyramid) -> Pyramid:
        """The turned picture; shares its pixels with the other."""
        levels = pyramid.levels
        if self.mirrored:
            levels = [level[:, ::-1] for level in levels]
        return replace(pyramid, levels=[np.rot90(level, -self.quarters) for level in levels])

    def pixmap(self, pixmap: QPixmap) -> QPixmap:
        """The turned preview."""
        transform = QTransform().rotate(90.0 * self.quarters)
        return pixmap.transformed(transform.scale(-1, 1) if self.mirrored else transform)


def asked_turn(prompt: str) -> Turn:
    """The turn that a prompt asks for of the whole picture; neutral if it asks for none."""
    words = " ".join(prompt.casefold().split())
    if found := _ASKS_ROTATION.search(words):
        degrees = re.search(r"\b(90|180|270)\b", words[found.start() :])
        quarters = int(degrees[1]) // 90 if degrees else 1
        return Turn(quarters=(-quarters if _BACKWARDS.search(words) else quarters) % 4)
    if _ASKS_MIRROR.search(words):
        return Turn(mirrored=True, quarters=2 if _UPSIDE_DOWN.search(words) else 0)
    return Turn()


def turn_back(run: Run, number: int) -> Turn:
    """What undoes the turns that a run's prompts have asked for up to a step.

    The prompts are those kept with the run, of whatever protocol; of one without, such as an imported run,
    the catalog's protocol of that name is asked, or the name alone.
    """
    prompts = _prompts(run)
    turn = Turn()
    for step in range(number):
        turn = turn.then(asked_turn(prompts[step % len(prompts)]))
    return turn.back()


def _prompts(run: Run) -> tuple[str, ...]:
    kept = run.settings.get("prompts")
    if isinstance(kept, list) and kept:
        return tuple(map(str, kept))
    if run.protocol in protocols():
        return protocols()[run.protocol].prompts
    named = next(
        (protocol for key, protocol in protocols().items() if key in _NAMED and key in run.protocol), None
    )
    return ("",) if named is None else named.prompts
