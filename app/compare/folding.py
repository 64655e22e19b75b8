"""A row of buttons that makes do with less room: some leave, in an order, and never push the window wider."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QEvent, QSize
from PySide6.QtWidgets import QHBoxLayout, QLayout, QWidget

from app import theme

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent

Placed = TypeVar("Placed", bound=QWidget)


class FoldingRow(QWidget):
    """Shows the widgets that are wanted, as far as there is room."""

    def __init__(self) -> None:
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(theme.GRID, 0, theme.GRID, 0)
        self._row.setSpacing(theme.GRID // 2)
        self._row.setSizeConstraint(QLayout.SizeConstraint.SetNoConstraint)
        self._wanted: dict[QWidget, bool] = {}
        self._folds: list[tuple[frozenset[QWidget], QWidget | None]] = []

    def add(self, widget: Placed) -> Placed:
        """Put a widget at the end."""
        self._row.addWidget(widget)
        self._wanted[widget] = True
        return widget

    def add_stretch(self) -> None:
        """Have what comes next at the right end."""
        self._row.addStretch(1)

    def may_leave(self, widgets: Iterable[QWidget], instead: QWidget | None = None) -> None:
        """Leave these out after those named before, and show `instead` in their place, if one is given."""
        self._folds.append((frozenset(widgets), instead))
        if instead is not None:
            instead.hide()

    def want(self, widget: QWidget, *, wanted: bool) -> None:
        """Say whether a widget makes sense now."""
        self._wanted[widget] = wanted

    def fold(self) -> None:
        """Show what is wanted and has room."""
        depth = 0
        while depth < len(self._folds) and self._width(self._at(depth)) > self.width():
            depth += 1
        shown = self._at(depth)
        for widget in self._wanted:
            widget.setVisible(widget in shown)
        self._row.activate()  # at once, else it would be painted before

    def minimumSizeHint(self) -> QSize:
        """What is left when all has left that may."""
        return QSize(self._width(self._at(len(self._folds))), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more or less."""
        super().resizeEvent(event)
        self.fold()

    def event(self, event: QEvent) -> bool:
        """A button whose words have become longer or shorter changes how much fits."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.fold()
        return super().event(event)

    def _at(self, depth: int) -> list[QWidget]:
        """What is shown after so many have left."""
        left = {widget for leaving, _instead in self._folds[:depth] for widget in leaving}
        absent = {instead for _leaving, instead in self._folds[depth:] if instead is not None}
        return [
            widget
            for widget, wanted in self._wanted.items()
            if wanted and widget not in left and widget not in absent
        ]

    def _width(self, widgets: list[QWidget]) -> int:
        margins = self._row.contentsMargins()
        widths = [max(widget.sizeHint().width(), widget.minimumWidth()) for widget in widgets]
        gaps = max(len(widgets) - 1, 0) * self._row.spacing()
        return sum(widths) + gaps + margins.left() + margins.right()
