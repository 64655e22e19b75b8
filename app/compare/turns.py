"""Mirrored and turned pictures: views of the same pixels, so that a turn is free until it is painted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QTransform

if TYPE_CHECKING:
    from PySide6.QtGui import QPixmap

    from app.compare.viewport import Size
    from banana100_core.imaging.pyramid import Pyramid

_MIRROR, _ROTATE = "mirror", "rotate"


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

    def size(self, size: Size) -> Size:
        """The size of a picture after the turn."""
        return type(size)(size.height, size.width) if self.quarters % 2 else size

    def pyramid(self, pyramid: Pyramid) -> Pyramid:
        """The turned picture; shares its pixels with the other."""
        levels = pyramid.levels
        if self.mirrored:
            levels = [level[:, ::-1] for level in levels]
        return type(pyramid)([np.rot90(level, -self.quarters) for level in levels])

    def pixmap(self, pixmap: QPixmap) -> QPixmap:
        """The turned preview."""
        transform = QTransform().rotate(90.0 * self.quarters)
        return pixmap.transformed(transform.scale(-1, 1) if self.mirrored else transform)


def turn_back(protocol: str, number: int) -> Turn:
    """What undoes the turns that a protocol of mirroring or rotating has asked for up to a step.

    A protocol that mirrors comes back after two steps, one that rotates by quarters after four.
    """
    if _MIRROR in protocol:
        return Turn(mirrored=number % 2 == 1)
    if _ROTATE in protocol:
        return Turn(quarters=-number % 4)
    return Turn()
