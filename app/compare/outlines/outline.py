"""What is outlined at a step: whose tag, of which failure mode, and where."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, Signal
from PySide6.QtGui import QPainterPath, QPolygonF

from app.compare.outlines.geometry import contains, corners, distance_to_edge
from app.region_edits import RegionEdits
from app.session import ChosenTag
from banana100_core.catalog.failure_modes import Level, failure_modes
from banana100_core.project.regions import regions_at, scaled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from app.compare.outlines.frame import Frame
    from app.compare.outlines.geometry import Point
    from app.session import Session
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import Region, RegionKind, Tag
    from banana100_core.project.regions import Points


@dataclass(frozen=True)
class Outline:
    """A region as it holds at a step; `points` are in pixels of that step's upright picture."""

    uuid: str
    tag_uuid: str
    kind: RegionKind
    points: Points
    outlined_step: int
    held: bool  # from an earlier step
    name: str
    key: str
    level: Level
    annotator: str
    own: bool
    unsaved: bool = False
    numbered: bool = True  # whether numbers of steps may be told
    end_step: int | None = None  # of the region itself

    @property
    def label(self) -> str:
        """The failure mode with its key."""
        return f"{self.name} · {self.key}" if self.key else self.name

    @property
    def told(self) -> str:
        """All that is known of it."""
        where = f"outlined at step {self.outlined_step}" if self.numbered else "outlined"
        where += " and held from there" if self.held else ""
        where += f" to step {self.end_step}" if self.held and self.numbered and self.end_step else ""
        saved = "\nnot saved yet" if self.unsaved else ""
        return f"{self.label}\nby {self.annotator}, {where}{saved}"

    @cached_property
    def ring(self) -> Points:
        """Its corners in turn."""
        return corners(self.kind, self.points)

    @cached_property
    def bounds(self) -> QRectF:
        """The box around it."""
        xs, ys = zip(*self.points, strict=True)
        return QRectF(QPointF(min(xs), min(ys)), QPointF(max(xs), max(ys)))

    @cached_property
    def path(self) -> QPainterPath:
        """Its line."""
        return closed_path(self.ring)

    def at_detail(self, side: float) -> QPainterPath:
        """Its line where nothing smaller than `side` pixels is seen; kept for the last side."""
        if len(self.ring) < 16:
            return self.path
        kept: tuple[float, QPainterPath] | None = self.__dict__.get("_detail")
        if kept is None or kept[0] != side:
            kept = side, closed_path(_thinned(self.ring, side))
            self.__dict__["_detail"] = kept
        return kept[1]

    def is_at(self, at: Point, reach: float) -> bool:
        """Whether a point lies inside or so near to its line."""
        return contains(self.ring, at) or distance_to_edge(self.ring, at) <= reach


def _holds(claim: Tag | ChosenTag, step: int) -> bool:
    return claim.onset <= step and (claim.end_step is None or step <= claim.end_step)


def closed_path(ring: Sequence[Point]) -> QPainterPath:
    """A closed line through points."""
    path = QPainterPath()
    path.addPolygon(QPolygonF([QPointF(x, y) for x, y in ring]))
    path.closeSubpath()
    return path


