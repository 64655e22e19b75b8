"""Find an action by a few letters of its name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QRect, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.actions import ACTIONS, ActionRegistry
from app.notifications import plain_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CHOICE = Qt.ItemDataRole.UserRole + 1
_WORD_START, _IN_ROW, _LATE = 8, 9, 1
_LINE = 4 * theme.GRID
_EDGES = 2  # a pixel above and one below


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of the palette: what it is, where it belongs, its keys, what it does."""

    text: str
    place: str
    keys: str
    run: Callable[[], object]
    enabled: bool = True
    why: str = ""
    """Why it isn't enabled; told in place of its keys."""


def match(query: str, text: str) -> int | None:
    """How well `query` fits as letters of `text` in order, higher is better; None when it doesn't.

    Letters that begin words or follow each other count more: "np" is "Next panel" rather than "Open project".
    """
    text, query = text.casefold(), "".join(query.casefold().split())
    best: int | None = None if query else 0
    # The first letter decides much of the fit, so each place where it occurs gets its try.
    for start in (place for place, letter in enumerate(text) if query and letter == query[0]):
        fit = _match_from(query, text, start)
        if fit is not None and (best is None or fit > best):
            best = fit
    return best


def _fit_of(query: str, choice: Choice) -> tuple[int, int] | None:
    """How well a line fits by the words of its name, then by its letters.

    Its menu may be written after its name or before it: "theme dark".
    """
    fits = (
        match(query, f"{choice.text} {choice.place}"),
        match(query, f"{choice.place} {choice.text}"),
    )
    best = max((fit for fit in fits if fit is not None), default=None)
    return None if best is None else (_named(query, choice.text), best)


def _named(query: str, name: str) -> int:
    """3 for a name as it is written, 2 for whole words of it, 1 for beginnings of its words, else 0."""
    wanted, words = _words(query), _words(name)
    if wanted == words:
        return 3
    if set(wanted) <= set(words):
        return 2
    return int(all(any(word.startswith(each) for word in words) for each in wanted))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _match_from(query: str, text: str, start: int) -> int | None:
    points, place, before = 0, start, -2
    for letter in query:
        starts_word = next(
            (
                i
                for i in range(place, len(text))
                if text[i] == letter and (i == 0 or not text[i - 1].isalnum())
            ),
            None,
        )
        follows = (
            before + 1 if before + 1 < len(text) and text[before + 1] == letter and before >= 0 else None
        )
        found = (
            follows
            if follows is not None
            else starts_word
            if starts_word is not None
            else text.find(letter, place)
        )
        if found < 0:
            return None
        points += _IN_ROW if found == before + 1 else 0
        points += _WORD_START if found == 0 or not text[found - 1].isalnum() else 0
        before, place = found, found + 1
    return points * 10 - _LATE * start - len(text) // 8


def action_choices(registry: ActionRegistry) -> list[Choice]:
    """Every action of the table, as lines of the palette."""
    return [
        Choice(
            action.title,
            action.menu.replace("/", " › "),
            action.keys_shown,
            registry.qaction(action.key).trigger,
            registry.qaction(action.key).isEnabled(),
            registry.why_disabled(action.key),
        )
        for action in ACTIONS
        if action.key != "help.palette"
    ]


