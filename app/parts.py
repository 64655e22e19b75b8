"""What forms are built of: headed sections, folds, and rows of a name and a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QToolButton,
    QToolTip,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.elided import shortened
from app.notifications import plain_label
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

NAME_WIDTH = 11 * theme.GRID
HALF = theme.GRID // 2


class Section(QWidget):
    """A heading, with room for a button beside it, and what it heads."""

    def __init__(self, title: str, aside: QWidget | None = None) -> None:
        super().__init__()
        heading = plain_label(title)
        heading.setProperty("strong", True)  # noqa: FBT003 - Qt takes the value by place
        head = QHBoxLayout()
        head.addWidget(heading, 1)
        if aside is not None:
            head.addWidget(aside)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(HALF)
        self._column.addLayout(head)

    def add(self, *widgets: QWidget) -> None:
        """Put widgets below one another."""
        for widget in widgets:
            self._column.addWidget(widget)


class Fold(QWidget):
    """Content that is hidden until its line is pressed."""

    toggled = Signal(bool)

    def __init__(self, title: str, content: QWidget, *, strong: bool = False) -> None:
        super().__init__()
        self.content = content
        self.button = QPushButton()
        self.button.setProperty("link", True)  # noqa: FBT003 - Qt takes the value by place
        self.button.setCheckable(True)
        self.button.setStyleSheet("font-weight: 600;" if strong else "")
        self.button.toggled.connect(self._show)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        column.addWidget(self.button)
        column.addWidget(content)
        self.set_title(title)
        self._show(on=False)

    def set_title(self, title: str) -> None:
        """Say what is in it."""
        self.button.setText(title)

    def open(self, *, on: bool = True) -> None:
        """Show the content, or hide it."""
        self.button.setChecked(on)

    def _show(self, on: bool) -> None:
        self.button.setIcon(theme.icon("caret-down" if on else "caret-right"))
        self.content.setVisible(on)
        self.toggled.emit(on)


def rows(fields: Sequence[tuple[str, QWidget]]) -> QWidget:
    """Fields below one another, each with its name before it."""
    grid = QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.GRID)
    grid.setVerticalSpacing(HALF)
    grid.setColumnMinimumWidth(0, NAME_WIDTH)
    grid.setColumnStretch(1, 1)
    for row, (name, field) in enumerate(fields):
        label = plain_label(name, muted=True)
        label.setBuddy(field)
        field.setAccessibleName(name)
        grid.addWidget(label, row, 0)
        grid.addWidget(field, row, 1)
    whole = QWidget()
    whole.setLayout(grid)
    return whole


class Choices(QComboBox):
    """A box of choices that gives way in a narrow panel; what can't be chosen says why.

    What has no room is cut in its middle, for names differ at either end, and told whole by a tooltip.
    """

    def __init__(self, choices: Sequence[tuple[str, object]] = ()) -> None:
        super().__init__()
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMinimumContentsLength(8)
        for text, value in choices:
            self.addItem(text, value)

    @property
    def shown_text(self) -> str:
        """As much of the choice as there is room for."""
        option = self._option()
        edit = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, edit, self).width() - 2
        if not option.currentIcon.isNull():
            room -= option.iconSize.width() + HALF
        return shortened(self.fontMetrics(), option.currentText, room)

    def choose(self, value: object) -> bool:
        """Choose a value; False when it isn't there."""
        for row in range(self.count()):
            if self.itemData(row) == value:
                self.setCurrentIndex(row)
                return True
        return False

    def allow(self, row: int, reason: str) -> None:
        """Let a choice be made when there is no reason against it."""
        item = self.model().item(row)  # type: ignore[attr-defined]
        item.setEnabled(not reason)
        self.setItemData(row, plain_tip(reason), Qt.ItemDataRole.ToolTipRole)

    def showPopup(self) -> None:
        """Qt's: the list is as wide as its longest choice, up to half the screen."""
        view = self.view()
        needed = view.sizeHintForColumn(0) + 2 * theme.GRID
        view.setMinimumWidth(min(needed, self.screen().availableGeometry().width() // 2))
        super().showPopup()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's: Qt itself cuts a long text off."""
        option, painter = self._option(), QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self.shown_text
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Qt's: what is cut is told whole, before what else there is to tell."""
        if event.type() != QEvent.Type.ToolTip or self.shown_text == self.currentText():
            return super().event(event)
        assert isinstance(event, QHelpEvent)  # noqa: S101 - the only kind that a tooltip is asked for by
        told = (plain_tip(self.currentText()), self.toolTip())
        QToolTip.showText(event.globalPos(), "<br>".join(filter(None, told)), self)
        return True

    def _option(self) -> QStyleOptionComboBox:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return option


def number(low: int, high: int, value: int) -> QSpinBox:
    """A field for a whole number."""
    field = QSpinBox()
    field.setRange(low, high)
    field.setValue(value)
    field.setMinimumWidth(6 * theme.GRID)
    field.lineEdit().setTextMargins(HALF, 0, 0, 0)
    return field


def amount(unit: str, none: str, *, high: float = 100_000.0, step: float = 1.0) -> QDoubleSpinBox:
    """A field for an amount; at zero it says `none`."""
    field = QDoubleSpinBox()
    field.setRange(0.0, high)
    field.setDecimals(2 if unit.startswith("$") else 0)
    field.setSingleStep(step)
    field.setPrefix(unit if unit.startswith("$") else "")
    field.setSuffix("" if unit.startswith("$") else f" {unit}")
    field.setSpecialValueText(none)
    field.setMinimumWidth(6 * theme.GRID)
    field.lineEdit().setTextMargins(HALF, 0, 0, 0)
    return field


def icon_button(icon: str, tip: str) -> QToolButton:
    """A quiet button with an icon; its name is the tip up to its first colon or semicolon."""
    button = QToolButton()
    button.setIcon(theme.icon(icon))
    button.setToolTip(tip)
    button.setAccessibleName(tip.partition(":")[0].partition(";")[0])
    button.setAutoRaise(True)
    return button