def _thinned(ring: Points, side: float) -> list[Point]:
    """Without points that are nearer than `side` to the one kept before them."""
    points = np.array(ring)
    cells = np.floor(points / side)
    new = np.any(cells != np.roll(cells, 1, axis=0), axis=1)
    if np.count_nonzero(new) < 3:
        return list(ring[:: max(1, len(ring) // 4)])
    return [(x, y) for x, y in points[new].tolist()]


class Outlines(QObject):
    """The outlines of the current run, from its tags and the edits to their regions."""

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._tags: dict[str, Tag] = {}
        self._recent: dict[str, ChosenTag] = {}  # that were chosen, perhaps before they were stored
        self._modes: Mapping[str, FailureMode] = failure_modes()  # until the project's own are read
        self._known: dict[tuple[int, str], Outline] = {}
        self._at: dict[Frame, Layer] = {}
        self.edits = RegionEdits.of(session)
        self.edits.changed.connect(self._forget)
        session.tag_chosen.connect(self._remember)
        for news in (session.tag_chosen, session.blinding_changed, session.annotator_changed):
            news.connect(self._forget)
        session.run_changed.connect(self._take_run)

    def show_tags(self, tags: Sequence[Tag], modes: Mapping[str, FailureMode]) -> None:
        """Take the tags that may be seen, and the taxonomy."""
        self._tags = {tag.uuid: tag for tag in tags}
        self._modes = modes
        self._forget()

    def at(self, frame: Frame) -> Layer:
        """What is outlined in a picture of the current run, in the order of drawing."""
        if frame not in self._at:
            self._at[frame] = Layer(tuple(self._make(frame)))
        return self._at[frame]

    def mode_name(self, key: str) -> str:
        """What a failure mode is called."""
        return self._modes[key].name if key in self._modes else key

    def mode_level(self, key: str) -> Level:
        """The level of a failure mode."""
        return self._modes[key].level if key in self._modes else Level.ATTRIBUTE

    def tag_of(self, outline: Outline) -> ChosenTag | None:
        """The tag that an outline belongs to."""
        tag = self._claim(outline.tag_uuid)
        if tag is None or isinstance(tag, ChosenTag):
            return tag
        return ChosenTag(tag.uuid, tag.failure_mode, tag.annotator, tag.onset, tag.end_step)

    def outlined_steps(self) -> dict[str, list[int]]:
        """The steps that have regions of their own, by tag."""
        found: dict[str, set[int]] = {}
        for region in self.edits.regions.values():
            found.setdefault(region.tag_uuid, set()).add(region.step)
        return {uuid: sorted(steps) for uuid, steps in found.items()}

    def bare_steps(self) -> dict[str, list[int]]:
        """The steps from which on nothing that was outlined before holds, by tag."""
        by_tag: dict[str, list[Region]] = {}
        for region in self.edits.regions.values():
            by_tag.setdefault(region.tag_uuid, []).append(region)
        return {
            uuid: sorted(
                {
                    region.end_step + 1
                    for region in regions
                    if region.end_step is not None and not regions_at(regions, region.end_step + 1)
                }
            )
            for uuid, regions in by_tag.items()
        }

    def _remember(self) -> None:
        chosen = self._session.chosen_tag
        if chosen is not None:
            self._recent[chosen.uuid] = chosen

    def _take_run(self) -> None:
        self._known.clear()
        self._recent.clear()
        self._forget()

    def _forget(self) -> None:
        self._at.clear()
        self.changed.emit()

    def _make(self, frame: Frame) -> list[Outline]:
        by_tag: dict[str, list[Region]] = {}
        for region in self.edits.regions.values():
            by_tag.setdefault(region.tag_uuid, []).append(region)
        unsaved = self.edits.unsaved if self.edits.reason else frozenset()
        blinding = self._session.blinding
        known, found = self._known, []
        sizes = {step.number: step.image for step in self._session.steps}
        for tag_uuid, regions in by_tag.items():
            claim = self._claim(tag_uuid)
            if claim is None or (blinding.tags and claim.annotator != self._session.annotator):
                continue
            mode = self._modes.get(claim.failure_mode)
            for region in regions_at(regions, frame.step):
                held = region.step != frame.step
                if held and not _holds(claim, frame.step):
                    continue
                points, image = region.points, sizes.get(region.step)
                if held and image is not None and (image.width, image.height) != frame.size:
                    points = scaled(points, (image.width, image.height), frame.size)
                outline = Outline(
                    region.uuid,
                    tag_uuid,
                    region.kind,
                    points,
                    region.step,
                    held,
                    self.mode_name(claim.failure_mode),
                    mode.shortcut.upper() if mode else "",
                    self.mode_level(claim.failure_mode),
                    claim.annotator,
                    claim.annotator == self._session.annotator,
                    region.uuid in unsaved,
                    not blinding.steps,
                    region.end_step,
                )
                # The same object as before keeps its paths, and is seen to be the same at a glance.
                before = known.get((frame.step, region.uuid))
                found.append(before if before == outline else outline)
        self._known = {key: each for key, each in known.items() if key[0] != frame.step}
        self._known |= {(frame.step, outline.uuid): outline for outline in found}
        return found

    def _claim(self, tag_uuid: str) -> Tag | ChosenTag | None:
        chosen = self._session.chosen_tag
        if chosen is not None and chosen.uuid == tag_uuid:
            return chosen  # which may be about to be stored
        return self._tags.get(tag_uuid) or self._recent.get(tag_uuid)


class Layer:
    """The outlines of one picture; those in an area are found at once, by an array of their bounds."""

    def __init__(self, outlines: tuple[Outline, ...]) -> None:
        self.outlines = outlines
        self.by_uuid = {outline.uuid: outline for outline in outlines}
        boxes = [outline.bounds.getCoords() for outline in outlines]
        self._bounds: NDArray[np.float64] = np.array(boxes, np.float64).reshape(-1, 4)

    def within(self, area: QRectF) -> list[Outline]:
        """Those whose bounds touch an area of the picture."""
        return [self.outlines[place] for place in np.flatnonzero(self._touching(area))]

    def count_within(self, area: QRectF) -> int:
        """How many these are."""
        return int(np.count_nonzero(self._touching(area)))

    def at(self, point: Point, reach: float) -> Outline | None:
        """The smallest outline at a point, this annotator's before others'."""
        x, y = point
        near = self.within(QRectF(x - reach, y - reach, 2 * reach, 2 * reach))
        hit = [outline for outline in near if outline.is_at(point, reach)]
        return min(hit, key=lambda outline: (not outline.own, _area(outline.bounds)), default=None)

    def _touching(self, area: QRectF) -> NDArray[np.bool_]:
        left, top, right, bottom = self._bounds.T
        touching: NDArray[np.bool_] = (
            (left <= area.right()) & (right >= area.left()) & (top <= area.bottom()) & (bottom >= area.top())
        )
        return touching


def _area(bounds: QRectF) -> float:
    return bounds.width() * bounds.height()
