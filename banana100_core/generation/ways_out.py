"""What a person can do about a run that stopped."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from banana100_core.generation.limits import OVER_BUDGET
from banana100_core.generation.providers.gemini import CHECK_KEY, RETIRED
from banana100_core.project.records import RunState

if TYPE_CHECKING:
    from banana100_core.project.records import Run

_SUCCESSOR = re.compile(r"(?P<model>[\w.-]+) took its place")


class WayOut(StrEnum):
    """The first thing to try."""

    ANOTHER_MODEL = "another model"  # its own was retired
    KEY = "key"
    BUDGET = "budget"
    AGAIN = "again"


def successor(run: Run) -> str:
    """The model that took the place of a stopped run's retired one; "" where that isn't known."""
    found = _SUCCESSOR.search(run.state_reason)
    return found["model"] if found else ""


def way_out(run: Run) -> WayOut | None:
    """The way out that the reason of a stopped run asks for; None for a run that did not stop."""
    if run.state is not RunState.STOPPED:
        return None
    reason = run.state_reason
    if RETIRED in reason:
        return WayOut.ANOTHER_MODEL
    if CHECK_KEY in reason or "no API key" in reason:
        return WayOut.KEY
    return WayOut.BUDGET if OVER_BUDGET in reason else WayOut.AGAIN
