"""The heading that stays at the top of the list while its group is scrolled through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QRect
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from app import theme

if TYPE_CHECKING:
    from app.browser.tree_view import RunView

HEIGHT = 3 * theme.GRID + theme.GRID // 2
"""As high as the heading of a group in its place."""


class PinnedHeading:
    """Says which group the rows at the top are in, once its own heading is above them."""

    def __init__(self, view: RunView) -> None:
        self._view = view

    @property
    def rect(self) -> QRect:
        """Where it may be; empty while runs are not in groups."""
        height = HEIGHT if self._view.rootIsDecorated() else 0
        return QRect(0, 0, self._view.viewport().width(), height)

    def group(self) -> QModelIndex:
        """The group whose heading is out of sight; an invalid index when none is needed."""
        top = self._view.indexAt(QPoint(0, 0))
        group = top.parent() if top.parent().isValid() else top
        if self.rect.isEmpty() or not group.isValid() or self._view.visualRect(group).top() >= 0:
            return QModelIndex()
        return group

    def draw(self) -> None:
        """Draw it over the rows; the next heading pushes it out."""
        group = self.group()
        if not group.isValid():
            return
        view = self._view
        below = view.indexAt(QPoint(0, HEIGHT - 1))
        next_comes = below.isValid() and not below.parent().isValid() and below.row() != group.row()
        top = view.visualRect(below).top() - HEIGHT if next_comes else 0
        line = self.rect.translated(0, top)
        left = view.visualRect(group).left()
        option, branch = QStyleOptionViewItem(), QStyleOptionViewItem()
        for each in (option, branch):
            view.initViewItemOption(each)
        option.rect = line.adjusted(left, 0, 0, 0)
        branch.rect = QRect(left - view.indentation(), top, view.indentation(), HEIGHT)
        branch.state |= QStyle.StateFlag.State_Children | QStyle.StateFlag.State_Item
        if view.isExpanded(group):
            branch.state |= QStyle.StateFlag.State_Open
        painter = QPainter(view.viewport())
        painter.fillRect(line, QColor(theme.colours().window))
        view.style().drawPrimitive(QStyle.PrimitiveElement.PE_IndicatorBranch, branch, painter, view)
        view.itemDelegate().paint(painter, option, group)
        painter.fillRect(QRect(0, line.bottom(), line.width(), 1), QColor(theme.colours().line))
        painter.end()
