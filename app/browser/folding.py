"""Which groups of the list are open: kept while rows change, all where runs are few, as before a search."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.browser.model import Key, RunTree
    from app.browser.tree_view import RunView

EXPANDED_RUNS = 40
"""Up to so many runs all groups begin open; with more, only the one looked at."""
FOUND_RUNS = 100
"""Up to so many runs found all groups are opened; with more, their headings say how many each has."""


class Folding(QObject):
    """Opens groups and closes them again; what the user opened or closed stays so while it is there."""

    def __init__(self, tree: RunTree, view: RunView) -> None:
        super().__init__(view)
        self._tree = tree
        self._view = view
        self._opens_all = True
        self._was_reset = False
        self._before_search: set[Key] | None = None
        tree.rowsInserted.connect(self._open_new)
        tree.modelReset.connect(self._begin_anew)

    @contextmanager
    def kept(self, coming: int, *, found: bool, asked: bool) -> Iterator[None]:
        """Keep groups open and the list where it is while rows become others; so many runs will be there.

        `found` says that the list is narrowed down, `asked` that the user just did so or otherwise.
        """
        self._opens_all = coming <= (FOUND_RUNS if found else EXPANDED_RUNS)
        there = {self._key(index): self._view.isExpanded(index) for index in self._groups()}
        if found and self._before_search is None:
            self._before_search = {key for key, is_open in there.items() if is_open}
        place = self._view.verticalScrollBar().value()
        self._was_reset = False
        yield
        if found and asked and self._opens_all:
            self._view.open_groups(self._groups())
        elif self._before_search is not None and not found:
            self._open_only(self._before_search)
            self._before_search = None
        elif self._was_reset:
            self._open_only(
                {key for key in map(self._key, self._groups()) if there.get(key, self._opens_all)}
            )
        if self._was_reset:
            self._view.verticalScrollBar().setValue(place)

    def open_to(self, index: QModelIndex) -> None:
        """Open the group that a run is in."""
        if index.parent().isValid():
            self._view.expand(index.parent())

    def open_few_or(self, index: QModelIndex) -> None:
        """In groups of another kind: open all of a short list, else only that of a run."""
        self._before_search = None
        if self._opens_all:
            self._view.open_groups(self._groups())
        else:
            self.open_to(index)

    def open_all(self, *, opened: bool) -> None:
        """Open all groups, or close all."""
        self._open_only({self._key(index) for index in self._groups()} if opened else set())

    def forget(self) -> None:
        """Without a project there is nothing to come back to."""
        self._before_search = None

    def _open_only(self, keys: set[Key]) -> None:
        for index in self._groups():
            if self._key(index) not in keys:
                self._view.collapse(index)
        self._view.open_groups(index for index in self._groups() if self._key(index) in keys)

    def _groups(self) -> Iterator[QModelIndex]:
        return self._tree.indexes_of_groups()

    def _key(self, index: QModelIndex) -> Key:
        return self._tree.node(index).key

    def _begin_anew(self) -> None:
        self._was_reset = True
        for index in self._groups():
            self._span(index)

    def _open_new(self, parent: QModelIndex, first: int, last: int) -> None:
        """Open groups as they arrive, unless there are so many that this would bury the rest."""
        if parent.isValid():
            return
        for index in self._groups():
            if first <= index.row() <= last:
                self._span(index)
                if self._opens_all:
                    self._view.expand(index)

    def _span(self, index: QModelIndex) -> None:
        self._view.setFirstColumnSpanned(index.row(), QModelIndex(), True)  # noqa: FBT003 - Qt's
