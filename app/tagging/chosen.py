"""Editing the chosen tag from the keyboard: severity, certainty, note, and which one is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.tagging.panel import TaggingPanel
    from app.tagging.rows import Row

SURER = 0.1
_WORDS = {1: "mild", 2: "clear", 3: "severe"}


class ChosenTagKeys:
    """What keys do to the chosen tag of a panel; each says what it did, or why it did nothing."""

    def __init__(self, panel: TaggingPanel) -> None:
        self._panel = panel

    def grade(self, severity: int) -> None:
        """Set the severity."""
        row = self._editable()
        if row is not None:
            self._panel.board.change(row.id, severity=severity)
            self._say(row, f"severity {severity}, {_WORDS[severity]}")

    def make_surer(self, by: float) -> None:
        """Add to the certainty, which goes from 0 to 1."""
        row = self._editable()
        if row is not None and row.wanted is not None:
            certainty = round(min(1.0, max(0.0, row.wanted.certainty + by)), 2)
            self._panel.board.change(row.id, certainty=certainty)
            self._say(row, f"{certainty:.0%} certain")

    def write_note(self) -> None:
        """Go to the note."""
        row = self._editable()
        shown = next((each for each in self._panel.rows if row is not None and each.row_id == row.id), None)
        if shown is not None:
            shown.note.setFocus()
            shown.note.selectAll()

    def move(self, by: int) -> None:
        """Choose the tag after or before the chosen one, around the ends."""
        ids = [row.row_id for row in self._panel.rows]
        if not ids:
            self._panel.say("There are no tags in this run.")
            return
        chosen = self._panel.chosen
        place = ids.index(chosen) + by if chosen in ids else (0 if by > 0 else -1)
        self._panel.choose(ids[place % len(ids)])

    def _editable(self) -> Row | None:
        panel = self._panel
        row = next((row for row in panel.board.rows if row.id == panel.chosen), None)
        if row is None:
            panel.say("Choose a tag first: press the key of its failure mode.")
        elif panel.board.read_only:
            panel.say("This project is open for reading only.")
        elif not panel.board.own(row):
            panel.say(f"This tag is {row.annotator}'s; only its annotator changes it.")
        else:
            return row
        return None

    def _say(self, row: Row, what: str) -> None:
        self._panel.say(f"{self._panel.name_of(row)}: {what}.")
