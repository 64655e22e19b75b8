"""The saved views of the open project, and asking for their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QInputDialog, QWidget

from banana100_core.project.saved_views import SavedView, remove_view, rename_view, save_view, saved_views

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.browser.arrangement import Arrangement
    from app.session import Session
    from banana100_core.project import Project


class Views(QObject):
    """Reads and writes them in the background; what can't be done is told as the session tells failures."""

    updated = Signal()

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._parent = parent
        self.all: list[SavedView] = []
        session.project_opened.connect(self._read)
        session.project_closed.connect(self._forget)
        self._read()

    @property
    def writable(self) -> bool:
        """Whether views can be saved; one that is only read offers those it has."""
        return self._session.project is not None and not self._session.project.read_only

    def ask_to_save(self, arrangement: Arrangement) -> None:
        """Ask for a name and keep the arrangement under it; the same name again replaces the view."""
        applied = next((view.name for view in self.all if arrangement.saved(view.name) == view), "")
        self._ask("Save this view", applied, lambda name: self.save(arrangement.saved(name)))

    def ask_to_rename(self, name: str) -> None:
        """Ask for another name."""
        self._ask("Rename the view", name, lambda new: self.rename(name, new))

    def save(self, view: SavedView) -> None:
        """Keep a view."""
        self._write(lambda project: save_view(project, view))

    def rename(self, name: str, new_name: str) -> None:
        """Call a view something else."""
        self._write(lambda project: rename_view(project, name, new_name))

    def remove(self, name: str) -> None:
        """Forget a view."""
        self._write(lambda project: remove_view(project, name))

    def _ask(self, title: str, name: str, then: Callable[[str], None]) -> None:
        dialog = QInputDialog(self._parent)
        dialog.setWindowTitle(title)
        dialog.setLabelText("Name")
        dialog.setTextValue(name)
        dialog.textValueSelected.connect(then)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _write(self, work: Callable[[Project], None]) -> None:
        project = self._session.project
        if project is None or project.read_only:
            return

        def write() -> list[SavedView]:
            work(project)
            return saved_views(project)

        self._session.in_background(write, self._take)

    def _read(self) -> None:
        project = self._session.project
        if project is not None:
            self._session.in_background(lambda: saved_views(project), self._take)

    def _take(self, views: list[SavedView]) -> None:
        self.all = views
        self.updated.emit()

    def _forget(self) -> None:
        self.all = []
