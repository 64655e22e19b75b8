"""The outlines over the picture of each pane."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.compare.outlines.drawing import DrawnLayer, draw_chosen, draw_draft, draw_handles, draw_labels
from app.compare.outlines.frame import parts_of
from app.compare.painting import rect_of

if TYPE_CHECKING:
    from PySide6.QtGui import QPainter

    from app.compare.canvas import Canvas
    from app.compare.outlines.frame import Frame, Part
    from app.compare.outlines.tool import RegionTool

_SETTLES_MS = 120  # after a zoom, outlines that were stretched are drawn anew
_KEPT = 3  # of each pane: both pictures of a blink or a flip, and one more


class OutlineView(QObject):
    """Draws what is outlined, what is chosen and what is being drawn."""

    def __init__(self, tool: RegionTool) -> None:
        super().__init__(tool)
        self._tool = tool
        self._moving = QTimer(self)
        self._moving.setSingleShot(True)
        self._moving.setInterval(_SETTLES_MS)
        self._moving.timeout.connect(self._settle)
        self._drawn: dict[Canvas, OrderedDict[Frame, DrawnLayer]] = {}

    def paint(self, painter: QPainter, canvas: Canvas) -> None:
        """Draw over a pane; the painter's unit is a device pixel."""
        for part in parts_of(canvas.content, canvas.view, canvas.pane):
            if part.clip.empty:
                continue
            painter.save()
            painter.setClipRect(rect_of(part.clip))
            self._paint(painter, canvas, part)
            painter.restore()

    def _paint(self, painter: QPainter, canvas: Canvas, part: Part) -> None:
        tool, ratio = self._tool, canvas.devicePixelRatioF()
        if tool.shown:
            layer = tool.outlines.at(part.frame)
            chosen = layer.by_uuid.get(tool.chosen or "")
            apart = frozenset({chosen.uuid} if chosen else ())
            drawn = self._layer(canvas, part.frame)
            drawn.draw(painter, canvas.pane, part, layer, apart, ratio)
            if drawn.stale:
                self._moving.start()
            if chosen is not None:
                points = tool.points_of(chosen, part.frame)
                draw_chosen(painter, part.to_pane, chosen, points, ratio)
                if chosen.own:
                    draw_handles(painter, part.to_pane, chosen.kind, points, tool.handle, ratio)
            if layer.outlines:
                draw_labels(painter, part, layer, chosen, ratio)
        draft = tool.draft
        if draft is not None and draft.frame == part.frame:
            draw_draft(painter, part.to_pane, draft.line, draft.end_in(canvas), draft.level, ratio)

    def forget(self) -> None:
        """Give back what drawn outlines take."""
        self._drawn.clear()

    def _settle(self) -> None:
        for kept in self._drawn.values():
            for layer in kept.values():
                layer.settle()
        self._tool.refresh()

    def _layer(self, canvas: Canvas, frame: Frame) -> DrawnLayer:
        kept = self._drawn.setdefault(canvas, OrderedDict())
        if frame not in kept:
            kept[frame] = DrawnLayer()
            while len(kept) > _KEPT:
                kept.popitem(last=False)
        kept.move_to_end(frame)
        return kept[frame]
