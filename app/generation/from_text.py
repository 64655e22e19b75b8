"""Initial images that the editor is to make from prompts, before the first step."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.parts import HALF, icon_button
from app.tooltips import plain_tip


class FromText(QWidget):
    """Asks for a name and a prompt, from which the editor makes an initial image."""

    given = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.name = QLineEdit()
        self.name.setPlaceholderText("Its name in the study")
        self.name.setAccessibleName("Name of the initial image")
        self.prompt = QPlainTextEdit()
        self.prompt.setPlaceholderText("What the picture is to show. It is kept with step 0.")
        self.prompt.setAccessibleName("Prompt of the initial image")
        self.prompt.setTabChangesFocus(True)
        self.prompt.setFixedHeight(9 * theme.GRID)
        self.note = plain_label(muted=True, wrap=True)
        self.make = QPushButton("Add")
        leave = QPushButton("Leave")
        self._allowed = True
        self._taken: set[str] = set()
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(leave)
        buttons.addWidget(self.make)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, HALF, 0, HALF)
        layout.setSpacing(HALF)
        for widget in (self.name, self.prompt, self.note):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        self.name.textChanged.connect(lambda _text: self._tell())
        self.prompt.textChanged.connect(self._tell)
        self.make.clicked.connect(self._give)
        leave.clicked.connect(self.hide)
        self._tell()

    def allow(self, reason: str) -> None:
        """Say why the editor makes none, or, where `reason` is "", that it does."""
        self._allowed = not reason
        self.note.setText(reason or "The editor makes it once, with the settings below, for all of its runs.")
        self._tell()

    def know(self, taken: set[str]) -> None:
        """Learn the names that are taken."""
        self._taken = taken
        self._tell()

    def _tell(self) -> None:
        name = self.name.text().strip()
        whole = name and name not in self._taken and self.prompt.toPlainText().strip()
        self.make.setEnabled(bool(self._allowed and whole))
        self.make.setToolTip("The study has an initial image of that name" if name in self._taken else "")

    def _give(self) -> None:
        name, prompt = self.name.text().strip(), self.prompt.toPlainText().strip()
        self.name.clear()
        self.prompt.clear()
        self.hide()
        self.given.emit(name, prompt)


class ToMake(QWidget):
    """Lists initial images to be made; each can be taken back."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.prompts: dict[str, str] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(HALF)
        self._rows: dict[str, QWidget] = {}
        self.hide()

    def add(self, name: str, prompt: str) -> None:
        """Add one; a prompt for the same name takes its place."""
        self._drop(name)
        self.prompts[name] = prompt
        label = plain_label(f"{name}\nto be made from its prompt")
        label.setToolTip(plain_tip(prompt))
        remove = icon_button("x", f"Take back {name}")
        remove.clicked.connect(lambda: self.remove(name))
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(label, 1)
        line.addWidget(remove)
        self._rows[name] = row
        self._column.addWidget(row)
        self.show()
        self.changed.emit()

    def remove(self, name: str) -> None:
        """Take one back."""
        self._drop(name)
        self.changed.emit()

    def clear(self) -> None:
        """Take all back: their runs were started, or the project was closed."""
        for name in list(self.prompts):
            self._drop(name)

    def _drop(self, name: str) -> None:
        self.prompts.pop(name, None)
        row = self._rows.pop(name, None)
        if row is not None:
            self._column.removeWidget(row)
            row.deleteLater()
        self.setVisible(bool(self.prompts))
