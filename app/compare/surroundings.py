"""What lies around and over the pictures of a canvas: backdrop, messages, marks."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen

from app import theme

_CHECKER_SIDE = 8
_MARK_DARK, _MARK_LIGHT = QColor(0, 0, 0, 160), QColor(255, 255, 255)


class Backdrop(StrEnum):
    """What lies around and behind the pictures."""

    GREY = "grey"
    BLACK = "black"
    WHITE = "white"
    CHECKER = "checker"

    @property
    def colour(self) -> QColor:
        """Its colour, of a checker the darker one."""
        return QColor(
            {"black": "#000000", "white": "#ffffff", "checker": "#707070"}.get(self, theme.CANVAS_GREY)
        )

    @property
    def ink(self) -> QColor:
        """A colour for text on it."""
        return QColor("#e6e6e6" if self is Backdrop.BLACK else "#101010")


def draw_backdrop(painter: QPainter, backdrop: Backdrop, area: QRect, display_scale: float) -> None:
    """Fill an area of device pixels."""
    painter.fillRect(area, backdrop.colour)
    if backdrop is Backdrop.CHECKER:
        side = round(_CHECKER_SIDE * display_scale)
        tile = QImage(2 * side, 2 * side, QImage.Format.Format_RGB32)
        tile.fill(backdrop.colour)
        corner = QPainter(tile)
        corner.fillRect(0, 0, side, side, QColor("#909090"))
        corner.fillRect(side, side, side, side, QColor("#909090"))
        corner.end()
        painter.fillRect(area, tile)


def draw_cross(painter: QPainter, x: float, y: float, display_scale: float) -> None:
    """Mark a point of the pane, in device pixels."""
    arm = round(6 * display_scale)
    for colour, width in ((_MARK_DARK, 3), (_MARK_LIGHT, 1)):
        painter.setPen(QPen(colour, width))
        painter.drawLine(QPointF(x - arm, y), QPointF(x + arm, y))
        painter.drawLine(QPointF(x, y - arm), QPointF(x, y + arm))


def draw_frame(painter: QPainter, rect: QRectF, *, dashed: bool = False) -> None:
    """Outline a rectangle of the pane so that it is seen on light and on dark."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(_MARK_DARK, 3))
    painter.drawRect(rect)
    style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
    painter.setPen(QPen(_MARK_LIGHT, 1, style))
    painter.drawRect(rect)


def draw_message(painter: QPainter, message: str, backdrop: Backdrop, area: QRect) -> None:
    """The first line as a heading, the rest below it."""
    heading, _, text = message.partition("\n")
    painter.setPen(backdrop.ink)
    margin = theme.GRID * 4
    room = area.adjusted(margin, margin, -margin, -margin)
    flags = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
    bold = QFont(painter.font())
    bold.setWeight(QFont.Weight.DemiBold)
    bold.setPointSizeF(bold.pointSizeF() * 1.2)
    text = text.strip()
    below = painter.boundingRect(room, flags, text).height() if text else 0
    plain = painter.font()
    painter.setFont(bold)
    above = painter.boundingRect(room, flags, heading).height() + theme.GRID
    top = max(room.top(), room.center().y() - (above + below) // 2)
    painter.drawText(QRect(room.left(), top, room.width(), above), flags, heading)
    painter.setFont(plain)
    painter.drawText(QRect(room.left(), top + above, room.width(), room.bottom() - top - above), flags, text)
