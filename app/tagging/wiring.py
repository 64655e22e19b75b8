"""The actions of the menu Tag, connected to what does them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.blinding import Blinding
from app.needs import Need
from app.tagging.chosen import SURER, ChosenTagKeys
from banana100_core.analysis.queues import Queue

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog

    from app.actions import ActionRegistry
    from app.session import Session
    from app.tagging.panel import TaggingPanel
    from app.tagging.review_list import ReviewList
    from app.tagging.work import Work

_NEEDS_PROJECT = (
    "tag.done",
    "tag.nothing_found",
    "tag.next_run",
    "tag.previous_run",
    "tag.reopen_run",
    "tag.shuffle",
    "tag.progress",
    "tag.taxonomy",
)
HIDDEN = ("tags", "scores", "models", "steps")


class TagActions:
    """Keeps the actions of work, hiding and the chosen tag in step with a panel."""

    def __init__(
        self, panel: TaggingPanel, session: Session, work: Work, reviews: ReviewList, registry: ActionRegistry
    ) -> None:
        self._panel = panel
        self._session = session
        self._work = work
        self._reviews = reviews
        self._registry = registry
        self._connect_work()
        self._connect_hiding()
        self._connect_chosen()
        for changed in (session.project_opened, session.project_closed):
            changed.connect(self._show_project)
        self._show_project()

    def _connect_work(self) -> None:
        registry, work = self._registry, self._work
        for key, slot in {
            "tag.done": self._done,
            "tag.nothing_found": self._nothing_found,
            "tag.next_run": work.next,
            "tag.previous_run": work.previous,
            "tag.reopen_run": work.reopen,
            "tag.shuffle": work.shuffle,
            "tag.progress": self._show_progress,
            "tag.taxonomy": self._show_taxonomy,
        }.items():
            registry.connect(key, slot)
        # Held down they would run through runs nobody looked at.
        for key in ("tag.done", "tag.nothing_found", "tag.next_run", "tag.previous_run"):
            registry.qaction(key).setAutoRepeat(False)
        for queue in Queue:
            registry.connect(f"tag.queue_{queue}", partial(self._choose_queue, queue))
        work.queue_chosen.connect(self._show_queue)
        self._show_queue()

    def _connect_hiding(self) -> None:
        registry = self._registry
        for name in HIDDEN:
            registry.connect(f"tag.hide_{name}", partial(self._hide, name))
        registry.connect("tag.hide_all", self._hide_all)
        for changed in (self._session.blinding_changed, self._session.project_opened):
            changed.connect(self._show_hidden)
        self._show_hidden()

    def _connect_chosen(self) -> None:
        registry, keys = self._registry, ChosenTagKeys(self._panel)
        for severity in (1, 2, 3):
            registry.connect(f"tag.severity_{severity}", partial(keys.grade, severity))
        registry.connect("tag.surer", partial(keys.make_surer, SURER))
        registry.connect("tag.less_sure", partial(keys.make_surer, -SURER))
        registry.connect("tag.note", keys.write_note)
        registry.connect("tag.next_tag", partial(keys.move, 1))
        registry.connect("tag.previous_tag", partial(keys.move, -1))

    def _done(self) -> None:
        if self._work.judges:
            if not self._blind():
                self._work.accept()
        elif not self._unsaved():
            self._work.done(self._own_tags())

    def _nothing_found(self) -> None:
        if self._work.judges:
            if not self._blind():
                self._reviews.ask_why()
        elif not self._unsaved():
            self._work.nothing_found(self._own_tags())

    def _blind(self) -> bool:
        if self._session.blinding.tags:
            self._panel.say("Others' tags are hidden. Show them to review.")
        return self._session.blinding.tags

    def _unsaved(self) -> bool:
        if self._panel.board.failed_rows:
            self._panel.say("An edit is not saved yet: retry or discard it first.")
            return True
        return False

    def _own_tags(self) -> int:
        return sum(self._panel.board.own(row) for row in self._panel.board.rows)

    def _choose_queue(self, queue: Queue, _checked: bool) -> None:
        self._work.choose_queue(queue)

    def _show_queue(self) -> None:
        self._registry.qaction(f"tag.queue_{self._work.queue}").setChecked(True)

    def _hide(self, name: str, hide: bool) -> None:
        self._session.set_blinding(replace(self._session.blinding, **{name: hide}))

    def _hide_all(self) -> None:
        hide = not self._session.blinding.any
        self._session.set_blinding(Blinding(hide, hide, hide, hide))
        self._panel.say(
            "Others' tags, scores, model names and step numbers are hidden."
            if hide
            else "All is shown again."
        )

    def _show_hidden(self) -> None:
        for name in HIDDEN:
            self._registry.qaction(f"tag.hide_{name}").setChecked(getattr(self._session.blinding, name))

    def _show_project(self) -> None:
        for key in _NEEDS_PROJECT:
            self._registry.set_enabled(key, enabled=self._session.project is not None, why=Need.PROJECT)

    def _show_progress(self) -> None:
        from app.tagging.progress import ProgressDialog

        self._open(ProgressDialog(self._session, self._panel.window()))

    def _show_taxonomy(self) -> None:
        from app.tagging.taxonomy_dialog import TaxonomyDialog

        self._open(TaxonomyDialog(self._session, self._panel.window()))

    def _open(self, dialog: QDialog) -> None:
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
