"""From the pixels of a step's upright picture to a pane, however the picture is turned there, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTransform

from app.compare.content import PaneImage, Wipe, whole
from app.compare.viewport import Bounds, Placement, stretched

if TYPE_CHECKING:
    from app.compare.content import Content
    from app.compare.turns import Turn
    from app.compare.viewport import Size, View


def mapped(transform: QTransform, x: float, y: float) -> tuple[float, float]:
    """A point on the other side of a transform."""
    point = transform.map(QPointF(x, y))
    return point.x(), point.y()


@dataclass(frozen=True, slots=True)
class Frame:
    """Which step's picture is shown, its upright size, and how it is turned."""

    step: int
    size: Size
    turn: Turn

    @property
    def to_shown(self) -> QTransform:
        """From pixels of the upright picture to those of the turned one."""
        width, height = self.size
        transform = QTransform(-1, 0, 0, 1, width, 0) if self.turn.mirrored else QTransform()
        for _ in range(self.turn.quarters):
            transform *= QTransform(0, 1, -1, 0, height, 0)  # clockwise: (x, y) comes to (height - y, x)
            width, height = height, width
        return transform


@dataclass(frozen=True, slots=True)
class Part:
    """A picture of the current run as it lies in a pane; `clip` is where it is seen."""

    frame: Frame
    to_pane: QTransform
    clip: Bounds

    def has(self, x: float, y: float) -> bool:
        """Whether a point of the pane belongs to it."""
        return self.clip.left <= x < self.clip.right and self.clip.top <= y < self.clip.bottom

    def to_picture(self, x: float, y: float) -> tuple[float, float]:
        """The point of the upright picture under a point of the pane."""
        inverse, _ = self.to_pane.inverted()
        return mapped(inverse, x, y)

    def seen(self) -> QRectF:
        """The part of the upright picture that is on screen."""
        inverse, _ = self.to_pane.inverted()
        clip = self.clip
        area = QRectF(clip.left, clip.top, clip.right - clip.left, clip.bottom - clip.top)
        return inverse.mapRect(area).intersected(QRectF(0, 0, *self.frame.size))


def parts_of(content: Content, view: View, pane: Size) -> list[Part]:
    """The pictures of the current run that a pane shows: both sides of a wipe, of a difference the later."""
    size = content.image.size
    if size is None or content.message:
        return []
    placement = view.place(size, pane)
    if isinstance(content, Wipe):
        reference, middle = content.reference, content.divider_at(pane)
        under = placement if reference.size is None else stretched(placement, size, reference.size)
        found = [
            _part(reference, under, Bounds(0, 0, middle, pane.height)),
            _part(content.image, placement, Bounds(middle, 0, pane.width, pane.height)),
        ]
    else:
        found = [_part(content.image, placement, whole(pane))]
    return [part for part in found if part is not None]


def _part(image: PaneImage, placement: Placement, clip: Bounds) -> Part | None:
    if image.frame is None:
        return None
    laid = QTransform.fromScale(placement.scale_x, placement.scale_y)
    laid *= QTransform.fromTranslate(placement.left, placement.top)
    return Part(image.frame, image.frame.to_shown * laid, clip)
