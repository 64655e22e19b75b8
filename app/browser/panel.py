"""The list of runs: filter box, tree, and the runs chosen in it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.browser.delegate import RunDelegate
from app.browser.model import NODE_ROLE, Node, RunTree, matches
from app.browser.sparklines import Sparklines
from app.thumbnails import Thumbnails
from banana100_core.catalog.metrics import metric as find_metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.actions import ActionRegistry
    from app.session import Session

EXPANDED_RUNS = 40
"""Up to so many runs all groups begin open; with more, only the one looked at."""

_CHOOSE = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class BrowserPanel(QWidget):
    """Runs grouped by initial image, protocol and model; plots and scoring take what is selected here."""

    def __init__(self, session: Session, registry: ActionRegistry) -> None:
        super().__init__()
        self._session = session
        self._rows_change = False
        self._open_before: list[tuple[str, ...]] | None = None
        self._thumbnails = Thumbnails.of(session)
        self._sparklines = Sparklines(session)
        self.tree = RunTree()

        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter")
        self.filter.setClearButtonEnabled(True)
        self.filter.addAction(theme.icon("magnifying-glass"), QLineEdit.ActionPosition.LeadingPosition)
        self.filter.textChanged.connect(self._filter)
        self.filter.returnPressed.connect(self._leave_filter)

        self.view = _RunView()
        self.view.setModel(self.tree)
        self._delegate = RunDelegate(self._thumbnails, self._sparklines, self.view)
        self.view.setItemDelegate(self._delegate)

        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID, theme.GRID // 2, 0, 0)
        layout.setSpacing(theme.GRID)
        box = QVBoxLayout()
        box.setContentsMargins(0, 0, theme.GRID, 0)
        box.addWidget(self.filter)
        layout.addLayout(box)
        layout.addWidget(self.view)
        self.setMinimumWidth(26 * theme.GRID)

        self._thumbnails.thumbnail_ready.connect(self._take_thumbnail)
        self._sparklines.updated.connect(self._take_curves)
        self.tree.rowsInserted.connect(self._open_new)
        selection = self.view.selectionModel()
        selection.currentChanged.connect(self._look_at)
        selection.selectionChanged.connect(lambda *_changes: self._tell_selection())
        session.project_opened.connect(self._show_runs)
        session.project_closed.connect(self._show_runs)
        session.runs_updated.connect(self._show_runs)
        session.run_changed.connect(self._show_current)
        session.generation_progressed.connect(self._mark_generating)
        registry.connect("edit.filter", self._focus_filter)
        registry.connect("run.next_run", lambda: self._move(1))
        registry.connect("run.previous_run", lambda: self._move(-1))
        self._show_runs()
        self._show_current()

    def is_settled(self) -> bool:
        """Whether thumbnails and curves of the rows on screen are there."""
        runs = [node.run for node in self._nodes_on_screen() if node.run is not None]
        wanted = [run.last_sha256 or run.initial_sha256 for run in runs]
        return self._sparklines.settled and all(
            self._thumbnails.pixmap(sha256) is not None or self._thumbnails.failed(sha256)
            for sha256 in wanted
            if sha256
        )

    def _take_thumbnail(self, sha256: str) -> None:
        if self._delegate.awaits(sha256):
            self.view.viewport().update()

    def _take_curves(self) -> None:
        metric = self._sparklines.metric
        self.tree.curve_title = find_metric(metric).title if metric else ""
        self.view.viewport().update()

    def _show_runs(self) -> None:
        with self._following():
            self.tree.set_runs(self._session.runs)
            if self.filter.text():
                self._hide_others()
        self.view.hint = "" if self._session.runs else "No runs yet.\nImport a folder, or generate some."
        self.view.viewport().update()

    @contextmanager
    def _following(self) -> Iterator[None]:
        """While rows come and go, the view moves its current row about; the run looked at stays the same."""
        before = QPersistentModelIndex(self.view.currentIndex())
        self._rows_change = True
        try:
            yield
            if not before.isValid():
                self.view.selectionModel().clear()
        finally:
            self._rows_change = False
        if not before.isValid():
            self._show_current()
        self._tell_selection()

    def _show_current(self) -> None:
        """Have the tree point at the run that the session looks at."""
        run = self._session.run
        index = self._index_of(run.id) if run is not None else QModelIndex()
        if index.isValid() and index != self.view.currentIndex():
            self.view.expand(index.parent().parent())
            self.view.expand(index.parent())
            self.view.selectionModel().setCurrentIndex(index, _CHOOSE)
            self.view.scrollTo(index)

    def _look_at(self, current: QModelIndex) -> None:
        node = current.data(NODE_ROLE)
        if not self._rows_change and isinstance(node, Node) and node.run is not None:
            self._session.choose_run(node.run.id)

    def _tell_selection(self) -> None:
        if self._rows_change:
            return
        chosen: dict[int, None] = {}
        for index in self.view.selectionModel().selectedRows():
            node = index.data(NODE_ROLE)
            if isinstance(node, Node):
                chosen.update(dict.fromkeys(run.id for run in node.runs()))
        order = [index.data(NODE_ROLE).run.id for index in self._run_indexes()]
        self._session.selected_runs = [run_id for run_id in order if run_id in chosen]

    def _filter(self, text: str) -> None:
        if text and self._open_before is None:
            self._open_before = [
                index.data(NODE_ROLE).key for index in self._groups() if self.view.isExpanded(index)
            ]
        self._hide_others()
        if text:
            self.view.expandAll()
        elif self._open_before is not None:
            for index in list(self._groups()):
                self.view.setExpanded(index, index.data(NODE_ROLE).key in self._open_before)
            self._open_before = None
        self._tell_selection()

    def _hide_others(self) -> None:
        """Hide the rows that don't match; the model stays whole, and so do selection and expansion."""
        words = self.filter.text().casefold().split()
        found = False
        for image in _rows(self.tree, QModelIndex()):
            image_found = False
            for group in _rows(self.tree, image):
                group_found = False
                for index in _rows(self.tree, group):
                    match = matches(index.data(NODE_ROLE).run, words)
                    group_found |= match
                    self._hide(index, hidden=not match)
                image_found |= group_found
                self._hide(group, hidden=not group_found)
            found |= image_found
            self._hide(image, hidden=not image_found)
        self.view.nothing_found = not found

    def _hide(self, index: QModelIndex, *, hidden: bool) -> None:
        if self.view.isRowHidden(index.row(), index.parent()) != hidden:
            self.view.setRowHidden(index.row(), index.parent(), hidden)

    def _focus_filter(self) -> None:
        self.filter.setFocus()
        self.filter.selectAll()

    def _leave_filter(self) -> None:
        """Enter goes to the first run found."""
        first = next(self._run_indexes(), None)
        if first is not None:
            self.view.selectionModel().setCurrentIndex(first, _CHOOSE)
            self.view.setFocus()

    def _move(self, by: int) -> None:
        indexes = list(self._run_indexes())
        current = self._index_of(self._session.run.id) if self._session.run else QModelIndex()
        row = indexes.index(current) + by if current in indexes else 0
        if 0 <= row < len(indexes):
            self._session.choose_run(indexes[row].data(NODE_ROLE).run.id)

    def _mark_generating(self, progress: object) -> None:
        run_id = getattr(progress, "run_id", None)
        if run_id != self._delegate.generating:
            self._delegate.generating = run_id
            self.view.viewport().update()

    def _open_new(self, parent: QModelIndex, first: int, last: int) -> None:
        """Open groups as they arrive, unless there are so many that this would bury the rest."""
        if len(self._session.runs) > EXPANDED_RUNS and not self.filter.text():
            return
        for row in range(first, last + 1):
            self.view.expandRecursively(self.tree.index(row, 0, parent))
        self.view.expand(parent)

    def _index_of(self, run_id: int) -> QModelIndex:
        return self.tree.index_of_run(run_id)

    def _groups(self) -> Iterator[QModelIndex]:
        for image in _rows(self.tree, QModelIndex()):
            yield image
            yield from _rows(self.tree, image)

    def _run_indexes(self) -> Iterator[QModelIndex]:
        """Runs that the filter lets through, from top to bottom."""
        for group in self._groups():
            if group.parent().isValid():
                for index in _rows(self.tree, group):
                    if not self.view.isRowHidden(index.row(), group):
                        yield index

    def _nodes_on_screen(self) -> Iterator[Node]:
        index = self.view.indexAt(self.view.viewport().rect().topLeft())
        while index.isValid() and self.view.visualRect(index).top() < self.view.viewport().height():
            yield index.data(NODE_ROLE)
            index = self.view.indexBelow(index)


