"""One, two or four panes with one view: side by side, wiped, blinking, or as a difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.compare.canvas import Canvas
from app.compare.content import Content, Difference, One, PaneImage, Shades, Wipe
from app.compare.looking import LinkedView
from app.compare.rules import CURRENT_PANE, PANE_COUNT
from app.compare.turns import Turn
from banana100_core.imaging.comparison import DifferenceMode
from banana100_core.imaging.look import Look

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.compare.header import PaneHeader
    from app.compare.surroundings import Backdrop
    from app.compare.viewport import Region

GAINS = (1, 2, 4, 6, 8, 16, 32)
COUNTS = (1, 2, 4)
BLINKS = (1, 2, 3, 5, 8)
"""Changes a second that can be chosen; slower than what can set off a seizure only up to 3."""

_NAMES = ("Reference", "Current step", "Third pane", "Fourth pane")


class Mode(StrEnum):
    """How pictures are compared."""

    SIDE_BY_SIDE = "side-by-side"
    WIPE = "wipe"
    BLINK = "blink"
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mode and what is set in each; the paper's residual view is a signed difference with a gain of 6.

    All modes but side by side compare the first pane's picture with the second's.
    """

    mode: Mode = Mode.SIDE_BY_SIDE
    count: int = 2
    divider: float = 0.5
    blinks: int = 2
    difference: DifferenceMode = DifferenceMode.SIGNED
    shades: Shades = Shades.CHANNELS
    gain: int = 6

    def with_gain(self, stops: int) -> Comparison:
        """The same with a gain some stops higher or lower."""
        place = min(max(GAINS.index(self.gain) + stops, 0), len(GAINS) - 1)
        return replace(self, gain=GAINS[place])

    @property
    def shown(self) -> tuple[int, ...]:
        """The panes on screen."""
        if self.mode is not Mode.SIDE_BY_SIDE or self.count == 1:
            return (CURRENT_PANE,)
        return tuple(range(self.count))

    @property
    def compared(self) -> tuple[int, ...]:
        """The panes whose pictures are on screen, one over the other or each in its place."""
        return self.shown if self.mode is Mode.SIDE_BY_SIDE else (0, CURRENT_PANE)


