"""A region while it is being drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.compare.outlines.geometry import box
from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from app.compare.canvas import Canvas
    from app.compare.outlines.frame import Frame
    from app.compare.outlines.geometry import Point
    from banana100_core.catalog.failure_modes import Level


@dataclass(slots=True)
class Draft:
    """A region that is being drawn in a pane: its points, and where the cursor is."""

    canvas: Canvas
    frame: Frame
    kind: RegionKind
    level: Level
    points: list[Point] = field(default_factory=list)
    cursor: Point | None = None

    @property
    def line(self) -> list[Point]:
        """What there is of its outline."""
        if self.kind is RegionKind.POLYGON or not self.points or self.cursor is None:
            return self.points
        (left, top), (right, bottom) = box(self.points[0], self.cursor)
        return [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]

    def end_in(self, canvas: Canvas) -> Point | None:
        """Where the line goes on to in a pane: to the cursor, until a polygon is closed."""
        return self.cursor if self.kind is RegionKind.POLYGON and self.canvas is canvas else None
