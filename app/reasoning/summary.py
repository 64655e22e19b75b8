"""The reasoning summary of the current step, by section, as plain text; what a judge said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from app import theme
from app.blinding import NO_STEP
from app.elided import ElidedText
from app.notifications import plain_label
from banana100_core.project.reasoning import step_sections
from banana100_core.project.records import Outcome

if TYPE_CHECKING:
    from app.admissions import Admissions
    from app.session import Session
    from banana100_core.project.records import Step
    from banana100_core.project.verdicts import Verdict

EVALUATES = "evaluates the result"


class SummaryView(QWidget):
    """Follows the session's step."""

    def __init__(self, session: Session, admissions: Admissions) -> None:
        super().__init__()
        self._session, self._admissions = session, admissions
        self._shown: tuple[Step | None, str, str] | None = None
        self.title = ElidedText("text", is_name=True, strong=True)
        self.verdict = plain_label(muted=True)
        self._text = QTextEdit()
        self._text.setReadOnly(True)
        self._text.setAcceptRichText(False)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        self._text.setTabChangesFocus(True)
        self._text.setAccessibleName("Reasoning summary")
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.document().setDocumentMargin(theme.GRID)
        head = QHBoxLayout()
        head.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, 0)
        head.setSpacing(theme.GRID)
        head.addWidget(self.title, 1)
        head.addWidget(self.verdict)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self._text, 1)
        for changed in (
            session.blinding_changed,
            session.run_changed,
            session.step_changed,
            session.steps_updated,
            session.project_closed,
        ):
            changed.connect(lambda *_what: self._show())
        admissions.changed.connect(self._show)
        theme.notifier().theme_changed.connect(self._show_anew)
        self._show()

    @property
    def text(self) -> str:
        """What is written, without its looks."""
        return self._text.toPlainText()

    def _show_anew(self) -> None:
        self._shown = None
        self._show()

    def _show(self) -> None:
        run = self._session.run
        step = self._session.step_numbered(self._session.step) if run is not None else None
        verdict = None if step is None else self._admissions.found.verdicts.get((step.run_id, step.number))
        blinding = self._session.blinding
        said = "" if blinding.tags else _verdict(verdict)  # it would lead who tags blind
        title = ""
        if run is not None and step is not None:
            which = NO_STEP if blinding.steps else f"Step {step.number}"
            title = f"{which} · {run.initial_image} · r{run.repeat}"
        if self._shown == (step, title, said):
            return
        self._shown = step, title, said
        self.title.set_text(title)
        self.verdict.setText(said if step is not None and step.reasoning else "")
        self._write(step)

    def _write(self, step: Step | None) -> None:
        self._text.clear()
        sections = () if step is None else step_sections(step)
        if not sections:
            self._text.setPlaceholderText(_nothing(step, numbered=not self._session.blinding.steps))
            return
        shown = theme.colours()
        cursor = QTextCursor(self._text.document())
        cursor.beginEditBlock()
        for number, section in enumerate(sections):
            block = QTextBlockFormat()
            block.setTopMargin(theme.GRID if number else 0)
            title = QTextCharFormat()
            title.setFontWeight(QFont.Weight.DemiBold)
            title.setForeground(QColor(shown.text))
            mark = QTextCharFormat()
            mark.setForeground(QColor(shown.link))
            if section.title or section.evaluates:
                _begin(cursor, block, first=number == 0)
                cursor.insertText(section.title, title)
                if section.evaluates:
                    cursor.insertText(f"   {EVALUATES}" if section.title else EVALUATES, mark)
                block = QTextBlockFormat()
                _begin(cursor, block, first=False)
            else:
                _begin(cursor, block, first=number == 0)
            body = QTextCharFormat()
            body.setForeground(QColor(shown.text if section.evaluates else shown.muted))
            cursor.insertText(section.text, body)
        cursor.endEditBlock()
        self._text.verticalScrollBar().setValue(0)


def _begin(cursor: QTextCursor, block: QTextBlockFormat, *, first: bool) -> None:
    if first:
        cursor.setBlockFormat(block)
    else:
        cursor.insertBlock(block)


def _verdict(verdict: Verdict | None) -> str:
    if verdict is None:
        return "Not judged"
    answer = "admits degradation" if verdict.admits else "admits no degradation"
    return f"{verdict.model}: {answer}"


def _nothing(step: Step | None, *, numbered: bool) -> str:
    if step is None:
        return "Choose a run to read what its editor said of each picture."
    if numbered and step.outcome is Outcome.INITIAL:
        return "This is the initial image. Editors speak of the steps after it."
    return "This step has no reasoning summary. Editors that think give one, Nano Banana Pro for instance."
