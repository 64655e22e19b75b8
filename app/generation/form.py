"""The form of a new plan: pictures, editor, protocol, settings, how many, and what it may cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.generation.editors import Editors
from app.generation.estimate import plan_lines
from app.generation.pictures import Pictures
from app.generation.protocol_box import ProtocolBox
from app.generation.settings_box import SettingsBox
from app.notifications import plain_label
from app.parts import Fold, Section, amount, number, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.session import Session
    from banana100_core.catalog.protocols import Protocol
    from banana100_core.catalog.settings import RunSettings
    from banana100_core.generation.editor import Capabilities
    from banana100_core.generation.plan import Plan

STEPS = 20
REPEATS = 2


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the form says; None: no limit, or no seed."""

    images: tuple[str, ...]
    from_text: dict[str, str]  # prompts of initial images to be made first, by name
    editor: Capabilities | None
    protocol: Protocol
    settings: RunSettings
    steps: int
    repeats: int
    seed: int | None
    budget_usd: float | None
    calls_per_minute: float | None


class PlanForm(QWidget):
    """Asks for all that a plan needs."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        """There is nothing in it before `fill`."""
        super().__init__()
        self._session = session
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2 * theme.GRID)

    def fill(self) -> Iterator[None]:
        """Make what is in it, giving way after each part that takes long."""
        self.pictures = Pictures(self._session)
        self._column.addWidget(self.pictures)
        yield
        self.editors = Editors()
        self.protocol = ProtocolBox()
        for box in (self.editors, self.protocol):
            self._column.addWidget(box)
        yield
        self.settings = SettingsBox()
        self._column.addWidget(self.settings)
        yield
        self._add_extent()
        self._connect()
        self._editor_changed()

    def _add_extent(self) -> None:
        self.steps = number(1, 1000, STEPS)
        self.repeats = number(1, 100, REPEATS)
        self.repeats.setToolTip("Runs of each image; mean and standard deviation are taken over them")
        self.budget = amount("$", "No limit")
        self.budget.setToolTip("No call goes out that might cost more than is left of this, retries included")
        self.rate = amount("calls a minute", "No limit", high=10_000)
        self.rate.setToolTip("Of all runs together")
        self.limits = rows([("Budget", self.budget), ("Rate", self.rate)])
        self.lines = plain_label(wrap=True)
        self.lines.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.whole_plan = Fold("Every run and prompt", self.lines)
        self.whole_plan.hide()
        extent = Section("How many")
        extent.add(rows([("Steps", self.steps), ("Repeats", self.repeats)]), self.limits)
        for part in (extent, self.whole_plan):
            self._column.addWidget(part)

    def _connect(self) -> None:
        self.editors.changed.connect(self._editor_changed)
        self.protocol.protocol_chosen.connect(
            lambda: self.settings.show_settings(self.protocol.chosen.settings)
        )
        for each in (self.pictures, self.protocol, self.settings):
            each.changed.connect(self.changed)
        for field in (self.steps, self.repeats, self.budget, self.rate):
            field.valueChanged.connect(lambda _value: self.changed.emit())

    def wishes(self) -> Wishes:
        """What the form says now."""
        paid = self.limits.isVisibleTo(self)
        return Wishes(
            self.pictures.list.ticked,
            dict(self.pictures.to_make.prompts),
            self.editors.chosen,
            self.protocol.chosen,
            self.settings.settings,
            self.steps.value(),
            self.repeats.value(),
            self.settings.first_seed,
            (self.budget.value() or None) if paid else None,
            (self.rate.value() or None) if paid else None,
        )

    def show_plan(self, plan: Plan | None) -> None:
        """Show every run and every prompt of a plan."""
        self.whole_plan.setVisible(plan is not None)
        self.lines.setText("" if plan is None else "\n".join(plan_lines(plan)))

    def _editor_changed(self) -> None:
        editor = self.editors.chosen
        # An editor on this machine costs nothing and calls no one.
        self.limits.setVisible(editor is None or not editor.in_worker or editor.usd_per_image[1] > 0)
        if editor is not None:
            self.settings.heed(editor)
            makes = editor.from_text
            self.pictures.allow_text("" if makes else f"{editor.title} makes no picture from a prompt.")
        self.changed.emit()
