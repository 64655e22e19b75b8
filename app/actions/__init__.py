"""All actions of the window in one table: menus, shortcuts, the palette and the keys sheet come from it."""

from app.actions.action import Action, Context
from app.actions.registry import ActionRegistry, Slot, takes_text
from app.actions.table import ACTIONS

__all__ = ["ACTIONS", "Action", "ActionRegistry", "Context", "Slot", "takes_text"]
