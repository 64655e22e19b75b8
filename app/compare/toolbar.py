"""The row above the panes: how pictures are compared, and how large they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QKeySequence, QPainter
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app import theme
from app.compare.panes import GAINS, Comparison, Mode
from app.notifications import plain_label

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from app.actions import ActionRegistry

_MODES = {
    "view.side_by_side": "Side by side",
    "view.wipe": "Wipe",
    "view.difference": "Difference",
}
_SIZES = {"view.zoom_out": "", "view.zoom_in": "", "view.fit": "Fit", "view.actual_size": "1:1"}


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
        for key, text in _MODES.items():
            self._row.addWidget(_ActionButton(registry.qaction(key), text))
        self._row.addWidget(_Line())
        self._flip = QToolButton()
        flip = registry.qaction("view.flip")
        self._flip.setText("Flip")
        self._flip.setToolTip(f"{flip.toolTip()} ({flip.shortcut().toString()})")
        self._flip.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._flip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
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
        for key, text in _SIZES.items():
            self._row.addWidget(_ActionButton(registry.qaction(key), text))
        self._row.addWidget(_Line())
        self._row.addWidget(_ActionButton(registry.qaction("view.link_panes"), icon="link-simple"))
        self._row.addWidget(_ActionButton(registry.qaction("view.step_details"), icon="info"))

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
        self._gain.setText(f"Gain ×{comparison.gain} ▾")
        for gain, action in self._gains.items():
            action.setChecked(gain == comparison.gain)

    def _fill_difference(self, registry: ActionRegistry) -> None:
        row = QHBoxLayout(self._difference)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.GRID // 2)
        row.addWidget(_Line())
        row.addWidget(_ActionButton(registry.qaction("view.signed_difference"), "Around grey"))
        self._gain = QToolButton()
        self._gain.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._gain.setToolTip(
            "How much the difference is amplified ("
            f"{registry.qaction('view.less_gain').shortcut().toString()}, "
            f"{registry.qaction('view.more_gain').shortcut().toString()})"
        )
        self._gain.setStyleSheet("QToolButton::menu-indicator { image: none; }")
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


class _ActionButton(QToolButton):
    """A button for an action that keeps its own short text, where QToolButton's would follow the action's."""

    def __init__(self, action: QAction, text: str = "", icon: str = "") -> None:
        super().__init__()
        self._action = action
        self._icon = icon
        self.setText(text)
        self.setCheckable(action.isCheckable())
        # Every action has its key, and Space belongs to flipping.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        if text:
            self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setAccessibleName(action.toolTip())
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        action = self._action
        self.setEnabled(action.isEnabled())
        self.setChecked(action.isChecked())
        self.setIcon(theme.icon(self._icon) if self._icon else action.icon())
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self.setToolTip(f"{action.toolTip()} ({keys})" if keys else action.toolTip())


class _Line(QWidget):
    """A thin upright line between groups."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(theme.GRID + 1, 2 * theme.GRID)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the line."""
        painter = QPainter(self)
        painter.fillRect(self.width() // 2, 0, 1, self.height(), QColor(theme.colours().line))
