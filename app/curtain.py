"""Drawn before a panel whose content an annotator has chosen not to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label

if TYPE_CHECKING:
    from app.blinding import Blinding
    from app.session import Session

_WORDS = {"scores": "scores", "steps": "step numbers", "models": "model names", "tags": "others' tags"}


class Curtain(QStackedWidget):
    """Shows its panel only while none of the things that it would tell is hidden."""

    def __init__(self, session: Session, tells: tuple[str, ...], panel: QWidget | None = None) -> None:
        """`tells` are fields of `Blinding`; the panel may come later."""
        super().__init__()
        self._session = session
        self._tells = tells
        self.words = plain_label(muted=True, wrap=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        front = QWidget()
        column = QVBoxLayout(front)
        column.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        column.addWidget(self.words)
        self.addWidget(front)
        self._front = front
        session.blinding_changed.connect(self._draw)
        session.project_opened.connect(self._draw)
        self._draw()
        if panel is not None:
            self.set_panel(panel)

    def set_panel(self, panel: QWidget) -> None:
        """Put the panel behind it; there is none yet."""
        self.insertWidget(0, panel)
        self._draw()

    def _draw(self) -> None:
        hidden = hidden_of(self._session.blinding, self._tells)
        if hidden:
            what = " and ".join(_WORDS[name] for name in hidden).capitalize()
            self.words.setText(f"{what} are hidden while you tag.\nTag > Hide while tagging shows them.")
        self.setCurrentIndex(self.indexOf(self._front) if hidden else 0)


def hidden_of(blinding: Blinding, names: tuple[str, ...]) -> list[str]:
    """Those of some things that are hidden."""
    return [name for name in names if getattr(blinding, name)]


def curtained(session: Session, place: str, panel: QWidget) -> QWidget:
    """A panel behind the curtain that its place needs, if it needs one."""
    tells = _OF_PLACE.get(place)
    return panel if tells is None else Curtain(session, tells, panel)


_OF_PLACE: dict[str, tuple[str, ...]] = {"generation": ("models", "steps")}
