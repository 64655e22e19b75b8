"""The menu Tag."""

from __future__ import annotations

from app.actions.action import Action, Context

TAG: tuple[Action, ...] = (
    Action(
        "tag.end_here", "&End tag at this step", "Tag", "Ctrl+Return", "The failure is last seen in this step"
    ),
    Action("tag.delete", "&Delete tag", "Tag", "Del", "Remove the chosen tag", Context.TAG, icon="trash"),
)
