"""The heat map of score gaps as a file: SVG and PNG for a paper, CSV of the figures shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.analysis.gap_formats import as_csv, as_svg
from banana100_core.errors import BananaError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from banana100_core.analysis.gaps import Gap

FILE_TYPES = "Vector graphics (*.svg);;Picture (*.png);;Figures (*.csv)"
PNG_SCALE = 2.0


def save_gaps(found: Sequence[Gap], path: Path) -> None:
    """Write the gaps as the file's suffix says; BananaError for another suffix or an unwritable place."""
    match path.suffix.lower():
        case ".svg":
            data = as_svg(found).encode("utf-8")
        case ".png":
            data = _as_png(as_svg(found))
        case ".csv":
            data = as_csv(found).encode("utf-8")
        case suffix:
            raise BananaError(f"{path.name} can't be written as “{suffix}”. Name a .svg, .png or .csv file.")
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BananaError(f"{path} can't be written: {error.strerror}. Choose another place.") from error


def _as_png(svg: str) -> bytes:
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QImage, QImageWriter, QPainter
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(QByteArray(svg.encode("utf-8")))
    image = QImage(renderer.defaultSize() * PNG_SCALE, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())