class Palette(QFrame):
    """A box over the window: write, move with the arrows, Enter does it, Escape leaves."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("palette")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self._choices: Sequence[Choice] = ()
        self._focus_before: QWidget | None = None
        self._field = QLineEdit()
        self._field.textChanged.connect(self._filter)
        self._field.installEventFilter(self)
        self._model = QStandardItemModel(self)
        self._list = QListView()
        self._list.setModel(self._model)
        self._list.setItemDelegate(_ChoiceDelegate(self._list))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setUniformItemSizes(True)
        self._list.clicked.connect(lambda _index: self._do())
        self._nothing = plain_label("Nothing of that name.", muted=True)
        self._nothing.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        layout.setSpacing(theme.GRID)
        layout.addWidget(self._field)
        layout.addWidget(self._nothing)
        layout.addWidget(self._list)
        self.hide()

    def ask(self, choices: Sequence[Choice], hint: str) -> None:
        """Show the box with these lines; `hint` says what can be found."""
        self._choices = choices
        self._focus_before = self.window().focusWidget()
        self._field.setPlaceholderText(hint)
        self._field.clear()
        self._filter("")
        self.show()
        self.raise_()
        self._field.setFocus()

    def shown(self) -> list[str]:
        """Texts of the lines shown now, best first."""
        return [self._model.item(row).text() for row in range(self._model.rowCount())]

    def leave(self) -> None:
        """Hide the box and give the keyboard back."""
        if self.isVisible():
            self.hide()
            if self._focus_before is not None:
                self._focus_before.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hear the keys that move and choose before the field does."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = {
                Qt.Key.Key_Down: 1,
                Qt.Key.Key_Up: -1,
                Qt.Key.Key_PageDown: 8,
                Qt.Key.Key_PageUp: -8,
            }.get(Qt.Key(event.key()))
            if step is not None:
                self._move(step)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.leave()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._do()
                return True
        if event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        return super().eventFilter(watched, event)

    def _filter(self, query: str) -> None:
        fits = [(_fit_of(query, choice), choice) for choice in self._choices]
        found = [(fit, choice) for fit, choice in fits if fit is not None]
        if query:
            found.sort(key=lambda each: each[0], reverse=True)
        found.sort(key=lambda each: not each[1].enabled)
        self._model.clear()
        for _points, choice in found:
            item = QStandardItem(choice.text)
            item.setData(choice, _CHOICE)
            item.setEnabled(choice.enabled)
            self._model.appendRow(item)
        self._nothing.setVisible(not found)
        self._list.setVisible(bool(found))
        self._take_room(len(found))
        self._move(0)

    def _take_room(self, lines: int) -> None:
        """Be as high as the lines found, up to half the window or so."""
        width = min(72 * theme.GRID, self.window().width() - 4 * theme.GRID)
        most = min(52 * theme.GRID, self.window().height() - 8 * theme.GRID)
        height = self._field.sizeHint().height() + max(lines, 1) * _LINE + 3 * theme.GRID + _EDGES
        self.setGeometry((self.window().width() - width) // 2, 5 * theme.GRID, width, min(height, most))

    def _move(self, by: int) -> None:
        rows = self._model.rowCount()
        if rows:
            row = min(max(self._list.currentIndex().row(), 0) + by, rows - 1)
            self._list.setCurrentIndex(self._model.index(max(row, 0), 0))

    def _do(self) -> None:
        choice = self._list.currentIndex().data(_CHOICE)
        if isinstance(choice, Choice) and choice.enabled:
            self.leave()
            choice.run()


class _ChoiceDelegate(QStyledItemDelegate):
    """Draws a line: text, then its menu muted, and its keys at the right."""

    def sizeHint(self, _option: QStyleOptionViewItem, _index: QModelIndex) -> QSize:  # type: ignore[override]
        return QSize(10 * theme.GRID, _LINE)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex) -> None:  # type: ignore[override]
        choice = index.data(_CHOICE)
        shown = theme.colours()
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(shown.selected))
            painter.drawRoundedRect(rect, theme.GRID / 2, theme.GRID / 2)
        line = rect.adjusted(theme.GRID, 0, -theme.GRID, 0)
        painter.setPen(QColor(shown.text if choice.enabled else shown.disabled))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, choice.text)
        used = painter.fontMetrics().horizontalAdvance(choice.text) + 2 * theme.GRID
        painter.setPen(QColor(shown.muted if choice.enabled else shown.disabled))
        painter.drawText(line.adjusted(used, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, choice.place)
        end = choice.keys if choice.enabled else choice.why or choice.keys
        painter.setPen(QColor(shown.muted))
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, end)
        painter.restore()
