"""Makes the plan that the form asks for, and has its time and disk estimated in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.generation.estimate import cost
from banana100_core.errors import BananaError
from banana100_core.generation.forecast import Forecast, forecast
from banana100_core.generation.plan import Plan, make_plan, unlike_repeats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.generation.form import Wishes
    from app.session import Session
    from banana100_core.project.records import Image, Run


class Planner(QObject):
    """`plan` is None while there is nothing to do, and `problem` says why; `takes` follows a while later."""

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.plan: Plan | None = None
        self.takes: Forecast | None = None
        self.problem = ""
        self.warning = ""
        self._rate: float | None = None
        self._known: dict[str, Image] = {}
        self._asking = False
        session.project_closed.connect(self._forget)

    @property
    def settled(self) -> bool:
        """Whether the estimate on hand is that of the plan on hand."""
        return not self._asking

    def make(self, wishes: Wishes, known: dict[str, Image]) -> None:
        """Plan what the form says; `known` are the initial images by name."""
        before = self.plan
        self.plan, self.warning = None, ""
        self.problem = self._missing(wishes, known)
        if not self.problem and wishes.editor is not None:
            try:
                self.plan = make_plan(
                    wishes.images,
                    wishes.protocol,
                    wishes.editor.provider,
                    wishes.editor.model,
                    wishes.steps,
                    wishes.repeats,
                    wishes.seed,
                    existing=self._session.runs,
                    settings=wishes.settings,
                    from_text=wishes.from_text,
                )
                self.warning = to_mind(self.plan, wishes.budget_usd, self._session.runs)
            except BananaError as error:
                self.problem = str(error)
        if self.plan is None:
            self.takes = None
        elif self.plan != before or self.takes is None or wishes.calls_per_minute != self._rate:
            self._rate, self._known = wishes.calls_per_minute, known
            self._ask()
        self.changed.emit()

    def _missing(self, wishes: Wishes, known: dict[str, Image]) -> str:
        project = self._session.project
        if project is None:
            return "Open a project or make a new one, then plan runs here."
        if project.read_only:
            return "This project is open for reading only."
        if not known and not wishes.from_text:
            return "Add the pictures that the runs start from."
        if not wishes.images and not wishes.from_text:
            return "Tick an initial image."
        return "Choose an editor." if wishes.editor is None else ""

    def _ask(self) -> None:
        """One estimate at a time, of the plan as it is then."""
        project, plan, known, rate = self._session.project, self.plan, self._known, self._rate
        if self._asking or project is None or plan is None:
            return
        self._asking = True
        self._session.in_background(
            lambda: forecast(project, plan, known, calls_per_minute=rate),
            lambda takes: self._take(plan, rate, takes),
            lambda: self._end_asking(plan, rate),
            once=True,
        )

    def _take(self, plan: Plan, rate: float | None, takes: Forecast) -> None:
        if self._end_asking(plan, rate):
            self.takes = takes
            self.changed.emit()

    def _end_asking(self, plan: Plan, rate: float | None) -> bool:
        """Ask again if another plan is to be made by now; whether it is still this one."""
        self._asking = False
        same = (plan, rate) == (self.plan, self._rate)
        if not same:
            self._ask()
        return same

    def _forget(self) -> None:
        self.plan = self.takes = None
        self._asking = False


def to_mind(plan: Plan, budget_usd: float | None, existing: Iterable[Run] = ()) -> str:
    """What a person should know before the start: of the cost, and of runs that are counted together."""
    said = []
    high = plan.cost_usd[1]
    if high and budget_usd is None:
        said.append(f"No budget is set: up to {cost((high, high))} may be spent, retries not counted.")
    elif budget_usd is not None and budget_usd < high:
        said.append(f"The plan may cost more than the budget of ${budget_usd:,.2f}: runs may stop early.")
    if unlike := unlike_repeats(plan, existing):
        runs = "1 run" if len(unlike) == 1 else f"{len(unlike):,} runs"
        said.append(
            f"{runs} by this protocol had other prompts or settings: means over repeats will mix them with "
            "these. A protocol of your own keeps them apart."
        )
    return "\n".join(said)
