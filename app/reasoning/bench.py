"""A judge at work in the background: told how far, ended on demand."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from banana100_core.errors import BananaError
from banana100_core.generation.gate import Gate
from banana100_core.generation.judge import Judge, Judged, JudgePlan, judge_runs
from banana100_core.generation.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.session import Session
    from banana100_core.project import Project


class Bench(QObject):
    """One judgement at a time; `told` are words on how it ended, "" while none did."""

    changed = Signal()

    _progressed = Signal(int, int)
    _ended = Signal(object, object)  # the judge, and what came of it

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._gate: Gate | None = None
        self._judge: Judge | None = None
        self.done = self.total = 0
        self.told = ""
        self.failed = False
        self._progressed.connect(self._take_progress, Qt.ConnectionType.QueuedConnection)
        self._ended.connect(self._take, Qt.ConnectionType.QueuedConnection)
        session.project_closed.connect(self.leave)

    @property
    def sits(self) -> bool:
        """Whether a judgement is going on."""
        return self._gate is not None

    def judge(self, plan: JudgePlan, run_ids: Sequence[int], budget_usd: float | None) -> None:
        """Begin with what a plan says."""
        project = self._session.project
        if project is None or self.sits or not plan.calls:
            return
        gate = self._gate = Gate()
        self._judge = judge = Judge(plan.model, plan.prompt, Limits(budget_usd=budget_usd), gate)
        self.done, self.total, self.told, self.failed = 0, plan.calls, "", False
        # Nothing waits for an answer that is on its way when the project closes: no one could use it.
        threading.Thread(target=self._work, args=(project, judge, run_ids), name="bench", daemon=True).start()
        self.changed.emit()

    def stop(self) -> None:
        """Ask about no more summaries; verdicts that came are kept."""
        if self._gate is not None:
            self._gate.end(cancelled=True)

    def leave(self) -> None:
        """End: the project closes."""
        self.stop()
        self._gate = self._judge = None
        self.done = self.total = 0
        self.told = ""
        self.changed.emit()

    def _work(self, project: Project, judge: Judge, run_ids: Sequence[int]) -> None:
        result: Judged | str
        try:
            result = judge_runs(project, judge, run_ids, lambda done, total, _what: self._tell(done, total))
        except BananaError as error:
            result = str(error)
        finally:
            judge.close()
        with contextlib.suppress(RuntimeError):  # the window was closed meanwhile
            self._ended.emit(judge, result)

    def _tell(self, done: int, total: int) -> None:
        with contextlib.suppress(RuntimeError):
            self._progressed.emit(done, total)

    def _take_progress(self, done: int, total: int) -> None:
        if self.sits:
            self.done, self.total = done, total
            self.changed.emit()

    def _take(self, judge: Judge, result: Judged | str) -> None:
        if judge is not self._judge:
            return
        ended = self._gate is not None and self._gate.ended
        self._gate = self._judge = None
        self.failed = isinstance(result, str) or bool(result.failed)
        self.told = result if isinstance(result, str) else _words(result, stopped=ended)
        self.changed.emit()


def _words(judged: Judged, *, stopped: bool) -> str:
    counted = "1 summary" if judged.count == 1 else f"{judged.count:,} summaries"
    words = f"{'Stopped. ' if stopped else ''}{counted} judged, ${judged.cost_usd:,.2f} spent."
    if judged.failed:
        first = judged.failed[0]
        words += f" {len(judged.failed)} got no answer, the first: {first}"
    return words
