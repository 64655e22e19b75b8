"""The queue at the top of the tags: what is worked on, how far it is, and the keys that go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSignalBlocker, QSize, Qt
from PySide6.QtGui import QColor, QFont, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QMenu,
    QProgressBar,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.notifications import plain_label
from app.parts import Choices
from app.tagging.work import NAMES, TIPS
from app.tooltips import plain_tip
from banana100_core.analysis.queues import Queue
from banana100_core.project.records import ReviewState

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from app.actions import ActionRegistry
    from app.session import Session
    from app.tagging.work import Work
    from banana100_core.project.reviews import Review

HIDE = ("tag.hide_tags", "tag.hide_scores", "tag.hide_models", "tag.hide_steps")
_HEIGHT = 5 * theme.GRID
_MORE = ("tag.previous_run", "tag.reopen_run", "tag.shuffle", "tag.progress", "tag.taxonomy")


class KeyButton(QAbstractButton):
    """A button for an action that says its key below its name."""

    def __init__(self, action: QAction, text: str, *, primary: bool = False) -> None:
        super().__init__()
        self._primary = primary
        self._keys = short_keys(action.shortcut())
        self.show_text(text)
        self.setToolTip(plain_tip(f"{action.toolTip()} ({self._keys})"))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(action.trigger)

    def show_text(self, text: str) -> None:
        """Say what it does now."""
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Wide enough for both lines."""
        metrics = self.fontMetrics()
        width = max(metrics.horizontalAdvance(self.text()), metrics.horizontalAdvance(self._keys))
        return QSize(width + 2 * theme.GRID, _HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint ground, name and key in the theme's colours of now."""
        shown = theme.colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isEnabled()
        ground = QColor(shown.accent if self._primary and on else shown.hover)
        if on and self.isDown():
            ground = ground.darker(115)
        elif on and self.underMouse():
            ground = ground.lighter(108) if self._primary else QColor(shown.selected)
        painter.setPen(QColor(shown.accent if self.hasFocus() else shown.line))
        if self._primary and on:
            painter.setPen(QColor(shown.text) if self.hasFocus() else Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), theme.GRID // 2, theme.GRID // 2)
        text = QColor(shown.disabled if not on else shown.on_accent if self._primary else shown.text)
        muted = QColor(shown.disabled if not on else shown.on_accent if self._primary else shown.muted)
        half = self.height() // 2
        painter.setPen(text)
        flags = Qt.AlignmentFlag.AlignHCenter
        upper = QRect(0, 4, self.width(), half - 3)
        painter.drawText(upper, flags | Qt.AlignmentFlag.AlignVCenter, self._cut(self.text()))
        painter.setFont(self._small())
        painter.setPen(muted)
        lower = QRect(0, half, self.width(), half - 4)
        painter.drawText(lower, flags | Qt.AlignmentFlag.AlignVCenter, self._keys)
        painter.end()

    def _cut(self, text: str) -> str:
        return self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, self.width() - theme.GRID)

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * 0.85)
        return font


