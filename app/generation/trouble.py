"""Why runs stopped, and what a person can do: name another model, a key, a larger budget, or try again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app import theme
from app.key_line import KeyLine
from app.notifications import plain_label
from app.parts import HALF, Choices, amount, rows
from banana100_core.errors import ProviderError
from banana100_core.generation.providers import capabilities, offered
from banana100_core.generation.ways_out import WayOut, successor, way_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from banana100_core.project.records import Run

_MUST = {
    WayOut.ANOTHER_MODEL: "The model was retired. Name the one that takes its place.",
    WayOut.KEY: "The service did not take the API key.",
}


@dataclass(frozen=True, slots=True)
class Stop:
    """Runs that stopped for one kind of reason and go on together."""

    runs: tuple[Run, ...]
    way_out: WayOut

    @property
    def reason(self) -> str:
        """Why the first of them stopped."""
        return self.runs[0].state_reason


@dataclass(frozen=True, slots=True)
class Retry:
    """How stopped runs are to go on; None: as before."""

    run_ids: tuple[int, ...]
    model: str | None = None
    budget_usd: float | None = None


def stops(runs: Sequence[Run]) -> list[Stop]:
    """Stopped runs by what they need, in the order in which they came."""
    groups: dict[tuple[WayOut, str, str], list[Run]] = {}
    for run in runs:
        way = way_out(run)
        if way is not None:
            groups.setdefault((way, run.provider, run.model), []).append(run)
    return [Stop(tuple(found), key[0]) for key, found in groups.items()]


class TroubleCard(QFrame):
    """Shows one stop at a time."""

    retry_wanted = Signal(object)  # Retry

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("trouble")
        self.stop: Stop | None = None
        self.title = plain_label(wrap=True)
        self.title.setProperty("strong", True)  # noqa: FBT003 - Qt takes the value by place
        self.reason = plain_label(wrap=True)
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.must = plain_label(muted=True, wrap=True)
        self.model = Choices()
        self._model_id = QLineEdit()
        self._model_id.setPlaceholderText("Its id")
        self.model.setEditable(True)
        self.model.setLineEdit(self._model_id)
        self.budget = amount("$", "No limit")
        self.key = KeyLine()
        self._model_row = rows([("Model", self.model)])
        self._budget_row = rows([("Budget", self.budget)])
        self.go = QPushButton()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID + HALF, theme.GRID, theme.GRID, theme.GRID)
        layout.setSpacing(HALF)
        parts: tuple[QWidget, ...] = (
            self.title,
            self.reason,
            self.must,
            self._model_row,
            self._budget_row,
            self.key,
            self.go,
        )
        for part in parts:
            layout.addWidget(part)
        self.go.clicked.connect(self._retry)
        self.model.currentTextChanged.connect(lambda _text: self._tell())
        self.hide()

    def show_stop(self, stop: Stop | None, budget_usd: float | None) -> None:
        """Say why runs stopped and ask for what they need; None: nothing stopped."""
        if stop == self.stop:
            return
        self.stop = stop
        self.setVisible(stop is not None)
        if stop is None:
            return
        count = len(stop.runs)
        run = stop.runs[0]
        name = f"{run.initial_image} · r{run.repeat}"
        self.title.setText(f"{name} stopped" if count == 1 else f"{count} runs stopped")
        self.reason.setText(stop.reason if count == 1 else f"{name}: {stop.reason}")
        self.must.setText(_MUST.get(stop.way_out, ""))
        self.must.setVisible(bool(self.must.text()))
        self._model_row.setVisible(stop.way_out is WayOut.ANOTHER_MODEL)
        self._budget_row.setVisible(stop.way_out is WayOut.BUDGET)
        self.key.setVisible(stop.way_out is WayOut.KEY)
        if stop.way_out is WayOut.ANOTHER_MODEL:
            self._offer_models(run)
        elif stop.way_out is WayOut.KEY:
            self.key.look(run.provider)
        elif stop.way_out is WayOut.BUDGET and budget_usd:
            self.budget.setValue(2 * budget_usd)
        self.go.setText("Go on" if count == 1 else f"Go on with {count} runs")
        self._tell()

    def _offer_models(self, run: Run) -> None:
        self.model.clear()
        for each in offered()[0]:
            if each.provider == run.provider and each.model != run.model:
                self.model.addItem(each.model)
        self.model.setCurrentIndex(-1)
        self.model.setEditText(successor(run))

    def _tell(self) -> None:
        stop = self.stop
        if stop is not None:
            self.go.setEnabled(
                stop.way_out is not WayOut.ANOTHER_MODEL
                or _is_model(stop.runs[0].provider, self.model.currentText())
            )

    def _retry(self) -> None:
        stop = self.stop
        if stop is None:
            return
        self.retry_wanted.emit(
            Retry(
                tuple(run.id for run in stop.runs),
                self.model.currentText().strip() if stop.way_out is WayOut.ANOTHER_MODEL else None,
                (self.budget.value() or None) if stop.way_out is WayOut.BUDGET else None,
            )
        )


def _is_model(provider: str, model: str) -> bool:
    try:
        capabilities(provider, model.strip())
    except ProviderError:
        return False
    return True
