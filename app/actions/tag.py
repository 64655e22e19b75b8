"""The menu Tag."""

from __future__ import annotations

from app.actions.action import Action, Context

TAG: tuple[Action, ...] = (
    Action(
        "tag.end_here", "&End tag at this step", "Tag", "Ctrl+Return", "The failure is last seen in this step"
    ),
    Action("tag.delete", "&Delete tag", "Tag", "Del", "Remove the chosen tag", Context.TAG, icon="trash"),
    Action(
        "tag.draw_box",
        "Draw a &box",
        "Tag",
        "Ctrl+B",
        "Outline where the chosen tag's failure shows, with a box",
        icon="bounding-box",
        checkable=True,
        section=True,
    ),
    Action(
        "tag.draw_polygon",
        "Draw a &polygon",
        "Tag",
        "Ctrl+P",
        "Outline where the chosen tag's failure shows, with a polygon",
        icon="polygon",
        checkable=True,
    ),
    Action(
        "tag.box_here", "Box in the &middle", "Tag", "Ctrl+K", "A box in the middle of the view, to be moved"
    ),
    Action(
        "tag.copy_regions",
        "&Copy regions to the next step",
        "Tag",
        "Ctrl+Shift+Return",
        "Copy those of the chosen tag and go there",
    ),
    Action(
        "tag.delete_region",
        "Delete re&gion",
        "Tag",
        "Del",
        "Remove the chosen region, or the chosen corner of a polygon",
        Context.COMPARE,
        icon="trash",
    ),
    Action(
        "tag.find_suggestions",
        "&Find suggestions in the chosen runs",
        "Tag/Suggestions",
        "Ctrl+Alt+F",
        "Look at their pictures for failures that arithmetic can see",
        icon="magnifying-glass",
    ),
    Action(
        "tag.find_all_suggestions",
        "Find suggestions in &all runs",
        "Tag/Suggestions",
        "",
        "Look at all pictures of the project",
    ),
    Action(
        "tag.next_suggestion",
        "&Next suggestion",
        "Tag/Suggestions",
        "Ctrl+Alt+N",
        "Go to the next one that is open, in this run or in one after it",
        section=True,
    ),
    Action(
        "tag.accept_suggestion",
        "A&ccept suggestion",
        "Tag/Suggestions",
        "Ctrl+Alt+Return",
        "Make the current one your tag; undo opens it again",
        icon="check",
    ),
    Action(
        "tag.reject_suggestion",
        "&Reject suggestion",
        "Tag/Suggestions",
        "Ctrl+Alt+Backspace",
        "Say that the current one is wrong",
        icon="x",
    ),
    Action(
        "tag.agreement",
        "&Agreement of annotators…",
        "Tag",
        "",
        "Alpha, kappa, onsets, regions, and the runs that are most disputed",
        section=True,
    ),
)
