"""All that is known of a step, as plain text: what was asked, what came, what the model said it did."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QDateTime, Qt
from PySide6.QtGui import QColor, QFont, QPalette, QTextBlockFormat, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFrame, QTextEdit, QVBoxLayout, QWidget

from app import theme
from app.blinding import Blinding
from app.compare.steps import (
    aspect_differs,
    bytes_text,
    mislabelled,
    size_text,
    title,
)
from banana100_core.project.reasoning import step_sections

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from banana100_core.project.records import Image, Step

Fact = tuple[str, str]

_SHOW_ALL = Blinding()
_OF_MODEL = ("Model version", "Finish reason", "Tokens", "Cost", "Time")
# Step 0 has another outcome, and what is sent and paid may grow with the steps before, as seeds may.
_OF_PLACE = ("Outcome", "Tokens", "Cost", "Time", "Created")


def facts(step: Step, initial: Image | None) -> list[Fact]:
    """Name and value of each thing known about a step, apart from its longer texts."""
    found: list[Fact] = [("Outcome", step.outcome.value)]
    if step.reason:
        found.append(("Reason", step.reason))
    image = step.image
    if image is not None:
        mark = " — aspect differs from step 0" if initial and aspect_differs(image, initial) else ""
        found.append(("Size", f"{size_text(image)}, {bytes_text(image.byte_size)}{mark}"))
        found.append(("True type" if mislabelled(step) else "Type", image.media_type))
    if step.declared_media_type and (image is None or mislabelled(step)):
        mark = " — not what it is" if image is not None else ""
        found.append(("Declared type", step.declared_media_type + mark))
    if image is not None and image.notes:
        found.append(("Decoder", ", ".join(image.notes)))
    optional = (
        ("Model version", step.model_version),
        ("Finish reason", step.finish_reason),
        ("Tokens", _tokens(step)),
        ("Cost", None if step.cost_usd is None else f"${step.cost_usd:.4g}"),
        ("Time", None if step.seconds is None else f"{step.seconds:.3g} s"),
        ("Created", _moment(step.created_at)),
    )
    return found + [(name, value) for name, value in optional if value]


def settings_text(step: Step) -> str:
    """The settings sent with a step, one a line."""
    return "\n".join(f"{name}: {_setting_text(value)}" for name, value in step.settings.items())


def _setting_text(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _moment(at: str) -> str:
    """A moment as this place's clock tells it, to the second; the same text where it is none."""
    moment = QDateTime.fromString(at, Qt.DateFormat.ISODateWithMs).toLocalTime()
    return moment.toString("yyyy-MM-dd HH:mm:ss") if moment.isValid() else at


class StepDetails(QWidget):
    """Prompt, settings, reasoning summary, types, cost and time of the current step, to select and copy."""

    def __init__(self) -> None:
        super().__init__()
        self._step: Step | None = None
        self._initial: Image | None = None
        self._written: tuple[Step | None, Image | None] | None = None
        self._blinding = _SHOW_ALL
        self._text = QTextEdit()
        self._text.setReadOnly(True)
        self._text.setAcceptRichText(False)
        self._text.viewport().setBackgroundRole(QPalette.ColorRole.Window)
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._text.setTabChangesFocus(True)
        self._text.setAccessibleName("Details of the step")
        self._text.document().setDocumentMargin(theme.GRID + theme.GRID // 2)
        self._text.setPlaceholderText("Choose a step to read what was asked and what came.")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._text)
        theme.notifier().theme_changed.connect(self._write_anew)

    @property
    def text(self) -> str:
        """All that is said."""
        return self._text.toPlainText()

    def show_step(self, step: Step | None, initial: Image | None, blinding: Blinding = _SHOW_ALL) -> None:
        """Describe a step; `initial` is the picture of step 0. Nothing is written while nobody sees it."""
        self._step, self._initial = step, initial
        if blinding != self._blinding:
            self._blinding, self._written = blinding, None
        if self.isVisible():
            self._write()

    def showEvent(self, event: QShowEvent) -> None:
        """Write what was put off."""
        super().showEvent(event)
        self._write()

    def _write_anew(self) -> None:
        self._written = None
        if self.isVisible():
            self._write()

    def _write(self) -> None:
        if self._written == (self._step, self._initial):
            return
        self._written = (self._step, self._initial)
        self._text.clear()
        step = self._step
        if step is None:
            return
        # insertText takes its text as it is; only setHtml and insertHtml would read markup in it.
        cursor = self._text.textCursor()
        self._heading(cursor, title(step, numbered=not self._blinding.steps))
        for name, value in self._facts(step):
            self._paragraph(cursor, f"{name}\u2002", value)
        settings = "" if self._blinding.models or self._blinding.steps else settings_text(step)
        for name, text in (("Prompt", step.prompt), ("Settings", settings)):
            if text:
                self._heading(cursor, name)
                self._paragraph(cursor, "", text)
        sections = step_sections(step)
        if sections:
            self._heading(cursor, "Reasoning summary")
        for section in sections:
            if section.title:
                self._paragraph(cursor, section.title, "", strong=True)
            if section.text:
                self._paragraph(cursor, "", section.text)
        self._text.moveCursor(QTextCursor.MoveOperation.Start)

    def _facts(self, step: Step) -> list[Fact]:
        """All but what would tell the model or how far the run is, while that is hidden."""
        hidden = {
            *(_OF_MODEL if self._blinding.models else ()),
            *(_OF_PLACE if self._blinding.steps else ()),
        }
        return [fact for fact in facts(step, self._initial) if fact[0] not in hidden]

    def _heading(self, cursor: QTextCursor, text: str) -> None:
        self._paragraph(cursor, text, "", strong=True, above=2 * theme.GRID, larger=True)

    def _paragraph(
        self,
        cursor: QTextCursor,
        quiet: str,
        text: str,
        *,
        strong: bool = False,
        larger: bool = False,
        above: int = theme.GRID // 2,
    ) -> None:
        first = cursor.atStart()
        block = QTextBlockFormat()
        block.setTopMargin(0 if first else above)
        if first:
            cursor.setBlockFormat(block)
        else:
            cursor.insertBlock(block)
        colours = theme.colours()
        plain = QTextCharFormat()
        plain.setForeground(QColor(colours.text))
        lead = QTextCharFormat()
        lead.setForeground(QColor(colours.text if strong else colours.muted))
        if strong:
            lead.setFontWeight(QFont.Weight.DemiBold)
        if larger:
            lead.setFontPointSize(self.font().pointSizeF() + 1)
        cursor.insertText(quiet, lead)
        cursor.insertText(text.replace("\n", "\u2028"), plain)


def _tokens(step: Step) -> str | None:
    if step.input_tokens is None and step.output_tokens is None:
        return None
    return f"{step.input_tokens or 0:,} in, {step.output_tokens or 0:,} out"
