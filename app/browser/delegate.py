"""How a cell of the list of runs is drawn."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPainterPath, QPen, QPixmap
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app import theme
from app.browser import pinned
from app.browser.columns import CURVE, OUTCOME, RUN, STEPS
from app.elided import RIGHT, shortened
from banana100_core.project.records import Run, RunState

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from app.browser.columns import Column
    from app.browser.listed import Listed
    from app.browser.model import Node, RunTree
    from app.browser.sparklines import Sparklines
    from app.browser.tree_view import RunView
    from app.thumbnails import Thumbnails

GROUP_ROW = pinned.HEIGHT
RUN_ROW = 6 * theme.GRID
THUMBNAIL = 5 * theme.GRID
ROOM_FOR_THUMBNAIL = 16 * theme.GRID
"""In a narrower column thumbnails are half as large, so that names have room."""
CURVE_HEIGHT = 2 * theme.GRID + theme.GRID // 2
ICON = 2 * theme.GRID
_SMALL = 0.9

CELLS_KEPT = 1024
"""Drawn cells that are kept; about 20 kB each."""

_NO_SIZE = QSize(0, 0)
_RUN_SIZE, _GROUP_SIZE = QSize(10 * theme.GRID, RUN_ROW), QSize(10 * theme.GRID, GROUP_ROW)

_ICONS = {
    RunState.PLANNED: "circle-half",
    RunState.DONE: "check",
    RunState.STOPPED: "warning",
    RunState.CANCELLED: "prohibit",
}
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


class RunDelegate(QStyledItemDelegate):
    """Draws groups as quiet headings, and what the columns tell of runs."""

    def __init__(self, tree: RunTree, thumbnails: Thumbnails, sparklines: Sparklines, view: RunView) -> None:
        super().__init__(view)
        self._tree = tree
        self._view = view
        self._thumbnails = thumbnails
        self._sparklines = sparklines
        self._cells: OrderedDict[tuple[Hashable, ...], QPixmap] = OrderedDict()
        self._last_drawn: dict[int, str] = {}
        self._awaited: dict[str, set[QPersistentModelIndex]] = {}
        self.generating: int | None = None
        theme.notifier().theme_changed.connect(self._cells.clear)

    def sizeHint(self, _option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Qt's: height by kind of row; the width follows the panel."""
        if index.column():
            return _NO_SIZE  # a row is as high as its first cell
        return _GROUP_SIZE if self._tree.node(index).listed is None else _RUN_SIZE

    def awaited(self, sha256: str) -> set[QPersistentModelIndex]:
        """The cells that were drawn without a thumbnail which has come."""
        return self._awaited.pop(sha256, set())

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt's: draw a cell, as it was drawn last unless something in it has changed since."""
        node = self._tree.node(index)
        rect: QRect = option.rect
        if node.listed is None:  # its count stays on screen where the columns are wider than the list
            rect = rect.adjusted(0, 0, min(0, self._view.viewport().width() - 1 - rect.right()), 0)
        device = painter.device()
        ratio = device.devicePixelRatioF() if device is not None else 1.0
        column = self._tree.column(index.column())
        told, draw = self._content(node, column, index)
        key = (column.key, rect.width(), rect.height(), ratio, told)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = _drawn(rect.size(), ratio, draw)
            while len(self._cells) > CELLS_KEPT:
                self._cells.popitem(last=False)
        else:
            self._cells.move_to_end(key)
        painter.drawPixmap(rect.topLeft(), cell)

    def _content(
        self, node: Node, column: Column, index: QModelIndex | QPersistentModelIndex
    ) -> tuple[Hashable, Callable[[QPainter, QRect], None]]:
        """What a cell depends on, and how it is drawn."""
        entry = node.listed
        if entry is None:
            counts = node.counts
            return (node.title, node.note, counts), lambda painter, rect: _draw_group(
                painter, rect, node, counts
            )
        run = entry.run
        if column.key == RUN:
            thumbnail = self._thumbnail(run, index)
            told: Hashable = (node.title, node.note, None if thumbnail is None else thumbnail.cacheKey())
            return told, lambda painter, rect: _draw_run(painter, rect, node, thumbnail)
        if column.key == CURVE:
            curve, span = self._sparklines.curve(run.id), self._sparklines.span
            last = max(run.steps_planned, curve.points[-1][0] if curve and curve.points else 1, 1)
            points = curve.points if curve is not None else ()
            return (points, span, last), lambda painter, rect: _draw_curve(painter, rect, points, span, last)
        text = column.text(entry)
        if column.key == (OUTCOME if self._tree.shows(OUTCOME) else STEPS):  # the state is marked once
            icon = self._icon(entry)
            return (text, icon), lambda painter, rect: _draw_state(painter, rect, text, icon, column)
        return text, lambda painter, rect: _draw_text(painter, rect, text, column)

    def _icon(self, entry: Listed) -> tuple[str, str]:
        """The mark of a run's state and its colour."""
        shown = theme.colours()
        if entry.run.id == self.generating:
            return "play-circle", shown.accent
        warns = entry.run.state is RunState.STOPPED or entry.run.steps_failed
        name = "warning" if entry.run.steps_failed else _ICONS[entry.run.state]
        return name, shown.warning if warns else shown.muted

    def _thumbnail(self, run: Run, index: QModelIndex | QPersistentModelIndex) -> QPixmap | None:
        """That of the last step, or the one before it until it has come."""
        wanted = run.last_sha256 or run.initial_sha256
        if wanted is None:
            return None
        pixmap = self._thumbnails.pixmap(wanted)
        if pixmap is not None:
            self._last_drawn[run.id] = wanted
            return pixmap
        self._awaited.setdefault(wanted, set()).add(QPersistentModelIndex(index))
        before = self._last_drawn.get(run.id)
        return self._thumbnails.pixmap(before) if before else None


