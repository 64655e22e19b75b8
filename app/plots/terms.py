"""Asks for pyiqa's terms where metrics wait for them: a strip with a button, and the terms to read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.notifications import plain_label
from banana100_core.errors import BananaError
from banana100_core.scoring import terms
from banana100_core.scoring.methods import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app.actions import ActionRegistry
    from app.plots.source import ScoreSource
    from app.session import Session
    from banana100_core.scoring.methods import MetricStatus


class TermsBar(QFrame):
    """Shown while metrics have all that they need but the terms; the others go on scoring."""

    def __init__(
        self, session: Session, registry: ActionRegistry, source: ScoreSource, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("terms_bar")
        self._session = session
        self._source = source
        self.text = plain_label(wrap=True)
        self.button = QPushButton("Read the terms…")
        self.button.clicked.connect(self.ask)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        row.setSpacing(theme.GRID)
        row.addWidget(self.text, 1)
        row.addWidget(self.button)
        self.hide()
        source.statuses_read.connect(self._show_waiting)
        registry.connect("score.terms", self.ask)

    def ask(self) -> None:
        """Show the terms; once they are accepted, the metrics that waited can score."""
        ask_for_terms(self.window(), self._session, self._source.read_statuses)

    def _show_waiting(self, statuses: Mapping[str, MetricStatus]) -> None:
        waiting = sum(each.state is State.TERMS for each in statuses.values())
        what = "1 metric waits" if waiting == 1 else f"{waiting} metrics wait"
        self.text.setText(f"{what} for you to accept pyiqa's terms: noncommercial use only.")
        self.setVisible(waiting > 0)


def ask_for_terms(parent: QWidget, session: Session, then: Callable[[], object]) -> None:
    """Show the terms, and go on with `then` once they are accepted."""

    def accept() -> None:
        try:
            terms.accept()
        except BananaError as error:
            session.failed.emit("The terms could not be accepted", str(error))
            return
        then()

    dialog = TermsDialog(parent)
    dialog.accepted.connect(accept)
    dialog.open()


class TermsDialog(QDialog):
    """pyiqa's terms, to be accepted or left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("terms")
        self.setWindowTitle("Terms of pyiqa")
        self.setFixedWidth(72 * theme.GRID)
        text = plain_label(_flowing(terms.TERMS), wrap=True)
        text.setTextInteractionFlags(
            text.textInteractionFlags() | text.textInteractionFlags().TextSelectableByMouse
        )
        self.buttons = QDialogButtonBox()
        if terms.accepted():
            state = plain_label("You have accepted these terms.", muted=True)
            self.buttons.addButton(QDialogButtonBox.StandardButton.Close)
        else:
            state = plain_label("This is asked once.", muted=True)
            self.buttons.addButton("Accept", QDialogButtonBox.ButtonRole.AcceptRole)
            self.buttons.addButton("Not now", QDialogButtonBox.ButtonRole.RejectRole)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        self.finished.connect(self.deleteLater)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*(2 * theme.GRID,) * 4)
        layout.setSpacing(2 * theme.GRID)
        layout.addWidget(text)
        layout.addWidget(state)
        layout.addWidget(self.buttons)


def _flowing(text: str) -> str:
    """Let the dialog break the lines of a paragraph, but for addresses."""
    paragraphs = [part.splitlines() for part in text.strip().split("\n\n")]
    return "\n\n".join(
        ("\n" if any("://" in line for line in lines) else " ").join(lines) for lines in paragraphs
    )
