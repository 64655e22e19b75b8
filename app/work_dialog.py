"""A dialog that does its work in the background: a heading, what it is about, progress, and a way to stop."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.background import Background, NewsDesk
from app.notifications import plain_label
from banana100_core.errors import BananaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.session import Session


class StoppedError(BananaError):
    """The dialog was left while it worked."""


class WorkDialog(QDialog):
    """Stops its work when it is left, and waits for it. `finished_work` carries what was done, in words.

    What is put into `body` stands between the heading and the progress.
    """

    finished_work = Signal(str)

    def __init__(self, session: Session, title: str, action: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setWindowTitle(title)
        self.working = False
        self._stop = threading.Event()
        self._work = Background("dialog", self)
        self._work.failed.connect(self._end_in_failure)
        self._news = NewsDesk(self)
        self._news.delivered.connect(lambda _tables, news: self._show_progress(*news["work"]))
        self.heading = plain_label(wrap=True)
        self.heading.setProperty("strong", True)  # noqa: FBT003 - Qt takes the value by place
        middle = QWidget()
        middle.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.body = QVBoxLayout(middle)
        self.body.setContentsMargins(0, 0, 0, 0)
        self.body.setSpacing(theme.GRID)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.GRID // 2)
        self.progress = plain_label(muted=True)
        self.trouble = plain_label(wrap=True)
        self.trouble.setProperty("error", True)  # noqa: FBT003 - Qt takes the value by place
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.action: QPushButton = self.buttons.addButton(action, QDialogButtonBox.ButtonRole.ActionRole)
        self.action.setEnabled(False)
        for button in self.buttons.findChildren(QPushButton):
            button.setAutoDefault(False)
        self.action.setProperty("primary", True)  # noqa: FBT003
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        layout.setSpacing(theme.GRID)
        layout.addWidget(self.heading)
        layout.addWidget(middle, 1)
        for widget in (self.bar, self.progress, self.trouble, self.buttons):
            layout.addWidget(widget)
        self._show_working(working=False)
        self._say_trouble("")
        session.project_closed.connect(self.reject)

    def done(self, result: int) -> None:
        """Stop what runs, wait for it, and leave."""
        self._stop.set()
        self._work.stop()
        self._news.clear()
        super().done(result)

    def do(self, work: Callable[[], Any], then: Callable[[Any], object]) -> None:
        """Do `work` in the background, then `then` on this thread; what it raises is shown here."""
        self._say_trouble("")
        self._show_working(working=True)

        def finish(result: Any) -> None:  # noqa: ANN401 - whatever the work gives
            self._show_working(working=False)
            then(result)

        self._work.do(work, finish)

    def tell(self, done: int, total: int, what: str = "") -> None:
        """On the working thread: how far it is; ends the work when the dialog was left."""
        if self._stop.is_set():
            raise StoppedError
        self._news.tell_progress("work", (done, total, what))

    def stopped(self) -> bool:
        """Whether the dialog was left."""
        return self._stop.is_set()

    def end_with(self, text: str) -> None:
        """Show what was done; only leaving remains."""
        self.heading.setText(text)
        self.action.hide()
        self.buttons.button(QDialogButtonBox.StandardButton.Cancel).setText("Close")
        self.finished_work.emit(text)

    def failed(self, message: str) -> None:
        """What to do when the work could not be done, beside saying so."""

    def _end_in_failure(self, message: str) -> None:
        self._show_working(working=False)
        if message:  # none for work that was stopped
            self._say_trouble(message)
            self.failed(message)

    def _say_trouble(self, message: str) -> None:
        self.trouble.setText(message)
        self.trouble.setVisible(bool(message))

    def _show_working(self, *, working: bool) -> None:
        self.working = working
        self.bar.setRange(0, 0)
        self.bar.setVisible(working)
        self.progress.setText("")
        self.progress.setVisible(working)

    def _show_progress(self, done: int, total: int, what: str) -> None:
        if self.working:
            self.bar.setRange(0, total)
            self.bar.setValue(done)
            self.progress.setText(f"{done:,} of {total:,} · {what}" if total else f"{done:,} · {what}")


class LinesField(QPlainTextEdit):
    """Lines to read, as high as they are up to some; hidden without any."""

    def __init__(self, most: int = 10) -> None:
        super().__init__()
        self._most = most
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.show_lines("")

    def show_lines(self, text: str) -> None:
        """Show a text."""
        self.setPlainText(text)
        self.setVisible(bool(text))
        # One line more: a scroll bar may lie over the last one.
        lines = min(self._most, text.count("\n") + 1) + 1
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 2 * theme.GRID)
