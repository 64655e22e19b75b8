"""References, backdrop, theme and panels."""

from __future__ import annotations

from app.actions.action import Action

VIEW: tuple[Action, ...] = (
    Action(
        "view.reference_first",
        "Step &1",
        "View/Left pane",
        "",
        "The first edit, which the paper compares with",
        checkable=True,
        group="reference",
    ),
    Action(
        "view.reference_initial",
        "Step &0, the initial image",
        "View/Left pane",
        "",
        "What the run started from",
        checkable=True,
        group="reference",
    ),
    Action(
        "view.reference_previous",
        "The step &before the current one",
        "View/Left pane",
        "",
        "What this one edit changed",
        checkable=True,
        group="reference",
    ),
    Action(
        "view.reference_pinned",
        "&Pinned",
        "View/Left pane",
        "",
        "Keep the left pane at the step that it shows now",
        checkable=True,
        group="reference",
    ),
    Action("view.canvas_grey", "Mid-&grey", "View/Canvas", checkable=True, group="canvas"),
    Action("view.canvas_black", "&Black", "View/Canvas", checkable=True, group="canvas"),
    Action("view.canvas_white", "&White", "View/Canvas", checkable=True, group="canvas"),
    Action("view.canvas_checker", "&Checker", "View/Canvas", checkable=True, group="canvas"),
    Action("view.theme_system", "As the &system", "View/Theme", checkable=True, group="theme"),
    Action("view.theme_dark", "&Dark", "View/Theme", checkable=True, group="theme"),
    Action("view.theme_light", "&Light", "View/Theme", checkable=True, group="theme"),
    Action(
        "view.panel_runs", "&Runs", "View/Panels", "Alt+1", "Show or hide the list of runs", checkable=True
    ),
    Action(
        "view.panel_tag", "&Tag", "View/Panels", "Alt+2", "Show or hide the failure modes", checkable=True
    ),
    Action("view.panel_scores", "&Scores", "View/Panels", "Alt+3", "Show or hide the curves", checkable=True),
    Action("view.panel_generation", "&Generation", "View/Panels", "Alt+4", "Show or hide it", checkable=True),
    Action(
        "view.filmstrip",
        "&Filmstrip",
        "View/Panels",
        "Alt+6",
        "Show or hide the thumbnails of the steps",
        checkable=True,
    ),
    Action(
        "view.step_details",
        "Step &details",
        "View/Panels",
        "Alt+5",
        "Prompt, settings, reasoning summary and cost of the step",
        icon="info",
        checkable=True,
    ),
    Action(
        "view.next_panel",
        "&Next panel",
        "View/Panels",
        "F6",
        "Move the keyboard to the next panel",
        section=True,
    ),
    Action(
        "view.reset_layout", "Reset the la&yout", "View/Panels", "", "Put all panels back where they began"
    ),
    Action(
        "view.full_screen",
        "F&ull screen",
        "View",
        "F11",
        "Use the whole screen",
        checkable=True,
        section=True,
    ),
)
