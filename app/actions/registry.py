"""The table of actions as QActions, which menus, shortcuts, palette and keys sheet share."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app import theme
from app.actions.action import Action, Context
from app.actions.table import ACTIONS

Slot = Callable[..., object]

_TEXT_INPUTS = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox)
_CHORD = (
    Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
)


def takes_text(widget: QWidget | None) -> bool:
    """Whether keys typed now are meant as text."""
    if isinstance(widget, QComboBox):
        return widget.isEditable()
    return isinstance(widget, _TEXT_INPUTS) and not widget.isReadOnly()


class _TextGuard(QObject):
    """Keeps plain keys for the text field that has the focus."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & _CHORD
            function_key = Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
            if plain and not function_key and event.key() != Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().eventFilter(watched, event)


class ActionRegistry(QObject):
    """The table as QActions: an action is disabled until somebody connects a slot to it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._slots: dict[str, list[Slot]] = {}
        self._actions: dict[str, QAction] = {}
        self._groups: dict[str, QActionGroup] = {}
        self._tips = {action.key: action.tip or action.title for action in ACTIONS}
        self._why: dict[str, str] = {}
        for action in ACTIONS:
            self._actions[action.key] = self._make(action)
        self._guard = _TextGuard(self)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._guard_text)

    def qaction(self, key: str) -> QAction:
        """The QAction of a key of the table; KeyError for any other key."""
        return self._actions[key]

    def connect(self, key: str, slot: Slot) -> None:  # type: ignore[override]
        """Have `slot` called when the action is triggered; with its checked state if it is checkable."""
        self._slots[key].append(slot)
        self._actions[key].setEnabled(True)

    def connected(self, key: str) -> bool:
        """Whether the action does something."""
        return bool(self._slots[key])

    def set_enabled(self, key: str, enabled: bool, why: str = "") -> None:
        """Enable an action, or disable it while it makes no sense; `why` it doesn't is told with its tip."""
        self._actions[key].setEnabled(enabled and self.connected(key))
        self._why[key] = "" if enabled else why
        tip = self._tips[key]
        self._actions[key].setToolTip(f"{tip}: {self._why[key]}" if self._why[key] else tip)

    def why_disabled(self, key: str) -> str:
        """What a disabled action is missing, if that was said."""
        return self._why.get(key, "")

    def attach(self, context: Context, widget: QWidget) -> None:
        """Have the keys of a panel's own context heard in that panel."""
        for action in ACTIONS:
            if action.context is context:
                widget.addAction(self._actions[action.key])

    def show_icons(self) -> None:
        """Give the actions their icons; apart, because the icon font takes long to load."""
        for action in ACTIONS:
            if action.icon:
                self._actions[action.key].setIcon(theme.icon(action.icon))

    def _make(self, action: Action) -> QAction:
        qaction = QAction(action.text, self)
        qaction.setObjectName(action.key)
        qaction.setShortcuts(action.sequences)
        qaction.setStatusTip(action.tip)
        qaction.setToolTip(self._tips[action.key])
        qaction.setCheckable(action.checkable)
        qaction.setEnabled(False)
        qaction.setIconVisibleInMenu(not action.checkable)  # there it would hide whether it is on
        if action.group:
            group = self._groups.setdefault(action.group, QActionGroup(self))
            group.addAction(qaction)
        if action.context is Context.WINDOW:
            self._window.addAction(qaction)
        else:
            qaction.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._slots[action.key] = []
        qaction.triggered.connect(lambda checked=False: self._run(action, checked))
        return qaction

    def _run(self, action: Action, checked: bool) -> None:
        for slot in list(self._slots[action.key]):
            if action.checkable:
                slot(checked)
            else:
                slot()

    def _guard_text(self, old: QWidget | None, new: QWidget | None) -> None:
        if old is not None:
            old.removeEventFilter(self._guard)
        if new is not None and takes_text(new):
            new.installEventFilter(self._guard)