def two_lines(title: str, note: str, metrics: QFontMetrics, width: int) -> tuple[str, str]:
    """What a run is called; where it has no room in one line, the number of the repeat begins the second."""
    head, point, number = title.rpartition(" · ")
    if not point or metrics.horizontalAdvance(title) <= width:
        return title, note
    return head, f"{number} · {note}"


def steps_width(texts: Iterable[str], *, marked: bool = True) -> int:
    """How wide a column is that holds the widest of these texts, with the mark of a state or without."""
    font = theme.base_font()
    font.setPointSizeF(font.pointSizeF() * _SMALL)
    widest = max(map(QFontMetrics(font).horizontalAdvance, texts), default=0)
    return max(6 * theme.GRID, widest + (ICON if marked else 0) + theme.GRID + theme.GRID // 2)


def _drawn(size: QSize, ratio: float, draw: Callable[[QPainter, QRect], None]) -> QPixmap:
    cell = QPixmap(size * ratio)
    cell.setDevicePixelRatio(ratio)
    cell.fill(Qt.GlobalColor.transparent)
    painter = QPainter(cell)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    draw(painter, QRect(theme.GRID // 2, 0, size.width() - theme.GRID, size.height()))
    painter.end()
    return cell


def _draw_group(painter: QPainter, rect: QRect, node: Node, counts: tuple[int, int]) -> None:
    shown = theme.colours()
    painter.setPen(QColor(shown.text))
    painter.setFont(_font(painter, bold=True))
    title = shortened(painter.fontMetrics(), node.title, rect.width() - 6 * theme.GRID)
    painter.drawText(rect, _LEFT, title)
    room = rect.adjusted(painter.fontMetrics().horizontalAdvance(title) + theme.GRID, 0, 0, 0)
    painter.setPen(QColor(shown.muted))
    painter.setFont(_font(painter, small=True))
    done, total = counts
    number = str(total) if done == total else f"{done}/{total}"
    painter.drawText(room, _RIGHT, number)
    room.setRight(room.right() - painter.fontMetrics().horizontalAdvance(number) - theme.GRID)
    painter.drawText(room, _LEFT, shortened(painter.fontMetrics(), node.note, room.width()))


def _draw_run(painter: QPainter, rect: QRect, node: Node, thumbnail: QPixmap | None) -> None:
    shown = theme.colours()
    side = THUMBNAIL if rect.width() >= ROOM_FOR_THUMBNAIL else THUMBNAIL // 2
    _draw_thumbnail(painter, rect, thumbnail, side)
    texts = rect.adjusted(side + theme.GRID, 0, 0, 0)
    middle = texts.height() // 2
    upper = QRect(texts.left(), texts.top() + 6, texts.width(), middle - 6)
    lower = QRect(texts.left(), upper.bottom() + 1, texts.width(), middle - 6)
    painter.setPen(QColor(shown.text))
    painter.setFont(_font(painter))
    title, note = two_lines(node.title, node.note, painter.fontMetrics(), texts.width())
    painter.drawText(upper, _LEFT, shortened(painter.fontMetrics(), title, upper.width()))
    painter.setPen(QColor(shown.muted))
    painter.setFont(_font(painter, small=True))
    painter.drawText(lower, _LEFT, shortened(painter.fontMetrics(), note, lower.width(), may_drop=True))


def _draw_thumbnail(painter: QPainter, rect: QRect, pixmap: QPixmap | None, side: int) -> None:
    place = QRect(rect.left(), rect.center().y() - side // 2 + 1, side, side)
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


def _draw_curve(
    painter: QPainter,
    cell: QRect,
    points: tuple[tuple[int, float], ...],
    span: tuple[float, float],
    last: int,
) -> None:
    if len(points) < 2:
        return
    rect = QRect(cell.left(), cell.center().y() - CURVE_HEIGHT // 2, cell.width(), CURVE_HEIGHT)
    low, high = span
    left, bottom = rect.left(), rect.bottom()
    across, up = rect.width() / last, rect.height() / ((high - low) or 1.0)
    line = [QPointF(left + across * step, bottom - up * (value - low)) for step, value in points]
    painter.setPen(QPen(QColor(theme.colours().muted), 1.25))
    painter.drawPolyline(line)


def _draw_state(painter: QPainter, rect: QRect, text: str, icon: tuple[str, str], column: Column) -> None:
    ratio = painter.device().devicePixelRatioF() if painter.device() else 1.0
    pixmap = theme.icon_pixmap(*icon, ICON, ratio)
    top = rect.center().y() - ICON // 2 + 1
    if column.to_right:
        painter.drawPixmap(rect.right() - ICON + 1, top, pixmap)
        _draw_text(painter, rect.adjusted(0, 0, -ICON - theme.GRID // 4, 0), text, column)
    else:
        painter.drawPixmap(rect.left(), top, pixmap)
        _draw_text(painter, rect.adjusted(ICON + theme.GRID // 2, 0, 0, 0), text, column)


def _draw_text(painter: QPainter, rect: QRect, text: str, column: Column) -> None:
    painter.setPen(QColor(theme.colours().muted))
    painter.setFont(_font(painter, small=True))
    painter.drawText(rect, _RIGHT if column.to_right else _LEFT, _elided(painter, text, rect.width()))


def _font(painter: QPainter, *, small: bool = False, bold: bool = False) -> QFont:
    font = QFont(painter.font())
    application = theme.base_font()
    font.setPointSizeF(application.pointSizeF() * (_SMALL if small else 1.0))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font


def _elided(painter: QPainter, text: str, width: int) -> str:
    return painter.fontMetrics().elidedText(text.replace("\n", " "), RIGHT, width)


def _square(pixmap: QPixmap) -> QRectF:
    """The middle of a picture, as a square."""
    side = min(pixmap.width(), pixmap.height())
    return QRectF((pixmap.width() - side) / 2, (pixmap.height() - side) / 2, side, side)
