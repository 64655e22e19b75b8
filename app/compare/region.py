"""Measuring a rectangle of each picture on screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.compare.region_view import Measured, RegionView
from banana100_core.imaging.statistics import region_statistics

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.actions import ActionRegistry
    from app.compare.content import PaneImage
    from app.compare.panes import Panes
    from app.compare.viewport import Region
    from app.session import Session


def measured(image: PaneImage, name: str, region: Region) -> Measured | None:
    """Measure a rectangle of a picture at full size, if it is decoded; a second's work for a large one."""
    if image.pyramid is None or image.size is None:
        return None
    bounds = region.pixels(image.size)
    rgb = image.pyramid.levels[0][bounds.top : bounds.bottom, bounds.left : bounds.right]
    sides = bounds.right - bounds.left, bounds.bottom - bounds.top
    return Measured(name, sides, region_statistics(rgb))


class RegionMeter(QObject):
    """Keeps the figures of a rectangle up to date; measures off the UI thread, one time after another."""

    def __init__(self, session: Session, registry: ActionRegistry, panes: Panes, parent: QWidget) -> None:
        super().__init__(parent)
        self._session = session
        self._panes = panes
        self._action = registry.qaction("view.measure")
        self._region: Region | None = None
        self._name: Callable[[int], str] = str
        self._working = self._again = False
        self.view = RegionView()
        self.view.hide()
        panes.measured.connect(self.measure)
        registry.connect("view.measure", lambda on: self.measure(panes.right.visible_region if on else None))
        registry.connect("view.zoom_region", self._zoom)

    def measure(self, region: Region | None) -> None:
        """Measure a rectangle from now on, or none."""
        self._region = region
        self._panes.set_region(region)
        self.view.setVisible(region is not None)
        self._action.setChecked(region is not None)
        self._read()

    def read(self, name: Callable[[int], str]) -> None:
        """Measure again, because other pictures are shown; `name` tells what that of a pane is called."""
        self._name = name
        self._read()

    def _read(self) -> None:
        region = self._region
        if region is None or self._session.project is None:
            self._working = self._again = False
            return
        if self._working:
            self._again = True
            return
        panes = self._panes
        wanted = [
            (panes.images[pane], self._name(pane), region.moved(*panes.canvases[pane].offset))
            for pane in panes.comparison.compared
        ]
        self._working = True

        def work() -> list[Measured]:
            found = [measured(*each) for each in wanted]
            return [each for each in found if each is not None]

        self._session.in_background(work, self._take, self._end_measuring, once=True)

    def _take(self, found: list[Measured]) -> None:
        self.view.show_measured(found)
        self._end_measuring()

    def _end_measuring(self) -> None:
        again, self._working, self._again = self._again, False, False
        if again:
            self._read()

    def _zoom(self) -> None:
        if self._region is not None:
            self._panes.right.zoom_to(self._region)
