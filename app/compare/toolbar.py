"""The row above the panes: how pictures are compared, and how large they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QToolButton, QWidget

from app import theme
from app.compare.panes import GAINS, Comparison, Mode
from app.notifications import plain_label

if TYPE_CHECKING:
    from app.actions import ActionRegistry

_MODES = ("view.side_by_side", "view.wipe", "view.difference")
_SIZES = ("view.zoom_out", "view.zoom_in", "view.actual_size", "view.fit")


class CompareToolbar(QWidget):
    """Buttons for the actions of the comparison; those of the difference are there while it is shown."""

    gain_chosen = Signal(int)
    flip_pressed = Signal()
    flip_released = Signal()

    def __init__(self, registry: ActionRegistry) -> None:
        super().__init__()
        self.setFixedHeight(5 * theme.GRID)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(theme.GRID, 0, theme.GRID, 0)
        self._row.setSpacing(theme.GRID // 2)
        for key in _MODES:
            self._add(registry.qaction(key), text=True)
        self._row.addWidget(_line())
        self._flip = QToolButton()
        flip = registry.qaction("view.flip")
        self._flip.setText("Flip")
        self._flip.setToolTip(f"{flip.toolTip()} ({flip.shortcut().toString()})")
        self._flip.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._flip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._flip.setIcon(theme.icon("arrows-left-right"))
        self._flip.pressed.connect(self.flip_pressed)
        self._flip.released.connect(self.flip_released)
        self._row.addWidget(self._flip)
        self._difference = QWidget()
        self._fill_difference(registry)
        self._row.addWidget(self._difference)
        self._row.addStretch(1)
        self._zoom = plain_label(muted=True)
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setMinimumWidth(10 * theme.GRID)
        self._row.addWidget(self._zoom)
        for key in _SIZES:
            self._add(registry.qaction(key), text=key == "view.actual_size", label="1:1")
        self._add(registry.qaction("view.link_panes"), icon="link-simple")
        self._row.addWidget(_line())
        self._add(registry.qaction("view.step_details"))

    @property
    def zoom_text(self) -> str:
        """How large the current picture is shown."""
        return self._zoom.text()

    def show_zoom(self, text: str) -> None:
        """Say how large the current picture is shown."""
        self._zoom.setText(text)

    def show_comparison(self, comparison: Comparison) -> None:
        """Show the state of the comparison."""
        self._difference.setVisible(comparison.mode is Mode.DIFFERENCE)
        self._gain.setText(f"Gain ×{comparison.gain}")
        for gain, action in self._gains.items():
            action.setChecked(gain == comparison.gain)

    def _fill_difference(self, registry: ActionRegistry) -> None:
        row = QHBoxLayout(self._difference)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.GRID // 2)
        row.addWidget(_line())
        signed = _button(registry.qaction("view.signed_difference"), text=True)
        signed.setText("Around grey")
        row.addWidget(signed)
        self._gain = QToolButton()
        self._gain.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._gain.setToolTip(
            "How much the difference is amplified ("
            f"{registry.qaction('view.less_gain').shortcut().toString()}, "
            f"{registry.qaction('view.more_gain').shortcut().toString()})"
        )
        self._gain.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu, group = QMenu(self), QActionGroup(self)
        self._gains: dict[int, QAction] = {}
        for gain in GAINS:
            action = QAction(f"×{gain}", self)
            action.setCheckable(True)
            action.triggered.connect(lambda _checked, gain=gain: self.gain_chosen.emit(gain))
            group.addAction(action)
            menu.addAction(action)
            self._gains[gain] = action
        self._gain.setMenu(menu)
        row.addWidget(self._gain)

    def _add(self, action: QAction, *, text: bool = False, label: str = "", icon: str = "") -> None:
        button = _button(action, text=text)
        if text and label:
            button.setText(label)
        if icon:
            button.setIcon(theme.icon(icon))
        self._row.addWidget(button)


def _button(action: QAction, *, text: bool) -> QToolButton:
    button = QToolButton()
    button.setDefaultAction(action)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # every action has its key; Space belongs to flipping
    if text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return button


def _line() -> QFrame:
    line = QFrame()
    line.setFrameShape(QFrame.Shape.VLine)
    line.setFixedHeight(2 * theme.GRID)
    line.setProperty("separator", True)  # noqa: FBT003 - Qt takes the value by place
    return line
