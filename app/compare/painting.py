"""Pictures onto a pane: only the pixels on screen, from the pyramid level that is just fine enough."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QImage, QPainter, QStaticText, QTransform

from app.compare.viewport import Bounds, Placement, Size, stretched

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from PySide6.QtGui import QPixmap

    from banana100_core.imaging.pyramid import Pyramid

# Sides of a picture pixel, in units of the display scale, from which its outline and its values are drawn.
GRID_SIDE = 8.0
VALUES_SIDE = 48.0
_MOST_MAGNIFIED = 200.0  # Qt smooths what is magnified 256 times and more ten times as slowly
_GRID_COLOUR = QColor(128, 128, 128, 110)
_DARK_TEXT = QColor(0, 0, 0, 190)
_LIGHT_TEXT = QColor(255, 255, 255, 210)


def pixel_at(pyramid: Pyramid, column: int, row: int) -> tuple[int, int, int]:
    """Red, green and blue of a pixel of the full picture."""
    red, green, blue = pyramid.levels[0][row, column].tolist()
    return red, green, blue


def picture_size(pyramid: Pyramid) -> Size:
    """Width and height of the full picture."""
    height, width = pyramid.levels[0].shape[:2]
    return Size(width, height)


def level_size(pyramid: Pyramid, level: int) -> Size:
    """Width and height of one of its levels."""
    height, width = pyramid.levels[level].shape[:2]
    return Size(width, height)


def use_device_pixels(painter: QPainter, extent: QSize) -> tuple[Size, QPointF]:
    """Make one unit of the painter one device pixel and put its origin on a whole one.

    The corner of a widget can lie between two device pixels when the display scale is 1.25 or 1.5, which
    would blur all that is drawn in it. Returns the whole device pixels within a widget of this extent, and
    how far the origin moved, in device pixels.
    """
    device = painter.deviceTransform()
    left, top = math.ceil(device.dx() - 1e-3), math.ceil(device.dy() - 1e-3)
    corner = device.map(QPointF(extent.width(), extent.height()))
    inverse, _ = device.inverted()
    painter.setWorldTransform(QTransform.fromTranslate(left, top) * inverse)
    pane = Size(max(1, math.floor(corner.x() + 1e-3) - left), max(1, math.floor(corner.y() + 1e-3) - top))
    return pane, QPointF(left - device.dx(), top - device.dy())


def part_of(pixels: NDArray[np.uint8], bounds: Bounds) -> NDArray[np.uint8]:
    """A part of a picture (H, W, 3), C-contiguous along its rows; a turned picture's is copied."""
    part = pixels[bounds.top : bounds.bottom, bounds.left : bounds.right]
    if part.strides[1:] == (3, 1) and part.strides[0] > 0:
        return part
    # As wholes, pixels are moved in a third of the time of their channels.
    return np.ascontiguousarray(part.view("V3")).view(np.uint8).reshape(part.shape)


def image_of(pixels: NDArray[np.uint8]) -> QImage:
    """A QImage over RGB (H, W, 3) or levels (H, W), contiguous along rows; the array must outlive it."""
    layout = QImage.Format.Format_RGB888 if pixels.ndim == 3 else QImage.Format.Format_Indexed8
    height, width = pixels.shape[:2]
    row = pixels.strides[0]
    data = np.lib.stride_tricks.as_strided(pixels, ((height - 1) * row + pixels[0].nbytes,), (1,))
    return QImage(data.data, width, height, row, layout)


def on_screen(size: Size, placement: Placement, clip: Bounds) -> Bounds:
    """The device pixels within `clip` that the picture covers."""
    area = placement.covered(size)
    return Bounds(
        max(area.left, clip.left),
        max(area.top, clip.top),
        min(area.right, clip.right),
        min(area.bottom, clip.bottom),
    )


def rect_of(bounds: Bounds) -> QRect:
    """The same rectangle as Qt knows it."""
    return QRect(bounds.left, bounds.top, bounds.right - bounds.left, bounds.bottom - bounds.top)


def draw_picture(
    painter: QPainter,
    pyramid: Pyramid,
    placement: Placement,
    clip: Bounds,
    part: Callable[[int, Bounds], tuple[QImage, QRect]] | None = None,
) -> None:
    """Draw the part of a picture that lies within `clip`; nearest above 1:1, smooth below.

    `part` gives what is drawn of a level in place of its pixels: an image, and where in it the part lies.
    """
    size = picture_size(pyramid)
    area = on_screen(size, placement, clip)
    if area.empty:
        return
    smooth = min(placement.scale_x, placement.scale_y) < 1
    level = pyramid.level_for(max(placement.scale_x, placement.scale_y)) if smooth else 0
    reduced = 2 ** pyramid.halvings[level]
    scale_x, scale_y = placement.scale_x * reduced, placement.scale_y * reduced
    wanted = Placement(placement.left, placement.top, scale_x, scale_y).visible(
        level_size(pyramid, level),
        # One pixel more all round, so that smoothing doesn't see the edge of the crop.
        _widened(area, math.ceil(scale_x), math.ceil(scale_y)) if smooth else area,
    )
    image, source = _plain(pyramid, level, wanted) if part is None else part(level, wanted)
    painter.save()
    painter.setClipRect(rect_of(area))
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
    painter.drawImage(
        QRectF(
            placement.left + wanted.left * scale_x,
            placement.top + wanted.top * scale_y,
            (wanted.right - wanted.left) * scale_x,
            (wanted.bottom - wanted.top) * scale_y,
        ),
        image,
        QRectF(source),
    )
    painter.restore()


