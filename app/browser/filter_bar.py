"""The line above the list: words to look for, a menu of facets, what is chosen of them as chips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.browser.flow import Flow, flow_widget
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QAction

    from app.browser.facets import FacetValue

_CHIP_LETTERS = 24


class FilterBar(QWidget):
    """Says what the user looks for; decides nothing."""

    text_changed = Signal(str)
    entered = Signal()
    """Enter was pressed in the field: on to the first run found."""
    removed = Signal(object, str)
    """A chip was taken away: its facet and value."""
    cleared = Signal()

    def __init__(self, facets: QAction, arrange: QAction) -> None:
        super().__init__()
        self._chips: list[FacetValue] = []
        self._writes = False
        self.field = QLineEdit()
        self.field.setPlaceholderText("Filter")
        self.field.setToolTip('Words in any order; "words in quotes" stand together')
        self.field.setClearButtonEnabled(True)
        self.field.addAction(theme.icon("magnifying-glass"), QLineEdit.ActionPosition.LeadingPosition)
        self.field.textChanged.connect(self._tell_text)
        self.field.returnPressed.connect(self.entered)
        self.field.installEventFilter(self)
        self.facets_button = _button(facets, "funnel")
        self.arrange_button = _button(arrange, "list-bullets")
        self._flow = Flow(theme.GRID // 2)
        self._line = flow_widget(self._flow)
        self._line.hide()
        row = QHBoxLayout()
        row.setSpacing(theme.GRID // 4)
        row.addWidget(self.field, 1)
        row.addWidget(self.facets_button)
        row.addWidget(self.arrange_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, theme.GRID // 2, 0)
        column.setSpacing(theme.GRID // 2)
        column.addLayout(row)
        column.addWidget(self._line)

    @property
    def chips(self) -> list[str]:
        """What the chips say."""
        return [chip.label for chip in self._chips]

    def show_text(self, text: str) -> None:
        """Write other words without telling of it."""
        if text != self.field.text():
            self._writes = True
            self.field.setText(text)
            self._writes = False

    def show_chips(self, chosen: Sequence[FacetValue]) -> None:
        """Show what is chosen; nothing is made anew while it stays the same."""
        if [(each.facet, each.value, each.label) for each in chosen] == [
            (each.facet, each.value, each.label) for each in self._chips
        ]:
            return
        self._chips = list(chosen)
        while item := self._flow.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        for each in chosen:
            self._flow.addWidget(self._chip(each))
        self._line.setVisible(bool(chosen))
        self.facets_button.setProperty("narrowed", bool(chosen))
        self.facets_button.style().unpolish(self.facets_button)
        self.facets_button.style().polish(self.facets_button)
        self._line.updateGeometry()

    def below(self, button: QToolButton) -> QPoint:
        """Where a menu of a button begins, on the screen."""
        return button.mapToGlobal(QPoint(0, button.height()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Backspace in an empty field takes the last chip away, Escape all; Down goes to the list."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and watched is self.field:
            if event.key() == Qt.Key.Key_Backspace and not self.field.text() and self._chips:
                last = self._chips[-1]
                self.removed.emit(last.facet, last.value)
                return True
            if event.key() == Qt.Key.Key_Escape and (self.field.text() or self._chips):
                self.cleared.emit()
                return True
            if event.key() == Qt.Key.Key_Down:
                self.entered.emit()
                return True
        return super().eventFilter(watched, event)

    def _tell_text(self, text: str) -> None:
        if not self._writes:
            self.text_changed.emit(text)

    def _chip(self, chosen: FacetValue) -> QToolButton:
        chip = QToolButton()
        chip.setProperty("chip", True)  # noqa: FBT003 - Qt takes the value by place
        text = chosen.label
        if len(text) > _CHIP_LETTERS:
            text = f"{text[: _CHIP_LETTERS // 2]}…{text[1 - _CHIP_LETTERS // 2 :]}"
        chip.setText(text.replace("&", "&&"))
        chip.setIcon(theme.icon("x"))
        chip.setIconSize(chip.iconSize() * 0.6)
        chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        chip.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the cross stands after the words
        chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        chip.setToolTip(plain_tip(f"Remove {chosen.label}"))
        chip.setAccessibleName(f"Remove {chosen.label}")
        chip.clicked.connect(lambda: self.removed.emit(chosen.facet, chosen.value))
        return chip


def _button(action: QAction, icon: str) -> QToolButton:
    button = QToolButton()
    button.setIcon(theme.icon(icon))
    keys = action.shortcut().toString()
    button.setToolTip(f"{action.toolTip()} ({keys})" if keys else action.toolTip())
    button.setAccessibleName(action.toolTip())
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.clicked.connect(action.trigger)
    return button
