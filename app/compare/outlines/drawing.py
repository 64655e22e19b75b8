"""Drawing outlines: all of a picture once, moved along while it is panned; the chosen one each time."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, log2
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen, QTransform

from app import theme
from app.compare.outlines.frame import mapped
from app.compare.outlines.geometry import corners, handles, is_vertex
from app.compare.outlines.outline import closed_path
from app.compare.painting import rect_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.compare.outlines.frame import Part
    from app.compare.outlines.outline import Layer, Outline
    from app.compare.viewport import Size
    from banana100_core.catalog.failure_modes import Level
    from banana100_core.project.records import RegionKind
    from banana100_core.project.regions import Points

_HALO = QColor(255, 255, 255, 190)
_HALO_LEVELS = (np.arange(256) * _HALO.alpha() // 255).astype(np.uint8)
_MUTED = 0.6  # opacity of others' outlines
_DASHES = (5.0, 4.0)
_MOST_LABELS = 60  # more than these could not be read
_MOST_MOVES = 6  # until a label has found a place of its own
Place = tuple[int, int, int, int]
"""Left, top, right and bottom of a label, in pixels of the pane."""
_FEW = 64  # outlines that are drawn anew one by one when they change
_MANY = 200  # outlines that are not drawn anew for each frame of a zoom
_HANDLE = 7.0  # side of a handle, in device-independent pixels
_SMALL_HANDLE = 5.0
_LABEL_SIZE = 11
_LEAST_SIDE = 1.5  # device pixels: what is smaller of a line is not drawn


class DrawnLayer:
    """The outlines of one picture in one pane.

    Drawing thousands of lines takes longer than a frame. So they are kept as an image of the pane; a pan
    moves it and draws only the strips that came into view, and an edit only what it changed. While many are
    zoomed, the image is stretched; `stale` says that it is to be drawn anew.
    """

    def __init__(self) -> None:
        self._image = QImage()
        self._spare = QImage()
        self._part: Part | None = None  # as it lay when the image was drawn
        self._ratio = 1.0
        self._drawn: dict[str, Outline] = {}
        self._source: tuple[Layer, frozenset[str]] | None = None
        self._at_rest = False
        self.stale = False

    def draw(
        self,
        painter: QPainter,
        pane: Size,
        part: Part,
        layer: Layer,
        left_out: frozenset[str],
        display_scale: float,
    ) -> None:
        """Draw all outlines but those `left_out`; where many are zoomed, stretched until `settle`."""
        changed = self._take(layer, left_out)
        if not self._drawn and not changed:
            self._part, self.stale = None, False
            return
        whole = QRect(0, 0, *pane)
        before, fits = self._part, self._image.size() == whole.size() and display_scale == self._ratio
        shift = None if before is None or not fits else _shift(before.to_pane, part.to_pane)
        if shift is None or len(changed) > _FEW:
            stretch = before is not None and fits and len(self._drawn) > _MANY and len(changed) <= _FEW
            if stretch and not self._at_rest:
                self.stale = True
            else:
                self._draw_whole(whole, layer, part, display_scale)
        else:
            self._part, self.stale = part, False
            if shift != (0, 0):
                for strip in self._scroll(*shift, whole):
                    self._render(strip, layer, part)
            for each in changed:
                area = part.to_pane.mapRect(each.bounds).toAlignedRect().adjusted(-4, -4, 4, 4)
                self._render(area.intersected(whole), layer, part)
        self._copy(painter, part)

    def _take(self, layer: Layer, left_out: frozenset[str]) -> list[Outline]:
        """Take over what is to be drawn; gives what was drawn otherwise until now."""
        if self._source is not None and self._source[0] is layer and self._source[1] == left_out:
            return []
        old, self._source = self._drawn, (layer, left_out)
        self._drawn = {each.uuid: each for each in layer.outlines if each.uuid not in left_out}
        return [
            each
            for uuid in old.keys() | self._drawn.keys()
            if old.get(uuid) is not self._drawn.get(uuid)
            for each in (old.get(uuid), self._drawn.get(uuid))
            if each is not None
        ]

    def _copy(self, painter: QPainter, part: Part) -> None:
        if self.stale and self._part is not None:
            painter.save()
            undone, _ = self._part.to_pane.inverted()
            painter.setWorldTransform(undone * part.to_pane * painter.worldTransform())
            painter.drawImage(0, 0, self._image)
            painter.restore()
        else:
            area = rect_of(part.clip)
            painter.drawImage(area.topLeft(), self._image, area)

    def _draw_whole(self, whole: QRect, layer: Layer, part: Part, display_scale: float) -> None:
        if self._image.size() != whole.size():
            self._image = QImage(whole.size(), QImage.Format.Format_ARGB32_Premultiplied)
            self._spare = QImage(whole.size(), QImage.Format.Format_ARGB32_Premultiplied)
        self._ratio, self._part, self.stale = display_scale, part, False
        self._render(whole, layer, part)
        self._at_rest = False

    def settle(self) -> None:
        """Draw what was stretched anew when it is drawn next."""
        self._at_rest = self.stale

    def _scroll(self, right: int, down: int, whole: QRect) -> list[QRect]:
        """Move what was drawn; gives the strips that are to be drawn."""
        kept = whole.translated(right, down).intersected(whole)
        if kept.isEmpty():
            return [whole]
        painter = QPainter(self._spare)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        painter.drawImage(right, down, self._image)
        painter.end()
        self._image, self._spare = self._spare, self._image
        strips = [
            QRect(whole.left(), whole.top(), whole.width(), kept.top() - whole.top()),
            QRect(whole.left(), kept.bottom() + 1, whole.width(), whole.bottom() - kept.bottom()),
            QRect(whole.left(), kept.top(), kept.left() - whole.left(), kept.height()),
            QRect(kept.right() + 1, kept.top(), whole.right() - kept.right(), kept.height()),
        ]
        return [strip for strip in strips if not strip.isEmpty()]

    def _render(self, area: QRect, layer: Layer, part: Part) -> None:
        """Draw an area of the pane anew."""
        if area.isEmpty():
            return
        thick = max(1, round(2 * self._ratio)) - 1
        margin = thick + 3
        tile = area.adjusted(-margin, -margin, margin, margin)
        lines = QImage(tile.size(), QImage.Format.Format_ARGB32_Premultiplied)
        lines.fill(0)
        painter = QPainter(lines)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setWorldTransform(part.to_pane * QTransform.fromTranslate(-tile.left(), -tile.top()))
        inverse, _ = part.to_pane.inverted()
        seen = layer.within(inverse.mapRect(QRectF(tile)))
        _draw_lines(painter, [each for each in seen if each.uuid in self._drawn], _scale_of(part.to_pane))
        painter.end()
        painter = QPainter(self._image)
        painter.setClipRect(area)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        painter.drawImage(tile.topLeft(), _with_halo(lines, thick))
        painter.end()


def _shift(old: QTransform, new: QTransform) -> tuple[int, int] | None:
    """By how many whole pixels the picture was moved; None when it was zoomed, turned or is another."""
    if (old.m11(), old.m12(), old.m21(), old.m22()) != (new.m11(), new.m12(), new.m21(), new.m22()):
        return None
    x, y = new.dx() - old.dx(), new.dy() - old.dy()
    return (round(x), round(y)) if abs(x - round(x)) < 1e-3 and abs(y - round(y)) < 1e-3 else None


def _scale_of(to_pane: QTransform) -> float:
    return max(abs(to_pane.m11()), abs(to_pane.m12()))


def _draw_lines(painter: QPainter, outlines: Iterable[Outline], scale: float) -> None:
    """Lines of one device pixel, all of one look together."""
    side = _LEAST_SIDE * 2.0 ** round(-log2(max(scale, 1e-6)))
    looks: dict[tuple[Level, bool, bool], list[Outline]] = {}
    for outline in outlines:
        looks.setdefault((outline.level, outline.held, outline.own), []).append(outline)
    for (level, held, own), alike in looks.items():
        painter.setPen(line_pen(level, 1.0, held=held, own=own))
        boxes = [outline.bounds for outline in alike if len(outline.points) == 2]
        if boxes:
            painter.drawRects(boxes)
        for outline in alike:
            if len(outline.points) > 2:
                painter.drawPath(outline.at_detail(side))


def line_pen(level: Level, width: float, *, held: bool, own: bool) -> QPen:
    """How an outline is drawn: dashed where it is held from an earlier step, muted where it is another's."""
    colour = theme.level_colour(level)
    if not own:
        colour.setAlphaF(_MUTED)
    pen = QPen(colour, width)
    pen.setCosmetic(True)
    pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
    if held:
        pen.setDashPattern([each / width * 1.5 for each in _DASHES])
    return pen


