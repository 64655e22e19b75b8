"""The dialogs of copies and files of tags: merge, agreement, export, import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMainWindow

from app.needs import Need
from app.opening import SUFFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QDialog

    from app.actions import ActionRegistry
    from app.session import Session
    from app.work_dialog import WorkDialog

_NEED_WRITING = ("file.merge", "file.import_tags")


class TagDialogs(QObject):
    """Opens them over a window; each is imported when it is first asked for."""

    def __init__(self, session: Session, registry: ActionRegistry, window: QMainWindow) -> None:
        super().__init__(window)
        self._session, self._registry, self._window = session, registry, window
        for key, slot in {
            "file.merge": self._ask_copies,
            "file.export_tags": self.export_tags,
            "file.import_tags": self._ask_tags,
            "tag.agreement": self.show_agreement,
        }.items():
            registry.connect(key, slot)
        for changed in (session.project_opened, session.project_closed, session.blinding_changed):
            changed.connect(self._enable)
        self._enable()

    def merge(self, copies: Sequence[Path]) -> None:
        """Show what copies would bring, and merge them if the user wants it."""
        from app.merging.dialog import MergeDialog

        self._open(MergeDialog(self._session, copies, self._window))

    def export_tags(self) -> None:
        """Ask for a form and a place, and export tags there."""
        from app.tag_files.export_dialog import ExportDialog

        self._open(ExportDialog(self._session, self._window))

    def import_tags(self, file: Path) -> None:
        """Show what a file of tags would bring, and import it if the user wants it."""
        from app.tag_files.import_dialog import ImportTagsDialog

        self._open(ImportTagsDialog(self._session, file, self._window))

    def show_agreement(self) -> None:
        """Show how far annotators agree; the window stays usable."""
        from app.agreement.dialog import AgreementDialog

        already = self._window.findChild(AgreementDialog)
        if already is not None and already.isVisible():
            already.raise_()
            already.activateWindow()
            return
        dialog = AgreementDialog(self._session, self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()

    def _ask_copies(self) -> None:
        names, _filter = QFileDialog.getOpenFileNames(
            self._window, "Merge copies that came back", "", f"Banana100 projects (*{SUFFIX})"
        )
        if names:
            self.merge([Path(name) for name in names])

    def _ask_tags(self) -> None:
        name, _filter = QFileDialog.getOpenFileName(
            self._window, "Import tags", "", "Tags (*.csv *.json);;CSV (*.csv);;COCO (*.json)"
        )
        if name:
            self.import_tags(Path(name))

    def _open(self, dialog: WorkDialog) -> None:
        dialog.finished_work.connect(lambda text: self._window.statusBar().showMessage(text, 10_000))
        self._keep(dialog)
        dialog.open()

    def _keep(self, dialog: QDialog) -> None:
        dialog.finished.connect(dialog.deleteLater)

    def _enable(self) -> None:
        project = self._session.project
        for key in _NEED_WRITING:
            self._registry.set_enabled(
                key, enabled=project is not None and not project.read_only, why=Need.WRITING
            )
        self._registry.set_enabled("file.export_tags", enabled=project is not None, why=Need.PROJECT)
        # It would tell who tags blind what others saw.
        blind = self._session.blinding.tags
        self._registry.set_enabled(
            "tag.agreement",
            enabled=project is not None and not blind,
            why="hidden while you tag blind" if blind else Need.PROJECT,
        )
