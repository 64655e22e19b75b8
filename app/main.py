"""Starting the window, and ending it in order."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSocketNotifier, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app import theme
from app.allocator import hold_little_back
from app.garbage import UiThreadCollector
from app.notifications import FaultCatcher, keep_log
from app.responsiveness import LoopWatch
from app.settings import APPLICATION, ORGANIZATION
from app.window import MainWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

PROGRAM = "banana100"  # as its desktop entry is named, by which desktops find its icon
SCREENSHOT_SECONDS = 90
SETTLED_TICKS = 3
INTERRUPTED = 130
SWITCH_SECONDS = 0.001
"""How long a thread may hold the interpreter while the UI thread waits: a fifth of Python's default.

A repaint lets go of the interpreter in every call of Qt, and has to get it back each time.
"""


def run_window(
    project: Path | None = None,
    *,
    demo: bool = False,
    screenshot: Path | None = None,
    read_only: bool = False,
    scheme: theme.Scheme | None = None,
    watch: bool = False,
) -> int:
    """Show the window until it is closed; returns the exit code.

    `screenshot` draws it offscreen instead, once everything in it has arrived, and saves the picture there;
    the code is 1 when that can't be done. `watch` prints when the window was up and how busy the loop was.
    """
    if screenshot is not None:
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = start_application()
    window = MainWindow(remember=screenshot is None)
    if scheme is not None:
        theme.set_scheme(scheme)
    catcher = FaultCatcher(window)
    catcher.install()
    ending = _Ending(window)
    collector = UiThreadCollector(window)
    collector.start()
    window.maker.finished.connect(collector.start)  # again, to leave out what the panels brought
    loop_watch = _watch(window) if watch else None
    if screenshot is not None:
        catcher.caught.connect(_Screenshot(window, screenshot, ending).give_up)
    if demo:
        window.open_demo(project)
    elif project is not None:
        window.open_project(project, read_only=read_only)
    window.show()
    application.exec()
    collector.stop()
    catcher.uninstall()
    ending.uninstall()
    if loop_watch is not None:
        loop_watch.stop()
        print(loop_watch.report(), flush=True)
    return ending.code


def start_application() -> QApplication:
    """Make Qt's application with the program's name, look and log; the one that is there is used again."""
    hold_little_back()
    application = QApplication.instance() or QApplication(sys.argv[:1])
    if not isinstance(application, QApplication):
        raise TypeError("another kind of Qt application runs in this process")
    application.setOrganizationName(ORGANIZATION)
    application.setApplicationName(APPLICATION)
    QGuiApplication.setDesktopFileName(PROGRAM)
    sys.setswitchinterval(SWITCH_SECONDS)
    keep_log()
    application.setWindowIcon(theme.program_icon())
    theme.apply(application)
    return application


def main(arguments: list[str] | None = None) -> int:
    """Read the command line of `python -m app`."""
    parser = argparse.ArgumentParser(prog="python -m app", description="Open the window.")
    parser.add_argument("project", nargs="?", type=Path, help="a project file, *.b100")
    parser.add_argument(
        "--demo", action="store_true", help="open the demo study, and make it if it isn't there"
    )
    parser.add_argument("--read-only", action="store_true", help="change nothing in the project")
    parser.add_argument(
        "--screenshot", type=Path, metavar="OUT.png", help="save a picture of the window and end"
    )
    parser.add_argument(
        "--theme", type=theme.Scheme, choices=list(theme.Scheme), help="instead of the setting"
    )
    parser.add_argument("--watch", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    return run_window(
        chosen.project,
        demo=chosen.demo,
        screenshot=chosen.screenshot,
        read_only=chosen.read_only,
        scheme=chosen.theme,
        watch=chosen.watch,
    )


class _Ending(QObject):
    """Closes the window when the process is interrupted or told to end, and keeps the exit code."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.code = 0
        # Python runs its signal handlers only between its own instructions, and the loop waits in Qt: the
        # byte that Python writes for each signal wakes it.
        self._ear, self._mouth = socket.socketpair()
        for end in (self._ear, self._mouth):
            end.setblocking(False)  # noqa: FBT003 - the socket takes the value by place
        self._notifier = QSocketNotifier(self._ear.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(lambda: self._ear.recv(64))
        self._before = {name: signal.signal(name, self._interrupted) for name in _signals()}
        self._before_fd = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)

    def end(self, code: int) -> None:
        """Close the window; the program ends with this code."""
        self.code = code
        self._window.close()

    def uninstall(self) -> None:
        """Give the signals back."""
        signal.set_wakeup_fd(self._before_fd)
        for name, handler in self._before.items():
            signal.signal(name, handler)
        self._notifier.setEnabled(False)
        self._ear.close()
        self._mouth.close()

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        self.end(INTERRUPTED)


class _Screenshot(QObject):
    """Saves a picture of the window when nothing in it is on its way any more."""

    def __init__(self, window: MainWindow, path: Path, ending: _Ending) -> None:
        super().__init__(window)
        self._window = window
        self._path = path
        self._ending = ending
        self._settled = 0
        self._last = time.monotonic() + SCREENSHOT_SECONDS
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(100)

    def give_up(self, report: str) -> None:
        """End without a picture, because of a fault in the program."""
        print(report, file=sys.stderr)
        self._timer.stop()
        self._ending.end(1)

    def _look(self) -> None:
        self._settled = self._settled + 1 if self._window.is_settled() else 0
        late = time.monotonic() > self._last
        if self._settled < SETTLED_TICKS and not late:
            return
        self._timer.stop()
        saved = self._window.grab().save(str(self._path))
        if late:
            print(
                f"{self._path}: not everything in the window arrived in {SCREENSHOT_SECONDS} s",
                file=sys.stderr,
            )
        elif not saved:
            print(f"{self._path} can't be written; choose another place.", file=sys.stderr)
        self._ending.end(0 if saved and not late else 1)


def _signals() -> Iterator[signal.Signals]:
    yield signal.SIGINT
    yield signal.SIGTERM


def _watch(window: MainWindow) -> LoopWatch:
    loop_watch = LoopWatch(window)

    def tell(what: str) -> Callable[[], None]:
        return lambda: print(f"{what} at {time.time():.3f}", flush=True)

    window.first_painted.connect(tell("first window"))
    window.maker.finished.connect(tell("panels"))
    window.maker.finished.connect(loop_watch.start)
    return loop_watch
