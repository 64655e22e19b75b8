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
    NUMBERS = "needs step numbers to be shown, since steps can be counted from there"


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
    # They go to a step whose number is known, or show all in a row.
    Need.NUMBERS: (
        "file.export_animation",
        "file.export_sheet",
        "run.first_step",
        "run.last_step",
        "run.go_to_reference",
        "view.swap_panes",
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
            session.blinding_changed,
        ):
            changed.connect(self.show)

    def show(self) -> None:
        """Enable what can be done now, and say of the rest what is missing."""
        project, run = self._session.project, self._session.run
        met = {
            need
            for need, is_met in (
                (Need.PROJECT, project is not None),
                (Need.WRITING, project is not None and not project.read_only),
                (Need.RUN, run is not None),
                (Need.NUMBERS, run is not None and not self._session.blinding.steps),
            )
            if is_met
        }
        for key, need in self._needs.items():
            why = Need.RUN if need is Need.NUMBERS and run is None else need
            self._registry.set_enabled(key, enabled=need in met, why=why.value)