class WorkBar(QWidget):
    """Chooses the queue, shows how far it is, and where this run stands."""

    def __init__(
        self, session: Session, work: Work, registry: ActionRegistry, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._work = work
        self.queue = self._make_queue()
        self.hidden = self._make_menu("eye-slash", "Hide while tagging", registry, HIDE)
        more = self._make_menu("dots-three", "More", registry, _MORE)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.GRID // 2)
        self.count = plain_label(muted=True)
        self.state = plain_label(wrap=True)
        self.done = KeyButton(registry.qaction("tag.done"), "Done", primary=True)
        self.nothing = KeyButton(registry.qaction("tag.nothing_found"), "Nothing found")
        self.next = KeyButton(registry.qaction("tag.next_run"), "Next")
        self._lay_out(more)
        self.queue.currentIndexChanged.connect(
            lambda _row: work.choose_queue(Queue(self.queue.currentData()))
        )
        work.changed.connect(self.show_work)
        work.queue_chosen.connect(self._show_queue)
        session.blinding_changed.connect(self._show_hidden)
        session.blinding_changed.connect(self.show_work)
        session.project_opened.connect(self._show_hidden)
        self._show_queue()
        self._show_hidden()
        self.show_work()

    def add_name(self, field: QWidget) -> None:
        """Put the annotator's name before the queue: whose it is."""
        self._top.insertWidget(0, field, 1)

    def show_work(self) -> None:
        """Show how far the queue is and where this run stands."""
        done, total = self._work.counts
        self.bar.setMaximum(max(total, 1))
        self.bar.setValue(done)
        self.count.setText(f"{done:,} of {total:,} done" if total else "nothing here yet")
        can = self._session.run is not None and self._session.project is not None
        can = can and not self._session.project.read_only  # type: ignore[union-attr]
        judges = self._work.judges
        self.done.show_text("Accept" if judges else "Done")
        self.nothing.show_text("Reject…" if judges else "Nothing found")
        if judges:
            can = can and not self._session.blinding.tags and self._work.waiting() is not None
        for button in (self.done, self.nothing):
            button.setEnabled(can)
        self.next.setEnabled(self._session.project is not None)
        text, wrong = _state_text(self._work.own)
        self.state.setText(text)
        self.state.setVisible(bool(text))
        if self.state.property("error") != wrong:
            self.state.setProperty("error", wrong)
            self.state.style().unpolish(self.state)
            self.state.style().polish(self.state)

    def _make_queue(self) -> Choices:
        box = Choices([(NAMES[queue], queue.value) for queue in Queue])
        box.setAccessibleName("Queue")
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        for row, queue in enumerate(Queue):
            box.setItemData(row, plain_tip(TIPS[queue]), Qt.ItemDataRole.ToolTipRole)
        return box

    def _make_menu(
        self, icon: str, name: str, registry: ActionRegistry, keys: tuple[str, ...]
    ) -> QToolButton:
        button = QToolButton()
        button.setIcon(theme.icon(icon))
        button.setAutoRaise(True)
        button.setToolTip(name)
        button.setAccessibleName(name)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        menu = QMenu(button)
        for key in keys:
            menu.addAction(registry.qaction(key))
        button.setMenu(menu)
        return button

    def _lay_out(self, more: QToolButton) -> None:
        self._top = QHBoxLayout()
        self._top.setSpacing(theme.GRID // 2)
        self._top.addWidget(self.queue, 1)
        self._top.addWidget(self.hidden)
        self._top.addWidget(more)
        progress = QHBoxLayout()
        progress.setSpacing(theme.GRID)
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.count)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.GRID // 2)
        for button in (self.done, self.nothing, self.next):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID // 2)
        column.setSpacing(theme.GRID // 2)
        column.addLayout(self._top)
        column.addLayout(progress)
        column.addLayout(buttons)
        column.addWidget(self.state)

    def _show_queue(self) -> None:
        with QSignalBlocker(self.queue):
            self.queue.setCurrentIndex(self.queue.findData(self._work.queue.value))
        self.queue.setToolTip(plain_tip(TIPS[self._work.queue]))

    def _show_hidden(self) -> None:
        hides = self._session.blinding.any
        self.hidden.setIcon(theme.icon("eye-slash" if hides else "eye"))
        self.hidden.setProperty("narrowed", hides)
        self.hidden.style().unpolish(self.hidden)
        self.hidden.style().polish(self.hidden)


def short_keys(keys: QKeySequence) -> str:
    """Keys as a button has room for them."""
    native = keys.toString(QKeySequence.SequenceFormat.NativeText)
    return native.replace("Return", "⏎").replace("Enter", "⏎").replace("Shift+", "⇧")


def _state_text(own: Review | None) -> tuple[str, bool]:
    """Where this annotator's work on the run stands, and whether it is bad news."""
    if own is None or own.state is ReviewState.DRAFT:
        return "", False
    since = " · changed since" if own.edited_since else ""
    match own.state:
        case ReviewState.REJECTED:
            return f"Rejected by {own.said_by}: {own.comment}{since}", True
        case ReviewState.ACCEPTED:
            return f"✓ Accepted by {own.said_by}{since}", False
        case _:
            return f"✓ Done{' · nothing found' if not own.tags else ''}{since}", False
