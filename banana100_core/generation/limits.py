"""What all calls to services share: a rate, a budget, and the delays between tries."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING

from banana100_core.errors import ProviderError

if TYPE_CHECKING:
    from banana100_core.generation.gate import Gate

LONGEST_DELAY = 60.0
OVER_BUDGET = "with a larger budget"  # by these words `ways_out` knows why a run stopped
_LOOK_AGAIN = 0.2  # seconds, for a budget that is all reserved


class BudgetSpentError(ProviderError):
    """A further call might cost more than is left of the budget."""


class Limits:
    """Shared by the chains of an executor; a service's wish to wait holds all of them.

    A call's highest price is reserved before it goes out, so that the budget holds however many are out.
    """

    def __init__(
        self,
        *,
        budget_usd: float | None = None,
        calls_per_minute: float | None = None,
        first_delay: float = 1.0,
    ) -> None:
        """None: without limit; `first_delay` in seconds, doubled for each further try up to a minute."""
        self.budget_usd = budget_usd
        self.calls_per_minute = calls_per_minute
        self.first_delay = first_delay
        self._state = threading.Lock()
        self._spent = 0.0
        self._reserved = 0.0
        self._next = 0.0  # when the next call may go out
        self._random = random.Random()  # noqa: S311 - it keeps chains apart, no secret

    @property
    def spent_usd(self) -> float:
        """What the calls cost; one whose answer was lost counts with its highest price."""
        return self._spent

    def take_turn(self, gate: Gate, most_usd: float) -> bool:
        """Wait until a call may go out; False when the gate ended first. Raises BudgetSpentError.

        Each turn that was taken is to be ended with `answered`.
        """
        while gate.passed():
            with self._state:
                wait = self._wait(most_usd)
                if wait <= 0:
                    self._reserved += most_usd
                    if self.calls_per_minute:
                        self._next = max(self._next, time.monotonic()) + 60 / self.calls_per_minute
                    return True
            gate.wait(wait)
        return False

    def answered(self, most_usd: float, cost_usd: float | None) -> None:
        """End a turn; `cost_usd` None when what the call cost is not known."""
        with self._state:
            self._reserved -= most_usd
            self._spent += most_usd if cost_usd is None else cost_usd

    def hold_off(self, seconds: float) -> None:
        """Let no call of any chain out for that long, as the service asks."""
        with self._state:
            self._next = max(self._next, time.monotonic() + seconds)

    def delay(self, tries: int) -> float:
        """Seconds to wait after that many tries: ever longer, and never the same for two chains."""
        longest: float = min(LONGEST_DELAY, self.first_delay * 2 ** (tries - 1))
        return longest * self._random.uniform(0.5, 1.0)

    def _wait(self, most_usd: float) -> float:
        budget = self.budget_usd
        if budget is not None and most_usd > 0:
            if self._spent + most_usd > budget + 1e-9:
                raise BudgetSpentError(
                    f"${self._spent:.2f} of the budget of ${budget:.2f} is spent, and one more call may cost "
                    f"${most_usd:.2f}. Start the run again {OVER_BUDGET}."
                )
            if self._spent + self._reserved + most_usd > budget + 1e-9:
                return _LOOK_AGAIN
        return self._next - time.monotonic()
