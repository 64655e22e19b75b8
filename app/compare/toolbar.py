"""The row above the panes: how pictures are compared, and how large they are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QColor, QKeySequence, QPainter
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from app import theme
from app.compare.folding import FoldingRow
from app.compare.panes import BLINKS, GAINS, Comparison, Mode
from app.compare.player import RATES
from app.notifications import plain_label
from banana100_core.imaging.comparison import DifferenceMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

    from app.actions import ActionRegistry
    from banana100_core.imaging.look import Look

_MODES = {
    "view.side_by_side": "Side by side",
    "view.wipe": "Wipe",
    "view.blink": "Blink",
    "view.difference": "Difference",
}
_COUNTS = {"view.one_pane": "1 pane", "view.two_panes": "2 panes", "view.four_panes": "4 panes"}
_KINDS = {
    "view.signed_difference": "Around grey",
    "view.absolute_difference": "Absolute",
    "view.relative_difference": "Relative",
    "view.flip_difference": "FLIP",
}
_SHADES = {
    "view.shades_channels": "Colours",
    "view.shades_grey": "Grey",
    "view.shades_false_colour": "False colour",
}
_CHANNELS = {
    "view.channel_colour": "Colour",
    "view.channel_red": "Red",
    "view.channel_green": "Green",
    "view.channel_blue": "Blue",
    "view.channel_luminance": "L*",
    "view.channel_a": "a*",
    "view.channel_b": "b*",
    "view.channel_chroma": "C*",
}
_SIZES = {"view.zoom_out": "", "view.zoom_in": "", "view.fit": "Fit", "view.actual_size": "1:1"}
_TAGS = ("tag.draw_box", "tag.draw_polygon", "view.outlines")
_PARTS = {"view.link_panes": "link-simple", "view.measure": "chart-bar", "view.step_details": "info"}
_WIDEST_ZOOM = "fit · 1.00×"


class CompareToolbar(FoldingRow):
    """Buttons for the actions of the comparison; those of a mode are there while it is shown."""

    gain_chosen = Signal(int)
    blinks_chosen = Signal(int)
    flip_pressed = Signal()
    flip_released = Signal()

    def __init__(self, registry: ActionRegistry) -> None:
        super().__init__()
        self.setFixedHeight(5 * theme.GRID)
        modes = [self.add(_ActionButton(registry.qaction(key), text)) for key, text in _MODES.items()]
        mode = self.add(ChoiceButton(registry, _MODES, "How the pictures are compared"))
        self.add(_Line())
        self._count = self.add(ChoiceButton(registry, _COUNTS, "How many panes there are side by side"))
        self.add(self._flip_button(registry))
        self._blinks = self.add(NumberButton(BLINKS, "{}/s", "How often a second the picture changes"))
        self._blinks.chosen.connect(self.blinks_chosen)
        self._difference = (
            ChoiceButton(registry, _KINDS, "What is computed of the two pictures", "view.next_difference"),
            ChoiceButton(registry, _SHADES, "How the difference is drawn", "view.next_shades"),
        )
        for button in self._difference:
            self.add(button)
        keys = [registry.qaction(f"view.{way}_gain").shortcut().toString() for way in ("less", "more")]
        self._gain = self.add(
            NumberButton(GAINS, "×{}", f"How much the difference is amplified ({', '.join(keys)})")
        )
        self._gain.chosen.connect(self.gain_chosen)
        self.add(_Line())
        self.add(ChoiceButton(registry, _CHANNELS, "Which channel is looked at", "view.next_channel"))
        self._look = self.add(_ActionButton(registry.qaction("view.reset_look"), "Reset"))
        self._look.setProperty("marked", True)  # noqa: FBT003 - Qt takes the value by place
        self._look.setStyleSheet(
            f"QToolButton {{ background: {theme.ACCENT}; color: #ffffff; font-weight: 600; }}"
        )
        self.add_stretch()
        self._zoom = self.add(plain_label(muted=True))
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._zoom.setMinimumWidth(self._zoom.fontMetrics().horizontalAdvance(_WIDEST_ZOOM))
        sizes = [self.add(_ActionButton(registry.qaction(key), text)) for key, text in _SIZES.items()]
        tags: list[QWidget] = [self.add(_Line())]
        tags += [self.add(_ActionButton(registry.qaction(key))) for key in _TAGS]
        self.add(_Line())
        for key, icon in _PARTS.items():
            self.add(_ActionButton(registry.qaction(key), icon=icon))
        # All of these have keys and a place in the menus.
        self.may_leave(sizes[:2])
        self.may_leave(modes, instead=mode)
        self.may_leave([self._zoom])
        self.may_leave(tags)
        self.may_leave(sizes[2:])

    @property
    def zoom_text(self) -> str:
        """How large the current picture is shown."""
        return self._zoom.text()

    def show_zoom(self, text: str) -> None:
        """Say how large the current picture is shown."""
        self._zoom.setText(text)

    def show_comparison(self, comparison: Comparison, look: Look) -> None:
        """Show the state of the comparison."""
        differs = comparison.mode is Mode.DIFFERENCE
        flip = comparison.difference is DifferenceMode.FLIP
        self.want(self._count, wanted=comparison.mode is Mode.SIDE_BY_SIDE)
        self.want(self._blinks, wanted=comparison.mode is Mode.BLINK)
        for button in self._difference:
            self.want(button, wanted=differs)
        self.want(self._gain, wanted=differs and not flip)
        self.want(self._look, wanted=not look.neutral)
        self._gain.show_number(comparison.gain)
        self._blinks.show_number(comparison.blinks)
        self.fold()

    def _flip_button(self, registry: ActionRegistry) -> QToolButton:
        flip = registry.qaction("view.flip")
        button = QToolButton()
        button.setText("Flip")
        button.setToolTip(f"{flip.toolTip()} ({flip.shortcut().toString()})")
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        button.pressed.connect(self.flip_pressed)
        button.released.connect(self.flip_released)
        return button


class PlayButtons(QWidget):
    """Play and its rate, beside the step slider."""

    rate_chosen = Signal(int)

    def __init__(self, registry: ActionRegistry) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.GRID, 0, 0, 0)
        row.setSpacing(theme.GRID // 2)
        self._play = _ActionButton(registry.qaction("run.play"), icon="play")
        self._rate = NumberButton(RATES, "{}/s", "Steps a second")
        self._rate.chosen.connect(self.rate_chosen)
        row.addWidget(self._play)
        row.addWidget(self._rate)

    def show_state(self, *, playing: bool, rate: int) -> None:
        """Show whether it plays, and how fast."""
        self._play.show_icon("pause" if playing else "play")
        self._rate.show_number(rate)


class ChoiceButton(QToolButton):
    """A menu of actions that exclude each other; says in short which one is chosen."""

    def __init__(self, registry: ActionRegistry, texts: dict[str, str], tip: str, next_key: str = "") -> None:
        super().__init__()
        self._texts = {registry.qaction(key): text for key, text in texts.items()}
        keys = registry.qaction(next_key).shortcut().toString() if next_key else ""
        _become_menu(self, f"{tip} ({keys})" if keys else tip)
        menu = QMenu(self)
        menu.addActions(list(self._texts))
        self.setMenu(menu)
        for action in self._texts:
            action.toggled.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        chosen = next((text for action, text in self._texts.items() if action.isChecked()), "")
        self.setText(f"{chosen} ▾")


class NumberButton(QToolButton):
    """A menu of numbers."""

    chosen = Signal(int)

    def __init__(self, numbers: Sequence[int], form: str, tip: str) -> None:
        super().__init__()
        self._form = form
        _become_menu(self, tip)
        menu, group = QMenu(self), QActionGroup(self)
        self._actions: dict[int, QAction] = {}
        for number in numbers:
            action = QAction(form.format(number), self)
            action.setCheckable(True)
            action.triggered.connect(lambda _checked, number=number: self.chosen.emit(number))
            group.addAction(action)
            menu.addAction(action)
            self._actions[number] = action
        self.setMenu(menu)

    def show_number(self, number: int) -> None:
        """Show which one is chosen."""
        self.setText(f"{self._form.format(number)} ▾")
        for each, action in self._actions.items():
            action.setChecked(each == number)


def _become_menu(button: QToolButton, tip: str) -> None:
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.setToolTip(tip)
    button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)


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

    def show_icon(self, name: str) -> None:
        """Show another icon."""
        self._icon = name
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
