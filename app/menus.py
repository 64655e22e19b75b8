"""The menu bar, made from the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.actions import ACTIONS

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu, QMenuBar

    from app.actions import ActionRegistry


def fill_menus(bar: QMenuBar, registry: ActionRegistry) -> None:
    """Give each action of the table its place."""
    menus: dict[str, QMenu] = {}
    for action in ACTIONS:
        menu = _menu(bar, menus, action.menu)
        if action.section and not menu.isEmpty():
            menu.addSeparator()
        menu.addAction(registry.qaction(action.key))


def _menu(bar: QMenuBar, menus: dict[str, QMenu], path: str) -> QMenu:
    if path not in menus:
        above, _slash, name = path.rpartition("/")
        menus[path] = (_menu(bar, menus, above) if above else bar).addMenu(name)
        menus[path].setTitle(f"&{name}")
        menus[path].setToolTipsVisible(True)
    return menus[path]
