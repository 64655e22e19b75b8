"""Whether a service's API key is there, and a field that puts one into the system's keyring."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.parts import HALF
from banana100_core.errors import ProviderError
from banana100_core.generation.keys import IN_KEYRING, key_place, store_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QHideEvent


class KeyLine(QWidget):
    """Says where the key comes from, never what it is; what is written goes to the keyring alone."""

    found = Signal(bool)

    _answered = Signal(object, str)  # what takes it on this thread, and the answer

    def __init__(self) -> None:
        super().__init__()
        self._provider = ""
        self._place: str | None = None
        self._answered.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self.state = plain_label(wrap=True)
        self.change = QPushButton("Change…")
        self.change.setProperty("link", True)  # noqa: FBT003 - Qt takes the value by place
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText("Paste the API key")
        self.field.setAccessibleName("API key")
        self.store = QPushButton("Keep")
        self.store.setToolTip("Put it into the system's keyring; it is kept nowhere else")
        self._entry = QWidget()
        row = QHBoxLayout(self._entry)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(HALF)
        row.addWidget(self.field, 1)
        row.addWidget(self.store)
        head = QHBoxLayout()
        head.setSpacing(theme.GRID)
        head.addWidget(self.state, 1)
        head.addWidget(self.change)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(HALF)
        layout.addLayout(head)
        layout.addWidget(self._entry)
        self.change.clicked.connect(self._ask)
        self.store.clicked.connect(self._keep)
        self.field.returnPressed.connect(self._keep)
        self.field.textChanged.connect(lambda text: self.store.setEnabled(bool(text.strip())))
        self.store.setEnabled(False)
        self._entry.hide()

    @property
    def present(self) -> bool | None:
        """Whether there is a key; None until it is known."""
        return None if self._place is None else bool(self._place)

    def look(self, provider: str) -> None:
        """Find out whether there is a key for a provider."""
        self._provider, self._place = provider, None
        self.state.setText("Looking for the API key…")
        self.change.hide()
        self._ask_keyring(lambda: key_place(provider), lambda place: self._take(provider, place))

    def _ask_keyring(self, work: Callable[[], str], take: Callable[[str], None]) -> None:
        """A keyring may ask for a password of its own, for as long as it likes: nothing waits for it."""

        def ask() -> None:
            answer = work()
            with contextlib.suppress(RuntimeError):  # the window was closed meanwhile
                self._answered.emit(take, answer)

        threading.Thread(target=ask, name="keyring", daemon=True).start()

    def _deliver(self, take: Callable[[str], None], answer: str) -> None:
        take(answer)

    def _take(self, provider: str, place: str) -> None:
        if provider != self._provider:
            return
        self._place = place
        self.state.setText(f"API key: present, from {place}." if place else "API key: missing.")
        self._mark(error=not place)
        self.change.setVisible(place == IN_KEYRING)  # the environment comes first, whatever is stored
        self._entry.setVisible(not place)
        self.found.emit(bool(place))

    def _ask(self) -> None:
        self._entry.show()
        self.change.hide()
        self.field.setFocus()

    def _keep(self) -> None:
        key, provider = self.field.text(), self._provider
        if not key.strip():
            return
        self.field.clear()
        self._ask_keyring(lambda: _stored(provider, key), self._stored)

    def _stored(self, problem: str) -> None:
        if problem:
            self.state.setText(problem)
            self._mark(error=True)
        else:
            self.look(self._provider)

    def _mark(self, *, error: bool) -> None:
        self.state.setProperty("error", error)
        self.state.setProperty("muted", not error)
        self.state.style().polish(self.state)

    def hideEvent(self, event: QHideEvent) -> None:
        """Forget what was written and not kept."""
        self.field.clear()
        super().hideEvent(event)


def _stored(provider: str, key: str) -> str:
    try:
        store_key(provider, key)
    except ProviderError as error:
        return str(error)
    return ""
