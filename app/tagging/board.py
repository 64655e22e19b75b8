"""The tags of the run on screen: shown at once, saved at once, and kept in sight if saving fails."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.kept_edits import AGAIN_MS, CHANGED_SINCE, KEPT, KeptEdits, Kind
from app.region_edits import RegionEdits
from app.tagging.rows import KeptTag, Row, Saved, as_new, shown_of, write
from banana100_core.errors import BananaError
from banana100_core.project import tags as stored

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.project.records import Edit, NewTag, Tag


class TagBoard(QObject):
    """Rows of the current run, and unsaved rows of any run; all are written on the session's edit thread."""

    rows_changed = Signal()
    said = Signal(str)

    _finished = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._project: Project | None = None
        self._rows: dict[int, Row] = {}
        self._ids = itertools.count(1)
        self._waiting: list[Callable[[], None]] = []
        self._read_wanted = self._reading = False
        self._regions = RegionEdits.of(session)
        self._regions.changed.connect(self._go_on)
        self._kept: KeptEdits | None = None  # while there are any
        self.names: dict[str, str] = {}  # of failure modes by key, for words
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self._retry_quietly)
        self._finished.connect(lambda call: call(), Qt.ConnectionType.QueuedConnection)
        session.project_opened.connect(self._open)
        session.project_closed.connect(self._close)
        session.run_changed.connect(self.read_again)
        session.tags_updated.connect(self.read_again)
        self._open()

    # What there is

    @property
    def rows(self) -> list[Row]:
        """Tags of the current run, by onset; those being removed are gone already, others' may be hidden."""
        run, blind = self._session.run, self._session.blinding.tags
        shown = [
            row
            for row in self._rows.values()
            if row.wanted and run and row.wanted.run_id == run.id and (self.own(row) or not blind)
        ]
        return sorted(shown, key=lambda row: (shown_of(row).onset, row.id))

    @property
    def failed_rows(self) -> list[Row]:
        """Rows of any run whose newest edit could not be saved."""
        return [row for row in self._rows.values() if row.state is Saved.FAILED]

    @property
    def settled(self) -> bool:
        """Whether nothing is being read or saved."""
        busy = self._reading or self._read_wanted or self._waiting
        return not busy and all(row.state is not Saved.SAVING for row in self._rows.values())

    @property
    def read_only(self) -> bool:
        """Whether nothing can be edited."""
        return self._project is None or self._project.read_only

    def own(self, row: Row) -> bool:
        """Whether the row is this annotator's, who alone may edit it here."""
        return row.annotator == self._session.annotator

    # Edits

    def add(self, tag: NewTag) -> int:
        """Add a tag of this annotator's; gives the id of its row."""
        row = Row(next(self._ids), str(uuid4()), self._session.annotator, None, tag)
        self._rows[row.id] = row
        self._save(row)
        self.rows_changed.emit()
        return row.id

    def change(self, row_id: int, **fields: Any) -> None:  # noqa: ANN401 - the fields of NewTag
        """Change fields of a tag."""
        row = self._rows.get(row_id)
        if row is None or row.wanted is None:
            return
        wanted = replace(row.wanted, **fields)
        if wanted != row.wanted:
            row.wanted = wanted
            self._save(row)
            self.rows_changed.emit()

    def remove(self, row_id: int) -> None:
        """Remove a tag."""
        row = self._rows.get(row_id)
        if row is None:
            return
        row.wanted = None
        self._save(row)
        self.rows_changed.emit()

    def retry(self) -> None:
        """Try again to save what could not be saved."""
        for row in self.failed_rows:
            row.reason = ""
            self._save(row)
        if self._regions.reason:  # perhaps because its tag was not saved
            self._regions.retry()
        self.rows_changed.emit()

    def _retry_quietly(self) -> None:
        """Try again and go on saying so until it is saved."""
        for row in self.failed_rows:
            self._save(row, quietly=True)

    def discard_failed(self) -> None:
        """Give up edits that could not be saved, and show what the project has."""
        for row in self.failed_rows:
            row.reason = ""
            row.wanted = as_new(row.saved) if row.saved else None
            self._settle(row)
        self._keep_failed()
        self.rows_changed.emit()

    def undo(self) -> None:
        """Take back this annotator's last edit."""
        self._step_in_log(stored.undo, "There is nothing to undo.", "Undone")

    def redo(self) -> None:
        """Make the edit again that was taken back last."""
        self._step_in_log(stored.redo, "There is nothing to redo.", "Redone")

    def flush(self) -> None:
        """Wait until every edit is saved or has failed."""
        for row in list(self._rows.values()):
            while row.future is not None:
                self._take_saved(row, row.future)

    def describe(self, row: Row) -> str:
        """Say in a few words which tag a row is."""
        shown = shown_of(row)
        return self._in_words(shown.failure_mode, shown.onset, shown.end_step)

    # The thread

    def _open(self) -> None:
        project = self._session.project
        if project is None or project is self._project:
            return
        self._project = project
        if not project.read_only:
            self._take_kept(project)
        self.read_again()

    def _take_kept(self, project: Project) -> None:
        """Go on trying to save what could not be saved when the project closed."""
        kept = KeptEdits(project, Kind.TAGS)
        edits = kept.read(KeptTag.made)
        if not edits:
            return
        self._kept = kept
        there = {tag.uuid: tag for tag in stored.tags(project)}
        for edit in edits:
            tag = there.get(edit.uuid)
            row = Row(next(self._ids), edit.uuid, edit.annotator, tag, edit.wanted)
            if not row.dirty:
                continue
            self._rows[row.id] = row
            if (as_new(tag) if tag else None) == edit.before:
                self._save(row)
            else:
                row.reason = CHANGED_SINCE
        self._keep_failed()

    def _keep_failed(self) -> bool:
        """Keep what could not be saved, and forget what was kept once all is; whether it is kept."""
        unsaved = [row for row in self._rows.values() if row.dirty]
        if self._project is not None and any(row.reason for row in unsaved):
            self._kept = KeptEdits(self._project, Kind.TAGS)
            return self._kept.keep([KeptTag.of(row) for row in unsaved])
        if self._kept is not None and not unsaved:
            self._kept.forget()
            self._kept = None
        return False

    def _close(self) -> None:
        """Save to the last edit; the session closes the file only after this."""
        self.flush()
        lost, kept = self.failed_rows, self._keep_failed()
        self._again.stop()
        self._project = self._kept = None
        self._rows.clear()
        self._waiting.clear()
        self._read_wanted = self._reading = False
        if lost:
            details = "\n".join(f"{self.describe(row)}: {row.reason}" for row in lost)
            if kept:
                details += f"\n{KEPT}"
            what = "1 edit to a tag" if len(lost) == 1 else f"{len(lost)} edits to tags"
            self._session.failed.emit(f"{what} could not be saved", details)
        self.rows_changed.emit()

    def _save(self, row: Row, *, quietly: bool = False) -> None:
        thread = self._session.edit_thread
        if row.future is not None or self._project is None or thread is None:
            return  # what is wanted now follows when the edit under way is done
        if not row.dirty:
            row.reason = ""
            self._settle(row)
            return
        project, saved, wanted = self._project, row.saved, row.wanted
        annotator, uuid = row.annotator, row.uuid
        if not quietly:
            row.reason = ""
        row.sent = wanted
        row.future = future = thread.submit(lambda: write(project, annotator, uuid, saved, wanted))
        future.add_done_callback(lambda done: self._finished.emit(lambda: self._take_saved(row, done)))

    def _take_saved(self, row: Row, future: Future[Tag | None]) -> None:
        """Take the outcome of a write, once: from the thread's signal or, when flushing, ahead of it."""
        if row.future is not future:
            return
        row.future = None
        changed_since = row.wanted != row.sent
        try:
            row.saved = future.result()
        except Exception as error:  # noqa: BLE001 - whatever it is, the edit stays in sight
            row.reason = str(error) or type(error).__name__
            self._again.start()
        else:
            row.reason = ""
            if not changed_since:
                row.wanted = as_new(row.saved) if row.saved else None
        self._keep_failed()
        if changed_since or not row.reason:
            self._save(row)
        self.rows_changed.emit()
        self._go_on()

    def _settle(self, row: Row) -> None:
        if row.saved is None and row.wanted is None:
            self._rows.pop(row.id, None)

    def _step_in_log(self, move: Callable[[Project, str], Edit | None], nothing: str, done: str) -> None:
        project, annotator = self._project, self._session.annotator
        if project is None or self.read_only:
            self.said.emit("This project is open for reading only.")
            return
        if self.failed_rows or self._regions.reason:
            self.said.emit("An edit is not saved yet: retry or discard it first.")
            return

        def work() -> None:
            try:
                edit = move(project, annotator)
                text = nothing if edit is None else f"{done}: {self._describe_edit(edit)}"
            except BananaError as error:
                text = str(error)
            self._finished.emit(lambda: self.said.emit(text))

        self._when_saved(lambda: self._do(work))
        self.read_again()

    def read_again(self) -> None:
        """Read the tags of the run on screen."""
        self._read_wanted = self._session.run is not None
        self._go_on()

    def _go_on(self) -> None:
        saving = self._regions.saving or any(row.future for row in self._rows.values())
        if self._waiting and not saving:
            waiting, self._waiting = self._waiting, []
            for call in waiting:
                call()
        run, project = self._session.run, self._project
        if not self._read_wanted or self._reading or project is None or run is None:
            return
        self._read_wanted, self._reading = False, True
        run_id = run.id

        def work() -> None:
            try:
                found = stored.tags(project, run_id)
            except BananaError as error:
                text = str(error)
                self._finished.emit(lambda: self._take_read(project, run_id, None, text))
            except Exception as error:  # noqa: BLE001 - raised where the program tells of faults
                fault = error
                self._finished.emit(lambda: self._read_no_more(project, fault))
            else:
                self._finished.emit(lambda: self._take_read(project, run_id, found))

        self._do(work)

    def _take_read(self, project: Project, run_id: int, found: list[Tag] | None, error: str = "") -> None:
        if project is not self._project:
            return
        self._reading = False
        if found is None:
            self.said.emit(error)
        else:
            self._merge(run_id, found)
            self.rows_changed.emit()
        self._go_on()

    def _read_no_more(self, project: Project, fault: Exception) -> None:
        """Leave it at what is known until the next wish to read."""
        if project is self._project:
            self._reading = False
            raise fault

    def _merge(self, run_id: int, found: list[Tag]) -> None:
        known = {row.saved.uuid: row for row in self._rows.values() if row.saved}
        current = {tag.uuid for tag in found}
        for tag in found:
            row = known.get(tag.uuid)
            if row is None:
                row = Row(next(self._ids), tag.uuid, tag.annotator, tag, as_new(tag))
                self._rows[row.id] = row
            elif row.state is Saved.YES:
                row.saved, row.wanted = tag, as_new(tag)
        for row in list(self._rows.values()):
            stale = row.saved is not None and (row.saved.run_id != run_id or row.saved.uuid not in current)
            if stale and row.state is Saved.YES:
                del self._rows[row.id]

    def _describe_edit(self, edit: Edit) -> str:
        fields = edit.after or edit.before or {}
        what = self._in_words(str(fields.get("failure_mode")), fields.get("onset"), fields.get("end_step"))
        if edit.after is None:
            return f"{what} removed"
        if edit.before is not None and "suggestion" in {**edit.before, **edit.after}:
            return f"acceptance of the suggestion as {what}"
        if edit.before is not None and "regions" in edit.after:
            return f"regions of {what} changed"
        return f"{what} {'added' if edit.before is None else 'changed'}"

    def _in_words(self, mode: str, onset: object, end_step: object) -> str:
        if self._session.blinding.steps:
            return self.names.get(mode, mode)
        until = "on" if end_step is None else f"to {end_step}"
        return f"{self.names.get(mode, mode)} from step {onset} {until}"

    def _when_saved(self, call: Callable[[], None]) -> None:
        self._waiting.append(call)
        self._go_on()

    def _do(self, work: Callable[[], None]) -> None:
        if self._session.edit_thread is not None:
            self._session.edit_thread.submit(work)
