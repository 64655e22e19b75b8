"""Have a language model judge reasoning summaries: plan and cost first, then progress and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.key_line import KeyLine
from app.notifications import plain_label
from app.parts import HALF, Choices, Fold, amount, rows
from app.reasoning.bench import Bench
from app.reasoning.results import Results
from banana100_core.catalog.judge import judge_model, judge_prompt, own_judge_prompt
from banana100_core.errors import ProviderError
from banana100_core.generation.judge import JudgePlan, plan_judgement
from banana100_core.generation.providers.gemini import PROVIDER

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from app.admissions import Admissions
    from app.session import Session
    from banana100_core.catalog.judge import JudgePrompt

_WAIT_MS = 200
SELECTED, ALL = "selected", "all"


class JudgeView(QWidget):
    """What the judge is to be asked at the left, what it found at the right."""

    chosen = Signal(int, int)  # a run, and a step of it

    def __init__(self, session: Session, admissions: Admissions) -> None:
        super().__init__()
        self._session, self._admissions = session, admissions
        self._plan: JudgePlan | None = None
        self._busy = False
        self._stale = True
        self.bench = Bench(session, self)
        self.runs = Choices([("The selected runs", SELECTED), ("All runs", ALL)])
        self.model = QLineEdit(judge_model())
        self.budget = amount("$", "No limit")
        self.prompt = QPlainTextEdit(judge_prompt().text.strip())
        self.prompt.setAccessibleName("The judge's prompt")
        self.prompt.setTabChangesFocus(True)
        self.prompt.setMinimumHeight(14 * theme.GRID)
        self.restore = QPushButton("The program's own")
        self.restore.setProperty("link", True)  # noqa: FBT003 - Qt takes the value by place
        self.key = KeyLine()
        self.takes = plain_label(wrap=True)
        self.told = plain_label(wrap=True)
        self.start = QPushButton("Judge")
        self.start.setProperty("primary", True)  # noqa: FBT003 - Qt takes the value by place
        self.stop = QPushButton("Stop")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(HALF)
        self.judges = Choices()
        self.judges.setAccessibleName("Judge whose verdicts are shown")
        self.results = Results()
        self._lay_out()
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_WAIT_MS)
        self._wait.timeout.connect(self._ask)
        self._connect()
        self._show_found()
        self._show_state()

    @property
    def plan(self) -> JudgePlan | None:
        """What the judge would be asked now; None while that isn't known."""
        return self._plan

    @property
    def settled(self) -> bool:
        """Whether the plan is up to date, or not seen."""
        return not self._busy and not (self._stale and self.isVisible())

    def judge(self) -> None:
        """Begin with the plan on screen."""
        if self._plan is not None and not self.bench.sits:
            self.bench.judge(self._plan, self._run_ids(), self.budget.value() or None)

    def showEvent(self, event: QShowEvent) -> None:
        """Plan anew, and look for the key."""
        super().showEvent(event)
        self.key.look(PROVIDER)
        self._ask()

    def _lay_out(self) -> None:
        # From the outside in: what is put into a tree that grows is styled once.
        splitter = QSplitter()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(splitter)
        left, found = QWidget(), QWidget()
        splitter.addWidget(left)
        splitter.addWidget(found)
        splitter.setChildrenCollapsible(False)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([46 * theme.GRID, 54 * theme.GRID])
        self._lay_out_question(left)
        right = QVBoxLayout(found)
        right.setContentsMargins(0, 0, 0, 0)
        right.setSpacing(0)
        right.addWidget(self.judges)
        right.addWidget(self.results, 1)

    def _lay_out_question(self, left: QWidget) -> None:
        area = QScrollArea()
        inside = QWidget()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        whole = QVBoxLayout(left)
        whole.setContentsMargins(0, 0, 0, theme.GRID)
        whole.setSpacing(HALF)
        whole.addWidget(area, 1)
        form = QVBoxLayout(inside)
        form.setContentsMargins(theme.GRID, theme.GRID, theme.GRID, theme.GRID)
        form.setSpacing(HALF)
        prompt = QWidget()
        self.fold = Fold("", prompt)
        fields = [("Runs", self.runs), ("Judge", self.model), ("Budget", self.budget)]
        parts: tuple[QWidget, ...] = (rows(fields), self.fold, self.key)
        for part in parts:
            form.addWidget(part)
        form.addStretch(1)
        column = QVBoxLayout(prompt)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.prompt)
        column.addWidget(self.restore)
        buttons = QHBoxLayout()
        buttons.addWidget(self.start, 1)
        buttons.addWidget(self.stop, 1)
        foot = QVBoxLayout()
        foot.setContentsMargins(theme.GRID, 0, theme.GRID, 0)
        foot.setSpacing(HALF)
        foot.addWidget(self.takes)
        foot.addWidget(self.told)
        foot.addWidget(self.bar)
        foot.addLayout(buttons)
        whole.addLayout(foot)

    def _connect(self) -> None:
        session = self._session
        self.runs.currentIndexChanged.connect(lambda _row: self._ask())
        self.model.textChanged.connect(lambda _text: self._age())
        self.prompt.textChanged.connect(self._age)
        self.restore.clicked.connect(lambda: self.prompt.setPlainText(judge_prompt().text.strip()))
        self.budget.valueChanged.connect(lambda _value: self._show_state())
        self.key.found.connect(self._take_key)
        self.start.clicked.connect(self.judge)
        self.stop.clicked.connect(self.bench.stop)
        self.bench.changed.connect(self._show_state)
        self.judges.activated.connect(lambda row: self._admissions.choose(self._admissions.found.judges[row]))
        self.results.chosen.connect(self.chosen)
        self._admissions.changed.connect(self._show_found)
        for changed in (
            session.project_opened,
            session.run_changed,
            session.selection_changed,
            session.runs_updated,
            session.verdicts_updated,
        ):
            changed.connect(self._age)
        session.project_closed.connect(self._forget)

    def _take_key(self, there: bool) -> None:
        self.key.setVisible(not there)
        self._show_state()

    # The plan

    def _age(self) -> None:
        self._stale = True
        self._tell_version()
        if self.isVisible():
            self._wait.start()

    def _ask(self) -> None:
        project, prompt = self._session.project, self._prompt()
        self._stale = True
        self._tell_version()
        if project is None or prompt is None or self._busy or not self.isVisible():
            self._show_state()
            return
        model, run_ids = self.model.text().strip() or judge_model(), self._run_ids()
        self._busy, self._stale = True, False
        self._session.in_background(
            lambda: plan_judgement(project, model, prompt, run_ids), self._take, self._end_asking, once=True
        )

    def _take(self, plan: JudgePlan) -> None:
        self._plan = plan
        self._end_asking()

    def _end_asking(self) -> None:
        self._busy = False
        if self._stale:
            self._wait.start()
        self._show_state()

    def _run_ids(self) -> list[int]:
        if self.runs.currentData() == ALL:
            return [run.id for run in self._session.runs]
        return self._session.selected_runs

    def _prompt(self) -> JudgePrompt | None:
        try:
            return own_judge_prompt(self.prompt.toPlainText())
        except ProviderError:
            return None

    def _tell_version(self) -> None:
        prompt = self._prompt()
        self.fold.set_title(
            "Its prompt is empty" if prompt is None else f"Its prompt, version {prompt.version}"
        )

    def _forget(self) -> None:
        self._plan, self._busy, self._stale = None, False, True
        self._wait.stop()
        self._show_state()

    # What is shown

    def _show_state(self) -> None:
        bench, plan = self.bench, self._plan
        self.takes.setText(self._plan_in_words())
        project = self._session.project
        ready = plan is not None and plan.calls > 0 and self.key.present is not False
        self.start.setVisible(not bench.sits)
        self.start.setEnabled(
            ready and project is not None and not project.read_only and self._prompt() is not None
        )
        self.stop.setVisible(bench.sits)
        self.bar.setVisible(bench.sits)
        self.bar.setMaximum(max(1, bench.total))
        self.bar.setValue(bench.done)
        told = f"{bench.done:,} of {bench.total:,} judged" if bench.sits else bench.told
        self.told.setText(told)
        self.told.setVisible(bool(told))
        self.told.setProperty("error", bench.failed)
        self.told.style().polish(self.told)

    def _plan_in_words(self) -> str:
        plan = self._plan
        if self._session.project is None:
            return "Open a project to judge what its reasoning summaries say."
        if self._prompt() is None:
            return "Write what the judge is to be asked."
        if plan is None:
            return ""
        if not plan.calls and not plan.known:
            return "These runs have no reasoning summaries."
        if not plan.calls:
            return f"All {plan.known:,} summaries are judged by this model with this prompt."
        calls = "1 call" if plan.calls == 1 else f"{plan.calls:,} calls"
        low, high = plan.cost_usd
        known = f", {plan.known:,} judged already" if plan.known else ""
        words = f"{calls}, ${low:,.2f} to ${high:,.2f}{known}."
        budget = self.budget.value()
        return f"{words} The budget may end it early." if 0 < budget < high else words

    def _show_found(self) -> None:
        found = self._admissions.found
        self.judges.clear()
        self.judges.addItems([f"{model}, prompt {version}" for model, version in found.judges])
        if found.judge in found.judges:
            self.judges.setCurrentIndex(found.judges.index(found.judge))
        self.judges.setVisible(len(found.judges) > 1)
        self.results.show_found(found)
