"""What a key means for a failure mode at a step: a new tag, an earlier onset, an end, or a word why not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class Claim:
    """The part of a tag that the rules look at; `row` is whatever the caller knows it by."""

    row: int
    onset: int
    end_step: int | None

    def covers(self, step: int) -> bool:
        """Whether it holds at a step; the end step is the last one at which it does."""
        return self.onset <= step and (self.end_step is None or step <= self.end_step)


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do: change `row`, or without one add a tag, by `changes`; without these only say `message`."""

    message: str
    row: int | None = None
    changes: Mapping[str, int | None] | None = None


def begin(name: str, claims: Iterable[Claim], step: int, *, numbered: bool = True) -> Decision:
    """The failure mode is seen at this step. `claims` are this annotator's tags of that mode in the run.

    The message tells numbers of steps only if `numbered`.
    """
    decision = _begin(name, claims, step)
    if numbered or step < 1:
        return decision
    if decision.changes is None:
        return replace(decision, message=f"{name} is tagged here already.")
    how = "onset moved to this step" if decision.row is not None else "tagged from this step on"
    return replace(decision, message=f"{name}: {how}.")


def end(name: str, claims: Iterable[Claim], step: int, *, numbered: bool = True) -> Decision:
    """The failure mode is last seen at this step: end the tag that began last before it."""
    decision = _end(name, claims, step)
    if numbered:
        return decision
    if decision.row is None:
        return replace(decision, message=f"You have no tag of {name} that begins here or before.")
    already = " already" if decision.changes is None else ""
    return replace(decision, message=f"{name} ends at this step{already}.")


def _begin(name: str, claims: Iterable[Claim], step: int) -> Decision:
    if step < 1:
        return Decision("Step 0 is the initial image: a failure begins at step 1 or later.")
    claims = list(claims)
    here = next((claim for claim in claims if claim.covers(step)), None)
    if here is not None:
        where = "at this step" if here.onset == step else f"from step {here.onset}"
        return Decision(f"{name} is tagged {where} already.", here.row)
    later = min(
        (claim for claim in claims if claim.onset > step), key=lambda claim: claim.onset, default=None
    )
    if later is not None and later.end_step is None:
        return Decision(f"{name}: onset moved from {later.onset} to {step}.", later.row, {"onset": step})
    if later is not None:
        end = later.onset - 1
        return Decision(
            f"{name} tagged from step {step} to {end}, up to your tag of {later.onset} to {later.end_step}.",
            changes={"onset": step, "end_step": end},
        )
    return Decision(f"{name} tagged from step {step}.", changes={"onset": step, "end_step": None})


def _end(name: str, claims: Iterable[Claim], step: int) -> Decision:
    begun = [claim for claim in claims if claim.onset <= step]
    if not begun:
        return Decision(f"You have no tag of {name} that begins at step {step} or before.")
    last = max(begun, key=lambda claim: claim.onset)
    if last.end_step == step:
        return Decision(f"{name} ends at step {step} already.", last.row)
    return Decision(f"{name}: {last.onset} to {step}.", last.row, {"end_step": step})
