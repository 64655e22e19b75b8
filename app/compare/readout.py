"""The line under the panes: the pixel under the cursor in both pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontDatabase, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import theme
from app.compare.painting import pixel_at
from app.compare.viewport import pixel_under

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from app.compare.content import PaneImage

HEIGHT = 3 * theme.GRID
_SWATCH = theme.GRID + theme.GRID // 2


@dataclass(frozen=True, slots=True)
class Reading:
    """A pixel of one pane's picture."""

    name: str
    column: int
    row: int
    rgb: tuple[int, int, int]

    @property
    def text(self) -> str:
        """Where it is and what it is."""
        red, green, blue = self.rgb
        return f"{self.name}  {self.column:>5}, {self.row:<5}  rgb {red:>3} {green:>3} {blue:>3}"


def read_pixel(image: PaneImage, name: str, place: tuple[float, float] | None) -> Reading | None:
    """The pixel of a picture at a place given as parts of its sides, if it is decoded."""
    if place is None or image.pyramid is None or image.size is None:
        return None
    pixel = pixel_under(*place, image.size)
    return None if pixel is None else Reading(name, *pixel, pixel_at(image.pyramid, *pixel))


def change_text(readings: list[Reading]) -> str:
    """How the second of two pixels differs from the first."""
    if len(readings) != 2:
        return ""
    changes = [after - before for before, after in zip(readings[0].rgb, readings[1].rgb, strict=True)]
    return "Δ " + " ".join(f"{change:>+4}" if change else "   0" for change in changes)


class Readout(QWidget):
    """Readings with a swatch of their colour, and a note at the right end."""

    def __init__(self) -> None:
        super().__init__()
        self._readings: list[Reading] = []
        self._note = ""
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        fixed.setPointSizeF(max(7.0, self.font().pointSizeF() - 1))
        self._digits = fixed
        theme.notifier().theme_changed.connect(self.update)

    @property
    def text(self) -> str:
        """All that is said."""
        parts = [*(reading.text for reading in self._readings), change_text(self._readings), self._note]
        return "   ".join(part for part in parts if part)

    def show_readings(self, readings: list[Reading]) -> None:
        """Show the pixels under the cursor; none when it is on no picture."""
        if readings != self._readings:
            self._readings = readings
            self.setAccessibleDescription(self.text)
            self.update()

    def show_note(self, note: str) -> None:
        """Say something about the comparison."""
        if note != self._note:
            self._note = note
            self.update()

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(40 * theme.GRID, HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw swatches, figures and the note."""
        colours = theme.colours()
        painter = QPainter(self)
        x = theme.GRID
        note_width = painter.fontMetrics().horizontalAdvance(self._note) if self._note else 0
        painter.setFont(self._digits)
        for reading in self._readings:
            swatch = QRect(x, (HEIGHT - _SWATCH) // 2, _SWATCH, _SWATCH)
            painter.fillRect(swatch, QColor(*reading.rgb))
            painter.setPen(QColor(colours.line))
            painter.drawRect(swatch.adjusted(0, 0, -1, -1))
            x = self._draw_text(painter, reading.text, x + _SWATCH + theme.GRID, colours.text)
        change = change_text(self._readings)
        if change:
            x = self._draw_text(painter, change, x, colours.muted)
        if not self._readings:
            painter.setFont(self.font())
            hint = "Wheel zooms, drag pans, double click changes between fit and 1:1"
            x = self._draw_text(painter, hint, theme.GRID, colours.muted)
        if self._note and self.width() - note_width - theme.GRID > x:
            painter.setFont(self.font())
            painter.setPen(QColor(colours.warning))
            room = self.rect().adjusted(0, 0, -theme.GRID, 0)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, self._note)

    def _draw_text(self, painter: QPainter, text: str, x: int, colour: str) -> int:
        """Draw at x and return where to go on."""
        width = painter.fontMetrics().horizontalAdvance(text)
        painter.setPen(QColor(colour))
        painter.drawText(QRect(x, 0, width + 2, HEIGHT), Qt.AlignmentFlag.AlignVCenter, text)
        return x + width + 3 * theme.GRID
