"""Drift of the run on screen: how far each step has gone from step 1, a measure at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from app import theme
from app.background import Background, NewsDesk
from app.notifications import plain_label
from app.parts import Choices
from app.plots.curves import CurvesView
from app.plots.look import look
from app.plots.series import Curve, Group
from banana100_core.project.records import RunState

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from app.plots.curves import Hit
    from app.session import Session
    from banana100_core.analysis.drift import Drift, DriftReport

MEASURES: tuple[tuple[str, str, str], ...] = (
    # Field of a Drift, its name, what it is.
    ("delta_e_mean", "ΔE mean", "CIEDE2000 against step 1, the mean over the picture"),
    ("delta_e_95", "ΔE 95 %", "CIEDE2000 against step 1 that one pixel in 20 exceeds"),
    ("psnr", "PSNR, dB", "Against step 1, all channels; nothing where the pictures are the same"),
    ("ssim", "SSIM", "Of the luma against step 1, with a Gaussian window of 1.5"),
    ("a_star", "Mean a*", "Green is negative: a falling curve is the green tint"),
    ("b_star", "Mean b*", "Blue is negative"),
    ("lightness", "Mean L*", "0 is black, 100 white"),
    ("chroma", "Mean chroma", "In CIELAB"),
    ("detail", "Fine detail", "Relative to step 1; noise counts as detail"),
    ("noise", "Noise", "Standard deviation in grey levels, after Immerkær"),
)
Signature = tuple[tuple[int, str], ...]


class DriftView(QWidget):
    """Measures the run on screen in the background, once the tab is looked at."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._kept: dict[int, tuple[Signature, DriftReport]] = {}
        self._measuring: tuple[int, Signature] | None = None
        self._plot: CurvesView | None = None
        self._stop = threading.Event()
        self._work = Background("drift", self)
        self._work.failed.connect(self._fail)
        self._news = NewsDesk(self)
        self._news.delivered.connect(lambda _tables, news: self._tell(*news["drift"]))
        self._build()
        session.run_changed.connect(self._run_changed)
        session.steps_updated.connect(self._run_changed)
        session.step_changed.connect(self._step_changed)
        session.project_closed.connect(self._forget)
        theme.notifier().theme_changed.connect(self._show_theme)

    @property
    def settled(self) -> bool:
        """Whether nothing is being measured."""
        return self._measuring is None

    @property
    def plot(self) -> CurvesView:
        """The curve; made when there is one to show, since the window opens without it."""
        if self._plot is None:
            self._plot = CurvesView()
            self._plot.setAccessibleName("Drift over steps")
            self._plot.set_describer(self._describe)
            self._plot.step_chosen.connect(self._session.choose_step)
            self._stack.addWidget(self._plot)
        return self._plot

    def measure(self) -> None:
        """Measure the run on screen, unless it was measured as it is."""
        project, run = self._session.project, self._session.run
        if project is None or run is None:
            return
        wanted = (run.id, self._signature())
        kept = self._kept.get(run.id)
        if wanted == self._measuring or (kept is not None and kept[0] == wanted[1]):
            return
        self._stop.set()  # what was looked at before is of no use now
        self._stop = stop = threading.Event()
        self._measuring = wanted
        self._say("Measuring …")

        def work() -> DriftReport:
            from banana100_core.analysis.drift import drift

            return drift(
                project,
                [wanted[0]],
                progress=lambda *state: self._news.tell_progress("drift", (wanted, *state)),
                stop=stop.is_set,
            )

        self._work.do(work, lambda report: self._take(wanted, report))

    def showEvent(self, event: QShowEvent) -> None:
        """Measure what is on screen when the tab comes to the front."""
        super().showEvent(event)
        self._run_changed()

    def _build(self) -> None:
        self.measures = Choices()
        self.measures.setAccessibleName("Measure of drift")
        self.measures.addItems([name for _field, name, _what in MEASURES])
        self.measures.currentIndexChanged.connect(lambda _place: self._show())
        self.what = plain_label(muted=True)
        self.again = QPushButton("Measure")
        self.again.clicked.connect(self.measure)
        self.copy = QPushButton("Copy as CSV")
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.csv()))
        self.message = plain_label(muted=True, wrap=True)
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.setContentsMargins(2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID, 2 * theme.GRID)
        column.addWidget(self.message)
        column.addStretch(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(empty)
        row = QHBoxLayout()
        row.setContentsMargins(theme.GRID, theme.GRID // 2, theme.GRID, theme.GRID // 2)
        row.setSpacing(theme.GRID)
        row.addWidget(self.measures)
        row.addWidget(self.what, 1)
        row.addWidget(self.again)
        row.addWidget(self.copy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(row)
        layout.addWidget(self._stack, 1)
        self._show()

    def csv(self) -> str:
        """All measures of the run on screen."""
        from banana100_core.analysis.drift_formats import as_csv

        return as_csv(self._found())

    def _found(self) -> tuple[Drift, ...]:
        run = self._session.run
        kept = self._kept.get(run.id) if run is not None else None
        return kept[1].steps if kept is not None else ()

    def _signature(self) -> Signature:
        return tuple(
            (step.number, step.image.sha256) for step in self._session.steps if step.image is not None
        )

    def _run_changed(self) -> None:
        run = self._session.run
        # A run that grows would be measured anew with every step: there it waits to be asked.
        if self.isVisible() and run is not None and run.state is not RunState.PLANNED:
            self.measure()
        self._show()

    def _step_changed(self, number: int) -> None:
        if self._plot is not None:
            self._plot.set_step(number)

    def _take(self, wanted: tuple[int, Signature], report: DriftReport) -> None:
        if wanted == self._measuring:
            self._measuring = None
            self._kept[wanted[0]] = (wanted[1], report)
            self._show()

    def _tell(self, wanted: tuple[int, Signature], done: int, total: int, _what: str) -> None:
        if wanted == self._measuring:
            self._say(f"Measuring step {min(done + 1, total):,} of {total:,} …")

    def _fail(self, message: str) -> None:
        self._measuring = None
        self._say(message)

    def _forget(self) -> None:
        self._stop.set()
        self._work.stop()
        self._news.clear()
        self._measuring = None
        self._kept.clear()
        self._show()

    def _say(self, text: str) -> None:
        self.message.setText(text)
        self._stack.setCurrentIndex(0)

    def _show(self) -> None:
        run, found = self._session.run, self._found()
        field, name, what = MEASURES[self.measures.currentIndex()]
        self.what.setText(what)
        kept = self._kept.get(run.id) if run is not None else None
        stale = kept is None or kept[0] != self._signature()
        self.again.setVisible(run is not None and stale and self._measuring is None)
        self.copy.setEnabled(bool(found))
        if not found:
            if self._measuring is None:
                unreadable = kept[1].unreadable[0] if kept is not None and kept[1].unreadable else ""
                self._say(unreadable or "How far the pictures of a run have gone from its step 1.")
            return
        values = [getattr(each, field) for each in found]
        curve = Curve(
            metric=field,
            method_version="",
            group=Group(name, (found[0].run_id,)),
            steps=np.array([each.step for each in found], float),
            values=np.array([np.nan if value is None else value for value in values], float),
            spread=np.full(len(found), np.nan),
            counts=np.ones(len(found)),
        )
        self.plot.set_axis(name, None)
        self.plot.set_steps(found[-1].step)
        self.plot.show_curves([curve], [look(self.measures.currentIndex())], bands=False)
        self.plot.show_all()
        self.plot.set_step(self._session.step)
        self._stack.setCurrentWidget(self.plot)

    def _describe(self, hit: Hit) -> str:
        _field, name, _what = MEASURES[self.measures.currentIndex()]
        there = next((each for each in self._found() if each.step == hit.step), None)
        beside = "" if there is None else ", ".join(filter(None, (there.turned, there.resized_from)))
        value = hit.curve.values[hit.index]
        return f"Step {hit.step}: {name} {value:.3g}" + (f"\n{beside}, brought to step 1" if beside else "")

    def _show_theme(self) -> None:
        if self._plot is not None:
            self._plot.apply_theme()
            self._show()
