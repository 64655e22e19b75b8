"""What mouse and keys do to regions in the panes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip

from app.compare.canvas import Canvas
from app.compare.outlines.frame import mapped
from app.compare.outlines.geometry import box, distance_to_edge, handles, moved, reshaped, within
from app.tooltips import plain_tip
from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from app.compare.outlines.frame import Frame, Part
    from app.compare.outlines.geometry import Point
    from app.compare.outlines.outline import Outline
    from app.compare.outlines.tool import RegionTool
    from app.compare.panes import Panes
    from banana100_core.project.regions import Points

REACH = 7.0  # how near a handle or a line must be pressed, in device-independent pixels
_CLICK = 4.0  # a press that moved less was a click
_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}
_FAR = 10
_ENTER = {Qt.Key.Key_Return, Qt.Key.Key_Enter}
_FOR_CHOSEN = {*_ARROWS, *_ENTER, Qt.Key.Key_Insert}


class _Held:
    """What a pressed button moves: an outline, or one handle of it."""

    def __init__(self, outline: Outline, part: Part, points: Points, at: Point, handle: int | None) -> None:
        self.outline, self.part, self.points, self.at, self.handle = outline, part, points, at, handle

    def moved_to(self, to: Point) -> Points:
        """The outline when the cursor is at a point of the picture."""
        size = self.part.frame.size
        by = to[0] - self.at[0], to[1] - self.at[1]
        if self.handle is None:
            return moved(self.points, by, size)
        x, y = handles(self.outline.kind, self.points)[self.handle]
        return reshaped(self.outline.kind, self.points, self.handle, (x + by[0], y + by[1]), size)


class RegionEvents(QObject):
    """Hears the events of all canvases before they do, and takes those that are meant for regions."""

    def __init__(self, tool: RegionTool, panes: Panes) -> None:
        super().__init__(tool)
        self._tool = tool
        self._held: _Held | None = None
        self._pressed: QPointF | None = None
        for canvas in panes.canvases:
            canvas.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take what is ours."""
        if not isinstance(watched, Canvas):
            return False
        if isinstance(event, QMouseEvent):
            return self._take_mouse(watched, event)
        if isinstance(event, QKeyEvent):
            return self._take_key(event)
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            return self._show_tip(watched, event)
        if event.type() == QEvent.Type.FocusOut:
            self._tool.finish_shape()
        return False

    # Mouse

    def _take_mouse(self, canvas: Canvas, event: QMouseEvent) -> bool:
        match event.type():
            case QEvent.Type.MouseButtonPress if event.button() is Qt.MouseButton.LeftButton:
                return self._press(canvas, event)
            case QEvent.Type.MouseMove:
                return self._move(canvas, event.position())
            case QEvent.Type.MouseButtonRelease if event.button() is Qt.MouseButton.LeftButton:
                return self._release(canvas, event.position())
            case QEvent.Type.MouseButtonDblClick if event.button() is Qt.MouseButton.LeftButton:
                return self._double_click(canvas, event.position())
        return False

    def _press(self, canvas: Canvas, event: QMouseEvent) -> bool:
        tool, at = self._tool, event.position()
        self._pressed = None
        part = tool.part_at(canvas, *canvas.point(at))
        if part is None or not tool.shown:
            return False
        if tool.drawing is not None:
            canvas.setFocus(Qt.FocusReason.MouseFocusReason)
            self._draw_at(canvas, part, self._on_picture(canvas, part, at))
            return True
        plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if not plain or canvas.is_over_divider(at):
            return False
        self._pressed = at
        held = self._take_hold(canvas, part, at)
        if held is None:
            return False
        canvas.setFocus(Qt.FocusReason.MouseFocusReason)
        self._held = held
        tool.handle = held.handle
        tool.refresh()
        return True

    def _take_hold(self, canvas: Canvas, part: Part, at: QPointF) -> _Held | None:
        """The chosen outline, or its handle, if it is under the cursor and may be moved."""
        tool = self._tool
        outline = tool.chosen_in(part.frame)
        if outline is None or not outline.own or tool.outlines.edits.read_only:
            return None
        points = tool.points_of(outline, part.frame)
        place = part.to_picture(*canvas.point(at))
        handle = self._handle_at(canvas, part, outline, points, at)
        if handle is None and not outline.is_at(place, self._reach(canvas, part)):
            return None
        return _Held(outline, part, points, place, handle)

    def _move(self, canvas: Canvas, at: QPointF) -> bool:
        tool, held = self._tool, self._held
        if held is not None:
            # In a wipe the cursor may leave its picture; the outline goes on where that would be.
            to = held.part.to_picture(*canvas.point(at))
            points = held.moved_to(to)
            if points != held.points or tool.points_of(held.outline, held.part.frame) != held.points:
                tool.shape(held.outline, held.part.frame, points)
        elif tool.drawing is not None:
            draft = tool.draft
            if draft is not None and draft.canvas is canvas:
                part = self._part_of(canvas, draft.frame)
                if part is not None:
                    draft.cursor = self._on_picture(canvas, part, at)
                    canvas.update()
        else:
            return False
        canvas.tell_place(at)
        return True

    def _release(self, canvas: Canvas, at: QPointF) -> bool:
        tool, pressed = self._tool, self._pressed
        self._pressed = None
        moved_far = pressed is None or (at - pressed).manhattanLength() >= _CLICK
        if self._held is not None:
            self._held = None
            if moved_far:
                tool.finish_shape()
                tool.handle = None
                tool.refresh()
            return True
        if tool.drawing is RegionKind.BOX:
            self._finish_box()
            return True
        if tool.drawing is not None:
            return True
        if not moved_far and tool.shown:
            part = tool.part_at(canvas, *canvas.point(at))
            if part is not None:
                place = part.to_picture(*canvas.point(at))
                found = tool.outlines.at(part.frame).at(place, self._reach(canvas, part))
                if found is not None or tool.chosen is not None:
                    canvas.setFocus(Qt.FocusReason.MouseFocusReason)
                    tool.choose(found.uuid if found else None)
        return False

    def _double_click(self, canvas: Canvas, at: QPointF) -> bool:
        tool = self._tool
        if tool.drawing is not None:
            self._close_polygon()
            return True
        part = tool.part_at(canvas, *canvas.point(at))
        outline = None if part is None else tool.chosen_in(part.frame)
        if part is None or outline is None or not outline.own or outline.kind is not RegionKind.POLYGON:
            return False
        if self._handle_at(canvas, part, outline, outline.points, at, vertices=True) is not None:
            return True
        place = part.to_picture(*canvas.point(at))
        ring = outline.ring
        if distance_to_edge(ring, place) > self._reach(canvas, part):
            return False
        self._held = None
        tool.add_vertex(place)
        return True

    def _draw_at(self, canvas: Canvas, part: Part, at: Point) -> None:
        tool = self._tool
        draft = tool.draft
        if draft is None or draft.canvas is not canvas or draft.frame != part.frame:
            draft = tool.start_draft(canvas, part)
        if draft.kind is RegionKind.BOX:
            draft.points = [at]
        else:
            first = QPointF(*mapped(part.to_pane, *draft.points[0])) if draft.points else None
            here = QPointF(*mapped(part.to_pane, *at))
            reach = REACH * canvas.devicePixelRatioF()
            if first is not None and len(draft.points) > 2 and (first - here).manhattanLength() <= reach:
                self._close_polygon()
                return
            draft.points.append(at)
        draft.cursor = at
        canvas.update()

    def _finish_box(self) -> None:
        draft = self._tool.draft
        if draft is None or not draft.points or draft.cursor is None:
            return
        (x0, y0), (x1, y1) = draft.points[0], draft.cursor
        if round(x0) == round(x1) or round(y0) == round(y1):  # a click: the box is still to be drawn
            self._tool.draft = None
            self._tool.refresh()
            return
        self._tool.finish_draft(box((x0, y0), (x1, y1)))

    def _close_polygon(self) -> None:
        draft = self._tool.draft
        if draft is None:
            return
        points: list[Point] = []
        for point in draft.points:
            if not points or math.dist(points[-1], point) > 0.01:  # the second press of a double click
                points.append(point)
        if len(points) < 3:
            self._tool.say("A polygon has 3 corners or more. Click another, or press Esc.")
            return
        self._tool.finish_draft(tuple(points))

    def _handle_at(
        self,
        canvas: Canvas,
        part: Part,
        outline: Outline,
        points: Points,
        at: QPointF,
        *,
        vertices: bool = False,
    ) -> int | None:
        x, y = canvas.point(at)
        places = handles(outline.kind, points)[: len(points) if vertices else None]
        far = [math.dist(mapped(part.to_pane, *place), (x, y)) for place in places]
        nearest = min(range(len(far)), key=far.__getitem__)
        return nearest if far[nearest] <= REACH * canvas.devicePixelRatioF() else None

    def _reach(self, canvas: Canvas, part: Part) -> float:
        """How near a line must be pressed, in pixels of the picture."""
        scale = max(abs(part.to_pane.m11()), abs(part.to_pane.m12()))
        return REACH / 2 * canvas.devicePixelRatioF() / scale

    def _on_picture(self, canvas: Canvas, part: Part, at: QPointF) -> Point:
        return within(part.to_picture(*canvas.point(at)), part.frame.size)

    def _part_of(self, canvas: Canvas, frame: Frame) -> Part | None:
        return next((part for part in self._tool.parts(canvas) if part.frame == frame), None)

    def _show_tip(self, canvas: Canvas, event: QHelpEvent) -> bool:
        at = QPointF(event.pos())
        part = self._tool.part_at(canvas, *canvas.point(at)) if self._tool.shown else None
        found = None
        if part is not None:
            place = part.to_picture(*canvas.point(at))
            found = self._tool.outlines.at(part.frame).at(place, self._reach(canvas, part))
        QToolTip.showText(event.globalPos(), plain_tip(found.told) if found else "", canvas)
        return True

    # Keys

    def _take_key(self, event: QKeyEvent) -> bool:
        if event.type() == QEvent.Type.KeyRelease:
            if event.key() in _ARROWS and not event.isAutoRepeat():
                self._tool.finish_shape()
            return False
        if not self._wants(event):
            return False
        if event.type() == QEvent.Type.KeyPress:
            return self._press_key(event)
        event.accept()  # an action of the same key is not for now
        return True

    def _wants(self, event: QKeyEvent) -> bool:
        """Whether a key is for regions as things stand; all other keys go their way."""
        tool, key = self._tool, event.key()
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        shift = held == Qt.KeyboardModifier.ShiftModifier
        plain = not held
        drawing, handle = tool.drawing is not None, tool.handle is not None
        chosen = key in _FOR_CHOSEN and tool.chosen_here is not None
        wanted = {
            Qt.Key.Key_Tab: plain and not drawing and bool(tool.walkable),
            Qt.Key.Key_Backtab: not drawing and bool(tool.walkable),
            Qt.Key.Key_Escape: plain and (drawing or tool.chosen is not None or bool(tool.hint.text)),
            Qt.Key.Key_Return: plain and (drawing or (chosen and not handle)),
            Qt.Key.Key_Enter: plain and (drawing or (chosen and not handle)),
            Qt.Key.Key_Backspace: plain and tool.draft is not None,
            Qt.Key.Key_Insert: plain and chosen and handle,
        } | dict.fromkeys(_ARROWS, chosen and (plain or shift))
        return wanted.get(Qt.Key(key), False)

    def _press_key(self, event: QKeyEvent) -> bool:
        tool, key = self._tool, event.key()
        if key in _ARROWS:
            far = _FAR if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
            x, y = _ARROWS[Qt.Key(key)]
            tool.nudge(x * far, y * far)
        elif key == Qt.Key.Key_Escape:
            self._leave()
        elif key in _ENTER:
            self._enter()
        elif key == Qt.Key.Key_Backspace and tool.draft is not None:
            tool.draft.points = tool.draft.points[:-1]
            tool.refresh()
        elif key == Qt.Key.Key_Insert:
            tool.add_vertex()
        else:
            return self._walk(1 if key == Qt.Key.Key_Tab else -1)
        return True

    def _leave(self) -> None:
        tool = self._tool
        if tool.drawing is not None:
            tool.cancel()
        elif tool.handle is not None:
            tool.choose(tool.chosen)
        else:
            tool.choose(None)

    def _enter(self) -> None:
        tool = self._tool
        if tool.drawing is None:
            tool.choose(tool.chosen, 0)
        elif tool.draft is not None and tool.draft.kind is RegionKind.POLYGON and tool.draft.points:
            self._close_polygon()
        else:
            tool.draw_here(tool.drawing)

    def _walk(self, by: int) -> bool:
        """Go to the next handle, or to the next region; beyond the last one the focus moves on."""
        tool = self._tool
        active = tool.active()
        if tool.handle is not None and active is not None:
            outline = tool.chosen_in(active[1].frame)
            if outline is not None:
                count = len(handles(outline.kind, outline.points))
                tool.choose(outline.uuid, (tool.handle + by) % count)
                return True
        uuids = tool.walkable
        place = uuids.index(tool.chosen) + by if tool.chosen in uuids else (0 if by > 0 else len(uuids) - 1)
        if not 0 <= place < len(uuids):
            tool.choose(None)
            return False
        tool.choose(uuids[place])
        return True
