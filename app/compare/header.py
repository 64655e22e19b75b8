"""What stands above a pane: which step it shows, its size and type, and what is odd about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from app import theme
from app.compare.steps import (
    aspect_differs,
    bytes_text,
    media_text,
    mislabelled,
    size_text,
    title,
)
from app.elided import ElidedText
from banana100_core.project.records import Outcome

if TYPE_CHECKING:
    from banana100_core.project.records import Image, Step

HEIGHT = 4 * theme.GRID


class PaneHeader(QWidget):
    """The line above a pane; the step's name opens the menu that says which step it is."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(HEIGHT)
        # Headers share the width evenly, however long what they say is.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._name = _Name()
        self._facts = ElidedText("muted")
        self._warning = ElidedText("warning")
        self._error = ElidedText("error")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.GRID // 2, 0, theme.GRID, 0)
        layout.setSpacing(theme.GRID + theme.GRID // 2)
        layout.addWidget(self._name)
        for part in (self._facts, self._error, self._warning):
            part.hide()
            layout.addWidget(part)
        layout.addStretch(1)

    @property
    def text(self) -> str:
        """All that is said."""
        parts = (
            self._name.text().removesuffix("▾").rstrip(),
            self._facts.text,
            self._error.text,
            self._warning.text,
        )
        return " · ".join(part for part in parts if part)

    def show_step(
        self,
        step: Step | None,
        initial: Image | None,
        *,
        role: str = "",
        busy: bool = False,
        numbered: bool = True,
    ) -> None:
        """Describe a step.

        `initial` is the picture of step 0 of the same run, `role` says why this step is shown here, `busy`
        that its picture is on its way, and `numbered` whether its number may be told.
        """
        name = facts = error = warning = ""
        if step is not None:
            name = title(step, numbered=numbered)
            facts = " · ".join(part for part in (role, _facts(step), "loading" if busy else "") if part)
            error = "failed" if step.outcome is Outcome.FAILED else ""
            warning = _oddities(step, initial)
        self._name.setText(f"{name} ▾" if name else "▾")
        self._facts.set_text(facts)
        self._error.set_text(error)
        self._warning.set_text(warning)

    def set_menu(self, menu: QMenu) -> None:
        """Give the name a menu of steps to show."""
        self._name.setMenu(menu)

    def open_menu(self) -> None:
        """Open it, as a click does."""
        self._name.showMenu()


class _Name(QToolButton):
    """The step's name, which opens a menu."""

    def __init__(self) -> None:
        super().__init__()
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setStyleSheet("QToolButton { font-weight: 600; } QToolButton::menu-indicator { image: none; }")
        self.setToolTip("Which step this pane shows")


def _facts(step: Step) -> str:
    image = step.image
    if image is None:
        return ""
    return " · ".join((size_text(image), media_text(image.media_type), bytes_text(image.byte_size)))


def _oddities(step: Step, initial: Image | None) -> str:
    found = []
    image = step.image
    if image is not None and initial is not None and aspect_differs(image, initial):
        found.append(f"aspect differs from step 0 ({size_text(initial)})")
    if mislabelled(step) and step.declared_media_type:
        found.append(f"declared as {media_text(step.declared_media_type)}")
    return ", ".join(found)