def _rows(tree: RunTree, parent: QModelIndex) -> Iterator[QModelIndex]:
    return (tree.index(row, 0, parent) for row in range(tree.rowCount(parent)))


class _RunView(QTreeView):
    """The tree itself; says what to do when it is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.hint = ""
        self.nothing_found = False
        self.setHeaderHidden(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setIndentation(theme.GRID + theme.GRID // 2)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setAccessibleName("Runs")
        self._under_mouse = QPersistentModelIndex()
        self._soften()
        theme.notifier().theme_changed.connect(self._soften)

    def event(self, event: QEvent) -> bool:
        """Left and Right open and close groups, though they are keys of the window too."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            node = self.currentIndex().data(NODE_ROLE)
            on_group = isinstance(node, Node) and node.run is None
            if on_group and event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right) and not event.modifiers():
                event.accept()
                return True
        return super().event(event)

    def drawRow(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Qt's: the ground of a row from edge to edge, then the row."""
        shown = theme.colours()
        selected = self.selectionModel().isSelected(index)
        if selected or index == self._under_mouse:
            ground = option.rect.adjusted(0, 1, -theme.GRID // 2, -1)
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(shown.selected if selected else shown.hover))
            painter.drawRoundedRect(ground, theme.GRID / 2, theme.GRID / 2)
            painter.restore()
        super().drawRow(painter, option, index)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt's: mark the row under the mouse."""
        super().mouseMoveEvent(event)
        self._mark(self.indexAt(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        """Qt's: mark none."""
        super().leaveEvent(event)
        self._mark(QModelIndex())

    def _mark(self, index: QModelIndex) -> None:
        if index != self._under_mouse:
            self._under_mouse = QPersistentModelIndex(index)
            self.viewport().update()

    def _soften(self) -> None:
        """The style draws no selection of its own: it would stop at the indentation."""
        palette = self.palette()
        for role in (QPalette.ColorRole.Highlight, QPalette.ColorRole.Accent):
            palette.setColor(role, QColor(0, 0, 0, 0))
        self.setPalette(palette)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's: the rows, or what to do when there are none."""
        super().paintEvent(event)
        text = self.hint or ("No run matches." if self.nothing_found else "")
        if text:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.colours().muted))
            margin = 2 * theme.GRID
            room = self.viewport().rect().adjusted(margin, margin, -margin, -margin)
            painter.drawText(
                room,
                Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap,
                text,
            )
            painter.end()
