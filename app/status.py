"""The status bar: how far scoring and generation are, and how the project file is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStatusBar, QWidget

from app import theme
from app.notifications import plain_label
from app.tooltips import plain_tip
from banana100_core.catalog.metrics import metrics

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.generation.executor import GenerationProgress
    from banana100_core.project import Project
    from banana100_core.scoring.pool import ScoringProgress


class StatusBar(QStatusBar):
    """Follows a session; each part is hidden while it has nothing to say."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.setSizeGripEnabled(False)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedSize(14 * theme.GRID, theme.GRID // 2)
        self.scoring = plain_label()
        self.generation = plain_label()
        self.file = plain_label()
        left = QWidget()
        row = QHBoxLayout(left)
        row.setContentsMargins(theme.GRID, 0, 0, 0)
        row.setSpacing(theme.GRID)
        for widget in (self._bar, self.scoring, self.generation):
            row.addWidget(widget)
        row.addStretch(1)
        self.addWidget(left)
        self.addPermanentWidget(self.file)
        session.scoring_progressed.connect(self.show_scoring)
        session.generation_progressed.connect(self.show_generation)
        session.blinding_changed.connect(self._take_blinding)
        session.project_opened.connect(self._show_project)
        session.project_closed.connect(self.forget)
        self.forget()

    def forget(self) -> None:
        """Say nothing."""
        for label in (self.scoring, self.generation, self.file):
            label.setText("")
            label.hide()
        self._bar.hide()

    def show_scoring(self, progress: ScoringProgress) -> None:
        """Say how far scoring is."""
        self._bar.setVisible(progress.done < progress.total)
        self._bar.setMaximum(max(progress.total, 1))
        self._bar.setValue(progress.done)
        _say(self.scoring, scoring_text(progress))
        self.scoring.setToolTip(plain_tip(scoring_by_metric(progress)))

    def show_generation(self, progress: GenerationProgress) -> None:
        """Say how far generation is, if numbers of steps may be told."""
        hidden = self._session.blinding.steps
        _say(self.generation, "" if hidden else generation_text(progress))

    def _take_blinding(self) -> None:
        if self._session.blinding.steps:
            _say(self.generation, "")

    def _show_project(self) -> None:
        project = self._session.project
        if project is not None:
            _say(self.file, project_text(project))
            journal = "write-ahead log" if project.journal_mode == "wal" else "rollback journal"
            self.file.setToolTip(plain_tip(f"{project.path}\n{journal}"))


def scoring_text(progress: ScoringProgress) -> str:
    """For instance "scoring 1,240 of 8,400 · 3.1 a second · 38 min left"; nothing when none is asked for."""
    if not progress.total:
        return ""
    failed = f" · {progress.failed:,} failed" if progress.failed else ""
    if progress.done >= progress.total:
        return f"scored {progress.total:,}{failed}"
    counted = f"{progress.done:,} of {progress.total:,}"
    if progress.paused:
        return f"scoring paused at {counted}{failed}"
    rate = f" · {progress.rate:.1f} a second" if progress.rate else ""
    left = f" · {duration(progress.seconds_left)} left" if progress.seconds_left is not None else ""
    return f"scoring {counted}{rate}{left}{failed}"


def scoring_by_metric(progress: ScoringProgress) -> str:
    """A line a metric, for instance "BRISQUE: 40 of 60"."""
    titles = {key: each.title for key, each in metrics().items()}
    return "\n".join(
        f"{titles[key]}: {done:,} of {total:,}" for key, (done, total) in progress.per_metric.items() if total
    )


def generation_text(progress: GenerationProgress) -> str:
    """For instance "generation: step 63 of 100 · $8.44 · 12 min left"."""
    if not progress.steps_planned:
        return ""
    steps = f"{progress.steps_done:,} of {progress.steps_planned:,}"
    if progress.paused:
        parts = [f"generation paused at step {steps}"]
    elif progress.running:
        parts = [f"generation: step {steps}"]
    else:
        parts = [f"generated {steps} steps"]
    if progress.cost_usd:
        parts.append(f"${progress.cost_usd:.2f}")
    if progress.failed:
        parts.append(f"{progress.failed:,} {'runs' if progress.failed > 1 else 'run'} stopped")
    if progress.seconds_left is not None and progress.running and not progress.paused:
        parts.append(f"{duration(progress.seconds_left)} left")
    return " · ".join(parts)


def project_text(project: Project) -> str:
    """The project's name, and how its file is open where that matters."""
    if project.read_only:
        mode = "read-only"
    elif project.journal_mode == "wal":
        mode = "saved as you go"
    else:
        mode = "saved as you go, slower on this drive (rollback journal)"
    return f"{project.path.name} · {mode}"


def duration(seconds: float) -> str:
    """A time for people: "40 s", "38 min", "2 h 05 min"."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def _say(label: object, text: str) -> None:
    label.setText(text)  # type: ignore[attr-defined]
    label.setVisible(bool(text))  # type: ignore[attr-defined]
