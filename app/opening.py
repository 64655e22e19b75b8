"""Opening and making project files off the UI thread."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import QObject, Signal

from app.background import Background
from banana100_core.errors import BananaError, ProjectInUseError, ProjectReadOnlyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from banana100_core.project import Project

SUFFIX = ".b100"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file could not be opened; `readable` when it could be for reading only."""

    path: Path
    reason: str
    readable: bool


class Opener(QObject):
    """Opens one project after another; what is opened too late for anybody is closed again."""

    opened = Signal(object)
    failed = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = Background("opening", self)
        self._waiting: list[Project] = []
        self._latest = 0

    def open(self, path: Path, *, read_only: bool = False) -> None:
        """Open a project file."""
        self._begin(path, lambda: _open(path, read_only=read_only))

    def create(self, path: Path) -> None:
        """Make an empty project file and open it."""
        self._begin(path, lambda: _create(path))

    def open_demo(self, path: Path) -> None:
        """Open the demo study; make it if it isn't there."""
        self._begin(path, lambda: _open(path) if path.exists() else _create_demo(path))

    def close(self) -> None:
        """Wait for what is being opened, and close it."""
        self._background.stop()
        for project in self._waiting:
            project.close()
        self._waiting.clear()

    def _begin(self, path: Path, make: Callable[[], Project]) -> None:
        self._latest += 1
        number = self._latest

        def work() -> Project | Failure:
            try:
                project = make()
            except BananaError as error:
                readable = isinstance(error, (ProjectInUseError, ProjectReadOnlyError)) and path.is_file()
                return Failure(path, str(error), readable)
            self._waiting.append(project)
            return project

        self._background.do(work, lambda result: self._hand_over(result, number))

    def _hand_over(self, result: Project | Failure, number: int) -> None:
        if isinstance(result, Failure):
            self.failed.emit(result)
            return
        self._waiting.remove(result)
        if number == self._latest:
            self.opened.emit(result)
        else:  # the user has asked for another one since
            self._background.do(result.close)


def demo_file() -> Path:
    """Where the demo study is when nobody says otherwise."""
    return Path(platformdirs.user_data_dir("banana100", appauthor=False)) / f"demo{SUFFIX}"


def _open(path: Path, *, read_only: bool = False) -> Project:
    from banana100_core.project import Project

    return Project.open(path, read_only=read_only)


def _create(path: Path) -> Project:
    from banana100_core.project import Project

    return Project.create(path)


def _create_demo(path: Path) -> Project:
    from banana100_core.demo import create_demo

    path.parent.mkdir(parents=True, exist_ok=True)
    return create_demo(path)
