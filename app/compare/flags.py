"""Flags above the step slider: where reasoning summaries begin to admit degradation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from app import theme
from app.admissions import FIRST_OF_TWO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH = theme.GRID + 1
HEIGHT = theme.GRID - 2

Flag = tuple[int, str]  # a step and what is to be said of it


def draw_flags(painter: QPainter, flags: Iterable[tuple[float, str]]) -> None:
    """Draw flags at places along the track: hollow for a first yes, filled for the first of two in a row."""
    colour = QColor(theme.colours().warning)
    for x, text in flags:
        corners = [QPointF(x - WIDTH / 2, 1), QPointF(x + WIDTH / 2, 1), QPointF(x, HEIGHT)]
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(colour if text == FIRST_OF_TWO else QColor(theme.colours().window))
        painter.drawPolygon(QPolygonF(corners))


def told_of(flags: Sequence[Flag], step: int) -> str:
    """What the flags at a step say, one a line."""
    return "\n".join(text for number, text in flags if number == step)
