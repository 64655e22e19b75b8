"""Drawing outlines: all of a picture once, moved along while it is panned; the chosen one each time."""

from __future__ import annotations

from functools import lru_cache
from math import log2
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QPen, QTransform

from app import theme
from app.compare.outlines.frame import mapped
from app.compare.outlines.geometry import corners, handles, is_vertex
from app.compare.outlines.outline import closed_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from app.compare.outlines.frame import Part
    from app.compare.outlines.outline import Layer, Outline
    from app.compare.viewport import Size
    from banana100_core.catalog.failure_modes import Level
    from banana100_core.project.records import RegionKind
    from banana100_core.project.regions import Points

_HALO = QColor(255, 255, 255, 190)
_MUTED = 0.45  # opacity of others' outlines
_DASHES = (5.0, 4.0)
_MOST_LABELS = 60  # more than these could not be read
_FEW = 64  # outlines that are drawn anew one by one when they change
_HANDLE = 7.0  # side of a handle, in device-independent pixels
_SMALL_HANDLE = 5.0
_LABEL_SIZE = 11
_LEAST_SIDE = 1.5  # device pixels: what is smaller of a line is not drawn


class DrawnLayer:
    """The outlines of one picture in one pane.

    Drawing thousands of lines takes longer than a frame. So they are kept as an image of the pane; a pan
    moves it and draws only the strips that came into view, and an edit only what it changed.
    """

    def __init__(self) -> None:
        self._image = QImage()
        self._spare = QImage()
        self._part: Part | None = None
        self._ratio = 1.0
        self._drawn: dict[str, Outline] = {}
        self._source: tuple[Layer, frozenset[str]] | None = None

    def draw(
        self,
        painter: QPainter,
        pane: Size,
        part: Part,
        layer: Layer,
        left_out: frozenset[str],
        display_scale: float,
    ) -> None:
        """Draw all outlines but those `left_out`."""
        self._bring_up_to_date(pane, part, layer, left_out, display_scale)
        if self._drawn:
            clip = part.clip
            area = QRect(clip.left, clip.top, clip.right - clip.left, clip.bottom - clip.top)
            painter.drawImage(area.topLeft(), self._image, area)

    def _bring_up_to_date(
        self, pane: Size, part: Part, layer: Layer, left_out: frozenset[str], display_scale: float
    ) -> None:
        whole = QRect(0, 0, *pane)
        before, same_size = self._part, self._image.size() == whole.size()
        self._part = part
        old = self._drawn
        if self._source != (layer, left_out):
            self._source = layer, left_out
            self._drawn = {each.uuid: each for each in layer.outlines if each.uuid not in left_out}
        if not self._drawn and not old:
            return
        if not same_size:
            self._image = QImage(whole.size(), QImage.Format.Format_ARGB32_Premultiplied)
            self._spare = QImage(whole.size(), QImage.Format.Format_ARGB32_Premultiplied)
        shift = None if before is None else _shift(before.to_pane, part.to_pane)
        changed = [
            each
            for uuid in old.keys() | self._drawn.keys()
            if old.get(uuid) is not self._drawn.get(uuid)
            for each in (old.get(uuid), self._drawn.get(uuid))
            if each is not None
        ]
        if not same_size or shift is None or display_scale != self._ratio or len(changed) > _FEW:
            self._ratio = display_scale
            self._render(whole, layer, part)
            return
        if shift != (0, 0):
            for strip in self._scroll(*shift, whole):
                self._render(strip, layer, part)
        for each in changed:
            area = part.to_pane.mapRect(each.bounds).toAlignedRect().adjusted(-4, -4, 4, 4)
            self._render(area.intersected(whole), layer, part)

    def _scroll(self, right: int, down: int, whole: QRect) -> list[QRect]:
        """Move what was drawn; gives the strips that are empty now."""
        self._spare.fill(0)
        painter = QPainter(self._spare)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        painter.drawImage(right, down, self._image)
        painter.end()
        self._image, self._spare = self._spare, self._image
        kept = whole.translated(right, down).intersected(whole)
        if kept.isEmpty():
            return [whole]
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
        tile = QRect(area).adjusted(-margin, -margin, margin, margin)
        lines = QImage(tile.size(), QImage.Format.Format_ARGB32_Premultiplied)
        lines.fill(0)
        painter = QPainter(lines)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setWorldTransform(part.to_pane * QTransform.fromTranslate(-tile.left(), -tile.top()))
        inverse, _ = part.to_pane.inverted()
        seen = layer.within(inverse.mapRect(QRectF(tile)))
        _draw_lines(painter, [each for each in seen if each.uuid in self._drawn], _scale_of(part.to_pane))
        painter.end()
        lines = _grown(lines, thick)
        result = QPainter(self._image)
        result.setClipRect(area)
        result.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
        result.fillRect(area, Qt.GlobalColor.transparent)
        result.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        result.drawImage(tile.left() - 1, tile.top() - 1, _grown(_silhouette(lines), 2))
        result.drawImage(tile.topLeft(), lines)
        result.end()


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


