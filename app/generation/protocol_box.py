"""How runs edit: the program's protocols and a user's own, with their prompts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QPushButton, QVBoxLayout, QWidget

from app.notifications import plain_label
from app.parts import Choices, Fold, Section
from app.tooltips import plain_tip
from banana100_core.catalog.protocols import load_protocol, protocols
from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from banana100_core.catalog.protocols import Protocol

_FEW = 4


class ProtocolBox(QWidget):
    """Asks for a protocol, from the catalog or from a TOML file, and shows what it asks for."""

    changed = Signal()
    protocol_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.box = Choices()
        self.box.setAccessibleName("Protocol")
        for protocol in protocols().values():
            self._add(protocol)
        self.own = QPushButton("Own file…")
        self.own.setProperty("link", True)  # noqa: FBT003 - Qt takes the value by place
        self.own.setToolTip("A protocol of your own: a TOML file with prompts and settings")
        self.own.clicked.connect(self._ask_file)
        self.note = plain_label(muted=True, wrap=True)
        self.problem = plain_label(wrap=True)
        self.problem.setProperty("error", True)  # noqa: FBT003 - Qt takes the value by place
        self.problem.hide()
        self.prompts = plain_label(wrap=True)
        self.prompts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fold = Fold("Prompts", self.prompts)
        section = Section("Protocol", self.own)
        section.add(self.box, self.note, self.problem, self.fold)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(section)
        self.box.currentIndexChanged.connect(lambda _row: self._choose())
        self._tell()

    @property
    def chosen(self) -> Protocol:
        """The protocol chosen."""
        found: Protocol = self.box.currentData()
        return found

    def choose(self, key: str) -> None:
        """Choose a protocol by its key."""
        for row in range(self.box.count()):
            if self.box.itemData(row).key == key:
                self.box.setCurrentIndex(row)

    def load(self, file: Path) -> None:
        """Offer a protocol of the user's own, and choose it; says what is wrong with the file."""
        try:
            protocol = load_protocol(file)
        except ProviderError as error:
            self.problem.setText(str(error))
            self.problem.show()
            return
        self.problem.hide()
        with QSignalBlocker(self.box):
            for row in reversed(range(self.box.count())):
                if self.box.itemData(row).key == protocol.key:
                    self.box.removeItem(row)
            self._add(protocol)
        self.box.setCurrentIndex(self.box.count() - 1)
        self._choose()

    def _add(self, protocol: Protocol) -> None:
        self.box.addItem(protocol.title, protocol)
        self.box.setItemData(self.box.count() - 1, plain_tip(protocol.note), Qt.ItemDataRole.ToolTipRole)

    def _choose(self) -> None:
        self.problem.hide()
        self._tell()
        self.protocol_chosen.emit()
        self.changed.emit()

    def _tell(self) -> None:
        protocol = self.chosen
        self.note.setText(protocol.note)
        self.note.setVisible(bool(protocol.note))
        count = len(protocol.prompts)
        self.fold.set_title("Its prompt" if count == 1 else f"Its {count} prompts, in turn")
        numbered = [f"{number}. {prompt}" for number, prompt in enumerate(protocol.prompts, 1)]
        self.prompts.setText(protocol.prompts[0] if count == 1 else "\n".join(numbered))
        self.fold.open(on=count <= _FEW)

    def _ask_file(self) -> None:
        name, _filter = QFileDialog.getOpenFileName(self, "A protocol of your own", "", "Protocols (*.toml)")
        if name:
            self.load(Path(name))
