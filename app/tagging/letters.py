"""Letter keys of the failure modes: heard wherever no text is typed, under any keyboard layout."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from app.actions import takes_text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

_LAST_LATIN = 0x24F  # end of Latin Extended-B; a layout with these letters has A to Z of its own
_FIRST_SPECIAL = 0x01000000  # Qt.Key.Key_Escape, where keys without a character begin

# X11 and Wayland: the code of the key's place on the board. Letters sit where an English board has them.
_BY_PLACE = {
    first + offset: letter
    for first, row in ((24, "QWERTYUIOP"), (38, "ASDFGHJKL"), (52, "ZXCVBNM"))
    for offset, letter in enumerate(row)
}
# macOS: its virtual key codes are places too, in an order of their own.
_BY_MAC_KEY = dict(
    zip(
        (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 31, 32, 34, 35, 37, 38, 40, 45, 46),
        "ASDFHGZXCVBQWERYTOUIPLJKNM",
        strict=True,
    )
)


def letter_of(event: QKeyEvent, platform: str = sys.platform) -> str | None:
    """Tell which letter key was pressed, A to Z, whatever the layout writes with it; None for other keys."""
    key = int(event.key())
    if Qt.Key.Key_A <= key <= Qt.Key.Key_Z:
        return chr(key)
    if key <= _LAST_LATIN or (key >= _FIRST_SPECIAL and key != Qt.Key.Key_unknown):
        return None
    if platform == "win32":
        virtual = event.nativeVirtualKey()
        return chr(virtual) if ord("A") <= virtual <= ord("Z") else None
    if platform == "darwin":
        return _BY_MAC_KEY.get(event.nativeVirtualKey())
    return _BY_PLACE.get(event.nativeScanCode())


class LetterKeys(QObject):
    """Hears letters typed anywhere in a panel's window while the panel is on screen and no text is typed.

    Filters the events of the widget with the focus, and of the window, which gets keys when none has it. Not
    those of the whole application: each of its events would have to wait for the interpreter.
    """

    pressed = Signal(str, bool)  # letter, with Shift

    def __init__(self, panel: QWidget) -> None:
        super().__init__(panel)
        self._panel = panel
        self._letters: frozenset[str] = frozenset()
        self._window: QWidget | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_changed)
            self._focus_changed(None, application.focusWidget())

    def set_letters(self, letters: frozenset[str]) -> None:
        """Hear these letters, A to Z; all other keys go their way."""
        self._letters = letters

    def follow_window(self) -> None:
        """Listen to the window that the panel is in now; it changes when a dock is made to float."""
        window = self._panel.window()
        if window is not self._window:
            if self._window is not None:
                self._window.removeEventFilter(self)
            window.installEventFilter(self)
            self._window = window

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take a letter that is ours before the widget with the focus searches a list for it."""
        if event.type() in {QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride} and isinstance(
            event, QKeyEvent
        ):
            letter = self._ours(event)
            if letter is not None:
                event.accept()
                if event.type() == QEvent.Type.KeyPress and not event.isAutoRepeat():
                    self.pressed.emit(letter, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
                return True
        return super().eventFilter(watched, event)

    def _ours(self, event: QKeyEvent) -> str | None:
        if event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier:
            return None
        letter = letter_of(event)
        if letter not in self._letters or not self._panel.isVisible():
            return None
        if takes_text(QApplication.focusWidget()):
            return None
        if QApplication.activeModalWidget() is not None or QApplication.activePopupWidget() is not None:
            return None
        return letter

    def _focus_changed(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is not None and old is not self._window:
            old.removeEventFilter(self)
        if new is not None:
            new.installEventFilter(self)
