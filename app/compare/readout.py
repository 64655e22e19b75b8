"""The line under the panes: the pixel under the cursor in all pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontDatabase, QFontMetrics, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.compare.painting import pixel_at
from app.compare.viewport import pixel_under
from banana100_core.imaging.colour_spaces import delta_e_2000, to_lab

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from app.compare.content import PaneImage

HEIGHT = 3 * theme.GRID
_SWATCH = theme.GRID + theme.GRID // 2
_GAP = 2 * theme.GRID
_NO_CHANGE = " " * len("ΔE 100.0")
_LETTERS_OF_TWO = 2 * len("step 100  12345, 12345 rgb 255 255 255Lab 100.0 -99.9 -99.9") + len(
    "ΔE 100.0Δ +255 +255 +255"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """A pixel of one pane's picture."""

    name: str
    column: int
    row: int
    rgb: tuple[int, int, int]

    @property
    def lab(self) -> tuple[float, float, float]:
        """Its colour in CIE L*a*b*."""
        light, a, b = to_lab(np.array(self.rgb, np.uint8)).tolist()
        return light, a, b

    @property
    def text(self) -> str:
        """Where it is and what it is."""
        red, green, blue = self.rgb
        return f"{self.name}  {self.column:>5}, {self.row:<5} rgb {red:>3} {green:>3} {blue:>3}"

    @property
    def lab_text(self) -> str:
        """The same colour in CIE L*a*b*."""
        light, a, b = self.lab
        return f"Lab {light:>5.1f} {a:>5.1f} {b:>5.1f}"


def read_pixel(image: PaneImage, name: str, place: tuple[float, float] | None) -> Reading | None:
    """The pixel of a picture at a place given as parts of its sides, if it is decoded."""
    if place is None or image.pyramid is None or image.size is None:
        return None
    pixel = pixel_under(*place, image.size)
    return None if pixel is None else Reading(name, *pixel, pixel_at(image.pyramid, *pixel))


def change_texts(reference: Reading, reading: Reading) -> tuple[str, str]:
    """How a pixel differs from that of the reference: CIEDE2000, and the values."""
    changes = [after - before for before, after in zip(reference.rgb, reading.rgb, strict=True)]
    values = " ".join(f"{change:>+4}" if change else "   0" for change in changes)
    return f"ΔE {float(delta_e_2000(reference.lab, reading.lab)):>5.1f}", f"Δ {values}"


class Readout(QWidget):
    """Readings with a swatch of their colour, and a note at the right end."""

    def __init__(self) -> None:
        super().__init__()
        self._readings: list[Reading] = []
        self._note = ""
        self._count = self._lines = 1
        self._line = HEIGHT
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPointSizeF(max(7.0, self.font().pointSizeF() - 1))
        self._digits = fixed
        theme.notifier().theme_changed.connect(self.update)

    @property
    def text(self) -> str:
        """All that is said."""
        parts = [part for reading in self._readings for part in self._parts(reading)] + [self._note]
        return "   ".join(part for part in parts if part.strip())

    def _parts(self, reading: Reading) -> list[str]:
        """What is said of a pixel and, of all but the first, how it differs from it; what counts most first.

        Where each has a line of its own, figures stand below each other.
        """
        reference = self._readings[0]
        length = max(len(each.name) for each in self._readings)
        text = replace(reading, name=reading.name.ljust(length)).text
        if reading is reference:
            return [text, *([_NO_CHANGE] if self._lines > 1 else []), reading.lab_text]
        colours, values = change_texts(reference, reading)
        return [text, colours, reading.lab_text, values]

    def show_readings(self, readings: list[Reading]) -> None:
        """Show the pixels under the cursor, the reference first; none when it is on no picture."""
        if readings != self._readings:
            self._readings = readings
            self.setAccessibleDescription(self.text)
            self.update()

    def set_panes(self, count: int) -> None:
        """Have room for so many pixels: two fit side by side, more get a line each."""
        self._count = count
        self._make_room()

    def resizeEvent(self, _event: QResizeEvent) -> None:
        """Give each pixel a line of its own where two don't fit side by side."""
        self._make_room()

    def _make_room(self) -> None:
        letters = _LETTERS_OF_TWO * QFontMetrics(self._digits).horizontalAdvance("0")
        room = theme.GRID + 2 * (_SWATCH + theme.GRID) + letters + 6 * (_GAP + 2)
        self._lines = self._count if self._count > 2 or self.width() < room else 1
        self._line = HEIGHT if self._lines <= 2 else max(2 * theme.GRID, QFontMetrics(self._digits).height())
        self.setFixedHeight(self._line * self._lines)

    def show_note(self, note: str) -> None:
        """Say something about the comparison."""
        if note != self._note:
            self._note = note
            self.update()

    def sizeHint(self) -> QSize:
        """As high as its lines."""
        return QSize(40 * theme.GRID, self.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw swatches, figures and the note."""
        colours = theme.colours()
        painter = QPainter(self)
        x = theme.GRID
        note_width = painter.fontMetrics().horizontalAdvance(self._note) if self._note else 0
        painter.setFont(self._digits)
        for place, reading in enumerate(self._readings):
            top = 0
            if self._lines > 1:
                x, top = theme.GRID, place * self._line
            swatch = QRect(x, top + (self._line - _SWATCH) // 2, _SWATCH, _SWATCH)
            painter.fillRect(swatch, QColor(colours.line))
            painter.fillRect(swatch.adjusted(1, 1, -1, -1), QColor(*reading.rgb))
            x += _SWATCH + theme.GRID
            for part in self._parts(reading):
                if x + painter.fontMetrics().horizontalAdvance(part) > self.width():
                    break  # a figure that is cut is taken for another
                x = self._draw_text(painter, part, x, colours.muted if "Δ" in part else colours.text, top)
        if not self._readings:
            painter.setFont(self.font())
            hint = "Wheel zooms · drag pans, Ctrl drag one pane · Shift drag zooms · right drag measures"
            right = self.width() - 2 * theme.GRID
            hint = painter.fontMetrics().elidedText(hint, Qt.TextElideMode.ElideRight, right)
            x = self._draw_text(painter, hint, theme.GRID, colours.muted)
        if self._note and self.width() - note_width - theme.GRID > x:
            painter.setFont(self.font())
            painter.setPen(QColor(colours.warning))
            room = QRect(0, 0, self.width() - theme.GRID, self._line)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._note)

    def _draw_text(self, painter: QPainter, text: str, x: int, colour: str, top: int = 0) -> int:
        """Draw at x and return where to go on."""
        width = painter.fontMetrics().horizontalAdvance(text)
        painter.setPen(QColor(colour))
        painter.drawText(QRect(x, top, width + 2, self._line), Qt.AlignmentFlag.AlignVCenter, text)
        return x + width + _GAP