def draw_preview(painter: QPainter, preview: QPixmap, size: Size, placement: Placement, clip: Bounds) -> None:
    """Draw a thumbnail, smoothed, in place of its picture, which is of this size."""
    area = on_screen(size, placement, clip)
    if area.empty:
        return
    own = Size(preview.width(), preview.height())
    over = stretched(placement, size, own)
    wanted = Bounds(0, 0, *own)
    first = math.ceil(max(over.scale_x, over.scale_y) / _MOST_MAGNIFIED)
    if first > 1:
        # One pixel more all round, so that smoothing doesn't see the edge of the crop.
        wanted = over.visible(own, _widened(area, math.ceil(over.scale_x), math.ceil(over.scale_y)))
        preview = preview.copy(rect_of(wanted))
        preview = preview.scaled(
            preview.size() * first,
            Qt.AspectRatioMode.IgnoreAspectRatio,
            Qt.TransformationMode.SmoothTransformation,
        )
    left, top = over.to_pane(wanted.left, wanted.top)
    right, bottom = over.to_pane(wanted.right, wanted.bottom)
    painter.save()
    painter.setClipRect(rect_of(area))
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawPixmap(QRectF(left, top, right - left, bottom - top), preview, QRectF(preview.rect()))
    painter.restore()


def _widened(bounds: Bounds, across: int, down: int) -> Bounds:
    return Bounds(bounds.left - across, bounds.top - down, bounds.right + across, bounds.bottom + down)


def _plain(pyramid: Pyramid, level: int, bounds: Bounds) -> tuple[QImage, QRect]:
    # The layout of screens: Qt scales others much more slowly.
    image = image_of(part_of(pyramid.levels[level], bounds)).convertToFormat(QImage.Format.Format_RGB32)
    return image, image.rect()


def screen_pixels(pyramid: Pyramid, placement: Placement, area: Bounds) -> NDArray[np.uint8]:
    """What `draw_picture` shows in `area`, as RGB (H, W, 3)."""
    pixels = np.zeros((area.bottom - area.top, area.right - area.left, 3), np.uint8)
    image = image_of(pixels)
    painter = QPainter(image)
    painter.translate(-area.left, -area.top)
    draw_picture(painter, pyramid, placement, area)
    painter.end()
    return pixels


def draw_pixel_grid(
    painter: QPainter, size: Size, placement: Placement, clip: Bounds, display_scale: float
) -> None:
    """Outline the pixels of a picture when they are large enough to be told apart."""
    if min(placement.scale_x, placement.scale_y) < GRID_SIDE * display_scale:
        return
    area = on_screen(size, placement, clip)
    if area.empty:
        return
    pixels = placement.visible(size, clip)
    width, height = area.right - area.left, area.bottom - area.top
    # One row with all upright lines is laid over the area: hundreds of lines would take longer than a frame.
    row = QImage(width, 1, QImage.Format.Format_ARGB32_Premultiplied)
    row.fill(0)
    upright = QPainter(row)
    for column in range(pixels.left, pixels.right + 1):
        x = round(placement.left + column * placement.scale_x)
        upright.fillRect(x - area.left, 0, 1, 1, _GRID_COLOUR)
    upright.end()
    painter.save()
    painter.setBrushOrigin(area.left, area.top)
    painter.fillRect(area.left, area.top, width, height, QBrush(row))
    painter.restore()
    for line in range(pixels.top, pixels.bottom + 1):
        y = round(placement.top + line * placement.scale_y)
        if area.top <= y < area.bottom:
            painter.fillRect(area.left, y, width, 1, _GRID_COLOUR)


def draw_pixel_values(
    painter: QPainter, pyramid: Pyramid, placement: Placement, clip: Bounds, display_scale: float
) -> None:
    """Write red, green and blue into each pixel when there is room for them and they are wholly in sight."""
    side = min(placement.scale_x, placement.scale_y)
    if side < VALUES_SIDE * display_scale:
        return
    size = picture_size(pyramid)
    area = on_screen(size, placement, clip)
    if area.empty:
        return
    bounds = placement.visible(size, clip)
    pixels = pyramid.levels[0][bounds.top : bounds.bottom, bounds.left : bounds.right]
    light = pixels @ np.array([0.299, 0.587, 0.114]) > 140
    height = min(round(side / 4.2), round(14 * display_scale))
    line, seen = 1.15 * height, QRectF(rect_of(area))
    font = QFont(painter.font())
    font.setPixelSize(height)
    painter.save()
    painter.setFont(font)
    painter.setClipRect(rect_of(area))
    for on_light in (True, False):
        painter.setPen(_DARK_TEXT if on_light else _LIGHT_TEXT)
        for row, column in np.argwhere(light == on_light):
            left, top = placement.to_pane(bounds.left + column, bounds.top + row)
            texts = [_number(value, height) for value in pixels[row, column].tolist()]
            widest = max(text.size().width() for text in texts)
            middle = QPointF(left + placement.scale_x / 2, top + placement.scale_y / 2)
            room = QRectF(0, 0, widest, 3 * line)
            room.moveCenter(middle)
            if not seen.contains(room):  # cut off, a number would be taken for another
                continue
            for place, text in enumerate(texts):
                x = middle.x() - text.size().width() / 2
                painter.drawStaticText(QPointF(x, room.top() + place * line), text)
    painter.restore()


@lru_cache(maxsize=1024)
def _number(value: int, height: int) -> QStaticText:
    # Laid out once for each size of text: a screenful laid out anew would cost more than a frame.
    font = QFont()
    font.setPixelSize(height)
    text = QStaticText(str(value))
    text.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
    text.prepare(QTransform(), font)
    return text
