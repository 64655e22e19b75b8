"""Pictures for the panes: read and decoded off the UI thread, kept in a cache bounded in bytes."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.allocator import give_back
from app.threads import give_way
from banana100_core.errors import BananaError
from banana100_core.imaging import buffers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.session import Session
    from banana100_core.imaging.pyramid import Pyramid
    from banana100_core.project import Project

CACHE_CEILING = 2 * 2**30
"""Bytes that the cache never exceeds by default, however much memory there is."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A picture to decode; one that is `decoded` is given its level of halves."""

    sha256: str
    decoded: Pyramid | None


@dataclass(frozen=True, slots=True)
class _Done:
    """What a thread hands to the UI thread; `project` tells whether it comes from the one now open."""

    project: Project
    sha256: str
    pyramid: Pyramid | None
    error: str


def default_cache_bytes() -> int:
    """A quarter of the machine's memory, at most 2 GB."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return CACHE_CEILING // 2
    return min(memory // 4, CACHE_CEILING)


class ImageLoader(QObject):
    """Decodes the pictures that are wanted now, then those expected next.

    Each call of `want` replaces all wishes before it; a picture that nobody wants any more is not begun.
    Pictures are known by content (SHA-256), so one that comes late can't stand in for another. All methods
    belong to the UI thread.
    """

    loaded = Signal(str)
    """A wanted or expected picture is there, or its error is: see `pyramid` and `error`."""

    _done = Signal(object)

    def __init__(
        self, parent: QObject | None = None, *, cache_bytes: int | None = None, threads: int | None = None
    ) -> None:
        super().__init__(parent)
        self.cache_bytes = default_cache_bytes() if cache_bytes is None else cache_bytes
        self._thread_count = threads or min(4, max(2, os.cpu_count() or 2))
        self._at_once = self._thread_count - 1  # a core is left for the window
        self._project: Project | None = None
        self._cache: OrderedDict[str, Pyramid] = OrderedDict()
        self._held = 0
        self._errors: dict[str, str] = {}
        self._wanted: list[str] = []
        self._ahead: list[str] = []
        self._halves = False
        # Shared with the threads, under the condition's lock.
        self._work = threading.Condition()
        self._queue: list[_Wish] = []  # wanted and not begun, most urgent first
        self._queue_ahead: list[_Wish] = []
        self._begun: set[str] = set()
        self._busy_wanted = self._busy_ahead = 0
        self._threads: list[threading.Thread] = []
        self._stopping = threading.Event()
        self._done.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def follow(self, session: Session) -> None:
        """Open and close with the session's project."""
        session.project_opened.connect(lambda: self.open(session.project) if session.project else None)
        session.project_closed.connect(self.close)
        if session.project is not None:
            self.open(session.project)

    def bound(self, cache_bytes: int | None) -> None:
        """Hold no more than this from now on; None for the default."""
        self.cache_bytes = default_cache_bytes() if cache_bytes is None else cache_bytes
        self._make_room()

    @property
    def held_bytes(self) -> int:
        """Bytes of decoded pictures held now."""
        return self._held

    def open(self, project: Project) -> None:
        """Serve the pictures of this project."""
        self.close()
        self._project = project
        self._stopping = threading.Event()
        for number in range(self._thread_count):
            thread = threading.Thread(
                target=self._serve, args=(project, self._stopping), name=f"images-{number}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Stop the threads, wait for them, and give all memory back."""
        if self._project is None:
            return
        with self._work:
            self._stopping.set()
            self._queue.clear()
            self._queue_ahead.clear()
            self._work.notify_all()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._begun.clear()
        self._busy_wanted = self._busy_ahead = 0
        self._project = None
        self._cache.clear()
        self._held = 0
        self._errors.clear()
        self._wanted, self._ahead = [], []
        buffers.give_back()
        give_back()

    def want(self, *sha256s: str, ahead: Sequence[str] = ()) -> None:
        """Ask for pictures, most urgent first; `ahead` are expected next. Replaces all wishes before."""
        self._wanted = list(dict.fromkeys(sha256s))
        self._ahead = [sha256 for sha256 in dict.fromkeys(ahead) if sha256 not in self._wanted][
            : self._room()
        ]
        for sha256 in [*self._ahead, *self._wanted]:
            if sha256 in self._cache:
                self._cache.move_to_end(sha256)
        # An error is told again only after a new attempt: the file may be back.
        self._errors = {sha256: text for sha256, text in self._errors.items() if sha256 in self._wanted}
        self._queue_up()

    def need_halves(self, *, need: bool) -> None:
        """Say whether some pane shows pictures at a scale that takes their level of halves."""
        if need != self._halves:
            self._halves = need
            self._queue_up()

    def pyramid(self, sha256: str) -> Pyramid | None:
        """The decoded picture, if it is there, laid out for painting."""
        return self._cache.get(sha256)

    def is_settled(self, sha256: str) -> bool:
        """Whether no more of a picture is to come."""
        return sha256 in self._errors or (sha256 in self._cache and self._wish(sha256) is None)

    def error(self, sha256: str) -> str | None:
        """Why a wanted picture can't be shown, if it can't."""
        return self._errors.get(sha256)

    def _room(self) -> int:
        """How many pictures fit beside those on screen, going by the largest one held."""
        largest = max((pyramid.nbytes for pyramid in self._cache.values()), default=1)
        return max(0, self.cache_bytes // largest - len(self._wanted))

    def _queue_up(self) -> None:
        with self._work:
            self._queue = self._wishes(self._wanted)
            self._queue_ahead = self._wishes(self._ahead)
            self._wake()

    def _wake(self) -> None:
        """Under the lock: wake the threads if there is work; they take the interpreter from the UI thread."""
        if self._queue or self._queue_ahead:
            self._work.notify_all()

    def _wishes(self, sha256s: Sequence[str]) -> list[_Wish]:
        wishes = [self._wish(each) for each in sha256s if each not in self._begun]
        return [wish for wish in wishes if wish is not None]

    def _wish(self, sha256: str) -> _Wish | None:
        """What is still to be done for a picture."""
        decoded = self._cache.get(sha256)
        if sha256 in self._errors or (decoded and not (self._halves and decoded.lacks_halves)):
            return None
        return _Wish(sha256, decoded)

    def _take(self, done: _Done) -> None:
        if done.project is not self._project:
            return
        with self._work:
            self._begun.discard(done.sha256)
        if done.pyramid is None:
            self._errors[done.sha256] = done.error
        else:
            if done.sha256 in self._cache:
                self._held -= self._cache[done.sha256].nbytes
            self._cache[done.sha256] = done.pyramid
            self._held += done.pyramid.nbytes
            self._make_room()
            self._want_more_of(done.sha256)
        self.loaded.emit(done.sha256)

    def _want_more_of(self, sha256: str) -> None:
        """Wish for the halves of a picture that has come, if they are needed and it is kept."""
        wish = self._wish(sha256) if sha256 in self._cache else None
        with self._work:
            if wish and sha256 in self._wanted:
                self._queue.insert(0, wish)
            elif wish and sha256 in self._ahead:
                self._queue_ahead.insert(0, wish)
            self._wake()

    def _make_room(self) -> None:
        """Let go of what was used longest ago, at need of what is expected last; what is on screen stays."""
        needed = {*self._wanted, *self._ahead}
        others = [sha256 for sha256 in self._cache if sha256 not in needed]
        for sha256 in [*others, *reversed(self._ahead)]:
            if self._held <= self.cache_bytes:
                return
            if sha256 in self._cache:
                self._held -= self._cache.pop(sha256).nbytes
            if sha256 in self._ahead:  # no room for it, so none for those expected still later
                with self._work:
                    self._queue_ahead.clear()

    def _serve(self, project: Project, stopping: threading.Event) -> None:
        """A thread's life: the most urgent wish, then the next."""
        give_way()
        while True:
            with self._work:
                while not stopping.is_set() and not (self._may_serve() or self._may_look_ahead()):
                    self._work.wait()
                if stopping.is_set():
                    return
                ahead = not self._may_serve()
                wish = (self._queue_ahead if ahead else self._queue).pop(0)
                self._begun.add(wish.sha256)
                self._busy_ahead += ahead
                self._busy_wanted += not ahead
            done = _granted(project, wish)
            if not stopping.is_set():
                self._done.emit(done)
            if ahead:  # nobody waits, so there is time to return what decoding needed meanwhile
                give_back()
            with self._work:
                self._busy_ahead -= ahead
                self._busy_wanted -= not ahead
                self._work.notify_all()

    def _may_serve(self) -> bool:
        return bool(self._queue) and self._busy_wanted < self._at_once

    def _may_look_ahead(self) -> bool:
        # What is only expected takes no core from a wish, and leaves a thread for the next one.
        return bool(self._queue_ahead) and self._busy_wanted == 0 and self._busy_ahead < self._at_once


def _granted(project: Project, wish: _Wish) -> _Done:
    # Not at the top: the first window comes up before any picture is decoded.
    from banana100_core.imaging.pyramid import with_halves
    from banana100_core.imaging.screen import pyramid_for_screen
    from banana100_core.project.images import image_bytes

    try:
        if wish.decoded is None:
            pyramid = pyramid_for_screen(image_bytes(project, wish.sha256))
        else:
            pyramid = with_halves(wish.decoded)
    except BananaError as error:
        return _Done(project, wish.sha256, None, str(error))
    except MemoryError:
        return _Done(project, wish.sha256, None, "There is not enough memory to decode this picture.")
    except Exception as error:  # noqa: BLE001 - a fault in one picture must not end the thread for all others
        return _Done(project, wish.sha256, None, f"{type(error).__name__}: {error}")
    return _Done(project, wish.sha256, pyramid, "")
