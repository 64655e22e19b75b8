"""Draw the program's icon in all sizes: python packaging/icons.py OUT

Leaves OUT/<side>.png for each side, banana100.ico for Windows and banana100.icns for macOS.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SOURCE = Path(__file__).parents[1] / "resources" / "icons" / "banana100.svg"
SIDES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
ICO_SIDES = (16, 24, 32, 48, 64, 128, 256)


def draw(renderer: QSvgRenderer, side: int) -> Image.Image:
    """Draw the icon at one size from its vectors, so that small ones stay sharp."""
    canvas = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    canvas.fill(Qt.GlobalColor.transparent)
    painter = QPainter(canvas)
    renderer.render(painter, QRectF(0, 0, side, side))
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    canvas.save(buffer, "PNG")
    return Image.open(io.BytesIO(bytes(buffer.data().data()))).convert("RGBA")


def main(out: Path) -> None:
    """Write all sizes and the two containers."""
    out.mkdir(parents=True, exist_ok=True)
    renderer = QSvgRenderer(str(SOURCE))
    if not renderer.isValid():
        sys.exit(f"{SOURCE} is not a picture that can be drawn.")
    pictures = {side: draw(renderer, side) for side in SIDES}
    for side, picture in pictures.items():
        picture.save(out / f"{side}.png")
    pictures[256].save(
        out / "banana100.ico",
        sizes=[(side, side) for side in ICO_SIDES],
        append_images=[pictures[side] for side in ICO_SIDES],
    )
    pictures[512].save(out / "banana100.icns", append_images=[pictures[side] for side in SIDES])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
