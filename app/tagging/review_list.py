"""The others' work on the run on screen, to accept or to reject with a word about why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QToolButton, QVBoxLayout, QWidget

from app import theme
from app.notifications import plain_label
from app.tagging.work_bar import short_keys
from app.tooltips import plain_tip
from banana100_core.project.records import ReviewState

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.session import Session
    from app.tagging.work import Work
    from banana100_core.project.reviews import Review


class ReviewList(QWidget):
    """A row for each other annotator who has finished this run."""

    def __init__(
        self, session: Session, work: Work, registry: ActionRegistry, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._work = work
        self._registry = registry
        self.rows: dict[str, ReviewRow] = {}
        self.note = plain_label(muted=True, wrap=True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(theme.GRID, 0, theme.GRID, theme.GRID // 2)
        self._column.setSpacing(theme.GRID // 2)
        self._column.addWidget(self.note)
        work.changed.connect(self.show_reviews)
        work.queue_chosen.connect(self.show_reviews)
        session.blinding_changed.connect(self.show_reviews)
        self.show_reviews()

    def ask_why(self) -> None:
        """Begin to reject the first of the others' work that waits: ask for a word about why."""
        waiting = self._work.waiting()
        if waiting is None or waiting.annotator not in self.rows:
            self._work.said.emit("Nobody else's work on this run waits for a review.")
        else:
            self.rows[waiting.annotator].ask_why()

    def show_reviews(self) -> None:
        """Show what the others have finished, unless others' work is hidden."""
        hidden = self._session.blinding.tags
        found = {} if hidden else {each.annotator: each for each in self._work.others}
        for name in [name for name in self.rows if name not in found]:
            row = self.rows.pop(name)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for name, review in found.items():
            if name not in self.rows:
                row = ReviewRow(name, self._registry)
                row.accepted.connect(self._work.accept)
                row.rejected.connect(self._work.reject)
                self.rows[name] = row
                self._column.addWidget(row)
            self.rows[name].show_review(review)
        blind = hidden and self._work.judges
        self.note.setText("Others' tags are hidden. Show them to review." if blind else "")
        self.note.setVisible(blind)
        self.setVisible(blind or bool(self.rows))


class ReviewRow(QFrame):
    """An annotator's work on the run, and what was said of it."""

    accepted = Signal(str)
    rejected = Signal(str, str)

    def __init__(self, annotator: str, registry: ActionRegistry) -> None:
        super().__init__()
        self.setObjectName("review_row")
        self._annotator = annotator
        self.text = plain_label(wrap=True)
        self.accept = _button("check", "Accept", registry.qaction("tag.done").shortcut())
        self.reject = _button("x", "Reject", registry.qaction("tag.nothing_found").shortcut())
        self.why = QLineEdit()
        self.why.setPlaceholderText("Why? Return rejects, Escape doesn't")
        self.why.setAccessibleName(f"Why {annotator}'s work is rejected")
        self.why.installEventFilter(self)
        self.why.hide()
        self.accept.clicked.connect(lambda: self.accepted.emit(annotator))
        self.reject.clicked.connect(self.ask_why)
        self.why.returnPressed.connect(self._reject)
        row = QHBoxLayout()
        row.setSpacing(theme.GRID // 2)
        row.addWidget(self.text, 1)
        row.addWidget(self.accept)
        row.addWidget(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GRID // 2)
        column.addLayout(row)
        column.addWidget(self.why)

    def show_review(self, review: Review) -> None:
        """Say where the work stands; nothing that is being typed goes."""
        tags = "nothing found" if not review.tags else f"{review.tags} tag{'s' if review.tags > 1 else ''}"
        since = " · changed since" if review.edited_since else ""
        said = {
            ReviewState.DONE: f"done, {tags}",
            ReviewState.ACCEPTED: f"{tags}, accepted by {review.said_by}",
            ReviewState.REJECTED: f"{tags}, rejected by {review.said_by}: {review.comment}",
        }.get(review.state, "draft")
        self.text.setText(f"{review.annotator}: {said}{since}")
        self.accept.setEnabled(review.waits or review.state is ReviewState.REJECTED)

    def ask_why(self) -> None:
        """Ask for the comment that a rejection needs."""
        self.why.show()
        self.why.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Escape leaves the field without rejecting."""
        pressed = event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent)
        if pressed and event.key() == Qt.Key.Key_Escape:  # type: ignore[attr-defined]
            self._leave()
            return True
        return super().eventFilter(watched, event)

    def _reject(self) -> None:
        comment = self.why.text().strip()
        if comment:
            self._leave()
            self.rejected.emit(self._annotator, comment)
        else:
            self.why.setPlaceholderText("A rejection needs a word about why")

    def _leave(self) -> None:
        self.why.clear()
        self.why.hide()
        self.window().setFocus()


def _button(icon: str, name: str, keys: object) -> QToolButton:
    button = QToolButton()
    button.setIcon(theme.icon(icon))
    button.setAccessibleName(name)
    button.setToolTip(plain_tip(f"{name} ({short_keys(keys)})"))  # type: ignore[arg-type]
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