def _with_halo(lines: QImage, thicker: int) -> QImage:
    """Lines of one pixel made wider, on a light edge that is seen on dark pictures."""
    width, height = lines.width(), lines.height()
    pixels = np.frombuffer(lines.bits(), np.uint8).reshape(height, width, 4)
    for _ in range(thicker):
        pixels[:, 1:] = np.maximum(pixels[:, 1:], pixels[:, :-1])
        pixels[1:] = np.maximum(pixels[1:], pixels[:-1])
    edge = pixels[..., 3].copy()
    edge[:, 1:] = np.maximum(edge[:, 1:], edge[:, :-1])
    edge[:, :-1] = np.maximum(edge[:, :-1], edge[:, 1:])
    edge[1:] = np.maximum(edge[1:], edge[:-1])
    edge[:-1] = np.maximum(edge[:-1], edge[1:])
    haloed = QImage(width, height, QImage.Format.Format_ARGB32_Premultiplied)
    np.frombuffer(haloed.bits(), np.uint8).reshape(height, width, 4)[...] = _HALO_LEVELS[edge][..., None]
    painter = QPainter(haloed)
    painter.drawImage(0, 0, lines)
    painter.end()
    return haloed


# The chosen outline, the one being drawn, and labels: few, and drawn with each frame


def draw_chosen(
    painter: QPainter, to_pane: QTransform, outline: Outline, points: Points, display_scale: float
) -> None:
    """Draw an outline thicker than the rest, with `points` that may differ from its own."""
    ring = closed_path([mapped(to_pane, *each) for each in corners(outline.kind, points)])
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(_HALO, 5 * display_scale))
    painter.drawPath(ring)
    painter.setPen(line_pen(outline.level, 3 * display_scale, held=outline.held, own=True))
    painter.drawPath(ring)


