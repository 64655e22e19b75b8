"""One action of the window: its names, its menu, its key and where that key is heard."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtGui import QKeySequence


class Context(StrEnum):
    """Where the key of an action is heard."""

    WINDOW = "anywhere"
    RUNS = "in the list of runs"
    TAG = "in the tags of a run"
    COMPARE = "in the comparison"


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be asked of the window.

    `text` carries the menu's access key (&); `menu` is a path such as "View/Canvas", and `section` begins a
    new section of it; `shortcut` is one key sequence in Qt's portable text, or several separated by "; ".
    Actions of one `group` exclude each other. Plain letters are left free: they belong to the failure modes
    of the taxonomy, and the tagging panel hears them.
    """

    key: str
    text: str
    menu: str
    shortcut: str = ""
    tip: str = ""
    context: Context = Context.WINDOW
    icon: str = ""
    checkable: bool = False
    group: str = ""
    section: bool = False

    @property
    def title(self) -> str:
        """The text without access keys and dots, as palette and keys sheet show it."""
        return self.text.replace("&&", "\0").replace("&", "").replace("\0", "&").rstrip("…")

    @property
    def sequences(self) -> list[QKeySequence]:
        """The keys that trigger it, the first one shown."""
        return [QKeySequence(part) for part in self.shortcut.split("; ") if part]

    @property
    def keys_shown(self) -> str:
        """Its first key as the system writes it, or nothing."""
        return self.sequences[0].toString(QKeySequence.SequenceFormat.NativeText) if self.shortcut else ""
