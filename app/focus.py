"""Moving the keyboard from panel to panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from collections.abc import Iterable


def focus_next(panels: Iterable[QWidget]) -> None:
    """Give the keyboard to the next panel on screen, in the order of reading."""
    shown = [panel for panel in panels if panel.isVisible()]
    if not shown:
        return
    focus = QGuiApplication.focusObject()
    here = next(
        (i for i, panel in enumerate(shown) if isinstance(focus, QWidget) and panel.isAncestorOf(focus)),
        -1,
    )
    for offset in range(1, len(shown) + 1):
        target = _first_to_focus(shown[(here + offset) % len(shown)])
        if target is not None:
            target.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return


def _first_to_focus(panel: QWidget) -> QWidget | None:
    widgets = [panel, *panel.findChildren(QWidget)]
    return next(
        (
            widget
            for widget in widgets
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and widget.isVisibleTo(panel)
            and widget.isEnabled()
        ),
        None,
    )
