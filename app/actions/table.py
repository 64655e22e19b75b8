"""All actions of the window, in the order of the menus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.actions.edit import EDIT
from app.actions.file import FILE
from app.actions.help import HELP
from app.actions.modes import MODES
from app.actions.panes import PANES
from app.actions.run import RUN
from app.actions.score import SCORE
from app.actions.tag import TAG
from app.actions.view import VIEW
from app.actions.work import WORK

if TYPE_CHECKING:
    from app.actions.action import Action

ACTIONS: tuple[Action, ...] = (*FILE, *EDIT, *PANES, *MODES, *VIEW, *RUN, *TAG, *WORK, *SCORE, *HELP)
