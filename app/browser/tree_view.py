"""The list itself: rows marked from edge to edge, keys that fold groups, words where it is empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QStyleOptionViewItem, QTreeView

from app import theme
from app.browser.columns import CURVE
from app.browser.model import NODE_ROLE, Node, RunTree
from app.browser.pinned import PinnedHeading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

NARROWEST_RUN, NARROW_RUN = 14 * theme.GRID, 30 * theme.GRID
ROOM_FOR_CURVES = 31 * theme.GRID
"""A list narrower than this goes without its small curves."""
_INDENTATION = theme.GRID
_BAR = 3


class RunView(QTreeView):
    """Runs in groups; the first column takes the room that the others leave."""

    sort_chosen = Signal(int, Qt.SortOrder)
    """A title was clicked: its section, -1 for the order in which runs were added."""
    widths_changed = Signal(dict)
    """Columns were drawn wider or narrower; carries the widths of all that were, by key."""

    def __init__(self, tree: RunTree) -> None:
        super().__init__()
        self._tree = tree
        self._under_mouse = QPersistentModelIndex()
        self._looked_at: int | None = None
        self._widths: dict[str, int] = {}
        self._needed: dict[str, int] = {}
        self._pinned = PinnedHeading(self)
        self.hint = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setIndentation(_INDENTATION)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setMouseTracking(True)
        self.setAccessibleName("Runs")
        self.setModel(tree)
        header = self.header()
        header.setStretchLastSection(False)
        header.setStyleSheet(f"QHeaderView::section {{ padding: {theme.GRID // 2}px; }}")
        header.setSectionsMovable(False)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(False)  # it would lie over titles that end at the right
        header.setSortIndicatorClearable(True)
        header.setMinimumSectionSize(3 * theme.GRID)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.sortIndicatorChanged.connect(self.sort_chosen)
        header.sectionResized.connect(self._keep_width)
        tree.modelReset.connect(self.fit_columns)
        self.fit_columns()
        self._soften()
        theme.notifier().theme_changed.connect(self._soften)
        self._tree.headerDataChanged.connect(self._take_titles)

    def _take_titles(self, _way: Qt.Orientation, _first: int, last: int) -> None:
        if last > 0:  # the first tells how many runs there are, and takes what room is left
            self.fit_columns()

    def set_widths(self, widths: object) -> None:
        """Give columns the widths that `widths_changed` told; what isn't that is passed over."""
        known = widths.items() if isinstance(widths, dict) else ()
        self._widths = {key: width for key, width in known if isinstance(width, int) and width > 0}
        self.fit_columns()

    def set_needed(self, key: str, width: int) -> None:
        """Say how wide a column has to be for what is in it now; what it was drawn to counts more."""
        if self._needed.get(key) != width:
            self._needed[key] = width
            self.fit_columns()

    def fit_columns(self) -> None:
        """Give each column the width it was left at, and the rest to the run."""
        header = self.header()
        header.blockSignals(True)  # noqa: FBT003 - Qt's
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        used, room = 0, self.viewport().width()
        for section in range(1, self._tree.columnCount()):
            column = self._tree.column(section)
            needed = max(self._needed.get(column.key, column.width), self._title_width(section))
            width = self._widths.get(column.key) or needed
            header.resizeSection(section, width)
            hidden = column.key == CURVE and room < ROOM_FOR_CURVES
            header.setSectionHidden(section, hidden)
            used += 0 if hidden else width
        narrowest = max(NARROWEST_RUN, min(NARROW_RUN, room // 2))
        header.resizeSection(0, max(narrowest, room - used))
        header.blockSignals(False)  # noqa: FBT003 - Qt's
        self.updateGeometries()
        self.viewport().update()

    def _title_width(self, section: int) -> int:
        title = self._tree.headerData(section, Qt.Orientation.Horizontal)
        return self.header().fontMetrics().horizontalAdvance(str(title)) + 2 * theme.GRID + 2

    def show_sort(self, section: int, *, descending: bool) -> None:
        """Mark the column that the runs are sorted by, -1 for none."""
        header = self.header()
        header.blockSignals(True)  # noqa: FBT003 - Qt's
        order = Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder
        header.setSortIndicator(section, order)
        header.blockSignals(False)  # noqa: FBT003 - Qt's
        self._tree.tell_sort(self._tree.column(section).key if section >= 0 else "", descending=descending)

    def mark_looked_at(self, run_id: int | None) -> None:
        """Mark the run that the comparison shows, whatever else is selected."""
        before, self._looked_at = self._looked_at, run_id
        for each in (before, run_id):
            if each is not None and before != run_id:
                self._update_row(self._tree.index_of_run(each))

    def update_runs(self, run_ids: Collection[int], key: str) -> None:
        """Paint a column anew, of those runs that are seen now."""
        sections = range(self._tree.columnCount())
        section = next((each for each in sections if self._tree.column(each).key == key), -1)
        if section < 0 or self.isColumnHidden(section):
            return
        for index in self._indexes_on_screen():
            run = self._tree.node(index).run
            if run is not None and run.id in run_ids:
                self.update(index.siblingAtColumn(section))

    def open_groups(self, groups: Iterable[QModelIndex]) -> None:
        """Open groups and place the rows once, rather than once for each group."""
        closed = [index for index in groups if not self.isExpanded(index)]
        if closed:
            self.scheduleDelayedItemsLayout()
            for index in closed:
                self.expand(index)
            self.executeDelayedItemsLayout()

    def nodes_on_screen(self) -> Iterator[Node]:
        """The rows that are seen now."""
        return map(self._tree.node, self._indexes_on_screen())

    def event(self, event: QEvent) -> bool:
        """Left and Right open and close groups, though they are keys of the window too."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            node = self.currentIndex().data(NODE_ROLE)
            on_group = isinstance(node, Node) and node.run is None
            if on_group and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not event.modifiers():
                event.accept()
                return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt's: the run's column grows and shrinks with the list."""
        super().resizeEvent(event)
        if event.oldSize().width() != event.size().width():
            self.fit_columns()

    def scrollContentsBy(self, right: int, down: int) -> None:
        """Qt's: move what stays on screen; Qt itself paints all anew from a few pixels on."""
        pinned = self._pinned.rect
        moved = self.viewport().rect().adjusted(0, pinned.height(), 0, 0)
        if right == 0 and abs(down) < moved.height():
            self.viewport().scroll(right, down, moved)
            self.viewport().update(pinned)
        else:
            super().scrollContentsBy(right, down)

    def scrollTo(
        self,
        index: QModelIndex | QPersistentModelIndex,
        hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible,
    ) -> None:
        """Qt's: have a row in sight, and not below the heading at the top."""
        super().scrollTo(index, hint)
        place = self.visualRect(index)
        covered = self._pinned.rect.height() - place.top()
        if covered > 0 and place.isValid() and index.parent().isValid():
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() - covered)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt's: a click on the heading at the top goes to where it stands."""
        group = self._pinned.group()
        if group.isValid() and self._pinned.rect.contains(event.position().toPoint()):
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.visualRect(group).top())
            return
        super().mousePressEvent(event)

    def drawRow(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt's: the ground of a row from edge to edge, then the row."""
        selected = self.selectionModel().isSelected(index)
        if selected or index == self._under_mouse:
            shown = theme.colours()
            ground = option.rect.adjusted(0, 1, -theme.GRID // 2, -1)
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(shown.selected if selected else shown.hover))
            painter.drawRoundedRect(ground, theme.GRID / 2, theme.GRID / 2)
            painter.restore()
        super().drawRow(painter, option, index)
        run = self._tree.node(index).run
        if run is not None and run.id == self._looked_at:
            bar = QRect(option.rect.left(), option.rect.top() + theme.GRID, _BAR, 0)
            bar.setBottom(option.rect.bottom() - theme.GRID)
            painter.fillRect(bar, QColor(theme.colours().accent))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt's: mark the row under the mouse."""
        super().mouseMoveEvent(event)
        place = event.position().toPoint()
        covered = self._pinned.group().isValid() and self._pinned.rect.contains(place)
        self._mark(QModelIndex() if covered else self.indexAt(place))

    def leaveEvent(self, event: QEvent) -> None:
        """Qt's: mark none."""
        super().leaveEvent(event)
        self._mark(QModelIndex())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's: the rows, or what to do when there are none."""
        # What covers all of its ground is moved when it scrolls, and only the new rows are painted. The
        # style takes that away whenever it is applied.
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        ground = QPainter(self.viewport())
        ground.fillRect(event.rect(), QColor(theme.colours().window))
        ground.end()
        super().paintEvent(event)
        if event.region().intersects(self._pinned.rect):
            self._pinned.draw()
        if self.hint:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.colours().muted))
            margin = 2 * theme.GRID
            room = self.viewport().rect().adjusted(margin, margin, -margin, -margin)
            painter.drawText(
                room,
                Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap,
                self.hint,
            )
            painter.end()

    def _indexes_on_screen(self) -> Iterator[QModelIndex]:
        index = self.indexAt(self.viewport().rect().topLeft())
        while index.isValid() and self.visualRect(index).top() < self.viewport().height():
            yield index
            index = self.indexBelow(index)

    def _keep_width(self, section: int, _before: int, width: int) -> None:
        if 0 < section < self._tree.columnCount():
            self._widths[self._tree.column(section).key] = width
            self.fit_columns()
            self.widths_changed.emit(dict(self._widths))

    def _mark(self, index: QModelIndex) -> None:
        index = index.siblingAtColumn(0)
        if index != self._under_mouse:
            before, self._under_mouse = self._under_mouse, QPersistentModelIndex(index)
            self._update_row(before)
            self._update_row(self._under_mouse)

    def _update_row(self, index: QModelIndex | QPersistentModelIndex) -> None:
        if index.isValid():
            place = self.visualRect(index)
            self.viewport().update(0, place.top(), self.viewport().width(), place.height())

    def _soften(self) -> None:
        """The style draws no selection of its own: it would stop at the indentation."""
        palette = self.palette()
        for role in (QPalette.ColorRole.Highlight, QPalette.ColorRole.Accent):
            palette.setColor(role, QColor(0, 0, 0, 0))
        self.setPalette(palette)
