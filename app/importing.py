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
from banana100_core.errors import BananaError

if TYPE_CHECKING:
    from pathlib import Path

    from app.session import Session
    from banana100_core.exchange.preview import ImportPreview, ImportReport

_SHOWN = 200


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
        self._work.do(self._read, self._show_preview)

    def done(self, result: int) -> None:
        """Stop what runs, wait for it, and leave; what was imported stays."""
        self._stop.set()
        self._work.stop()
        super().done(result)

    def _read(self) -> ImportPreview:
        from banana100_core.exchange.folder import preview_folder

        return preview_folder(self._folder, self._tell)

    def _tell(self, done: int, total: int, what: str) -> None:
        """On the working thread: how far it is; ends the reading when the dialog was left."""
        if self._stop.is_set():
            raise _StoppedError
        self._news.tell_progress("import", (done, total, what))

    def _show_preview(self, preview: ImportPreview) -> None:
        self._preview = preview
        self.heading.setText(f"{self._folder.name}: {len(preview.runs):,} runs, {preview.step_count:,} steps")
        self.text.setPlainText(preview_text(preview))
        self.bar.hide()
        self.progress.setText("")
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
        if self.bar.isHidden():
            return  # what was done by then has come first
        done, total, what = state
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.progress.setText(f"{done:,} of {total:,} · {what}" if total else f"{done:,} · {what}")

    def _finish(self, report: ImportReport) -> None:
        self.imported.emit(report_text(report))
        self.accept()

    def _fail(self, message: str) -> None:
        self.bar.hide()
        self.progress.setText("")
        self.heading.setText("This folder can't be imported")
        self.text.setPlainText(message)


class _StoppedError(BananaError):
    """The dialog was left while the folder was being read."""


def preview_text(preview: ImportPreview) -> str:
    """What was understood, in lines for people: runs, side files, and what is left aside and why."""
    lines = []
    for run in preview.runs[:_SHOWN]:
        gaps = f", {len(run.missing)} missing" if run.missing else ""
        prompts = sum(bool(step.notes.prompt) for step in run.steps)
        notes = f", {prompts} with a prompt" if prompts else ""
        start = "" if run.has_initial else ", no initial image"
        name = in_one_line(f"{run.initial_image} · {run.protocol} · {run.model} · r{run.repeat}")
        lines.append(f"{name}: steps {run.first or 0} to {run.last or 0}{gaps}{notes}{start}")
    if len(preview.runs) > _SHOWN:
        lines.append(f"… and {len(preview.runs) - _SHOWN:,} more runs")
    for side_file in preview.side_files:
        why = f" ({side_file.reason})" if side_file.reason else ""
        lines.append(f"{side_file.path.name}: {side_file.used:,} of {side_file.records:,} records used{why}")
    for heading, remarks in (
        ("Left aside, since another file has the same run and step", preview.duplicates),
        ("Can't be read; imported as failed steps", preview.unreadable),
        ("Ignored", preview.ignored),
    ):
        if remarks:
            lines += ["", f"{heading}: {len(remarks):,}"]
            lines += [
                f"  {in_one_line(_within(preview.root, remark.path))}: {remark.reason}"
                for remark in remarks[:_SHOWN]
            ]
            if len(remarks) > _SHOWN:
                lines.append(f"  … and {len(remarks) - _SHOWN:,} more")
    return "\n".join(lines) or "No pictures were found here. Choose a folder that holds runs."


def in_one_line(name: str) -> str:
    """A name from outside as it can stand in a list of lines."""
    return "".join(letter if letter.isprintable() else "�" for letter in name)


def _within(root: Path, path: Path) -> str:
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def report_text(report: ImportReport) -> str:
    """What an import did, in one line."""
    parts = [f"{report.runs_added:,} runs and {report.steps_added:,} steps imported"]
    if report.runs_unchanged:
        parts.append(f"{report.runs_unchanged:,} runs were there already")
    if report.failed:
        parts.append(f"{len(report.failed):,} files became failed steps")
    if report.stopped:
        parts.append("stopped; import the folder again to go on")
    return " · ".join(parts)
