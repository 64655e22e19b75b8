"""Two panes for a reference and the current step: side by side, wiped, or as their difference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.compare.canvas import Backdrop, Canvas, LinkedView
from app.compare.content import Content, Difference, One, PaneImage, Wipe
from banana100_core.imaging.comparison import DifferenceMode

if TYPE_CHECKING:
    from app.compare.header import PaneHeader

GAINS = (1, 2, 4, 6, 8, 16, 32)


class Mode(StrEnum):
    """How two pictures are compared."""

    SIDE_BY_SIDE = "side-by-side"
    WIPE = "wipe"
    DIFFERENCE = "difference"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mode and what is set in each; the paper's residual view is a signed difference with a gain of 6."""

    mode: Mode = Mode.SIDE_BY_SIDE
    divider: float = 0.5
    difference: DifferenceMode = DifferenceMode.SIGNED
    gain: int = 6

    def with_gain(self, steps: int) -> Comparison:
        """The same with a gain some stops higher or lower."""
        place = min(max(GAINS.index(self.gain) + steps, 0), len(GAINS) - 1)
        return replace(self, gain=GAINS[place])


class Panes(QWidget):
    """The reference left and the current step right; one canvas where one is laid over the other."""

    hovered = Signal(object)
    """The place under the cursor as (x, y) parts of the pictures' sides, or None."""
    view_changed = Signal()
    comparison_changed = Signal()

    def __init__(self, left_header: PaneHeader, right_header: PaneHeader) -> None:
        super().__init__()
        self._link = LinkedView(self)
        self._left_link = LinkedView(self)  # the left pane's own, while the panes are not linked
        self.left, self.right = Canvas(self._link), Canvas(self._link)
        self.left.setAccessibleName("Reference")
        self.right.setAccessibleName("Current step")
        self._reference = self._current = PaneImage()
        self._comparison = Comparison()
        self._flipped = False
        for canvas, other in ((self.left, self.right), (self.right, self.left)):
            canvas.hovered.connect(self.hovered)
            canvas.hovered.connect(other.set_marker)
            canvas.resized.connect(self.view_changed)
        self.right.divider_moved.connect(self._keep_divider)
        self._link.changed.connect(self.view_changed)
        self._left_link.changed.connect(self.view_changed)

        headers = QHBoxLayout()
        headers.setSpacing(1)
        headers.addWidget(left_header, 1)
        headers.addWidget(right_header, 1)
        canvases = QHBoxLayout()
        canvases.setSpacing(1)
        canvases.addWidget(self.left, 1)
        canvases.addWidget(self.right, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(headers)
        layout.addLayout(canvases, 1)

    @property
    def comparison(self) -> Comparison:
        """How the two are compared."""
        return self._comparison

    @property
    def images(self) -> tuple[PaneImage, PaneImage]:
        """Reference and current picture."""
        return self._reference, self._current

    @property
    def flipped(self) -> bool:
        """Whether the reference is shown in place of the current step."""
        return self._flipped

    @property
    def linked(self) -> bool:
        """Whether both panes look at the same place."""
        return self.left.link is self._link

    @property
    def scale(self) -> float | None:
        """Device pixels per pixel of the current picture."""
        return self.right.scale

    @property
    def fitted(self) -> bool:
        """Whether whole pictures are shown."""
        return self._link.view.zoom is None

    def show_images(self, reference: PaneImage, current: PaneImage) -> None:
        """Show other pictures at the same place and zoom."""
        self._reference, self._current = reference, current
        self._show()
        self.view_changed.emit()

    def compare(self, comparison: Comparison) -> None:
        """Compare in another way."""
        if comparison != self._comparison:
            self._comparison = comparison
            self.left.setVisible(comparison.mode is Mode.SIDE_BY_SIDE)
            self._show()
            self.comparison_changed.emit()

    def flip(self, *, on: bool) -> None:
        """Show the reference in place of the current step, or end that."""
        self._flipped = on
        self._show()

    def link(self, *, on: bool) -> None:
        """Let both panes look at the same place, that of the right one; or each at its own."""
        if not on:
            self._left_link.view = self._link.view
        self.left.follow(self._link if on else self._left_link)
        self.view_changed.emit()

    def set_backdrop(self, backdrop: Backdrop) -> None:
        """Choose what lies around the pictures."""
        for canvas in (self.left, self.right):
            canvas.set_backdrop(backdrop)

    def fit(self) -> None:
        """Show whole pictures."""
        self._active.fit()

    def actual_size(self) -> None:
        """Show one pixel of the picture on each device pixel."""
        self._active.actual_size()

    def zoom_in(self) -> None:
        """Zoom to the next larger stop."""
        self._active.zoom_in()

    def zoom_out(self) -> None:
        """Zoom to the next smaller stop."""
        self._active.zoom_out()

    def pan(self, right: float, down: float) -> None:
        """Look further right and down, by parts of the pane."""
        self._active.pan(right, down)

    def move_divider(self, by: float) -> None:
        """Move the divider of a wipe to the right, by a part of the pane."""
        divider = min(max(self._comparison.divider + by, 0.0), 1.0)
        self.compare(replace(self._comparison, divider=divider))

    @property
    def _active(self) -> Canvas:
        """The canvas that zoom by keyboard acts on; it matters while they are not linked."""
        return self.left if self.left.hasFocus() and self.left.isVisible() else self.right

    def _show(self) -> None:
        self.left.show_content(One(self._reference))
        self.right.show_content(One(self._reference) if self._flipped else self._content())

    def _content(self) -> Content:
        comparison = self._comparison
        match comparison.mode:
            case Mode.SIDE_BY_SIDE:
                return One(self._current)
            case Mode.WIPE:
                return Wipe(self._reference, self._current, comparison.divider)
            case Mode.DIFFERENCE:
                return Difference(
                    self._reference, self._current, comparison.difference, float(comparison.gain)
                )

    def _keep_divider(self, divider: float) -> None:
        self._comparison = replace(self._comparison, divider=divider)
