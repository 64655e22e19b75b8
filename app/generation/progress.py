"""The runs in work: how far, what is spent, what went wrong, and the buttons that pause and stop them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QProgressBar, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.generation.trouble import TroubleCard, stops
from app.generation.work import WorkModel, WorkView, title
from app.notifications import plain_label
from app.parts import HALF, Fold, icon_button
from app.status import duration
from app.thumbnails import Thumbnails
from app.tooltips import plain_tip
from banana100_core.project.records import RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.session import Session
    from banana100_core.generation.executor import GenerationProgress
    from banana100_core.generation.limits import Limits
    from banana100_core.project.calls import FailedCall
    from banana100_core.project.records import Run

UNFINISHED = (RunState.PLANNED, RunState.STOPPED)
SHOWN_FAILURES = 20


class ProgressView(QWidget):
    """Shows what it is given; its buttons are connected by the panel."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.overall = plain_label(wrap=True)
        self.spent = plain_label(muted=True, wrap=True)
        self.message = plain_label(muted=True, wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(HALF)
        self.pause_button = icon_button("pause", "Pause: wait after the step in work")
        self.resume_button = icon_button("play", "Resume")
        self.cancel_button = icon_button("stop", "Stop; finished steps are kept")
        self.go_on_button = QPushButton("Go on with unfinished runs")
        self.work = WorkModel(self)
        self.view = WorkView(self.work, Thumbnails.of(session))
        self.trouble = TroubleCard()
        self.failures = QListWidget()
        self.failures.setAccessibleName("Calls that failed")
        self.failures.setWordWrap(True)
        self.failures.setSpacing(HALF // 2)
        self.failures.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.failures.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.failures.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.failures.setFixedHeight(18 * theme.GRID)
        self.failure_fold = Fold("", self.failures)
        self.failure_fold.hide()
        self._lay_out()
        self.say(None, None)

    def say(self, progress: GenerationProgress | None, limits: Limits | None) -> None:
        """Say how far all runs are that were started together, and what was spent."""
        runs = self.work.runs
        if progress is None or not (progress.steps_planned or runs):
            self.overall.setText("Runs appear here once they are started.")
            self.spent.hide()
            self.message.hide()
            self.bar.hide()
            return
        # Of the runs shown: the executor takes a run that stopped for one that has no steps left.
        done = sum(run.steps_done for run in runs)
        planned = max(sum(run.steps_planned for run in runs), progress.steps_planned)
        stopped = sum(run.state is RunState.STOPPED for run in runs)
        parts = [f"{max(done, progress.steps_done):,} of {planned:,} steps"]
        if progress.paused:
            parts.append("paused")
        elif progress.running and progress.seconds_left is not None:
            parts.append(f"{duration(progress.seconds_left)} left")
        # On a full disk not even why a run stopped can be written, so no row and no card would tell.
        untold = not progress.running and progress.failed > stopped
        stopped = max(stopped, progress.failed)
        if stopped:
            parts.append("1 run stopped" if stopped == 1 else f"{stopped:,} runs stopped")
        self.overall.setText(" · ".join(parts))
        self.spent.setText(spending(progress.cost_usd, limits))
        self.spent.setVisible(bool(self.spent.text()))
        self.message.setText(progress.message)
        self.message.setVisible(bool(progress.message) and (progress.running or untold))
        if self.message.property("error") != untold:
            self.message.setProperty("error", untold)
            self.message.setProperty("muted", not untold)
            self.message.style().unpolish(self.message)
            self.message.style().polish(self.message)
        self.bar.setMaximum(max(1, planned))
        self.bar.setValue(max(done, progress.steps_done))
        self.bar.show()

    def show_runs(self, runs: Sequence[Run], budget_usd: float | None) -> None:
        """Show runs, and of those that stopped, what the first need."""
        self.work.show(runs)
        found = stops(runs)
        self.trouble.show_stop(found[0] if found else None, budget_usd)

    def show_buttons(self, *, running: bool, paused: bool, unfinished: bool) -> None:
        """Show the buttons that do something now."""
        self.pause_button.setVisible(running and not paused)
        self.resume_button.setVisible(running and paused)
        self.cancel_button.setVisible(running)
        stop = self.trouble.stop  # its own button takes up the runs that it speaks of
        others = [run for run in self.work.runs if stop is None or run not in stop.runs]
        self.go_on_button.setVisible(
            unfinished and not running and any(r.state in UNFINISHED for r in others)
        )

    def show_failures(self, failed: Sequence[FailedCall], runs: Sequence[Run]) -> None:
        """List calls that gave no image, newest first; each was asked again, or stopped its run."""
        names = {run.id: title(run) for run in runs}
        self.failure_fold.setVisible(bool(failed))
        more = f"the last {len(failed)}" if len(failed) == SHOWN_FAILURES else str(len(failed))
        self.failure_fold.set_title(f"Calls that failed: {more}")
        lines = [
            f"{names.get(each.run_id, '')}, step {each.step}, try {each.attempt}: {each.reason}"
            for each in failed
        ]
        if lines != [self.failures.item(row).text() for row in range(self.failures.count())]:
            self.failures.clear()
            self.failures.addItems(lines)
            for row, line in enumerate(lines):
                self.failures.item(row).setToolTip(plain_tip(line))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(HALF)
        row.addWidget(self.overall, 1)
        for button in (self.pause_button, self.resume_button, self.cancel_button):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        column.setSpacing(HALF)
        column.addLayout(row)
        parts: tuple[QWidget, ...] = (
            self.bar,
            self.spent,
            self.message,
            self.view,
            self.failure_fold,
            self.trouble,
            self.go_on_button,
        )
        for part in parts:
            column.addWidget(part, 1 if part is self.view else 0)


def spending(cost_usd: float, limits: Limits | None) -> str:
    """For instance "$1.20 of $5.00 spent"; nothing where nothing is paid."""
    budget = limits.budget_usd if limits is not None else None
    if budget is None and not cost_usd:
        return ""
    of_budget = "" if budget is None else f" of ${budget:,.2f}"
    # What an answer that was lost may have cost counts against the budget.
    lost = (limits.spent_usd if limits is not None else 0.0) - cost_usd
    more = f", and up to ${lost:,.2f} for lost answers" if lost >= 0.005 else ""
    return f"${cost_usd:,.2f}{of_budget} spent{more}"
