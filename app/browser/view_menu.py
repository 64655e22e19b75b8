"""The menu that arranges the list: grouping, columns, sort, and the views that the project keeps by name."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.browser.arrangement import Grouping
from app.browser.columns import COLUMNS, RUN, SCORE
from banana100_core.project.saved_views import SavedView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from app.browser.arrangement import Arrangement


class ViewMenu(QMenu):
    """Filled when it opens, by `fill`."""

    column_toggled = Signal(str)
    sort_chosen = Signal(str, bool)
    view_chosen = Signal(SavedView)
    save_asked = Signal()
    rename_asked = Signal(str)
    remove_asked = Signal(str)
    standard_asked = Signal()
    groups_opened = Signal(bool)
    """All groups are to be open, or closed."""

    def __init__(self, groupings: Sequence[QAction], parent: QWidget) -> None:
        super().__init__(parent)
        self._groupings = groupings
        self.columns = _Ticks("&Columns", self)

    def fill(
        self,
        now: Arrangement,
        views: Sequence[SavedView],
        metrics: Iterable[str],
        *,
        writable: bool,
    ) -> None:
        """List what there is to choose now; `metrics` are those that the project has scores of."""
        self.clear()
        for submenu in self.findChildren(QMenu):
            if submenu is not self.columns:
                submenu.deleteLater()
        group = self.addMenu("&Group by")
        group.addActions(list(self._groupings))
        offered = {f"{SCORE}{metric}" for metric in metrics}
        shown = [key for key in COLUMNS if not key.startswith(SCORE) or key in offered or key in now.columns]
        self._fill_columns(shown, now)
        self.addMenu(self.columns)
        self._fill_sort(self.addMenu("&Sort by"), shown, now)
        if now.grouping is not Grouping.NONE:
            self._add(self, "&Open all groups", lambda: self.groups_opened.emit(True))  # noqa: FBT003 - Qt's
            self._add(self, "Clos&e all groups", lambda: self.groups_opened.emit(False))  # noqa: FBT003
        self.addSeparator()
        for view in views:
            chosen = now.saved(view.name) == view
            self._add(self, _plain(view.name), partial(self.view_chosen.emit, view), checked=chosen)
        if views:
            self.addSeparator()
        save = self._add(self, "Sa&ve this view…", self.save_asked.emit)
        save.setEnabled(writable)
        if views and writable:
            self._fill_names(self.addMenu("&Rename"), views, self.rename_asked.emit, "…")
            self._fill_names(self.addMenu("Re&move"), views, self.remove_asked.emit)
        self._add(self, "Standar&d view", self.standard_asked.emit)

    def _fill_columns(self, keys: Sequence[str], now: Arrangement) -> None:
        self.columns.clear()
        of_scores = False
        for key in keys:
            if key == RUN:
                continue
            if key.startswith(SCORE) and not of_scores:
                of_scores = True
                self.columns.addSeparator()
                self.columns.addAction("Latest score by").setEnabled(False)
            title = _plain(COLUMNS[key].title)
            checked = key in now.columns
            self._add(self.columns, title, partial(self.column_toggled.emit, key), checked=checked)

    def _fill_sort(self, menu: QMenu, keys: Sequence[str], now: Arrangement) -> None:
        group = QActionGroup(menu)
        for key in ("", *keys):
            if key in COLUMNS and key == "curve":
                continue
            title = _plain(COLUMNS[key].title) if key else "As they were &added"
            action = self._add(
                menu,
                title,
                partial(self.sort_chosen.emit, key, now.descending),
                checked=key == now.sort,
            )
            group.addAction(action)
        menu.addSeparator()
        down = self._add(
            menu,
            "&Descending",
            lambda: self.sort_chosen.emit(now.sort, not now.descending),
            checked=now.descending,
        )
        down.setEnabled(bool(now.sort))

    def _fill_names(
        self, menu: QMenu, views: Sequence[SavedView], then: Callable[[str], None], dots: str = ""
    ) -> None:
        for view in views:
            self._add(menu, f"{_plain(view.name)}{dots}", partial(then, view.name))

    def _add(
        self, menu: QMenu, text: str, then: Callable[[], object], *, checked: bool | None = None
    ) -> QAction:
        action = QAction(text, menu)
        if checked is not None:
            action.setCheckable(True)
            action.setChecked(checked)
        action.triggered.connect(lambda _checked: then())
        menu.addAction(action)
        return action


class _Ticks(QMenu):
    """A menu that stays open while entries are ticked; Escape or a click beside it leaves."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt's: tick and stay."""
        if not self._tick(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's: tick and stay."""
        keys = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() not in keys or not self._tick(self.activeAction()):
            super().keyPressEvent(event)

    def _tick(self, action: QAction | None) -> bool:
        if action is None or not action.isCheckable():
            return False
        action.trigger()
        return True


def _plain(text: str) -> str:
    return text.replace("&", "&&")
