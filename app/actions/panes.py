"""Zoom, pan and the panes of the comparison."""

from __future__ import annotations

from app.actions.action import Action

PANES: tuple[Action, ...] = (
    Action("view.fit", "&Fit", "View", "Ctrl+0", "Show the whole picture", icon="corners-out"),
    Action(
        "view.actual_size",
        "&Actual size (1:1)",
        "View",
        "Ctrl+1",
        "One pixel of the picture a pixel of the screen",
    ),
    Action("view.fill", "Fill", "View", "Ctrl+9", "Leave nothing of the pane uncovered"),
    Action(
        "view.zoom_region",
        "Zoom to the &rectangle",
        "View",
        "Ctrl+8",
        "Show the measured rectangle as large as fits",
    ),
    Action("view.zoom_in", "Zoom &in", "View", "Ctrl++; Ctrl+=", "Larger", icon="magnifying-glass-plus"),
    Action("view.zoom_out", "Zoom &out", "View", "Ctrl+-", "Smaller", icon="magnifying-glass-minus"),
    Action("view.pan_left", "&Left", "View/Move", "Alt+Left", "Look further left"),
    Action("view.pan_right", "&Right", "View/Move", "Alt+Right", "Look further right"),
    Action("view.pan_up", "&Up", "View/Move", "Alt+Up", "Look further up"),
    Action("view.pan_down", "&Down", "View/Move", "Alt+Down", "Look further down"),
    Action(
        "view.shift_left",
        "This pane l&eft",
        "View/Move",
        "Alt+Shift+Left",
        "Move it against the others",
        section=True,
    ),
    Action(
        "view.shift_right", "This pane r&ight", "View/Move", "Alt+Shift+Right", "Move it against the others"
    ),
    Action("view.shift_up", "This pane u&p", "View/Move", "Alt+Shift+Up", "Move it against the others"),
    Action("view.shift_down", "This pane d&own", "View/Move", "Alt+Shift+Down", "Move it against the others"),
    Action(
        "view.align_panes", "&Align panes", "View/Move", "Ctrl+Shift+L", "Show the same place in all again"
    ),
    Action(
        "view.one_pane", "&One", "View/Panes", "", "The current step alone", checkable=True, group="count"
    ),
    Action("view.two_panes", "&Two", "View/Panes", "", "With a reference", checkable=True, group="count"),
    Action("view.four_panes", "&Four", "View/Panes", "", "Two rows of two", checkable=True, group="count"),
    Action(
        "view.more_panes",
        "More panes",
        "View/Panes",
        "Shift+F2",
        "One, two, four and one again",
        section=True,
    ),
    Action(
        "view.pane_step", "&Choose its step…", "View/Panes", "Ctrl+T", "Choose what the pane in use shows"
    ),
    Action("view.mirror", "&Mirror", "View/Panes", "Ctrl+M", "Mirror the pane in use", section=True),
    Action(
        "view.turn_right",
        "Turn &right",
        "View/Panes",
        "Ctrl+Shift+Right",
        "Turn the pane in use by a quarter",
    ),
    Action(
        "view.turn_left", "Turn &left", "View/Panes", "Ctrl+Shift+Left", "Turn the pane in use by a quarter"
    ),
    Action(
        "view.turn_back",
        "Turn &back",
        "View/Panes",
        "Ctrl+Shift+B",
        "Undo the turns that a protocol of mirroring or rotating asks for, step by step",
        checkable=True,
    ),
    Action(
        "view.outlines",
        "Outli&nes",
        "View",
        "Ctrl+H",
        "Show or hide where tags are outlined",
        icon="selection",
        checkable=True,
        section=True,
    ),
    Action("view.swap_panes", "S&wap panes", "View", "Ctrl+E", "Exchange left and right", icon="swap"),
    Action(
        "view.link_panes",
        "&Link zoom and pan",
        "View",
        "Ctrl+L",
        "Both panes show the same place",
        checkable=True,
    ),
)
