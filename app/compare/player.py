"""Playing a run: steps by the clock, so that a slow picture costs frames and never time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal

if TYPE_CHECKING:
    from app.session import Session

RATES = (2, 4, 8, 15, 30)
"""Steps a second that can be chosen."""


class Player(QObject):
    """Moves the session's current step on until the last one."""

    changed = Signal()
    """It began, ended, or plays at another rate."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._rate = RATES[1]
        self._began = 0.0
        self._from = 0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        session.run_changed.connect(self.stop)
        session.project_closed.connect(self.stop)

    @property
    def playing(self) -> bool:
        """Whether it plays."""
        return self._timer.isActive()

    @property
    def rate(self) -> int:
        """Steps a second."""
        return self._rate

    def set_rate(self, rate: int) -> None:
        """Play so many steps a second."""
        self._rate = min(max(rate, RATES[0]), RATES[-1])
        if self.playing:
            self._begin()
        self.changed.emit()

    def change_rate(self, stops: int) -> None:
        """Play at a rate some stops faster or slower."""
        self.set_rate(RATES[min(max(RATES.index(self._rate) + stops, 0), len(RATES) - 1)])

    def play(self) -> None:
        """Play on from the current step, from the first one if the last one is shown.

        While numbers are hidden it doesn't begin again: from the first step they could be counted.
        """
        at_end = bool(self._session.steps) and self._session.step == self._session.steps[-1].number
        if not self._session.steps or (at_end and self._session.blinding.steps):
            self.changed.emit()
            return
        if at_end:
            self._session.first_step()
        self._begin()
        self.changed.emit()

    def stop(self) -> None:
        """Stay at the step shown."""
        if self.playing:
            self._timer.stop()
            self.changed.emit()

    def _begin(self) -> None:
        numbers = [step.number for step in self._session.steps]
        self._from = numbers.index(self._session.step)
        self._began = time.monotonic()
        self._timer.start(1000 // self._rate)

    def _tick(self) -> None:
        steps = self._session.steps
        place = self._from + int((time.monotonic() - self._began) * self._rate + 0.25)
        if place >= len(steps) - 1:
            self._session.last_step()
            self.stop()
        else:
            self._session.choose_step(steps[place].number)
