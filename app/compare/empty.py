"""What stands in place of the panes when a run has no pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label

if TYPE_CHECKING:
    from app.actions import ActionRegistry


class NoPictures(QWidget):
    """A run without pictures: what will come, and what to do."""

    def __init__(self, registry: ActionRegistry) -> None:
        super().__init__()
        heading = plain_label("No pictures in this run yet")
        heading.setProperty("heading", True)  # noqa: FBT003 - Qt takes the value by place
        column = QVBoxLayout(self)
        column.setSpacing(theme.GRID)
        column.addStretch(1)
        for label in (
            heading,
            plain_label(
                "They appear here as they arrive. Start the generation, or choose another run.", muted=True
            ),
        ):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addSpacing(theme.GRID)
        row = QHBoxLayout()
        row.addStretch(1)
        action = registry.qaction("generate.start")
        button = QPushButton(action.text().replace("&", ""))
        button.setEnabled(action.isEnabled())
        action.enabledChanged.connect(button.setEnabled)
        button.clicked.connect(action.trigger)
        row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        column.addStretch(1)
