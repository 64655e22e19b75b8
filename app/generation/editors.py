"""Which editor edits: those of the program, services with their key, those of installed packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from app.key_line import KeyLine
from app.notifications import plain_label
from app.parts import Choices, Section, rows
from app.tooltips import plain_tip
from banana100_core.errors import ProviderError
from banana100_core.generation.providers import capabilities, offered
from banana100_core.generation.providers.gemini import PROVIDER as GEMINI

if TYPE_CHECKING:
    from banana100_core.generation.editor import Capabilities

OTHER = "Another Gemini model…"


class Editors(QWidget):
    """Asks for an editor and says what it is; one that needs a key says whether there is one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._offered: list[Capabilities] = []
        self.box = Choices()
        self.box.setAccessibleName("Editor")
        self.model_id = QLineEdit()
        self.model_id.setPlaceholderText("gemini-…")
        self.model_id.setToolTip("The id of a model that the program doesn't know yet")
        self._model_row = rows([("Model id", self.model_id)])
        self.note = plain_label(muted=True, wrap=True)
        self.key = KeyLine()
        self.key.found.connect(lambda _there: self.changed.emit())
        self.problems = plain_label(muted=True, wrap=True)
        self.problems.hide()
        section = Section("Editor")
        section.add(self.box, self._model_row, self.note, self.key, self.problems)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(section)
        self.box.currentIndexChanged.connect(lambda _row: self._tell())
        self.model_id.textChanged.connect(lambda _text: self._tell())

    @property
    def chosen(self) -> Capabilities | None:
        """The editor chosen; None while the id of another model is not whole."""
        found: Capabilities | None = self.box.currentData()
        if found is not None or not self._asks_for_id:
            return found
        try:
            return capabilities(GEMINI, self.model_id.text().strip())
        except ProviderError:
            return None

    @property
    def problem(self) -> str:
        """Why no run can be planned with what is chosen; "" when one can."""
        if self.chosen is None:
            return (
                "Write the id of the model, as Google's list of models has it." if self._asks_for_id else ""
            )
        if self.chosen.needs_key and self.key.present is False:
            return f"{self.chosen.title} needs an API key."
        return ""

    @property
    def _asks_for_id(self) -> bool:
        return self.box.currentText() == OTHER

    def choose(self, provider: str, model: str = "") -> None:
        """Choose an editor by its provider, its first model if none is named."""
        for each in self._offered:
            if each.provider == provider and model in {"", each.model}:
                self.box.choose(each)
                return

    def show_editors(self, found: list[Capabilities], problems: list[str]) -> None:
        """Offer these editors; the one chosen stays so."""
        before = self.box.currentData()
        if found != self._offered:
            self._offered = found
            with QSignalBlocker(self.box):
                self.box.clear()
                for each in found:
                    self.box.addItem(each.title or each.model, each)
                    tip = plain_tip(f"{each.title}\n{each.note}")
                    self.box.setItemData(self.box.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
                    if each.provider == GEMINI and not any(
                        later.provider == GEMINI for later in found[found.index(each) + 1 :]
                    ):
                        self.box.addItem(OTHER, None)
                if before is not None:
                    self.box.choose(before)
            self._tell()
        self.problems.setText("\n".join(problems))
        self.problems.setVisible(bool(problems))

    def _tell(self) -> None:
        chosen = self.chosen
        self._model_row.setVisible(self._asks_for_id)
        self.note.setText(chosen.note if chosen else "A model newer than the program can be named by its id.")
        needs_key = self._asks_for_id or (chosen is not None and chosen.needs_key)
        self.key.setVisible(needs_key)
        if needs_key:
            self.key.look(chosen.provider if chosen else GEMINI)
        self.changed.emit()


def read_editors() -> tuple[list[Capabilities], list[str]]:
    """All editors there are; those of installed packages are loaded, which may take a while."""
    return offered()