class Panes(QWidget):
    """Up to four canvases in a grid; a single one where one picture is laid over the other."""

    hovered = Signal(object)
    """The place under the cursor as (x, y) parts of the pictures' sides, or None."""
    view_changed = Signal()
    comparison_changed = Signal()
    measured = Signal(object)
    """A Region of all pictures is to be measured, or None to end that."""

    def __init__(self, headers: tuple[PaneHeader, ...]) -> None:
        super().__init__()
        self._link = LinkedView(self)
        self._headers = headers
        self.canvases = tuple(Canvas(self._link) for _ in range(PANE_COUNT))
        self._links = [LinkedView(self) for _ in self.canvases]  # each one's own, while they are not linked
        self.turns = [Turn()] * PANE_COUNT
        self._images = [PaneImage()] * PANE_COUNT
        self._names = [""] * PANE_COUNT
        self._comparison = Comparison()
        self._look = Look()
        self._flipped = self._blinked = False
        self._flip_map: Callable[[PaneImage, PaneImage], PaneImage | None] = lambda _one, _other: None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._blink)
        for canvas, name in zip(self.canvases, _NAMES, strict=True):
            canvas.setAccessibleName(name)
            canvas.hovered.connect(self._take_place)
            canvas.resized.connect(self.view_changed)
            canvas.measured.connect(self.measured)
        self.right.divider_moved.connect(self._keep_divider)
        for link in (self._link, *self._links):
            link.changed.connect(self.view_changed)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(1)
        self._grid.setVerticalSpacing(0)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1)
        self._arrange()

    # What is shown

    @property
    def left(self) -> Canvas:
        """The canvas of the reference."""
        return self.canvases[0]

    @property
    def right(self) -> Canvas:
        """The canvas of the current step, and of all modes but side by side."""
        return self.canvases[CURRENT_PANE]

    @property
    def comparison(self) -> Comparison:
        """How pictures are compared."""
        return self._comparison

    @property
    def images(self) -> tuple[PaneImage, ...]:
        """The pictures of all panes, on screen or not, the reference first and the current one second."""
        return tuple(self._images)

    @property
    def look(self) -> Look:
        """How pictures are looked at."""
        return self._look

    @property
    def flipped(self) -> bool:
        """Whether the reference is shown in place of the current step."""
        return self._flipped

    @property
    def active(self) -> int:
        """The pane that has the focus, else that of the current step."""
        shown = self._comparison.shown
        return next((pane for pane in shown if self.canvases[pane].hasFocus()), CURRENT_PANE)

    def make_flip_maps(self, make: Callable[[PaneImage, PaneImage], PaneImage | None]) -> None:
        """Say where error maps of FLIP come from."""
        self._flip_map = make

    def show_images(self, *images: PaneImage, names: tuple[str, ...] = ()) -> None:
        """Show other pictures at the same place and zoom, the reference first."""
        self._images[: len(images)] = images
        self._names[: len(names)] = names
        self._show()
        self.view_changed.emit()

    def compare(self, comparison: Comparison) -> None:
        """Compare in another way."""
        if comparison == self._comparison:
            return
        rearranged = comparison.shown != self._comparison.shown or comparison.mode != self._comparison.mode
        self._comparison = comparison
        if rearranged:
            self._arrange()
        self._blinked = False
        self._timer.stop()
        if comparison.mode is Mode.BLINK:
            self._timer.start(1000 // comparison.blinks)
        self._show()
        self.comparison_changed.emit()

    def look_through(self, look: Look) -> None:
        """Show all pictures with another look."""
        if look != self._look:
            self._look = look
            self._show()
            self.comparison_changed.emit()

    def flip(self, *, on: bool) -> None:
        """Show the reference in place of the current step, or end that."""
        self._flipped = on
        self._show()

    def hold_blink(self, *, on: bool) -> None:
        """Show the current step alone while something is edited on it, or blink again."""
        if self._comparison.mode is not Mode.BLINK or on is not self._timer.isActive():
            return
        if on:
            self._timer.stop()
            self._blinked = False
            self._show()
        else:
            self._timer.start(1000 // self._comparison.blinks)

    def refresh(self) -> None:
        """Show what has become known, as an error map."""
        self._show()

    def set_backdrop(self, backdrop: Backdrop) -> None:
        """Choose what lies around the pictures."""
        for canvas in self.canvases:
            canvas.set_backdrop(backdrop)

    def set_loupe(self, *, on: bool) -> None:
        """Enlarge what is under the cursor in all panes."""
        for canvas in self.canvases:
            canvas.set_loupe(on=on)

    def set_region(self, region: Region | None) -> None:
        """Outline a rectangle in all panes."""
        for canvas in self.canvases:
            canvas.set_region(region)

    # Zoom and position

    @property
    def linked(self) -> bool:
        """Whether all panes look at the same place."""
        return self.left.link is self._link

    @property
    def aligned(self) -> bool:
        """Whether no pane keeps an offset from the others."""
        return all(canvas.offset == (0.0, 0.0) for canvas in self.canvases)

    @property
    def scale(self) -> float | None:
        """Device pixels per pixel of the current picture."""
        return self.right.scale

    @property
    def needs_halves(self) -> bool:
        """Whether a picture on screen is drawn from its level of halves."""
        return any(map(self._needs_halves, self._comparison.compared))

    def _needs_halves(self, pane: int) -> bool:
        canvas = self.canvases[pane if pane in self._comparison.shown else CURRENT_PANE]
        size, over, scale = self._images[pane].size, canvas.shown_size, canvas.scale
        return size is not None and over is not None and 0.25 < (scale or 1) * over.width / size.width <= 0.5

    @property
    def fitted(self) -> bool:
        """Whether whole pictures are shown."""
        return self._link.view.zoom is None

    @property
    def active_canvas(self) -> Canvas:
        """The canvas that the keyboard acts on; for zoom it matters while they are not linked."""
        return self.canvases[self.active]

    def link(self, *, on: bool) -> None:
        """Let all panes look at the same place, that of the current one; or each at its own."""
        for pane, canvas in enumerate(self.canvases):
            self._links[pane].view = self._link.view
            canvas.follow(self._link if on or pane == CURRENT_PANE else self._links[pane])
        self.view_changed.emit()

    def align(self) -> None:
        """Let all panes look at exactly the same place again."""
        for canvas in self.canvases:
            canvas.set_offset((0.0, 0.0))

    def move_divider(self, by: float) -> None:
        """Move the divider of a wipe to the right, by a part of the pane."""
        divider = min(max(self._comparison.divider + by, 0.0), 1.0)
        self.compare(replace(self._comparison, divider=divider))

    # Inside

    def _arrange(self) -> None:
        """Put the panes on screen into the grid: headers above canvases, two in a row."""
        comparison = self._comparison
        shown, named = comparison.shown, comparison.compared
        for pane, (header, canvas) in enumerate(zip(self._headers, self.canvases, strict=True)):
            row, column = 2 * (pane // 2), pane % 2
            alone = shown == (pane,)
            self._grid.addWidget(
                header, row, 0 if named == (pane,) else column, 1, 2 if named == (pane,) else 1
            )
            self._grid.addWidget(canvas, row + 1, 0 if alone else column, 1, 2 if alone else 1)
            header.setVisible(pane in named)
            canvas.setVisible(pane in shown)
            if pane % 2 == 0:
                self._grid.setRowStretch(row + 1, 1 if {pane, pane + 1} & set(shown) else 0)

    def _show(self) -> None:
        for pane in self._comparison.shown:
            self.canvases[pane].show_content(self._content(pane))

    def _content(self, pane: int) -> Content:
        comparison, look = self._comparison, self._look
        reference, current = self._images[0], self._images[CURRENT_PANE]
        if pane != CURRENT_PANE:
            return One(self._images[pane], look)
        if self._flipped:
            return One(reference, look, self._names[0])
        match comparison.mode:
            case Mode.SIDE_BY_SIDE:
                return One(current, look)
            case Mode.WIPE:
                return Wipe(reference, current, comparison.divider, look)
            case Mode.BLINK:
                shown = 0 if self._blinked else CURRENT_PANE
                return One(self._images[shown], look, self._names[shown])
            case Mode.DIFFERENCE:
                kind = comparison.difference
                flip = self._flip_map(reference, current) if kind is DifferenceMode.FLIP else None
                gain = float(comparison.gain)
                return Difference(reference, current, kind, gain, comparison.shades, look.channel, flip)

    def _blink(self) -> None:
        self._blinked = not self._blinked
        self._show()

    def _take_place(self, place: tuple[float, float] | None) -> None:
        for canvas in self.canvases:
            canvas.set_marker(place)
        self.hovered.emit(place)

    def _keep_divider(self, divider: float) -> None:
        self._comparison = replace(self._comparison, divider=divider)
