"""Making the panels after the window's first paint, without holding it up."""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app import theme

if TYPE_CHECKING:
    from collections.abc import Generator

    from app.actions import ActionRegistry
    from app.session import Session

MIDDLE = "compare"
REASONING = "reasoning"
PANELS: tuple[tuple[str, str, str], ...] = (
    # Its dock, the middle or a tab of the scores' dock, its module, its class; made in this order.
    ("runs", "app.browser.panel", "BrowserPanel"),
    (MIDDLE, "app.compare.panel", "ComparePanel"),
    ("tag", "app.tagging.panel", "TaggingPanel"),
    ("scores", "app.plots.panel", "ScorePlotPanel"),
    (REASONING, "app.reasoning.panel", "ReasoningPanel"),
    ("generation", "app.generation.panel", "GenerationPanel"),
)

NEEDED_LATER = ("banana100_core.generation.executor", "banana100_core.scoring.pool")
"""What a project needs when it opens: imported then, it would hold up the window."""


class PanelMaker(QObject):
    """Imports the panels' modules on a thread, then makes one panel each turn of the event loop.

    A panel that takes long has a class method `in_parts`, a generator that gives way after each part and
    returns the panel: it takes as many turns.
    """

    made = Signal(str, QWidget)
    finished = Signal()

    _imported = Signal()

    def __init__(self, session: Session, registry: ActionRegistry, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._registry = registry
        self.panels: dict[str, QWidget] = {}
        self._parts: Generator[None, None, QWidget] | None = None
        self._imported.connect(self._make_next, Qt.ConnectionType.QueuedConnection)

    @property
    def complete(self) -> bool:
        """Whether all panels are made."""
        return len(self.panels) == len(PANELS)

    def start(self) -> None:
        """Begin; `finished` tells when all panels are there."""
        theme.notifier()  # belongs to this thread, though modules imported on the other one use it
        threading.Thread(target=self._import, name="importing panels", daemon=True).start()

    def settled(self) -> bool:
        """Whether everything that the panels are to show has arrived."""
        return self.complete and all(
            panel.is_settled() for panel in self.panels.values() if hasattr(panel, "is_settled")
        )

    def _import(self) -> None:
        for module in (*(module for _place, module, _name in PANELS), *NEEDED_LATER):
            importlib.import_module(module)
        self._imported.emit()

    def _make_next(self) -> None:
        place, module, name = PANELS[len(self.panels)]
        panel = self._make(getattr(importlib.import_module(module), name))
        if panel is None:
            QTimer.singleShot(0, self._make_next)
            return
        self.panels[place] = panel
        self.made.emit(place, panel)
        if self.complete:
            self._registry.show_icons()
            self.finished.emit()
        else:
            QTimer.singleShot(0, self._make_next)

    def _make(self, kind: Any) -> QWidget | None:  # noqa: ANN401 - panels share no class of their own
        """Make a panel, or a part of it; None while parts are missing."""
        if not hasattr(kind, "in_parts"):
            panel: QWidget = kind(self._session, self._registry)
            return panel
        if self._parts is None:
            self._parts = kind.in_parts(self._session, self._registry)
        try:
            next(self._parts)
        except StopIteration as made:
            self._parts = None
            return cast("QWidget", made.value)
        return None
