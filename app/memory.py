"""What the window remembers of how it was left, beside settings and layout: grouping, sort, backdrop."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings

from app.settings import APPLICATION, ORGANIZATION

if TYPE_CHECKING:
    from app.session import Session

_GROUP = "remembered"


class Memory(QObject):
    """A small store of JSON values by key; with `kept` off it lives as long as the window."""

    def __init__(self, parent: QObject | None = None, *, kept: bool = True) -> None:
        super().__init__(parent)
        self._values: dict[str, str] = {}
        self._store = (
            QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, ORGANIZATION, APPLICATION)
            if kept
            else None
        )

    @classmethod
    def of(cls, session: Session) -> Memory:
        """The memory of a session's window, shared by all its panels."""
        found = session.findChild(cls)
        return found if isinstance(found, cls) else cls(session)

    def value(self, key: str) -> object:
        """What was remembered last; None if nothing was, or if it can't be read."""
        stored = self._values.get(key)
        if stored is None and self._store is not None:
            stored = self._store.value(f"{_GROUP}/{key}")
        try:
            return json.loads(stored) if isinstance(stored, str) else None
        except ValueError:
            return None

    def remember(self, key: str, value: object) -> None:
        """Keep a value that JSON can hold."""
        self._values[key] = json.dumps(value)
        if self._store is not None:
            self._store.setValue(f"{_GROUP}/{key}", self._values[key])
