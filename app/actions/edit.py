"""The menu Edit."""

from __future__ import annotations

from app.actions.action import Action

EDIT: tuple[Action, ...] = (
    Action(
        "tag.undo",
        "&Undo tag edit",
        "Edit",
        "Ctrl+Z",
        "Take back the last edit to tags",
        icon="arrow-u-up-left",
    ),
    Action(
        "tag.redo", "&Redo tag edit", "Edit", "Ctrl+Shift+Z; Ctrl+Y", "Make it again", icon="arrow-u-up-right"
    ),
    Action(
        "edit.filter",
        "&Filter the runs",
        "Edit",
        "Ctrl+F",
        "Write in the filter box of the list of runs",
        section=True,
    ),
    Action(
        "edit.facets",
        "&Narrow the runs down…",
        "Edit",
        "Ctrl+Shift+F",
        "By protocol, model, resolution, tags, missing scores or failed steps",
        icon="funnel",
    ),
    Action("edit.show_all_runs", "Show &all runs", "Edit", "", "Take filter and choices back"),
    Action(
        "edit.copy_view",
        "&Copy this view",
        "Edit",
        "Ctrl+Shift+C",
        "Copy what the panes show as a picture",
        icon="copy",
    ),
    Action(
        "edit.settings",
        "&Settings…",
        "Edit",
        "Ctrl+,",
        "Annotator, scoring and look",
        icon="sliders-horizontal",
        section=True,
    ),
)