def _grown(image: QImage, by: int) -> QImage:
    """All that is drawn, wider to the right and down by so many pixels."""
    for _ in range(by):
        for x, y in ((1, 0), (0, 1)):
            narrow = image.copy()
            painter = QPainter(image)
            painter.drawImage(x, y, narrow)
            painter.end()
    return image


def _silhouette(image: QImage) -> QImage:
    dark = image.copy()
    painter = QPainter(dark)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(dark.rect(), _HALO)
    painter.end()
    return dark


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
    painter: QPainter,
    part: Part,
    outlines: Sequence[Outline],
    display_scale: float,
    *,
    always: frozenset[str],
) -> None:
    """Name outlines where there are not too many on screen; some are named always."""
    if len(outlines) > _MOST_LABELS:
        outlines = [outline for outline in outlines if outline.uuid in always]
    if not outlines:
        return
    font = QFont(painter.font())
    font.setPixelSize(round(_LABEL_SIZE * display_scale))
    painter.setFont(font)
    for outline in outlines:
        bounds = part.to_pane.mapRect(outline.bounds)
        if outline.uuid not in always and bounds.width() < 3 * _HANDLE * display_scale:
            continue
        _draw_label(painter, part, outline, bounds, display_scale)


def _draw_label(
    painter: QPainter, part: Part, outline: Outline, bounds: QRectF, display_scale: float
) -> None:
    text = outline.label + (f" · from {outline.outlined_step}" if outline.held and outline.numbered else "")
    text += " · not saved" if outline.unsaved else ""
    width, height = _text_size(text, painter.font().pixelSize())
    pad = round(4 * display_scale)
    chip = QRectF(bounds.left() - 1, bounds.top() - height - 2, width + 3 * pad, height)
    clip = part.clip
    chip.moveLeft(max(clip.left, min(chip.left(), clip.right - chip.width())))
    if chip.top() < clip.top:  # inside, where there is no room above
        chip.moveTop(max(float(clip.top), bounds.top() + 2))
    painter.setOpacity(1.0 if outline.own else 0.7)
    painter.fillRect(chip, QColor(20, 20, 20, 210))
    painter.fillRect(QRectF(chip.left(), chip.top(), pad, chip.height()), theme.level_colour(outline.level))
    painter.setPen(QColor(255, 255, 255))
    painter.drawText(chip.adjusted(2 * pad, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
    painter.setOpacity(1.0)


def draw_draft(
    painter: QPainter,
    to_pane: QTransform,
    points: Sequence[tuple[float, float]],
    cursor: tuple[float, float] | None,
    level: Level,
    display_scale: float,
) -> None:
    """Draw a polygon that is not closed yet, with a line to the cursor."""
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


@lru_cache(maxsize=512)
def _text_size(text: str, pixel_size: int) -> tuple[float, float]:
    font = QFont()
    font.setPixelSize(pixel_size)
    metrics = QFontMetricsF(font)
    return metrics.horizontalAdvance(text), metrics.height() + 2
