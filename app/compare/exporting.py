"""The comparison to take away: as a picture, the run as an animation or a contact sheet."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QProgressDialog, QWidget

from banana100_core.errors import ProjectError

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QImage

    from app.actions import ActionRegistry
    from app.compare.panes import Panes
    from app.compare.player import Player
    from app.session import Session


class Exporter(QObject):
    """Asks where to, and writes off the UI thread; what takes longer can be cancelled."""

    written = Signal(str)
    """A file was written; carries its path."""

    def __init__(
        self, session: Session, registry: ActionRegistry, panes: Panes, player: Player, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._panes = panes
        self._player = player
        self._parent = parent
        registry.connect("edit.copy_view", self.copy_view)
        registry.connect("file.export_view", self._ask_view)
        registry.connect("file.export_animation", self._ask_animation)
        registry.connect("file.export_sheet", self._ask_sheet)

    def view(self) -> QImage:
        """What the panes show, with the lines above them, in device pixels."""
        return self._panes.grab().toImage()

    def copy_view(self) -> None:
        """Put it on the clipboard."""
        QGuiApplication.clipboard().setImage(self.view())

    def save_view(self, out: Path) -> None:
        """Write it as a picture, of the kind that the ending of `out` says."""
        image = self.view()

        def save() -> Path:
            if not image.save(str(out)):
                raise ProjectError(f"{out} can't be written. Choose another place.")
            return out

        self._session.in_background(save, lambda path: self.written.emit(str(path)))

    def save_animation(self, out: Path) -> None:
        """Write the current run as an animated WebP or GIF, as fast as it is played."""
        session, rate = self._session, self._player.rate
        project, run = session.project, session.run
        if project is None or run is None:
            return
        stopped = threading.Event()
        dialog = self._progress_dialog(f"Writing {out.name}", stopped)
        progress = _Progress(dialog)

        def tell(done: int, total: int, _what: str) -> None:
            progress.told.emit(done, total)

        def write() -> bool:
            from banana100_core.exchange.animation import animation

            try:
                return animation(project, run.id, out, per_second=rate, progress=tell, stop=stopped.is_set)
            finally:
                progress.ended.emit()

        session.project_closed.connect(dialog.cancel)
        session.in_background(write, lambda whole: self.written.emit(str(out)) if whole else None)

    def save_sheet(self, out: Path) -> None:
        """Write the current run as a contact sheet."""
        session = self._session
        project, run = session.project, session.run
        if project is None or run is None:
            return

        def write() -> None:
            from banana100_core.exchange.contact_sheet import contact_sheet

            contact_sheet(project, [run.id], out)

        session.in_background(write, lambda _none: self.written.emit(str(out)))

    def _ask_view(self) -> None:
        self._ask("Export this view", "png", "Pictures (*.png)", self.save_view)

    def _ask_animation(self) -> None:
        self._ask("Export the run", "webp", "Animations (*.webp *.gif)", self.save_animation)

    def _ask_sheet(self) -> None:
        self._ask("Export the run", "png", "Contact sheets (*.png *.jpg *.pdf)", self.save_sheet)

    def _ask(self, title: str, ending: str, kinds: str, then: Callable[[Path], None]) -> None:
        run = self._session.run
        if run is None:
            return
        name = "".join(letter if letter.isalnum() or letter in "-_ " else "_" for letter in run.initial_image)
        chosen, _kind = QFileDialog.getSaveFileName(self._parent, title, f"{name}.{ending}", kinds)
        if chosen:
            out = Path(chosen)
            then(out if out.suffix else out.with_suffix(f".{ending}"))

    def _progress_dialog(self, text: str, stopped: threading.Event) -> QProgressDialog:
        dialog = QProgressDialog(text, "Cancel", 0, 0, self._parent)
        dialog.setWindowModality(Qt.WindowModality.NonModal)
        dialog.setAutoReset(False)
        dialog.setMinimumDuration(500)
        dialog.canceled.connect(stopped.set)
        return dialog


class _Progress(QObject):
    """Brings the progress of a thread to its dialog."""

    told = Signal(int, int)
    ended = Signal()

    def __init__(self, dialog: QProgressDialog) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self.told.connect(self._show, Qt.ConnectionType.QueuedConnection)
        self.ended.connect(self._end, Qt.ConnectionType.QueuedConnection)

    def _show(self, done: int, total: int) -> None:
        if not self._dialog.wasCanceled():
            self._dialog.setMaximum(total)
            self._dialog.setValue(done)

    def _end(self) -> None:
        self._dialog.hide()
        self._dialog.deleteLater()
