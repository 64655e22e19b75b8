"""The menu of facets: every value with how many runs it leaves; stays open while values are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.browser.facets import TITLES, Facet, FacetValue
from app.elided import shortened
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WIDTH = 34 * theme.GRID
ROW = 3 * theme.GRID + theme.GRID // 2
_VALUE = Qt.ItemDataRole.UserRole + 1
_MARK = 2 * theme.GRID
_LETTERS = 24
"""So many fit for certain; a longer label is told in full by a tooltip."""


class FacetPopup(QFrame):
    """A list to tick in: arrows move, Space or Enter ticks, letters jump, Escape leaves."""

    toggled = Signal(object, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("palette")
        self._model = QStandardItemModel(self)
        self.list = _Values(self)
        self.list.setModel(self._model)
        self.list.setItemDelegate(_ValueDelegate(self.list))
        self.list.chosen.connect(self._toggle)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID // 2, theme.GRID // 2, theme.GRID // 2, theme.GRID // 2)
        layout.addWidget(self.list)

    def open_at(self, place: QPoint) -> None:
        """Show it below a place on the screen, its first value marked."""
        screen = QGuiApplication.screenAt(place) or QGuiApplication.primaryScreen()
        room = screen.availableGeometry()
        height = min(self._model.rowCount() * ROW + 2 * theme.GRID, room.height() * 2 // 3)
        x = min(place.x(), room.right() - WIDTH)
        y = min(place.y(), room.bottom() - height)
        self.setGeometry(x, max(y, room.top()), WIDTH, height)
        self.list.setCurrentIndex(QModelIndex())
        self.list.move_on(1)
        self.show()
        self.list.setFocus()

    def show_values(self, offered: Mapping[Facet, Sequence[FacetValue]]) -> None:
        """Offer these; where the keyboard was, it stays."""
        current = self.list.currentIndex().data(_VALUE)
        self._model.clear()
        for facet, values in offered.items():
            if not values:
                continue
            heading = QStandardItem(TITLES[facet])
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            self._model.appendRow(heading)
            for value in values:
                item = QStandardItem(value.label)
                item.setData(value, _VALUE)
                if len(value.label) > _LETTERS:
                    item.setToolTip(plain_tip(value.label))
                item.setData(f"{value.label}, {value.count} runs", Qt.ItemDataRole.AccessibleTextRole)
                item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                self._model.appendRow(item)
                if current is not None and (value.facet, value.value) == (current.facet, current.value):
                    self.list.setCurrentIndex(item.index())

    def _toggle(self, index: QModelIndex) -> None:
        value = index.data(_VALUE)
        if isinstance(value, FacetValue):
            self.toggled.emit(value.facet, value.value)


class _Values(QListView):
    chosen = Signal(QModelIndex)

    def __init__(self, popup: FacetPopup) -> None:
        super().__init__()
        self._popup = popup
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("What to narrow the runs down by")
        self.clicked.connect(self.chosen)

    def move_on(self, by: int) -> None:
        """Go to the next value up or down, over headings."""
        row = self.currentIndex().row() + by
        while 0 <= row < self.model().rowCount():
            index = self.model().index(row, 0)
            if index.flags() & Qt.ItemFlag.ItemIsEnabled:
                self.setCurrentIndex(index)
                return
            row += by

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: move, tick, leave; letters jump to what begins with them."""
        match event.key():
            case Qt.Key.Key_Space | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.chosen.emit(self.currentIndex())
            case Qt.Key.Key_Escape:
                self._popup.hide()
            case Qt.Key.Key_Down:
                self.move_on(1)
            case Qt.Key.Key_Up:
                self.move_on(-1)
            case _:
                super().keyPressEvent(event)


class _ValueDelegate(QStyledItemDelegate):
    """Draws a heading, or a value with its tick and its count."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(10 * theme.GRID, ROW)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        shown = theme.colours()
        value = index.data(_VALUE)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        line = rect.adjusted(theme.GRID // 2, 0, -theme.GRID // 2, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not isinstance(value, FacetValue):
            painter.setPen(QColor(shown.muted))
            font = painter.font()
            font.setPointSizeF(font.pointSizeF() * 0.9)
            painter.setFont(font)
            painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, index.data())
            painter.restore()
            return
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.setPen(Qt.PenStyle.NoPen)
            selected = state & QStyle.StateFlag.State_Selected
            painter.setBrush(QColor(shown.selected if selected else shown.hover))
            painter.drawRoundedRect(rect, theme.GRID / 2, theme.GRID / 2)
        ink = QColor(shown.text if value.count or value.chosen else shown.disabled)
        if value.chosen:
            device = painter.device()
            ratio = device.devicePixelRatioF() if device is not None else 1.0
            mark = theme.icon_pixmap("check", shown.text, _MARK, ratio)
            painter.drawPixmap(line.left(), line.center().y() - _MARK // 2 + 1, mark)
        number = str(value.count)
        painter.setPen(QColor(shown.muted) if value.count else ink)
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, number)
        used = painter.fontMetrics().horizontalAdvance(number) + theme.GRID
        room = line.adjusted(_MARK + theme.GRID, 0, -used, 0)
        painter.setPen(ink)
        label = shortened(painter.fontMetrics(), value.label, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, label)
        painter.restore()
