"""Which pictures runs start from: those of the study, files, the paper's thirteen, or one from a prompt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.generation.from_text import FromText, ToMake
from app.generation.image_list import ImageList
from app.notifications import plain_label
from app.parts import HALF, Fold, Section
from app.thumbnails import Thumbnails
from app.tooltips import plain_tip
from banana100_core.generation.picture_files import PaperMatch, paper_matches

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.project.records import Image, InitialImage

IMAGE_FILES = "Pictures (*.png *.jpg *.jpeg *.webp *.tif *.tiff *.bmp *.gif);;All files (*)"


class Pictures(QWidget):
    """The initial images to tick, and the ways to get more."""

    changed = Signal()
    files_chosen = Signal(list)
    folder_chosen = Signal(Path)  # to be searched for the paper's images

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.list = ImageList(Thumbnails.of(session))
        self.list.itemChanged.connect(lambda _item: self.changed.emit())
        self.list.files_dropped.connect(self.files_chosen)
        self.add = self._make_menu()
        self.paper = _PaperList()
        self.paper_fold = Fold("The paper's 13", self.paper)
        self.paper_fold.toggled.connect(self.paper.fill)
        self.paper.search.clicked.connect(self._ask_folder)
        self.text = FromText()
        self.text.hide()
        self.to_make = ToMake()
        self.text.given.connect(self.to_make.add)
        self.to_make.changed.connect(self.changed)
        section = Section("Initial images", self.add)
        section.add(self.list, self.to_make, self.text, self.paper_fold)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(section)
        self._tell_matches([])

    @property
    def known(self) -> dict[str, Image]:
        """The project's initial images by name."""
        return self.list.known

    def show_images(self, initial: list[InitialImage], *, choose: tuple[str, ...] = ()) -> None:
        """Show the project's initial images, those ticked before and those of `choose` ticked."""
        self.text.know({each.name for each in initial})
        if self.list.show_images(initial, choose):
            self._tell_matches(initial)
            self.changed.emit()

    def ask_text(self) -> None:
        """Show the fields for an initial image from a prompt."""
        self.text.show()
        self.text.name.setFocus()

    def allow_text(self, reason: str) -> None:
        """Say why the editor makes no picture from a prompt; "" when it does."""
        self.text.allow(reason)

    def _make_menu(self) -> QToolButton:
        button = QToolButton()
        button.setText("Add")
        button.setIcon(theme.icon("plus"))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setStyleSheet("QToolButton::menu-indicator { image: none; width: 0; }")
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        for text, slot in (
            ("Files…", self._ask_files),
            ("The paper's, found in a folder…", self._ask_folder),
            ("From a prompt…", self.ask_text),
        ):
            menu.addAction(text).triggered.connect(lambda _on=False, slot=slot: slot())
        button.setMenu(menu)
        return button

    def _tell_matches(self, initial: list[InitialImage]) -> None:
        matches = paper_matches(initial)
        here = sum(match.name is not None for match in matches)
        self.paper_fold.set_title(f"The paper's 13 · {here} here" if here else "The paper's 13")
        self.paper.show_matches(matches)

    def _ask_files(self) -> None:
        names, _filter = QFileDialog.getOpenFileNames(self, "Add initial images", "", IMAGE_FILES)
        if names:
            self.files_chosen.emit([Path(name) for name in names])

    def _ask_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Find the paper's initial images")
        if name:
            self.folder_chosen.emit(Path(name))


class _PaperList(QWidget):
    """The paper's images: size, challenge, and which of them the study has."""

    def __init__(self) -> None:
        super().__init__()
        self.search = QPushButton("Find them in a folder…")
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.GRID)
        self._grid.setVerticalSpacing(HALF)
        self._grid.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID, 0, 0, 0)
        layout.setSpacing(theme.GRID)
        layout.addWidget(
            plain_label(
                "They don't come with the program. Files are known by name and size.", muted=True, wrap=True
            )
        )
        layout.addWidget(self.search)
        layout.addLayout(self._grid)
        self._matches: list[PaperMatch] = []
        self._shown: list[PaperMatch] = []
        self._open = False

    def show_matches(self, matches: list[PaperMatch]) -> None:
        """Learn which of the images are there."""
        self._matches = matches
        self.fill(on=self._open)

    def fill(self, on: bool) -> None:
        """Show them, once the list is seen: it takes time that an opening window lacks."""
        self._open = on
        if not on or self._matches == self._shown:
            return
        matches = self._shown = self._matches
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        for row, match in enumerate(matches):
            paper = match.paper
            there = match.name is not None
            name = plain_label(f"{'✓ ' if there else ''}{paper.name}", muted=not there)
            about = plain_label(f"{paper.width} × {paper.height}\n{paper.challenge}", muted=True, wrap=True)
            tip = plain_tip(
                f"{paper.content}, made with {paper.made_with}\n{paper.challenge}\n"
                + (f"In this study as {match.name}" if there else "Not in this study")
            )
            for column, label in enumerate((name, about)):
                label.setToolTip(tip)
                label.setAlignment(Qt.AlignmentFlag.AlignTop)
                self._grid.addWidget(label, row, column)
