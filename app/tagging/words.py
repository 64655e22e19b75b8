"""What is said of annotators' work on runs: written at once, tried again, and kept if that fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.kept_edits import AGAIN_MS, KEPT, KeptEdits, Kind
from banana100_core.project.records import ReviewState
from banana100_core.project.reviews import accept_run, mark_run, reject_run, reviews

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future

    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.project.reviews import Review


@dataclass(frozen=True, slots=True)
class Word:
    """A state, said by `said_by` at a time `at`; `words` tell of it."""

    words: str
    run_id: int
    annotator: str
    state: ReviewState
    said_by: str
    at: str
    comment: str = ""

    @staticmethod
    def made(values: dict[str, Any]) -> Word:
        """The same, of what was kept; KeyError, ValueError or TypeError when it is something else."""
        return Word(**values | {"state": ReviewState(values["state"])})

    def __call__(self, project: Project) -> None:
        """Write it."""
        match self.state:
            case ReviewState.ACCEPTED:
                accept_run(project, self.said_by, self.run_id, self.annotator)
            case ReviewState.REJECTED:
                reject_run(project, self.said_by, self.run_id, self.annotator, self.comment)
            case _:
                mark_run(project, self.annotator, self.run_id, self.state)

    def overtaken(self, reviews: Iterable[Review]) -> bool:
        """Whether something was said of the same work later."""
        return any(
            (each.run_id, each.annotator) == (self.run_id, self.annotator) and each.at > self.at
            for each in reviews
        )


@dataclass(eq=False, slots=True)
class Unsaved:
    """What could not be written, in words, with the reason."""

    words: str
    write: Callable[[Project], None]
    reason: str


class Words(QObject):
    """Writes on the thread of edits, so that a word comes after the tags made before it."""

    written = Signal()
    """Something was written, or could not be."""

    _finished = Signal(object)

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._project: Project | None = None
        self._writing: dict[Future[None], Unsaved] = {}
        self.unsaved: list[Unsaved] = []
        self._kept: KeptEdits | None = None  # while there are any
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(self.retry)
        self._finished.connect(self._take_written, Qt.ConnectionType.QueuedConnection)
        session.project_opened.connect(self._open)
        session.project_closed.connect(self._close)
        self._open()

    @property
    def writing(self) -> bool:
        """Whether something is on its way."""
        return bool(self._writing)

    def write(self, write: Callable[[Project], None], words: str) -> None:
        """Write a word, or what else is to be written and told of in words."""
        project, thread = self._session.project, self._session.edit_thread
        if project is None or thread is None:
            return
        future = thread.submit(write, project)
        self._writing[future] = Unsaved(words, write, "")
        future.add_done_callback(self._finished.emit)

    def retry(self) -> None:
        """Try again to write what could not be written."""
        again, self.unsaved = self.unsaved, []
        for each in again:
            self.write(each.write, each.words)
        self.written.emit()

    def discard(self) -> None:
        """Give up what could not be written."""
        self.unsaved.clear()
        self._keep_unsaved()
        self.written.emit()

    def _take_written(self, done: Future[None]) -> None:
        written = self._writing.pop(done, None)
        if written is None:
            return  # the project was closed meanwhile
        error = done.exception()
        if error is not None:
            self.unsaved.append(Unsaved(written.words, written.write, str(error)))
            self._again.start()
        self._keep_unsaved()
        self.written.emit()

    def _open(self) -> None:
        """Go on trying to write what could not be written when the project closed."""
        project = self._session.project
        self._project = None if project is None or project.read_only else project
        if self._project is None:
            return
        kept = KeptEdits(self._project, Kind.WORDS)
        words = kept.read(Word.made)
        if not words:
            return
        self._kept = kept
        said = reviews(self._project)
        for word in words:
            if not word.overtaken(said):  # the later word counts
                self.write(word, word.words)
        self._keep_unsaved()

    def _close(self) -> None:
        """Wait for what is being written; the session closes the file only after this."""
        self._again.stop()
        self.unsaved += [
            Unsaved(each.words, each.write, str(error))
            for future, each in self._writing.items()
            if (error := future.exception()) is not None  # waits for it
        ]
        self._writing.clear()
        kept = self._keep_unsaved()
        if self.unsaved:
            lines = [f"{each.words}: {each.reason}" for each in self.unsaved] + [KEPT] * kept
            self._session.failed.emit("What you said of runs could not be saved", "\n".join(lines))
        self.unsaved.clear()
        self._project = self._kept = None

    def _keep_unsaved(self) -> bool:
        """Keep what could not be written, and forget what was kept once all is; whether it is kept."""
        words = [each.write for each in self.unsaved if isinstance(each.write, Word)]
        if words and self._project is not None:
            self._kept = KeptEdits(self._project, Kind.WORDS)
            return self._kept.keep(words)
        if self._kept is not None and not self._writing:
            self._kept.forget()
            self._kept = None
        return False
