"""Merging copies: a dry run first, conflicts decided one by one, then the merge, after a backup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QWidget

from app import theme
from app.merging import words
from app.merging.conflicts import ConflictChooser
from app.notifications import plain_label
from app.work_dialog import LinesField, WorkDialog
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.merge import merge

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from app.session import Session
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.merge import MergeReport


class MergeDialog(WorkDialog):
    """Shows what copies would bring before anything is changed."""

    def __init__(self, session: Session, copies: Sequence[Path], parent: QWidget | None = None) -> None:
        super().__init__(session, "Merge copies", "Merge", parent)
        self.resize(100 * theme.GRID, 84 * theme.GRID)
        self._copies = list(copies)
        self._report: MergeReport | None = None  # of the dry run, then of the merge
        self._modes: dict[str, str] = {}  # names of failure modes by key
        self._unseen = 0  # conflicts that are hidden from who tags blind
        names = ", ".join(path.name for path in copies)
        self.heading.setText(f"Comparing with {names} …")
        self.text = LinesField()
        self.add_runs = QCheckBox()
        self.add_runs.hide()
        self.conflict_heading = plain_label(wrap=True)
        self.conflicts = ConflictChooser()
        self.conflicts.hide()
        self.conflicts.model.changed.connect(self._show_undecided)
        for widget in (self.text, self.add_runs, self.conflict_heading):
            self.body.addWidget(widget)
        self.body.addWidget(self.conflicts, 1)
        self.action.clicked.connect(self._merge)
        session.blinding_changed.connect(self._take_blinding)
        self.do(self._dry_run, self._show)

    def _dry_run(self) -> tuple[MergeReport, list[FailureMode]]:
        project = self.session.project
        assert project is not None  # noqa: S101 - the dialog goes with its project
        return merge(project, self._copies, dry_run=True), failure_modes(project)

    def _show(self, result: tuple[MergeReport, list[FailureMode]]) -> None:
        report, modes = result
        self._report, self._modes = report, {mode.key: mode.name for mode in modes}
        self.heading.setText(words.summary(report, done=False))
        self._show_details(report)
        can_come = [run for run in report.new_runs if not run.reason]
        size = words.in_bytes(sum(run.byte_size for run in can_come))
        self.add_runs.setText(
            f"Add {words.count(len(can_come), 'run')} that only a copy has, with pictures ({size}) and tags"
        )
        self.add_runs.setVisible(bool(can_come))
        self._show_conflicts(report)
        self.body.addStretch(0 if self.conflicts.model.rowCount() else 1)
        anything = report.added or report.changed or report.removed or report.edits or report.conflicts
        beside = report.new_runs or report.reviews or report.suggestions or report.changed_failure_modes
        self.action.setEnabled(bool(anything or beside))
        if not (anything or beside):
            self.heading.setText(f"Nothing to merge: {words.summary(report, done=False)}")

    def _show_details(self, report: MergeReport) -> None:
        self.text.show_lines(words.details(report, self.session.blinding, self.session.annotator))

    def _show_conflicts(self, report: MergeReport) -> None:
        session = self.session
        told = [
            each for each in report.conflicts if words.may_be_told(each, session.blinding, session.annotator)
        ]
        self._unseen = len(report.conflicts) - len(told)
        runs = {run.id: f"{run.initial_image} · {run.protocol} · r{run.repeat}" for run in session.runs}
        self.conflicts.show_conflicts(told, self._modes, runs, numbered=not session.blinding.steps)
        self._show_undecided()

    def _take_blinding(self) -> None:
        if self._report is not None:
            self._show_details(self._report)
            if self.action.isVisible():
                self._show_conflicts(self._report)

    def _show_undecided(self) -> None:
        model = self.conflicts.model
        total, left = model.rowCount(), model.rowCount() - len(model.decisions)
        parts = []
        if total:
            parts.append(
                f"{words.count(total, 'conflict')}: both sides edited the same tag in different ways. "
                + (f"{left:,} left for later, this project's side stays." if left else "All are decided.")
            )
        if self._unseen:
            parts.append(
                f"{words.count(self._unseen, 'conflict')} of others' tags "
                f"{'is' if self._unseen == 1 else 'are'} hidden while you tag blind, and left for later."
            )
        self.conflict_heading.setText("\n".join(parts))
        self.conflict_heading.setVisible(bool(parts))

    def _merge(self) -> None:
        project, decisions = self.session.project, dict(self.conflicts.model.decisions)
        if project is None:
            return
        add_runs = self.add_runs.isChecked()
        for widget in (self.action, self.add_runs, self.conflicts):
            widget.setEnabled(False)
        self.heading.setText("Merging …")

        def work() -> MergeReport:
            return merge(
                project,
                self._copies,
                decisions=decisions,
                add_runs=add_runs,
                progress=self._tell_unless_stopped,
                stop=self.stopped,
            )

        self.do(work, self._show_done)

    def _tell_unless_stopped(self, done: int, total: int, what: str) -> None:
        if not self.stopped():  # a merge is whole: it isn't ended in its middle
            self.tell(done, total, what)

    def _show_done(self, report: MergeReport) -> None:
        backup = (
            f" All but the pictures, which a merge leaves alone, was backed up before as {report.backup}."
            if report.backup is not None
            else " Nothing had to be changed."
        )
        self.conflicts.hide()
        self.conflict_heading.hide()
        self.add_runs.hide()
        self._report = report
        self._show_details(report)
        left = sum(
            (conflict.tag_uuid, conflict.other) not in self.conflicts.model.decisions
            for conflict in report.conflicts
        )
        later = f" {words.count(left, 'conflict')} left for later." if left else ""
        self.body.addStretch(1)
        self.end_with(f"{words.summary(report, done=True)}.{later}{backup}")

    def failed(self, _message: str) -> None:
        """Leave the heading to say that nothing was done."""
        self.heading.setText("These copies can't be merged")
