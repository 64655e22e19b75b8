"""Thumbnails for lists and filmstrips: read from the project, or made in the background and kept there."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPixmap

from app.threads import give_way
from banana100_core.errors import BananaError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from app.session import Session
    from banana100_core.project import Project

CACHE_COUNT = 1000
"""Pixmaps kept; at 256 pixels a side they hold 200 MB or less."""

_WISHES = 400  # more than any screen shows; what was scrolled past long ago is forgotten
FRAME_MS, TAKE_SECONDS = 16, 0.003
"""Those that have come are taken once a frame, and no longer than this: more would hold up the frame."""
_READ_BATCH = 48
_STORE_BATCH = 16


@dataclass(frozen=True, slots=True)
class _Done:
    """What the thread hands to the UI thread: bare pixels, since a thread of Python must not call Qt.

    Such a call holds the interpreter's lock. Where it waits for a lock of Qt's that the UI thread holds (the
    plugins for pictures connect objects), and the UI thread for the interpreter's, both wait for ever.
    """

    project: Project
    sha256: str
    pixels: NDArray[np.uint8] | None  # BGRX (height, width, 4); None when none can be made


class Thumbnails(QObject):
    """Answers at once with what is there; the rest is read or made in the background, newest wish first."""

    thumbnail_ready = Signal(str)
    """A thumbnail that was asked for can be had from `pixmap` now, or `failed` says that it never will."""

    _arrived = Signal()

    def __init__(self, parent: QObject | None = None, *, cache_count: int = CACHE_COUNT) -> None:
        super().__init__(parent)
        self._cache_count = cache_count
        self._cache: OrderedDict[str, QPixmap] = OrderedDict()
        self._failed: set[str] = set()
        self._project: Project | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()
        # Shared with the thread, under the condition's lock; both are ordered oldest wish first.
        self._work = threading.Condition()
        self._wishes: OrderedDict[str, None] = OrderedDict()
        self._to_make: OrderedDict[str, None] = OrderedDict()
        self._begun: set[str] = set()
        self._done: deque[_Done] = deque()
        self._arrived.connect(self._begin_frame, Qt.ConnectionType.QueuedConnection)
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setInterval(FRAME_MS)
        self._frame.timeout.connect(self._take_some)

    @classmethod
    def of(cls, session: Session) -> Thumbnails:
        """The thumbnails of a session, shared by all its panels; they follow its project."""
        found = session.findChild(cls)
        if isinstance(found, cls):
            return found
        made = cls(session)
        session.project_opened.connect(lambda: made.open(session.project) if session.project else None)
        session.project_closed.connect(made.close)
        if session.project is not None:
            made.open(session.project)
        return made

    def open(self, project: Project) -> None:
        """Serve the thumbnails of this project."""
        self.close()
        self._project = project
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._serve, args=(project, self._stopping), name="thumbnails", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop, store what has been made, give the memory back; to be called before the project is closed."""
        with self._work:
            self._stopping.set()
            self._work.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._thread = self._project = None
        self._wishes.clear()
        self._to_make.clear()
        self._begun.clear()
        self._done.clear()
        self._frame.stop()
        self._cache.clear()
        self._failed.clear()

    def pixmap(self, sha256: str) -> QPixmap | None:
        """The thumbnail, or None until `thumbnail_ready` says that it has come."""
        pixmap = self._cache.get(sha256)
        if pixmap is not None:
            self._cache.move_to_end(sha256)
            return pixmap
        if self._project is None or sha256 in self._failed:
            return None
        with self._work:
            if sha256 in self._to_make:
                self._to_make.move_to_end(sha256)
            elif sha256 not in self._begun:
                self._wishes[sha256] = None
                self._wishes.move_to_end(sha256)
                self._work.notify()
            while len(self._wishes) + len(self._to_make) > _WISHES:
                (self._to_make or self._wishes).popitem(last=False)
        return None

    def failed(self, sha256: str) -> bool:
        """Whether no thumbnail can be made of this picture."""
        return sha256 in self._failed

    def _begin_frame(self) -> None:
        if not self._frame.isActive():
            self._take_some()

    def _take_some(self) -> None:
        until = time.perf_counter() + TAKE_SECONDS
        while self._done:
            self._take(self._done.popleft())
            self._frame.start()
            if time.perf_counter() >= until:
                break

    def _take(self, done: _Done) -> None:
        if done.project is not self._project:
            return
        with self._work:
            self._begun.discard(done.sha256)
        if done.pixels is None:
            self._failed.add(done.sha256)
        else:
            height, width, bands = done.pixels.shape
            image = QImage(done.pixels.data, width, height, bands * width, QImage.Format.Format_RGB32)
            self._cache[done.sha256] = QPixmap.fromImage(image.copy())
            while len(self._cache) > self._cache_count:
                self._cache.popitem(last=False)
        self.thumbnail_ready.emit(done.sha256)

    def _serve(self, project: Project, stopping: threading.Event) -> None:
        """A thread's life: read what is stored in batches, make one that isn't, look for newer wishes."""
        give_way()
        made: dict[str, bytes] = {}
        while True:
            with self._work:
                while not (self._wishes or self._to_make or made or stopping.is_set()):
                    self._work.wait()
                if stopping.is_set():
                    break
                wishes = [self._wishes.popitem()[0] for _ in range(min(len(self._wishes), _READ_BATCH))]
                make = None if wishes or not self._to_make else self._to_make.popitem()[0]
                self._begun.update(wishes if make is None else [make])
            if wishes:
                self._read(project, wishes)
            elif make is not None:
                data = _make(project, make)
                made[make] = data
                self._hand_over(_Done(project, make, _pixels(data)))
            if len(made) >= _STORE_BATCH or (wishes == [] and make is None):
                _store(project, made)
                made = {}
        _store(project, made)

    def _read(self, project: Project, sha256s: list[str]) -> None:
        stored = _stored(project, sha256s)
        with self._work:
            for sha256 in reversed(sha256s):  # they come newest first
                if sha256 not in stored:
                    self._begun.discard(sha256)
                    self._to_make[sha256] = None
        for sha256, data in stored.items():
            self._hand_over(_Done(project, sha256, _pixels(data)))

    def _hand_over(self, done: _Done) -> None:
        self._done.append(done)
        if len(self._done) == 1:  # else the UI thread knows that there are some
            self._arrived.emit()


def _stored(project: Project, sha256s: list[str]) -> dict[str, bytes]:
    from banana100_core.project.images import thumbnails

    try:
        return thumbnails(project, sha256s)
    except BananaError:
        return {}


def _make(project: Project, sha256: str) -> bytes:
    """A new thumbnail, or nothing: the pane that shows the picture itself tells the reason."""
    from banana100_core.imaging.thumbnails import make_thumbnail
    from banana100_core.project.images import image_bytes

    try:
        return make_thumbnail(image_bytes(project, sha256))
    except Exception:  # noqa: BLE001 - a fault in one picture must not end the thread for all others
        return b""


def _pixels(thumbnail: bytes) -> NDArray[np.uint8] | None:
    from banana100_core.imaging.thumbnails import thumbnail_pixels

    try:
        return thumbnail_pixels(thumbnail)
    except BananaError:
        return None


def _store(project: Project, made: dict[str, bytes]) -> None:
    whole = {sha256: data for sha256, data in made.items() if data}
    if whole and not project.read_only:
        from banana100_core.project.images import add_thumbnails

        with contextlib.suppress(BananaError):  # they can be made again; nothing is lost
            add_thumbnails(project, whole)
