"""The menu of a pane: which step it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.compare.rules import PaneSteps, Rule, Shows, run_title
from banana100_core.catalog.models import model_title

if TYPE_CHECKING:
    from banana100_core.project.records import Run

_OF_THIS_RUN = {
    Shows.CURRENT: "The &current step",
    Shows.INITIAL: "Step &0, the initial image",
    Shows.FIRST: "Step &1",
    Shows.PREVIOUS: "The step &before the current one",
}


class RuleMenu(QMenu):
    """Offers the steps of this run, and the same step of other runs and models; filled when it opens."""

    chosen = Signal(Rule)

    def __init__(self, steps: PaneSteps, pane: int, parent: QWidget) -> None:
        super().__init__(parent)
        self._steps = steps
        self._pane = pane
        self._group = QActionGroup(self)
        self.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """List what there is to choose now."""
        self.clear()
        for submenu in self.findChildren(QMenu):
            submenu.deleteLater()
        for shows, text in _OF_THIS_RUN.items():
            self._add(self, text, Rule(shows))
        number = self._steps.number(self._pane)
        pinned = "&Pinned to this step" if self._steps.blinding.steps else f"&Pinned to step {number}"
        self._add(self, pinned, Rule(Shows.PINNED, number))
        same, others = self._steps.runs_to_choose()
        if same or others:
            self.addSeparator()
            runs = self.addMenu("The same step of another &run")
            self._add_runs(runs, same)
            if same and others:
                runs.addSeparator()
            by_image: dict[str, list[Run]] = {}
            for run in others:
                by_image.setdefault(run.initial_image, []).append(run)
            for name, of_image in by_image.items():
                self._add_runs(runs.addMenu(name.replace("&", "&&")), of_image)
        if models := self._steps.models_to_choose():
            menu = self.addMenu("The same step of another &model")
            for model in models:
                self._add(menu, model_title(*model).replace("&", "&&"), Rule(Shows.OTHER_MODEL, model=model))

    def _add_runs(self, menu: QMenu, runs: list[Run]) -> None:
        for run in runs:
            title = run_title(self._steps.blinding.of_run(run)).replace("&", "&&")
            self._add(menu, title, Rule(Shows.OTHER_RUN, run_id=run.id))

    def _add(self, menu: QMenu, text: str, rule: Rule) -> None:
        action = QAction(text, menu)
        action.setCheckable(True)
        action.setChecked(rule == self._steps.rule(self._pane))
        action.triggered.connect(lambda _checked: self.chosen.emit(rule))
        self._group.addAction(action)
        menu.addAction(action)
