"""Making the panels after the window's first paint, without holding it up."""

from __future__ import annotations

import importlib
import threading
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from app import theme

if TYPE_CHECKING:
    from collections.abc import Iterator

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

_ALL = object()

NEEDED_LATER = ("banana100_core.generation.executor", "banana100_core.scoring.pool")
"""What a project needs when it opens: imported then, it would hold up the window."""


class PanelMaker(QObject):
    """Imports the panels' modules on a thread, then makes one panel each turn of the event loop.

    A panel that takes long has a method `fill`, a generator that gives way after each part: told not to be
    `whole`, it is made with nothing in it, put into its place, and filled there in as many turns. What grows
    in its place is also styled only once.
    """

    made = Signal(str, QWidget)
    """A panel, perhaps with nothing in it yet, is to be put into its place."""
    finished = Signal()

    _imported = Signal()

    def __init__(self, session: Session, registry: ActionRegistry, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self._registry = registry
        self.panels: dict[str, QWidget] = {}
        self._filling: QWidget | None = None
        self._parts: Iterator[None] = iter(())
        # A timer, since calls that are queued while others are delivered come in the same turn.
        self._turn = QTimer(self)
        self._turn.setInterval(0)
        self._turn.setSingleShot(True)  # what fails is not tried again
        self._turn.timeout.connect(self._go_on)
        self._imported.connect(self._turn.start, Qt.ConnectionType.QueuedConnection)

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

    def _go_on(self) -> None:
        """What one turn of the loop does: make a panel, or a part of one, or tell that all are there."""
        if self.complete:
            self._registry.show_icons()
            self.finished.emit()
            return
        if self._filling is None:
            self._make_next()
        elif next(self._parts, _ALL) is _ALL:
            self.panels[PANELS[len(self.panels)][0]] = self._filling
            self._filling = None
        self._turn.start()

    def _make_next(self) -> None:
        place, module, name = PANELS[len(self.panels)]
        kind: Any = getattr(importlib.import_module(module), name)
        if hasattr(kind, "fill"):
            panel = kind(self._session, self._registry, whole=False)
            self._filling, self._parts = panel, panel.fill()
        else:
            self.panels[place] = panel = kind(self._session, self._registry)
        self.made.emit(place, panel)
