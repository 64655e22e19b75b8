"""What the window tells of itself: its keys, and what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.notifications import TextDialog, versions

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from banana100_core.project import Project

ABOUT = (
    "Look at, score, tag and produce runs of iterative image edits. MIT licence. Learned metrics come from "
    "pyiqa, whose licence is for noncommercial use: scores made with it are too. Icons: Phosphor (MIT)."
)


def show_keys(window: QWidget, project: Project | None) -> None:
    """Show the sheet of all keys, with those of the project's failure modes."""
    from app.keys import KeysSheet
    from banana100_core.project.failure_modes import failure_modes

    sheet = KeysSheet(window, failure_modes(project) if project is not None else None)
    sheet.finished.connect(sheet.deleteLater)
    sheet.open()


def show_about(window: QWidget) -> None:
    """Show what the program is, its licence and the versions of what it runs on."""
    dialog = TextDialog("About Banana100 Inspector", ABOUT, versions(), window)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
