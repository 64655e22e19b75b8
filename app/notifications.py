"""What the window has to say: a bar for errors and hints, a dialog for bugs, and the log that keeps both."""

from __future__ import annotations

import logging
import logging.handlers
import platform
import sys
import threading
import traceback
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import (
    QMessageLogContext,
    QObject,
    Qt,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
    qVersion,
)
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

log = logging.getLogger("app")

DISTRIBUTION = "banana100-inspector"

_FEW_LINES = 6
_LOG_LINES = 40  # of what went before a fault, that are worth reporting
_NOT_CAUGHT = "not caught:"
_CRASH = (
    "This is a fault of the program, not of your files. Your project is saved up to the last finished step, "
    "score and tag. You can go on working; a restart is the safer way."
)


def plain_label(text: str = "", *, muted: bool = False, wrap: bool = False) -> QLabel:
    """A label that shows text from outside as it is, never as HTML."""
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(wrap)
    if muted:
        label.setProperty("muted", True)  # noqa: FBT003 - Qt takes the value by place
    return label


class MessageBar(QFrame):
    """A strip above the pictures: one message at a time, one thing to do about it, details to copy."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message_bar")
        self._details = ""
        self._act: Callable[[], object] | None = None
        self._icon = QLabel()
        self._title = plain_label()
        self._title.setProperty("strong", True)  # noqa: FBT003 - Qt takes the value by place
        self._text = plain_label(wrap=True)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._button = QPushButton()
        self._button.clicked.connect(self._do)
        self._copy = QPushButton("Copy details")
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.details()))
        close = QToolButton()
        close.setAutoRaise(True)
        close.setToolTip("Dismiss")
        close.clicked.connect(self.hide)
        self._close = close
        texts = QVBoxLayout()
        texts.setSpacing(theme.GRID // 4)
        texts.addWidget(self._title)
        texts.addWidget(self._text)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        row.setSpacing(theme.GRID)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(texts, 1)
        for button in (self._button, self._copy, close):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_error(self, title: str, details: str) -> None:
        """Say what went wrong; `details` is the reason and the way out."""
        log.error("%s: %s", title, details)
        self._title.setText(title)
        self._text.setText(details)
        self._text.setVisible(bool(details))
        self._icon.setPixmap(theme.icon("warning-circle").pixmap(2 * theme.GRID, 2 * theme.GRID))
        self._close.setIcon(theme.icon("x"))
        self._button.hide()
        self.show()

    def offer(self, button: str, act: Callable[[], object]) -> None:
        """Give the message shown a button, which does something about it and takes the message away."""
        self._act = act
        self._button.setText(button)
        self._button.show()

    def details(self) -> str:
        """What "Copy details" copies."""
        return f"{self._title.text()}\n{self._text.text()}\n\n{versions()}"

    def _do(self) -> None:
        self.hide()
        if self._act is not None:
            self._act()


class TextDialog(QDialog):
    """A few words, and a longer text to copy."""

    def __init__(self, title: str, words: str, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.resize(84 * theme.GRID, (56 if text.count("\n") > _FEW_LINES else 28) * theme.GRID)
        self.text = text
        field = QPlainTextEdit(text)
        field.setReadOnly(True)
        field.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        field.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton("Copy", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(text))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        layout.setSpacing(theme.GRID)
        layout.addWidget(plain_label(words, wrap=True))
        layout.addWidget(field, 1)
        layout.addWidget(buttons)


class FaultCatcher(QObject):
    """Brings exceptions that nobody caught, on any thread, to one dialog; all of them go to the log."""

    caught = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.dialog: TextDialog | None = None
        self._before = sys.excepthook, threading.excepthook
        self.caught.connect(self._show, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Take over from Python's own hooks."""
        sys.excepthook = self._take
        threading.excepthook = lambda args: self._take(args.exc_type, args.exc_value, args.exc_traceback)

    def uninstall(self) -> None:
        """Give Python its hooks back."""
        sys.excepthook, threading.excepthook = self._before

    def _take(
        self,
        kind: type[BaseException],
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if issubclass(kind, (KeyboardInterrupt, SystemExit)):
            return
        text = "".join(traceback.format_exception(kind, error, where))
        log.critical("%s\n%s", _NOT_CAUGHT, text)
        self.caught.emit(f"{versions()}\n\n{text}")

    def _show(self, report: str) -> None:
        # A fault in painting comes again with every frame: the first one is shown, the log has the rest.
        if self.dialog is None:
            self.dialog = TextDialog(
                "Something went wrong",
                _CRASH,
                f"{report}\nLog: {log_file()}\n{_end_of_log()}",
                self._window,
            )
            self.dialog.finished.connect(self.dialog.deleteLater)
            self.dialog.open()


def versions() -> str:
    """Versions of the program and what it stands on, for reports."""
    try:
        own = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        own = "not installed"
    return (
        f"Banana100 Inspector {own}\nPython {platform.python_version()}, Qt {qVersion()}, "
        f"PySide6 {metadata.version('PySide6_Essentials')}\n{platform.platform()}, "
        f"{QGuiApplication.platformName()}"
    )


# Said of every window on Qt's offscreen platform, where there is nobody to size a window.
_OFFSCREEN_HINT = "This plugin does not support propagateSizeHints()"


def log_file() -> Path:
    """Where the window keeps its log."""
    return Path(platformdirs.user_log_dir("banana100", appauthor=False)) / "window.log"


def _end_of_log() -> str:
    """The last lines of the log, without the report that the dialog shows already."""
    try:
        lines = log_file().read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    told = max((number for number, line in enumerate(lines) if _NOT_CAUGHT in line), default=len(lines))
    return "\n".join(lines[max(0, told - _LOG_LINES) : told])


def keep_log() -> None:
    """Write the log, Qt's messages too, to a file of bounded size; to none if the folder can't be written."""
    try:
        log_file().parent.mkdir(parents=True, exist_ok=True)
        handler: logging.Handler = logging.handlers.RotatingFileHandler(
            log_file(), maxBytes=1_000_000, backupCount=2, encoding="utf-8", delay=True
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)
    qInstallMessageHandler(_log_of_qt)


def _log_of_qt(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    if message == _OFFSCREEN_HINT:
        return
    levels = {
        QtMsgType.QtDebugMsg: logging.DEBUG,
        QtMsgType.QtInfoMsg: logging.INFO,
        QtMsgType.QtWarningMsg: logging.WARNING,
    }
    logging.getLogger("qt").log(levels.get(kind, logging.ERROR), "%s", message)
