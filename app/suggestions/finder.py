"""Looking for failure modes in the background, with progress and a way to stop."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.background import Background, NewsDesk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.session import Session
    from banana100_core.analysis.suggestions import Search


class SuggestionFinder(QObject):
    """One search at a time; it ends when the project closes, and what it found until then is kept."""

    progressed = Signal(int, int)
    finished = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stop = threading.Event()
        self.running = False
        self._work = Background("suggestions", self)
        self._work.failed.connect(self._fail)
        self._news = NewsDesk(self)
        self._news.delivered.connect(self._tell)
        session.project_closed.connect(self._close)

    def find(self, run_ids: Sequence[int] | None) -> None:
        """Look at the pictures of some runs, or of all."""
        project = self._session.project
        if self.running or project is None or project.read_only:
            return
        self.running = True
        self._stop = stop = threading.Event()
        self.progressed.emit(0, 0)

        def work() -> Search:
            from banana100_core.analysis.suggestions import suggest

            return suggest(
                project,
                run_ids,
                progress=lambda *state: self._news.tell_progress("suggestions", state),
                stop=stop.is_set,
            )

        self._work.do(work, self._finish)

    def stop(self) -> None:
        """End the search after the picture in work."""
        self._stop.set()

    def _close(self) -> None:
        self.stop()
        self._work.stop()
        self._news.clear()
        self.running = False

    def _tell(self, _tables: frozenset[str], news: dict[str, tuple[int, int, str]]) -> None:
        if self.running:
            done, total, _what = news["suggestions"]
            self.progressed.emit(done, total)

    def _finish(self, search: Search) -> None:
        self.running = False
        self.finished.emit(search_text(search))

    def _fail(self, message: str) -> None:
        self.running = False
        self.finished.emit(message)


def search_text(search: Search) -> str:
    """What a search came to, in a line, and why runs were passed over."""
    runs = f"{search.runs:,} {'run' if search.runs == 1 else 'runs'}"
    text = f"{'Stopped after' if search.stopped else 'Looked at'} {runs}: {search.new:,} new."
    if search.unreadable:
        more = f" and {len(search.unreadable) - 1:,} more" if len(search.unreadable) > 1 else ""
        text += f" Passed over {search.unreadable[0]}{more}"
    return text
