"""Editing regions: which one is chosen, what is being drawn, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.compare.outlines.copying import copy_on
from app.compare.outlines.draft import Draft
from app.compare.outlines.frame import mapped, parts_of
from app.compare.outlines.geometry import (
    handles,
    is_vertex,
    kept,
    moved,
    reshaped,
    with_vertex_at,
    without_vertex,
)
from app.compare.outlines.hint import Hint
from app.compare.outlines.view import OutlineView
from app.compare.outlines.words import hint_for, why_not_changed, why_not_outlined
from banana100_core.catalog.failure_modes import Level
from banana100_core.errors import ProjectError
from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.compare.canvas import Canvas
    from app.compare.outlines.frame import Frame, Part
    from app.compare.outlines.geometry import Point
    from app.compare.outlines.outline import Outline, Outlines
    from app.compare.panes import Panes
    from app.session import ChosenTag, Session
    from banana100_core.project.regions import Points


class RegionTool(QObject):
    """Draws regions of the chosen tag, and changes those of this annotator."""

    changed = Signal()

    def __init__(self, session: Session, panes: Panes, outlines: Outlines, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._panes = panes
        self.outlines = outlines
        self.shown = True
        self.drawing: RegionKind | None = None
        self.draft: Draft | None = None
        self.chosen: str | None = None
        self.handle: int | None = None
        self._shape: tuple[str, Frame, Points] | None = None
        self._said = ""
        self.hint = Hint(panes)
        self.hint.retry_wanted.connect(outlines.edits.retry)
        self.hint.discard_wanted.connect(outlines.edits.discard_failed)
        self.view = OutlineView(self)
        for canvas in panes.canvases:
            canvas.overlay = self.view.paint
        outlines.changed.connect(self._take_outlines)
        # Queued, so that the panes show the step by then.
        session.step_changed.connect(self._take_step, Qt.ConnectionType.QueuedConnection)
        panes.comparison_changed.connect(self.refresh)
        session.run_changed.connect(self.reset)
        session.project_closed.connect(self.reset)
        session.project_closed.connect(self.view.forget)

    # What there is

    def parts(self, canvas: Canvas) -> list[Part]:
        """The pictures that a pane shows, the current one last."""
        return parts_of(canvas.content, canvas.view, canvas.pane)

    def part_at(self, canvas: Canvas, x: float, y: float) -> Part | None:
        """The picture at a point of a pane, in device pixels."""
        return next((part for part in self.parts(canvas) if part.has(x, y)), None)

    def active(self) -> tuple[Canvas, Part] | None:
        """The pane and the picture that the keyboard acts on."""
        canvas = self._panes.active_canvas
        parts = self.parts(canvas)
        return (canvas, parts[-1]) if parts else None

    def chosen_in(self, frame: Frame) -> Outline | None:
        """The chosen outline as it is in a picture."""
        return self.outlines.at(frame).by_uuid.get(self.chosen or "")

    @property
    def chosen_here(self) -> Outline | None:
        """The chosen outline, if it is in the picture that the keyboard acts on."""
        active = self.active() if self.chosen is not None else None
        return self.chosen_in(active[1].frame) if active is not None else None

    def points_of(self, outline: Outline, frame: Frame) -> Points:
        """The points of an outline, as far as it has been moved."""
        if self._shape is not None and self._shape[:2] == (outline.uuid, frame):
            return self._shape[2]
        return outline.points

    @property
    def walkable(self) -> list[str]:
        """UUIDs of the outlines in the active picture, in the order of reading."""
        active = self.active() if self.shown else None
        if active is None:
            return []
        found = self.outlines.at(active[1].frame).outlines
        return [each.uuid for each in sorted(found, key=lambda each: (each.bounds.top(), each.bounds.left()))]

    # Choosing

    def choose(self, uuid: str | None, handle: int | None = None) -> None:
        """Choose an outline, or one handle of it, or none; its tag is chosen with it."""
        self.finish_shape()
        self.chosen, self.handle, self._said = uuid, handle, ""
        outline = self._find(uuid)
        if outline is not None:
            self._choose_tag(outline)
        self.refresh()

    def say(self, text: str) -> None:
        """Tell what an edit did, or why it did nothing."""
        self._said = text
        self.refresh()

    def show(self, *, on: bool) -> None:
        """Show all outlines, or hide them."""
        self.shown = on
        if not on:
            self.choose(None)
        self.refresh()

    def reset(self) -> None:
        """Let go of everything."""
        self.drawing = self.draft = self.chosen = self.handle = self._shape = None
        self._said = ""
        self.refresh()

    def refresh(self) -> None:
        """Show how things stand."""
        edits = self.outlines.edits
        active = self.active() if self.chosen or self.drawing else None
        outline = self.chosen_in(active[1].frame) if active and self.chosen else None
        points = self.points_of(outline, active[1].frame) if active and outline else ()
        text = self._said or hint_for(self.drawing, self.mode_name, outline, points, self.handle)
        if edits.reason:
            what = "1 edit is" if edits.failed_count == 1 else f"{edits.failed_count} edits are"
            self.hint.show_text(f"{what} not saved: {edits.reason}", failed=True)
        else:
            self.hint.show_text(text)
        self._panes.hold_blink(on=self.drawing is not None or self.chosen is not None)
        cursor = Qt.CursorShape.CrossCursor if self.drawing else Qt.CursorShape.ArrowCursor
        for canvas in self._panes.canvases:
            canvas.setCursor(cursor)
            canvas.update()
        self.changed.emit()

    @property
    def mode_name(self) -> str:
        """The failure mode of the chosen tag."""
        tag = self._session.chosen_tag
        return self.outlines.mode_name(tag.failure_mode) if tag is not None else ""

    # Drawing

    def begin(self, kind: RegionKind) -> bool:
        """Draw a region of the chosen tag from now on; False when it can't be, which is said."""
        self.finish_shape()
        active = self.active()
        if not self._can_outline() or active is None:
            return False
        self.drawing, self.draft, self.chosen, self.handle, self._said = kind, None, None, None, ""
        self.shown = True
        active[0].setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.refresh()
        return True

    def cancel(self) -> None:
        """Draw no longer."""
        self.drawing = self.draft = None
        self.refresh()

    def start_draft(self, canvas: Canvas, part: Part) -> Draft:
        """Begin a region in a pane."""
        assert self.drawing is not None  # noqa: S101 - callers look
        self.draft = Draft(canvas, part.frame, self.drawing, self.level)
        return self.draft

    def finish_draft(self, points: Points) -> None:
        """Make a region of what was drawn, and choose it."""
        draft, tag = self.draft, self._session.chosen_tag
        if draft is None or tag is None:
            self.cancel()
            return
        self.draft = None
        self._draw(tag, draft.frame, draft.kind, points)

    def draw_here(self, kind: RegionKind) -> None:
        """Make a region in the middle of what is on screen, to be moved from there."""
        self.finish_shape()
        active = self.active()
        tag = self._session.chosen_tag
        if not self._can_outline() or active is None or tag is None:
            return
        canvas, part = active
        seen = part.seen()
        if seen.isEmpty():
            self.say("The picture is not on screen here.")
            return
        quarter_x, quarter_y = seen.width() / 4, seen.height() / 4
        inner = seen.adjusted(quarter_x, quarter_y, -quarter_x, -quarter_y)
        left, top, right, bottom = inner.left(), inner.top(), inner.right(), inner.bottom()
        points: Points = ((left, top), (right, bottom))
        if kind is RegionKind.POLYGON:
            points = ((left, top), (right, top), (right, bottom), (left, bottom))
        canvas.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._draw(tag, part.frame, kind, points)

    @property
    def level(self) -> Level:
        """The level of the chosen tag's failure mode."""
        tag = self._session.chosen_tag
        return Level.ATTRIBUTE if tag is None else self.outlines.mode_level(tag.failure_mode)

    # Changing

    def shape(self, outline: Outline, frame: Frame, points: Points) -> None:
        """Show an outline elsewhere, not saved before `finish_shape`."""
        self._said = ""
        self._shape = outline.uuid, frame, kept(outline.kind, points)
        self.refresh()

    def finish_shape(self) -> None:
        """Save what was moved."""
        if self._shape is None:
            return
        (uuid, frame, points), self._shape = self._shape, None
        if uuid not in self.outlines.edits.regions:
            return
        try:
            now = self.outlines.edits.reshape(uuid, frame.step, points)
        except ProjectError as error:
            self.say(str(error))
            return
        self.chosen = now if self.chosen == uuid else self.chosen
        self.refresh()

    def nudge(self, right: float, down: float) -> None:
        """Move the chosen outline or handle by pixels of the picture, right and down as it is shown."""
        active = self.active()
        outline = self.chosen_in(active[1].frame) if active else None
        if active is None or outline is None or not self._can_change(outline):
            return
        frame = active[1].frame
        inverse, _ = frame.to_shown.inverted()
        (x0, y0), (x1, y1) = mapped(inverse, 0, 0), mapped(inverse, right, down)
        by = x1 - x0, y1 - y0
        points = self.points_of(outline, frame)
        if self.handle is None:
            points = moved(points, by, frame.size)
        else:
            x, y = handles(outline.kind, points)[self.handle]
            new = reshaped(outline.kind, points, self.handle, (x + by[0], y + by[1]), frame.size)
            if len(new) > len(points):  # the middle of an edge has become a vertex
                self.handle = self.handle - len(points) + 1
            points = new
        self.shape(outline, frame, points)

    def add_vertex(self, at: Point | None = None) -> None:
        """Give the chosen polygon a vertex more: at a point, or after the chosen one."""
        found = self._polygon()
        if found is None:
            return
        outline, frame = found
        points = self.points_of(outline, frame)
        if at is None:
            edge = (self.handle or 0) % len(points)
            at = handles(outline.kind, points)[len(points) + edge]
        points, self.handle = with_vertex_at(points, at)
        self.shape(outline, frame, points)
        self.finish_shape()

    def delete(self) -> None:
        """Remove the chosen vertex of a polygon, or else the chosen region."""
        self.finish_shape()
        active = self.active()
        outline = self.chosen_in(active[1].frame) if active else None
        if active is None or outline is None:
            self.say("Choose a region first: click it, or press Tab.")
        elif self._can_change(outline):
            if self.handle is not None and is_vertex(outline.kind, outline.points, self.handle):
                self._delete_vertex(outline, active[1].frame, self.handle)
                return
            self.outlines.edits.remove(outline.uuid, active[1].frame.step)
            what = "Ended a region of {} before this step" if outline.held else "Removed a region of {}"
            self.say(f"{what.format(outline.name)}. Ctrl+Z brings it back.")

    def copy_on(self) -> None:
        """Copy the chosen tag's regions to the next step, and go there."""
        self.finish_shape()
        tag = self._session.chosen_tag
        if self._can_outline() and tag is not None:
            self.say(copy_on(self._session, self.outlines, tag))

    # Inside

    def _draw(self, tag: ChosenTag, frame: Frame, kind: RegionKind, points: Points) -> None:
        self.drawing = None
        try:
            uuid = self.outlines.edits.draw(tag.uuid, frame.step, kind, kept(kind, points))
        except ProjectError as error:
            self.say(str(error))
            return
        self.choose(uuid)
        begins_later = frame.step < tag.onset
        if begins_later or (tag.end_step is not None and frame.step > tag.end_step):
            how = "begins after" if begins_later else "has ended before"
            self.say(f"{self.mode_name} {how} this step. The region counts once its tag holds here.")

    def _can_outline(self) -> bool:
        session = self._session
        why = why_not_outlined(session.chosen_tag, session.annotator, read_only=self.outlines.edits.read_only)
        if why:
            self.say(why)
        return not why

    def _can_change(self, outline: Outline) -> bool:
        why = why_not_changed(outline, read_only=self.outlines.edits.read_only)
        if why:
            self.say(why)
        return not why

    def _delete_vertex(self, outline: Outline, frame: Frame, vertex: int) -> None:
        left = without_vertex(outline.points, vertex)
        if left is None:
            self.say(
                "A polygon has 3 corners or more. Let go of this one with Esc, then Del removes the whole."
            )
            return
        self.handle = min(vertex, len(left) - 1)
        self.shape(outline, frame, left)
        self.finish_shape()

    def _polygon(self) -> tuple[Outline, Frame] | None:
        active = self.active()
        outline = self.chosen_in(active[1].frame) if active else None
        if active is None or outline is None or not self._can_change(outline):
            return None
        if outline.kind is not RegionKind.POLYGON:
            self.say("Only a polygon can have more corners.")
            return None
        return outline, active[1].frame

    def _on_screen(self) -> Iterator[Frame]:
        for canvas in self._panes.canvases:
            if canvas.isVisible():
                yield from (part.frame for part in self.parts(canvas))

    def _find(self, uuid: str | None) -> Outline | None:
        found = (self.chosen_in(frame) for frame in self._on_screen()) if uuid else ()
        return next((outline for outline in found if outline is not None), None)

    def _choose_tag(self, outline: Outline) -> None:
        tag = self.outlines.tag_of(outline)
        if tag is not None:
            self._session.choose_tag(tag)

    def _take_step(self) -> None:
        """Let go of what is of another step; the panes draw this one's outlines by themselves."""
        self.finish_shape()
        if self.chosen is not None or self.drawing is not None:
            self.draft = None
            self._take_outlines()

    def _take_outlines(self) -> None:
        if self.chosen is not None and self._find(self.chosen) is None:
            self.chosen = self.handle = None
        if self.drawing is not None and self._session.chosen_tag is None:
            self.drawing = self.draft = None
        self.refresh()
