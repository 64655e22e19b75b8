"""How a row of the list of runs is drawn."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app import theme
from app.browser.model import NODE_ROLE, Node
from banana100_core.project.records import Run, RunState

if TYPE_CHECKING:
    from collections.abc import Hashable

    from app.browser.sparklines import Sparklines
    from app.thumbnails import Thumbnails

IMAGE_ROW = 4 * theme.GRID
GROUP_ROW = 3 * theme.GRID
RUN_ROW = 6 * theme.GRID
THUMBNAIL = 5 * theme.GRID
SPARKLINE = QSize(8 * theme.GRID, 2 * theme.GRID + theme.GRID // 2)
ICON = 2 * theme.GRID

ROWS_KEPT = 512
"""Drawn rows that are kept; about 60 kB each."""

_ICONS = {
    RunState.PLANNED: "circle-half",
    RunState.DONE: "check",
    RunState.STOPPED: "warning",
    RunState.CANCELLED: "prohibit",
}
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class RunDelegate(QStyledItemDelegate):
    """Draws groups as quiet headings, and runs with thumbnail, curve, steps, tags and state."""

    def __init__(self, thumbnails: Thumbnails, sparklines: Sparklines, parent: QWidget) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._sparklines = sparklines
        self._rows: OrderedDict[tuple[Hashable, ...], QPixmap] = OrderedDict()
        self._last_drawn: dict[int, str] = {}
        self._awaited: set[str] = set()
        self.generating: int | None = None

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Qt's: height by kind of row; the width follows the panel."""
        node: Node = index.data(NODE_ROLE)
        height = RUN_ROW if node.run else GROUP_ROW if len(node.key) > 1 else IMAGE_ROW
        return QSize(10 * theme.GRID, height)

    def awaits(self, sha256: str) -> bool:
        """Whether a thumbnail that has come was missed when rows were drawn."""
        if sha256 in self._awaited:
            self._awaited.discard(sha256)
            return True
        return False

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt's: draw a row."""
        node: Node = index.data(NODE_ROLE)
        rect = option.rect
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        painter.drawPixmap(rect.topLeft(), self._row(node, rect.size(), ratio))

    def _row(self, node: Node, size: QSize, ratio: float) -> QPixmap:
        """A row as it was drawn last, unless something in it has changed since."""
        look = (size.width(), size.height(), ratio, theme.is_dark(), node.title, node.note)
        run = node.run
        key: tuple[Hashable, ...]
        if run is None:
            key = (*look, node.counts)
        else:
            thumbnail, curve = self._thumbnail(run), self._sparklines.curve(run.id)
            key = (
                *look,
                (run.state, run.steps_done, run.steps_planned, run.steps_failed, run.tag_count),
                run.id == self.generating,
                thumbnail.cacheKey() if thumbnail is not None else None,
                curve and (curve, self._sparklines.span),
            )
        row = self._rows.get(key)
        if row is None:
            row = self._drawn(node, size, ratio)
            self._rows[key] = row
            while len(self._rows) > ROWS_KEPT:
                self._rows.popitem(last=False)
        else:
            self._rows.move_to_end(key)
        return row

    def _drawn(self, node: Node, size: QSize, ratio: float) -> QPixmap:
        row = QPixmap(size * ratio)
        row.setDevicePixelRatio(ratio)
        row.fill(Qt.GlobalColor.transparent)
        painter = QPainter(row)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRect(theme.GRID // 2, 0, size.width() - theme.GRID - theme.GRID // 2, size.height())
        if node.run is not None:
            self._draw_run(painter, rect, node, node.run)
        else:
            self._draw_group(painter, rect, node)
        painter.end()
        return row

    def _draw_group(self, painter: QPainter, rect: QRect, node: Node) -> None:
        shown = theme.colours()
        top = len(node.key) == 1
        done, total = node.counts
        painter.setPen(QColor(shown.text if top else shown.muted))
        painter.setFont(_font(painter, bold=top))
        title = _elided(painter, node.title, rect.width() - 6 * theme.GRID)
        painter.drawText(rect, _LEFT, title)
        room = rect.adjusted(painter.fontMetrics().horizontalAdvance(title) + 2 * theme.GRID, 0, 0, 0)
        painter.setPen(QColor(shown.muted))
        painter.setFont(_font(painter, small=True))
        note = f"{done}/{total}" if top else node.note
        painter.drawText(room, _RIGHT, _elided(painter, note, room.width()))

    def _draw_run(self, painter: QPainter, rect: QRect, node: Node, run: Run) -> None:
        shown = theme.colours()
        self._draw_thumbnail(painter, rect, run)
        texts = rect.adjusted(THUMBNAIL + theme.GRID, 0, -(ICON + theme.GRID), 0)
        upper = QRect(texts.left(), texts.top() + 6, texts.width(), texts.height() // 2 - 6)
        lower = QRect(texts.left(), upper.bottom() + 1, texts.width(), texts.height() // 2 - 6)
        painter.setPen(QColor(shown.text))
        painter.setFont(_font(painter))
        painter.drawText(upper, _LEFT, _elided(painter, node.title, upper.width() - SPARKLINE.width()))
        painter.setPen(QColor(shown.muted))
        painter.setFont(_font(painter, small=True))
        steps = f"{run.steps_done} of {run.steps_planned}" if run.steps_planned else f"{run.steps_done} steps"
        failed = f" · {run.steps_failed} failed" if run.steps_failed else ""
        tags = f" · {run.tag_count} tag{'s' if run.tag_count > 1 else ''}" if run.tag_count else ""
        painter.drawText(
            lower, _LEFT, _elided(painter, f"{steps}{failed}{tags}", lower.width() - SPARKLINE.width())
        )
        curve = QRect(
            texts.right() - SPARKLINE.width(),
            texts.center().y() - SPARKLINE.height() // 2,
            SPARKLINE.width(),
            SPARKLINE.height(),
        )
        self._draw_curve(painter, curve, run)
        self._draw_state(painter, rect, run)

    def _draw_thumbnail(self, painter: QPainter, rect: QRect, run: Run) -> None:
        place = QRect(rect.left(), rect.center().y() - THUMBNAIL // 2 + 1, THUMBNAIL, THUMBNAIL)
        pixmap = self._thumbnail(run)
        path = QPainterPath()
        path.addRoundedRect(QRectF(place), 3, 3)
        if pixmap is None or pixmap.isNull():
            painter.fillPath(path, QColor(theme.colours().hover))
            return
        painter.save()
        painter.setClipPath(path)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawPixmap(QRectF(place), pixmap, _square(pixmap))
        painter.restore()

    def _thumbnail(self, run: Run) -> QPixmap | None:
        """That of the last step, or the one before it until it has come."""
        wanted = run.last_sha256 or run.initial_sha256
        if wanted is None:
            return None
        pixmap = self._thumbnails.pixmap(wanted)
        if pixmap is not None:
            self._last_drawn[run.id] = wanted
            return pixmap
        self._awaited.add(wanted)
        before = self._last_drawn.get(run.id)
        return self._thumbnails.pixmap(before) if before else None

    def _draw_curve(self, painter: QPainter, rect: QRect, run: Run) -> None:
        curve = self._sparklines.curve(run.id)
        if curve is None or len(curve.points) < 2:
            return
        low, high = self._sparklines.span
        last = max(run.steps_planned, curve.points[-1][0], 1)
        path = QPainterPath()
        for number, (step, value) in enumerate(curve.points):
            x = rect.left() + rect.width() * step / last
            y = rect.bottom() - rect.height() * (value - low) / ((high - low) or 1.0)
            if number:
                path.lineTo(QPointF(x, y))
            else:
                path.moveTo(QPointF(x, y))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.colours().muted), 1.25))
        painter.drawPath(path)

    def _draw_state(self, painter: QPainter, rect: QRect, run: Run) -> None:
        shown = theme.colours()
        colour = {RunState.STOPPED: shown.warning, RunState.DONE: shown.muted}.get(run.state, shown.muted)
        name = _ICONS[run.state]
        if run.id == self.generating:
            name, colour = "play-circle", shown.accent
        ratio = painter.device().devicePixelRatioF() if painter.device() else 1.0
        pixmap = theme.icon_pixmap(name, colour, ICON, ratio)
        painter.drawPixmap(rect.right() - ICON, rect.center().y() - ICON // 2 + 1, pixmap)


def _font(painter: QPainter, *, small: bool = False, bold: bool = False) -> QFont:
    font = QFont(painter.font())
    application = theme.base_font()
    font.setPointSizeF(application.pointSizeF() * (0.9 if small else 1.0))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def _elided(painter: QPainter, text: str, width: int) -> str:
    return painter.fontMetrics().elidedText(text.replace("\n", " "), Qt.TextElideMode.ElideRight, width)


def _square(pixmap: QPixmap) -> QRectF:
    """The middle of a picture, as a square."""
    side = min(pixmap.width(), pixmap.height())
    return QRectF((pixmap.width() - side) / 2, (pixmap.height() - side) / 2, side, side)
