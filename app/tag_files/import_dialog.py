"""Importing tags from CSV or COCO: what was understood, then the import, after a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QWidget

from app import theme
from app.blinding import NO_SUCH_STEP
from app.tag_files.categories import CategoryChooser
from app.work_dialog import LinesField, WorkDialog
from banana100_core.catalog.failure_modes import Level
from banana100_core.exchange.foreign_coco import import_foreign, is_foreign, read_foreign
from banana100_core.exchange.import_tags import import_tags
from banana100_core.project.failure_modes import NewMode, add_mode, failure_modes
from banana100_core.project.merge import Prefer

if TYPE_CHECKING:
    from pathlib import Path

    from app.session import Session
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.exchange.foreign_coco import ForeignCoco
    from banana100_core.project.merge import MergeReport

_SHOWN = 200


class ImportTagsDialog(WorkDialog):
    """Shows what a file would bring before anything is changed."""

    def __init__(self, session: Session, file: Path, parent: QWidget | None = None) -> None:
        super().__init__(session, "Import tags", "Import", parent)
        self.resize(84 * theme.GRID, 60 * theme.GRID)
        self._file = file
        self._foreign: ForeignCoco | None = None
        self._asked = 0
        self.heading.setText(f"Reading {file.name} …")
        self.text = LinesField(most=12)
        self.theirs = QCheckBox("Where a tag was edited on both sides, take the file's")
        self.theirs.hide()
        self.annotator = QLineEdit(file.stem)
        self.annotator.setAccessibleName("Annotator")
        self.whose = QWidget()
        whose = QFormLayout(self.whose)
        whose.setContentsMargins(0, 0, 0, 0)
        whose.addRow("Whose tags they shall be", self.annotator)
        self.categories = CategoryChooser()
        self.body.addWidget(self.text)
        self.body.addWidget(self.theirs)
        self.body.addWidget(self.whose)
        self.body.addWidget(self.categories, 1)
        self.whose.hide()
        self.categories.hide()
        self.categories.changed.connect(self._preview)
        self.annotator.editingFinished.connect(self._preview)
        self.theirs.toggled.connect(lambda _on: self._preview())
        self.action.clicked.connect(self._import)
        self.do(self._read, self._show)

    # Reading

    def _read(self) -> tuple[ForeignCoco | None, MergeReport | None, list[FailureMode]]:
        project = self.session.project
        assert project is not None  # noqa: S101 - the dialog goes with its project
        if is_foreign(self._file):
            return read_foreign(project, self._file, self.tell), None, failure_modes(project)
        return None, import_tags(project, self._file, dry_run=True), failure_modes(project)

    def _show(self, read: tuple[ForeignCoco | None, MergeReport | None, list[FailureMode]]) -> None:
        self._foreign, report, modes = read
        if report is not None:
            self._show_report(report)
            self.body.addStretch(1)
            return
        assert self._foreign is not None  # noqa: S101 - it is one or the other
        self.categories.show_categories(self._foreign.categories, modes)
        self.categories.show()
        self.whose.show()
        self._preview()

    def _preview(self) -> None:
        """Say anew what would be done, after a choice."""
        project, foreign = self.session.project, self._foreign
        if project is None or self.working:
            return
        self._asked += 1
        asked = self._asked
        chosen, prefer, name = self.categories.chosen(), self._prefer(), self.annotator.text().strip()

        def work() -> MergeReport:
            if foreign is None:
                return import_tags(project, self._file, prefer=prefer, dry_run=True)
            return import_foreign(project, foreign, name or "?", chosen, prefer=prefer, dry_run=True)

        self.session.in_background(
            work, lambda report: self._show_report(report) if asked == self._asked else None
        )

    def _prefer(self) -> Prefer | None:
        return Prefer.THEIRS if self.theirs.isChecked() else None

    def _show_report(self, report: MergeReport) -> None:
        if self.working:
            return
        self.heading.setText(f"{self._file.name}: {_counts(report)}")
        new = self.categories.new()
        self.text.show_lines("\n".join(self._lines(report, new)))
        self.theirs.setVisible(bool(report.conflicts))
        named = self._foreign is None or bool(self.annotator.text().strip())
        self.action.setEnabled(named and bool(report.added or report.changed or report.conflicts or new))

    def _lines(self, report: MergeReport, new: list[str]) -> list[str]:
        lines = []
        if self._foreign is not None:
            places = len(self._foreign.places)
            lines.append(
                f"{places:,} of {places + len(self._foreign.unmatched):,} pictures are steps of this project"
            )
            lines += [f"Picture left out: {name}: {why}" for name, why in self._foreign.unmatched[:_SHOWN]]
            lines += self._foreign.notes
        if new:
            lines.append(f"New failure modes, with their tags: {', '.join(new)}")
        if report.conflicts:
            tags = "1 tag says" if len(report.conflicts) == 1 else f"{len(report.conflicts):,} tags say"
            lines.append(f"{tags} something else here; this project's side stays")
        hidden = NO_SUCH_STEP if self.session.blinding.steps else ""
        lines += [f"Left out: {left.tag_uuid}: {hidden or left.reason}" for left in report.left_out[:_SHOWN]]
        return lines

    # Importing

    def _import(self) -> None:
        project, foreign = self.session.project, self._foreign
        if project is None:
            return
        chosen, new = self.categories.chosen(), self.categories.new()
        prefer, name, who = self._prefer(), self.annotator.text().strip(), self.session.annotator
        for widget in (self.action, self.categories, self.whose, self.theirs):
            widget.setEnabled(False)
        self.heading.setText(f"Importing {self._file.name} …")

        def work() -> MergeReport:
            if foreign is None:
                return import_tags(project, self._file, prefer=prefer)
            made = {each: add_mode(project, who, NewMode(each, Level.IMAGE)) for each in new}
            return import_foreign(project, foreign, name, chosen | made, prefer=prefer)

        self.do(work, self._show_done)

    def _show_done(self, report: MergeReport) -> None:
        backup = f" Backed up before as {report.backup}, without pictures." if report.backup else ""
        for widget in (self.categories, self.whose, self.theirs):
            widget.hide()
        self.text.show_lines("\n".join(self._lines(report, [])))
        self.body.addStretch(1)
        self.end_with(f"{_counts(report, done=True)}.{backup}")

    def failed(self, _message: str) -> None:
        """Leave the heading to say that nothing was done."""
        self.heading.setText(f"{self._file.name} can't be imported")


def _counts(report: MergeReport, *, done: bool = False) -> str:
    added = f"{report.added:,} {'tag' if report.added == 1 else 'tags'} {'added' if done else 'to add'}"
    return f"{added}, {report.changed:,} {'changed' if done else 'to change'}, {report.unchanged:,} the same"
