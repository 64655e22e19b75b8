"""The end of a flip: the key is let go, or the program is left."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Signal
from PySide6.QtGui import QKeyEvent


class FlipEnd(QObject):
    """Waits for the key of a flip to be let go, wherever the focus is by then."""

    ended = Signal()

    def begin(self) -> None:
        """Listen."""
        application = QCoreApplication.instance()
        if application is not None:
            application.installEventFilter(self)

    def end(self) -> None:
        """Stop listening, and tell."""
        application = QCoreApplication.instance()
        if application is not None:
            application.removeEventFilter(self)
        self.ended.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """End the flip when the key is let go or the program is left."""
        let_go = (
            event.type() == QEvent.Type.KeyRelease
            and isinstance(event, QKeyEvent)
            and not event.isAutoRepeat()
        )
        if let_go or event.type() == QEvent.Type.ApplicationDeactivate:
            self.end()
        return super().eventFilter(watched, event)
