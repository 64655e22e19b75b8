"""The menu Help."""

from __future__ import annotations

from app.actions.action import Action

HELP: tuple[Action, ...] = (
    Action(
        "help.palette", "&Find an action…", "Help", "Ctrl+Shift+P", "Every action, by name", icon="command"
    ),
    Action("help.keys", "&Keys", "Help", "?; F1", "Show what each key does", icon="keyboard"),
    Action("help.about", "&About", "Help", "", "Versions and licences, to copy", section=True),
)
