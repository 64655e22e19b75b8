"""A loupe: one place of what a canvas shows, enlarged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from app import theme
from app.compare.surroundings import draw_cross, draw_frame
from app.compare.viewport import MAX_ZOOM, Size, View

if TYPE_CHECKING:
    from PySide6.QtGui import QColor

    from app.compare.content import Content
    from app.compare.looking import Place

_SIDE = 22 * theme.GRID
_ZOOM = 8.0  # device-independent pixels that a picture pixel has in it, at least


def draw_loupe(
    painter: QPainter,
    content: Content,
    place: Place,
    *,
    under: tuple[float, float],
    scale: float,
    pane: Size,
    display_scale: float,
    backdrop: QColor,
) -> None:
    """Enlarge a place of what is shown, in the corner of the pane that is away from the cursor.

    `under` is the point of the pane where the place lies, `scale` is that of the pane.
    """
    size = content.image.size
    if size is None:
        return
    # In a small pane it leaves most of the picture to be seen.
    side = min(round(_SIDE * display_scale), min(pane) * 2 // 5)
    zoom = min(max(_ZOOM * display_scale, 4 * scale), MAX_ZOOM)
    image = QImage(side, side, QImage.Format.Format_RGB32)
    image.fill(backdrop)
    inner = QPainter(image)
    content.paint(inner, View(*place, zoom, size), Size(side, side), display_scale)
    draw_cross(inner, side / 2, side / 2, display_scale)
    inner.end()
    margin = round(theme.GRID * display_scale)
    upper_right = under[0] > pane.width / 2 and under[1] < pane.height / 2
    x = margin if upper_right else pane.width - side - margin
    painter.drawImage(x, margin, image)
    draw_frame(painter, QRectF(x, margin, side, side))
