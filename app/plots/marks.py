"""Vertical marks on the plot: steps at which something begins, each with what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app.admissions import FIRST
from app.plots.curve_item import FullViewItem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

    from app.plots.series import Group

_FLAG = 7.0
_REACH = 5.0
_ASIDE = 3.0


@dataclass(frozen=True, slots=True)
class StepMark:
    """A mark at a step, dashed and hollow when it is the weaker of two kinds."""

    step: int
    colour: str
    text: str
    weak: bool = False


def admission_marks(
    groups: Sequence[Group], colours: Sequence[str], steps_of: Callable[[int], list[tuple[int, str]]]
) -> list[StepMark]:
    """Where reasoning summaries of runs begin to admit degradation, each run's in the colour of its curve."""
    return [
        StepMark(step, colour, f"{text}\n{group.title}", weak=text == FIRST)
        for group, colour in zip(groups, colours, strict=False)
        for run_id in group.run_ids
        for step, text in steps_of(run_id)
    ]


class MarkLayer(FullViewItem):
    """Lines over the height of the plot, with a flag at the top."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: tuple[StepMark, ...] = ()

    def show_marks(self, marks: Sequence[StepMark]) -> None:
        """Draw these marks."""
        if tuple(marks) != self.marks:
            self.marks = tuple(marks)
            self.update()

    def told_at(self, x: float, pixel: float) -> str:
        """What the marks near a place say; `pixel` is the width of a pixel in steps."""
        near = [mark for mark in self.marks if abs(mark.step - x) <= _REACH * pixel]
        return "\n".join(dict.fromkeys(f"Step {mark.step}: {mark.text}" for mark in near))

    def paint(
        self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None
    ) -> None:
        """Paint lines and flags in pixels."""
        view, transform = self.viewRect(), painter.transform()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=True)
        at_step: Counter[int] = Counter()
        for mark in self.marks:
            aside = _ASIDE * at_step[mark.step]  # marks of several runs at one step stand side by side
            at_step[mark.step] += 1
            # The y axis points up: the bottom of the rectangle is the highest value.
            top = transform.map(QPointF(mark.step, view.bottom())) + QPointF(aside, 0)
            foot = transform.map(QPointF(mark.step, view.top())) + QPointF(aside, 0)
            style = Qt.PenStyle.DashLine if mark.weak else Qt.PenStyle.SolidLine
            painter.setPen(QPen(QColor(mark.colour), 1.25, style))
            painter.drawLine(top, foot)
            painter.setPen(QPen(QColor(mark.colour), 1.25))
            painter.setBrush(Qt.BrushStyle.NoBrush if mark.weak else QColor(mark.colour))
            painter.drawPolygon(
                QPolygonF(
                    [top, QPointF(top.x() + _FLAG, top.y() + _FLAG / 2), QPointF(top.x(), top.y() + _FLAG)]
                )
            )
        painter.setTransform(transform)
