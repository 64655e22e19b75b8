"""What the window shows where pictures would be when there are none: what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.actions import ActionRegistry

_SHOWN_RECENT = 6
_EMBLEM = 8 * theme.GRID


class Welcome(QWidget):
    """No project: open, make one, the demo study, recent ones. A project without runs: import or generate."""

    def __init__(self, registry: ActionRegistry, open_recent: Callable[[Path], object]) -> None:
        super().__init__()
        self._registry = registry
        self._open_recent = open_recent
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(4 * theme.GRID, 4 * theme.GRID, 4 * theme.GRID, 4 * theme.GRID)
        self._content: QWidget | None = None

    def show_start(self, recent: list[Path]) -> None:
        """Offer ways to begin."""
        column = self._begin(
            "Banana100 Inspector",
            "Look at, score, tag and produce runs of iterative image edits.",
            emblem=True,
        )
        column.addLayout(self._buttons("file.open", "file.new", "file.demo"))
        if recent:
            column.addSpacing(2 * theme.GRID)
            column.addWidget(plain_label("Recent projects", muted=True))
            for path in recent[:_SHOWN_RECENT]:
                column.addWidget(self._recent(path))
        column.addSpacing(2 * theme.GRID)
        column.addWidget(
            plain_label("Or drop a project, or a folder of pictures, on this window.", muted=True)
        )

    def show_opening(self, name: str) -> None:
        """Say that a project is being opened."""
        self._begin(f"Opening {name}", "")

    def show_no_runs(self) -> None:
        """Offer ways to fill a project."""
        column = self._begin(
            "No runs yet",
            "Import pictures that you have, or let an editor of this program edit one again and again.",
        )
        column.addLayout(self._buttons("file.import", "generate.start"))

    def _begin(self, heading: str, text: str, *, emblem: bool = False) -> QVBoxLayout:
        if self._content is not None:
            self._layout.removeWidget(self._content)
            self._content.hide()
            self._content.deleteLater()
        self._content = QWidget()
        self._content.setMaximumWidth(72 * theme.GRID)
        column = QVBoxLayout(self._content)
        column.setSpacing(theme.GRID)
        if emblem:
            picture = QLabel()
            picture.setPixmap(theme.program_icon().pixmap(_EMBLEM, _EMBLEM))
            column.addWidget(picture)
        title = plain_label(heading)
        title.setProperty("heading", True)  # noqa: FBT003 - Qt takes the value by place
        column.addWidget(title)
        if text:
            column.addWidget(plain_label(text, muted=True, wrap=True))
        column.addSpacing(theme.GRID)
        self._layout.addWidget(self._content, 0, Qt.AlignmentFlag.AlignCenter)
        return column

    def _buttons(self, *keys: str) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.GRID)
        for place, key in enumerate(keys):
            action = self._registry.qaction(key)
            button = QPushButton(action.text().replace("&", ""))
            button.setToolTip(action.toolTip())
            button.clicked.connect(action.trigger)
            button.setEnabled(action.isEnabled())
            action.enabledChanged.connect(button.setEnabled)
            button.setProperty("primary", place == 0)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _recent(self, path: Path) -> QPushButton:
        button = QPushButton(f"{path.name}\u2002—\u2002{path.parent}".replace("&", "&&"))
        button.setProperty("link", True)  # noqa: FBT003 - Qt takes the value by place
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.clicked.connect(lambda: self._open_recent(path))
        return button