def draw_handles(
    painter: QPainter,
    to_pane: QTransform,
    kind: RegionKind,
    points: Points,
    chosen: int | None,
    display_scale: float,
) -> None:
    """Draw where an outline can be taken hold of; the chosen handle in the accent."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
    for number, point in enumerate(handles(kind, points)):
        x, y = mapped(to_pane, *point)
        full = is_vertex(kind, points, number) or (len(points) == 2 and number % 2 == 0)
        side = round((_HANDLE if full or number == chosen else _SMALL_HANDLE) * display_scale)
        painter.setPen(QPen(QColor(0, 0, 0), 1))
        painter.setBrush(QColor(theme.ACCENT) if number == chosen else QColor(255, 255, 255))
        painter.drawRect(QRect(round(x) - side // 2, round(y) - side // 2, side, side))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def draw_labels(
    painter: QPainter, part: Part, layer: Layer, chosen: Outline | None, display_scale: float
) -> None:
    """Name the outlines on screen where these are not too many; the chosen one is always named."""
    seen = part.seen()
    outlines = layer.within(seen) if layer.count_within(seen) <= _MOST_LABELS else [chosen] if chosen else []
    taken: list[Place] = []
    for outline in sorted(outlines, key=lambda each: each is not chosen):  # which gets the best place
        bounds = part.to_pane.mapRect(outline.bounds)
        if outline is chosen or bounds.width() >= 3 * _HANDLE * display_scale:
            size = round(_LABEL_SIZE * display_scale)
            taken.append(_draw_label(painter, part, outline, bounds, size, taken))


def _draw_label(
    painter: QPainter, part: Part, outline: Outline, bounds: QRectF, pixel_size: int, taken: Sequence[Place]
) -> Place:
    """Name an outline above it, beside the places that are taken; returns the place it got."""
    text = outline.label + (f" · from {outline.outlined_step}" if outline.held and outline.numbered else "")
    text += "" if outline.own else f" · {outline.annotator}"
    text += " · not saved" if outline.unsaved else ""
    label = _label(text, theme.level_colour(outline.level).name(), pixel_size)
    clip = part.clip
    left = max(clip.left, min(round(bounds.left()) - 1, clip.right - label.width()))
    top = round(bounds.top()) - label.height() - 2
    if top < clip.top:  # inside, where there is no room above
        top = max(clip.top, round(bounds.top()) + 2)
    place = free_place((left, top, left + label.width(), top + label.height()), taken, clip.top)
    painter.setOpacity(1.0 if outline.own else 0.7)
    painter.drawImage(place[0], place[1], label)
    painter.setOpacity(1.0)
    return place


def free_place(wanted: Place, taken: Sequence[Place], top: int) -> Place:
    """The first free place above the one wanted, or below it where there is no room above.

    Where too many are in the way they could not be read anyhow, and it is the one wanted.
    """
    for up in (True, False):
        place = wanted
        for _ in range(_MOST_MOVES):
            other = _first_at(place, taken)
            if other is None:
                return place
            left, _top, right, _bottom = place
            height = place[3] - place[1]
            first = other[1] - 1 - height if up else other[3] + 1
            place = (left, first, right, first + height)
            if up and first < top:
                break
    return wanted


def _first_at(place: Place, taken: Sequence[Place]) -> Place | None:
    left, top, right, bottom = place
    for other in taken:
        if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
            return other
    return None


@lru_cache(maxsize=256)
def _label(text: str, colour: str, pixel_size: int) -> QImage:
    """Text laid out once: a screenful laid out anew would take a good part of a frame."""
    font = QFont()
    font.setPixelSize(pixel_size)
    metrics = QFontMetricsF(font)
    pad = round(pixel_size / 3)
    size = QSize(ceil(metrics.horizontalAdvance(text)) + 3 * pad, ceil(metrics.height()) + 2)
    image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(QColor(20, 20, 20, 215))
    painter = QPainter(image)
    painter.setFont(font)
    painter.fillRect(0, 0, pad, size.height(), QColor(colour))
    painter.setPen(QColor(255, 255, 255))
    painter.drawText(image.rect().adjusted(2 * pad, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
    painter.end()
    return image


def draw_draft(
    painter: QPainter,
    to_pane: QTransform,
    points: Sequence[tuple[float, float]],
    cursor: tuple[float, float] | None,
    level: Level,
    display_scale: float,
) -> None:
    """Draw the line of a region that is being drawn, and on to the cursor."""
    shown = [QPointF(*mapped(to_pane, *each)) for each in points]
    if cursor is not None:
        shown.append(QPointF(*mapped(to_pane, *cursor)))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for pen in (QPen(_HALO, 5 * display_scale), line_pen(level, 3 * display_scale, held=False, own=True)):
        painter.setPen(pen)
        painter.drawPolyline(shown)
    painter.setPen(QPen(QColor(0, 0, 0), 1))
    painter.setBrush(QColor(255, 255, 255))
    side = _HANDLE * display_scale
    for point in shown[: len(points)]:
        painter.drawRect(QRectF(point.x() - side / 2, point.y() - side / 2, side, side))
