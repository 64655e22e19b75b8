"""The taxonomy of a project: its failure modes by level, and everything of one to edit in place."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QColor, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QSplitter,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.background import Background
from app.notifications import plain_label
from app.tagging.merge_form import MergeForm
from app.tagging.mode_form import ModeForm
from app.tooltips import plain_tip
from banana100_core.catalog.failure_modes import FailureMode, Level
from banana100_core.errors import BananaError
from banana100_core.project import failure_modes as stored
from banana100_core.project.mode_merging import ModeMerge, merge_modes, plan_mode_merge

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.project.failure_modes import ModeUse

KEY_ROLE = Qt.ItemDataRole.UserRole
_NAME, _LETTER, _TAGS = range(3)


class TaxonomyDialog(QDialog):
    """Left the failure modes, right the chosen one; what is changed is saved when its field is left."""

    _written = Signal(object)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Taxonomy")
        self.resize(112 * theme.GRID, 78 * theme.GRID)
        self._session = session
        self._modes: dict[str, FailureMode] = {}
        self._uses: dict[str, ModeUse] = {}
        self._wanted: str | None = None
        self._finished = False
        self._reader = Background("taxonomy", self)
        self._reader.failed.connect(self._refuse)
        self._writing: set[Future[object]] = set()
        self._written.connect(lambda call: call(), Qt.ConnectionType.QueuedConnection)
        self.list = self._make_list()
        self.add = QPushButton("Add")
        self.form = ModeForm()
        self.merge_form = MergeForm()
        self.merge = QPushButton("Merge into…")
        self.retire = QPushButton("Retire")
        self.used = plain_label(muted=True, wrap=True)
        self.message = plain_label(wrap=True)
        self.message.setProperty("error", True)  # noqa: FBT003 - Qt takes the value by place
        self._lay_out()
        self._connect()
        self._read()

    # Building

    def _make_list(self) -> QTreeWidget:
        tree = QTreeWidget()
        tree.setColumnCount(3)
        tree.setHeaderLabels(["Failure mode", "Key", "Tags"])
        tree.setRootIsDecorated(False)
        tree.setIndentation(2 * theme.GRID)
        tree.setItemsExpandable(False)
        tree.setUniformRowHeights(True)
        tree.setAccessibleName("Failure modes")
        tree.header().setStretchLastSection(False)
        tree.header().setSectionResizeMode(_NAME, tree.header().ResizeMode.Stretch)
        for column in (_LETTER, _TAGS):
            tree.header().setSectionResizeMode(column, tree.header().ResizeMode.ResizeToContents)
        return tree

    def _lay_out(self) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, theme.GRID, 0)
        column.setSpacing(theme.GRID)
        column.addWidget(self.list)
        row = QHBoxLayout()
        row.addWidget(self.add)
        row.addStretch(1)
        column.addLayout(row)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(2 * theme.GRID, 0, 0, 0)
        column.setSpacing(theme.GRID)
        column.addWidget(self.form, 1)
        column.addWidget(self.used)
        column.addWidget(self.merge_form)
        column.addWidget(self.message)
        row = QHBoxLayout()
        row.setSpacing(theme.GRID)
        row.addWidget(self.merge)
        row.addWidget(self.retire)
        row.addStretch(1)
        self.close_button = QPushButton("Close")
        row.addWidget(self.close_button)
        column.addLayout(row)
        splitter = QSplitter()
        splitter.addWidget(left)
        splitter.addWidget(right)
        splitter.setChildrenCollapsible(False)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([48 * theme.GRID, 60 * theme.GRID])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        layout.addWidget(splitter)
        for button in (self.add, self.merge, self.retire, self.close_button):
            button.setAutoDefault(False)
        self.merge_form.hide()

    def _connect(self) -> None:
        self.list.currentItemChanged.connect(self._choose)
        self.add.clicked.connect(self._begin_to_add)
        self.form.changed.connect(self._save)
        self.form.added.connect(self._add)
        self.form.cancelled.connect(self._show_chosen)
        self.merge.clicked.connect(self._begin_to_merge)
        self.merge_form.target_chosen.connect(self._plan)
        self.merge_form.confirmed.connect(self._merge)
        self.merge_form.cancelled.connect(self._show_chosen)
        self.retire.clicked.connect(self._retire_or_restore)
        self.close_button.clicked.connect(self.close)
        self._heard = (
            (self._session.modes_updated, self._read),
            (self._session.tags_updated, self._read),
            (self._session.project_closed, self.reject),
        )
        for news, slot in self._heard:
            news.connect(slot)

    # Showing

    @property
    def chosen(self) -> FailureMode | None:
        """The failure mode on the right."""
        item = self.list.currentItem()
        return None if item is None else self._modes.get(item.data(0, KEY_ROLE))

    def _read(self) -> None:
        project = self._session.project
        if project is not None:
            self._reader.do(
                lambda: (stored.failure_modes(project), stored.uses(project)), lambda read: self._show(*read)
            )

    def _show(self, modes: list[FailureMode], uses: dict[str, ModeUse]) -> None:
        before = self.chosen
        keep = self._wanted or (before.key if before is not None else None)
        same = modes == list(self._modes.values()) and self._wanted is None
        self._modes = {mode.key: mode for mode in modes}
        self._uses = uses
        if same:
            self._show_counts()
            return
        self._wanted = None
        with QSignalBlocker(self.list):
            self.list.clear()
            for level in Level:
                self._show_group(
                    f"{level.value.capitalize()} level",
                    [mode for mode in modes if mode.level is level and not mode.retired],
                )
            self._show_group("Retired", [mode for mode in modes if mode.retired])
            self.list.expandAll()
            item = self._item(keep) or self._first()
            if item is not None:
                self.list.setCurrentItem(item)
        self._show_counts()
        if not self.form.adding:
            self._show_chosen()

    def _show_group(self, title: str, modes: list[FailureMode]) -> None:
        if not modes:
            return
        heading = QTreeWidgetItem([title])
        heading.setSizeHint(_NAME, QSize(0, 3 * theme.GRID))
        heading.setFlags(Qt.ItemFlag.ItemIsEnabled)
        self.list.addTopLevelItem(heading)
        heading.setFirstColumnSpanned(True)
        heading.setForeground(_NAME, QColor(theme.colours().muted))
        items: dict[str, QTreeWidgetItem] = {}
        for mode in modes:
            item = QTreeWidgetItem([mode.name, mode.shortcut, ""])
            item.setData(0, KEY_ROLE, mode.key)
            item.setSizeHint(_NAME, QSize(0, 3 * theme.GRID))
            item.setToolTip(_NAME, plain_tip(mode.definition))
            item.setTextAlignment(_LETTER, Qt.AlignmentFlag.AlignCenter)
            item.setTextAlignment(_TAGS, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            if mode.retired:
                for column in range(3):
                    item.setForeground(column, QColor(theme.colours().muted))
            items[mode.key] = item
            (items.get(mode.parent or "") or heading).addChild(item)

    def _show_counts(self) -> None:
        for item in self._items():
            use = self._uses.get(item.data(0, KEY_ROLE))
            item.setText(_TAGS, f"{use.tags:,}" if use else "")
        self._show_used()

    def _show_used(self) -> None:
        mode = self.chosen
        if mode is None or self.form.adding:
            self.used.setText("")
            return
        use = self._uses.get(mode.key)
        into = self._modes.get(mode.merged_into or "")
        words = []
        if mode.retired:
            words.append(f"Merged into {into.name}." if into else "Retired: no longer offered.")
        if use is None:
            words.append("No tags.")
        else:
            tags = "1 tag" if use.tags == 1 else f"{use.tags:,} tags"
            runs = "1 run" if use.runs == 1 else f"{use.runs:,} runs"
            # Who has tagged what is hidden from who tags blind.
            who = "" if self._session.blinding.tags else f", by {', '.join(use.annotators)}"
            words.append(f"{tags} in {runs}{who}.")
            if mode.retired:
                words.append("They stay and count as before.")
        self.used.setText(" ".join(words))

    def _choose(self, _item: QTreeWidgetItem | None, before: QTreeWidgetItem | None) -> None:
        if before is not None:
            self.form.finish()
        self._show_chosen()

    def _show_chosen(self) -> None:
        mode = self.chosen
        self.merge_form.hide()
        self.message.setText("")
        read_only = self._session.project is None or self._session.project.read_only
        if mode is not None:
            self.form.show_mode(mode, self._modes, enabled=not read_only and not mode.retired)
            again = mode.retired and mode.merged_into is not None and mode.key in self._uses
            self.merge.setText("Merge again…" if again else "Merge into…")
            self.merge.setEnabled(not read_only and (not mode.retired or again))
            self.retire.setText("Bring back" if mode.retired else "Retire")
        self.retire.setEnabled(mode is not None and not read_only)
        self.add.setEnabled(not read_only)
        self._show_used()

    # Editing

    def _save(self, key: str, changes: dict[str, object]) -> None:
        annotator = self._session.annotator
        self._do(lambda project: stored.change_mode(project, annotator, key, **changes))

    def _begin_to_add(self) -> None:
        self.form.finish()
        self.merge_form.hide()
        self.message.setText("")
        chosen = self.chosen
        self.form.begin_new(chosen.level if chosen else Level.IMAGE, self._modes)
        self.merge.setEnabled(False)
        self.retire.setEnabled(False)
        self._show_used()

    def _add(self, mode: stored.NewMode) -> None:
        annotator = self._session.annotator

        def then(key: str) -> None:
            self._wanted = key
            self.form.end_new()
            self._read()

        self._do(lambda project: stored.add_mode(project, annotator, mode), then)

    def _retire_or_restore(self) -> None:
        mode, annotator = self.chosen, self._session.annotator
        if mode is None:
            return
        self.form.finish()
        act = stored.restore_mode if mode.retired else stored.retire_mode
        self._do(lambda project: act(project, annotator, mode.key))

    def _begin_to_merge(self) -> None:
        mode = self.chosen
        if mode is not None:
            self.form.finish()
            self.message.setText("")
            self.merge_form.begin(mode, list(self._modes.values()))

    def _plan(self, key: str, into: str) -> None:
        project = self._session.project
        if project is not None:
            self._reader.do(lambda: plan_mode_merge(project, key, into), self.merge_form.show_plan)

    def _merge(self, key: str, into: str) -> None:
        annotator = self._session.annotator

        def then(_done: ModeMerge) -> None:
            self._wanted = into
            self._read()

        self._do(lambda project: merge_modes(project, annotator, key, into), then)

    def _do(self, write: Callable[[Project], object], then: Callable[..., object] | None = None) -> None:
        project, thread = self._session.project, self._session.edit_thread
        if project is None or thread is None:
            return
        self.message.setText("")
        future: Future[object] = thread.submit(write, project)
        self._writing.add(future)
        future.add_done_callback(lambda done: self._tell(done, then or (lambda _done: self._read())))

    def _tell(self, done: Future[object], then: Callable[..., object]) -> None:
        """Bring the outcome to this thread; the dialog may be gone by then, and the session tells."""
        with suppress(RuntimeError):
            self._written.emit(lambda: self._take(done, then))

    def _take(self, done: Future[object], then: Callable[..., object]) -> None:
        if done not in self._writing:
            return  # the dialog was closed; the session tells
        self._writing.discard(done)
        error = done.exception()
        if error is None:
            then(done.result())
        elif isinstance(error, BananaError):
            self._refuse(str(error))
        else:
            raise error

    def _refuse(self, reason: str) -> None:
        """Say why something can't be, and show what is so instead."""
        mode = self.chosen
        if mode is not None and not self.form.adding and self.merge_form.isHidden():
            self.form.show_mode(mode, self._modes, enabled=not mode.retired)
        self.message.setText(reason)

    # Leaving

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape leaves what was begun, then the dialog."""
        if event.key() == Qt.Key.Key_Escape and (self.form.adding or self.merge_form.isVisible()):
            self.form.end_new()
            self._show_chosen()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Save what is in a field still."""
        self._finish()
        super().closeEvent(event)

    def reject(self) -> None:
        """Save what is in a field still."""
        self._finish()
        super().reject()

    def _finish(self) -> None:
        if self._finished:
            return
        self._finished = True
        self.form.finish()
        for news, slot in self._heard:
            news.disconnect(slot)
        waiting, self._writing = self._writing, set()
        for future in waiting:
            self._session.in_background(future.result)  # what it can't do is told by the session
        self._reader.stop()

    # The list

    def _items(self) -> list[QTreeWidgetItem]:
        found: list[QTreeWidgetItem] = []
        waiting = [self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount())]
        while waiting:
            item = waiting.pop(0)
            if item is not None:
                if item.data(0, KEY_ROLE):
                    found.append(item)
                waiting = [item.child(row) for row in range(item.childCount())] + waiting
        return found

    def _item(self, key: str | None) -> QTreeWidgetItem | None:
        return next((item for item in self._items() if item.data(0, KEY_ROLE) == key), None)

    def _first(self) -> QTreeWidgetItem | None:
        return next(iter(self._items()), None)
