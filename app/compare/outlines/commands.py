"""The actions that concern regions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from banana100_core.project.records import RegionKind

if TYPE_CHECKING:
    from app.actions import ActionRegistry
    from app.compare.outlines.tool import RegionTool

_DRAW = {RegionKind.BOX: "tag.draw_box", RegionKind.POLYGON: "tag.draw_polygon"}


class RegionCommands:
    """Does what the actions ask, and shows whether something is being drawn."""

    def __init__(self, registry: ActionRegistry, tool: RegionTool) -> None:
        self._registry = registry
        self._tool = tool
        for kind, key in _DRAW.items():
            registry.connect(key, partial(self._draw, kind))
        registry.connect("tag.box_here", lambda: tool.draw_here(RegionKind.BOX))
        registry.connect("tag.copy_regions", tool.copy_on)
        registry.connect("tag.delete_region", tool.delete)
        registry.connect("view.outlines", lambda on: tool.show(on=on))
        tool.changed.connect(self._follow)
        self._follow()

    def _draw(self, kind: RegionKind, on: bool) -> None:
        if not on:
            self._tool.cancel()
        elif not self._tool.begin(kind):
            self._follow()

    def _follow(self) -> None:
        for kind, key in _DRAW.items():
            self._registry.qaction(key).setChecked(self._tool.drawing is kind)
        self._registry.qaction("view.outlines").setChecked(self._tool.shown)
