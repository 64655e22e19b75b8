"""Copying a tag's regions from one step to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.compare.outlines.outline import Outlines
    from app.session import ChosenTag, Session


def copy_on(session: Session, outlines: Outlines, tag: ChosenTag) -> str:
    """Copy the regions of a tag that hold at the current step to the next, and go there; tells in words."""
    step, mode = session.step, outlines.mode_name(tag.failure_mode)
    following = next((each for each in session.steps if each.number > step), None)
    count = len(outlines.edits.held(tag.uuid, step))
    if following is None:
        return "This is the last step."
    there = "the next step" if session.blinding.steps else f"step {following.number}"
    if count == 0:
        return f"No region of {mode} holds at this step."
    if tag.end_step is not None and following.number > tag.end_step:
        return f"{mode} has ended before {there}, and no region holds beyond its end."
    if following.image is None:
        return f"There is no picture to outline at {there}."
    copied = outlines.edits.copy(tag.uuid, step, following.number)
    session.next_step()
    if not copied:
        here = "This step" if session.blinding.steps else there.capitalize()
        return f"{here} has regions of {mode} already; they are kept."
    return f"Copied {'1 region' if count == 1 else f'{count} regions'} of {mode} to {there}."
