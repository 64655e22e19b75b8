"""What actions need before they make sense, and the words for it while it is missing."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.actions import ACTIONS

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.session import Session


class Need(StrEnum):
    """What is asked for, as it is said to who misses it."""

    PROJECT = "needs an open project"
    WRITING = "needs a project that is open for writing"
    RUN = "needs a run on screen"


_NEEDS = {
    Need.PROJECT: (
        "file.close",
        "edit.filter",
        "edit.facets",
        "edit.show_all_runs",
        "view.arrange_runs",
        "view.group_",
        "view.panel_",
        "reasoning.find",
        "reasoning.contradictions",
        "score.save_gaps",
    ),
    Need.WRITING: (
        "file.import",
        "generate.start",
        "reasoning.judge",
        "score.missing",
        "score.selected",
        "score.pause",
        "score.resume",
        "score.cancel",
        "score.retry_failed",
    ),
    Need.RUN: (
        "file.export_view",
        "file.export_animation",
        "file.export_sheet",
        "edit.copy_view",
        "run.",
        "view.",
        "tag.end_here",
        "tag.delete",
        "tag.draw_",
        "tag.box_here",
        "tag.copy_regions",
        "tag.severity_",
        "tag.surer",
        "tag.less_sure",
        "tag.note",
        "tag.next_tag",
        "tag.previous_tag",
    ),
}
"""Keys, or how they begin; the longest that fits counts. What others enable by what they know isn't here."""

_ALWAYS = ("view.theme_", "view.canvas_", "view.next_panel", "view.reset_layout", "view.full_screen")


def need_of(key: str) -> Need | None:
    """What an action needs; None when it needs nothing, or somebody else looks after it."""
    fits: list[tuple[int, Need | None]] = [
        (len(begins), need) for need, keys in _NEEDS.items() for begins in keys if key.startswith(begins)
    ]
    fits += [(len(begins), None) for begins in _ALWAYS if key.startswith(begins)]
    return max(fits, key=lambda each: each[0], default=(0, None))[1]


class Needs(QObject):
    """Enables the actions of a window as project and run come and go."""

    def __init__(self, session: Session, registry: ActionRegistry, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._registry = registry
        self._needs = {action.key: need for action in ACTIONS if (need := need_of(action.key))}
        for changed in (
            session.project_opened,
            session.project_closed,
            session.runs_updated,
            session.run_changed,
        ):
            changed.connect(self.show)

    def show(self) -> None:
        """Enable what can be done now, and say of the rest what is missing."""
        project = self._session.project
        met = {
            need
            for need, is_met in (
                (Need.PROJECT, project is not None),
                (Need.WRITING, project is not None and not project.read_only),
                (Need.RUN, self._session.run is not None),
            )
            if is_met
        }
        for key, need in self._needs.items():
            self._registry.set_enabled(key, enabled=need in met, why=need.value)
