"""The comparison to take away: as a picture, the run as an animation, runs as a contact sheet."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from app.compare.export_bar import ExportBar
from banana100_core.errors import ProjectError

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QImage

    from app.actions import ActionRegistry
    from app.compare.export_bar import Export
    from app.compare.panes import Panes
    from app.compare.player import Player
    from app.session import Session
    from banana100_core.project import Project


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
        self.bar = ExportBar()
        session.project_closed.connect(self.bar.stop_all)
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
        """Write the runs chosen in the list, or the current one, as animated WebP or GIF or MP4, as played.

        Of several runs each has a file of its own, named after `out` and the run's place in the list.
        """
        run_ids, rate = self._session.selected_runs, self._player.rate
        outs = [out] if len(run_ids) == 1 else _numbered(out, len(run_ids))

        def write(project: Project, export: Export) -> bool:
            from banana100_core.exchange.animation import animation

            count = len(run_ids)
            for place, (run_id, each) in enumerate(zip(run_ids, outs, strict=True)):

                def progress(done: int, total: int, what: str, place: int = place) -> None:
                    export.progress(place * total + done, count * total, what)

                if not animation(
                    project, run_id, each, per_second=rate, progress=progress, stop=export.stop.is_set
                ):
                    return False
            return True

        self._write(out, write)

    def save_sheet(self, out: Path) -> None:
        """Write the runs chosen in the list, or the current one, as a contact sheet."""
        run_ids = self._session.selected_runs

        def write(project: Project, export: Export) -> bool:
            from banana100_core.exchange.contact_sheet import contact_sheet

            return contact_sheet(project, run_ids, out, progress=export.progress, stop=export.stop.is_set)

        self._write(out, write)

    def _write(self, out: Path, write: Callable[[Project, Export], bool]) -> None:
        session, project = self._session, self._session.project
        if project is None:
            return
        export = self.bar.begin(out.name)

        def work() -> bool:
            whole = False
            try:
                whole = write(project, export)
            finally:
                export.end(whole)
            return whole

        session.in_background(work, lambda whole: self.written.emit(str(out)) if whole else None)

    def _ask_view(self) -> None:
        self._ask("Export this view", "png", "Pictures (*.png)", self.save_view)

    def _ask_animation(self) -> None:
        count = len(self._session.selected_runs)
        title = "Export the run" if count <= 1 else f"Export {count} runs, a file each"
        self._ask(title, "webp", "Animations (*.webp *.gif *.mp4)", self.save_animation)

    def _ask_sheet(self) -> None:
        self._ask("Export the runs", "png", "Contact sheets (*.png *.jpg *.pdf)", self.save_sheet)

    def _ask(self, title: str, ending: str, kinds: str, then: Callable[[Path], None]) -> None:
        run = self._session.run
        if run is None:
            return
        name = "".join(letter if letter.isalnum() or letter in "-_ " else "_" for letter in run.initial_image)
        chosen, _kind = QFileDialog.getSaveFileName(self._parent, title, f"{name}.{ending}", kinds)
        if chosen:
            out = Path(chosen)
            then(out if out.suffix else out.with_suffix(f".{ending}"))


def _numbered(out: Path, count: int) -> list[Path]:
    """Names beside `out` for so many files, none of which exists."""
    names = (out.with_stem(f"{out.stem} {number}") for number in itertools.count(1))
    return list(itertools.islice((name for name in names if not name.exists()), count))
