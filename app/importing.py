"""Importing a folder of pictures: what was understood, then the import itself, with progress and cancel."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QPlainTextEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.background import Background, NewsDesk
from app.notifications import plain_label

if TYPE_CHECKING:
    from pathlib import Path

    from app.session import Session
    from banana100_core.exchange.folder import ImportPreview, ImportReport

_SHOWN_RUNS = 200


class ImportDialog(QDialog):
    """Shows what a folder holds; imports it in the background when asked; can be cancelled at any moment."""

    imported = Signal(str)

    def __init__(self, session: Session, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._folder = folder
        self._preview: ImportPreview | None = None
        self._stop = threading.Event()
        self._work = Background("import", self)
        self._work.failed.connect(self._fail)
        self._news = NewsDesk(self)
        self._news.delivered.connect(lambda _tables, news: self._show_progress(news["import"]))
        self.setWindowTitle("Import a folder")
        self.resize(80 * theme.GRID, 56 * theme.GRID)

        self.heading = plain_label(f"Reading {folder.name} …", wrap=True)
        self.heading.setProperty("strong", True)  # noqa: FBT003 - Qt takes the value by place
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.copy = QCheckBox("Copy the pictures into the project, so that it can be handed over as one file")
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.GRID // 2)
        self.progress = plain_label(muted=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.import_button = buttons.addButton("Import", QDialogButtonBox.ButtonRole.AcceptRole)
        self.import_button.setEnabled(False)
        buttons.accepted.connect(self._import)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        layout.setSpacing(theme.GRID)
        for widget in (self.heading, self.text, self.copy, self.bar, self.progress, buttons):
            layout.addWidget(widget)
        self._work.do(lambda: _read(folder), self._show_preview)

    def done(self, result: int) -> None:
        """Stop what runs, wait for it, and leave; what was imported stays."""
        self._stop.set()
        self._work.close()
        super().done(result)

    def _show_preview(self, preview: ImportPreview) -> None:
        self._preview = preview
        self.heading.setText(f"{self._folder.name}: {len(preview.runs)} runs")
        self.text.setPlainText(preview_text(preview))
        self.bar.hide()
        self.import_button.setEnabled(bool(preview.runs))

    def _import(self) -> None:
        project, preview, copy = self._session.project, self._preview, self.copy.isChecked()
        if project is None or preview is None:
            return
        self.import_button.setEnabled(False)
        self.copy.setEnabled(False)
        self.bar.show()

        def work() -> ImportReport:
            from banana100_core.exchange.folder import import_folder

            return import_folder(
                project,
                preview,
                copy=copy,
                progress=lambda *state: self._news.tell_progress("import", state),
                stop=self._stop.is_set,
            )

        self._work.do(work, self._finish)

    def _show_progress(self, state: tuple[int, int, str]) -> None:
        done, total, what = state
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.progress.setText(f"{done:,} of {total:,} · {what}")

    def _finish(self, report: ImportReport) -> None:
        self.imported.emit(str(report))
        self.accept()

    def _fail(self, message: str) -> None:
        self.bar.hide()
        self.heading.setText("This folder can't be imported")
        self.text.setPlainText(message)


def _read(folder: Path) -> ImportPreview:
    from banana100_core.exchange.folder import preview_folder

    return preview_folder(folder)


def preview_text(preview: ImportPreview) -> str:
    """What was understood, in lines for people."""
    return str(preview)
