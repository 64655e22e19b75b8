"""The initial images of the study, to tick; pictures can be dropped on the list."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDragMoveEvent, QDropEvent, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from app import theme
from app.elided import MIDDLE
from app.tooltips import plain_tip

if TYPE_CHECKING:
    from app.thumbnails import Thumbnails
    from banana100_core.project.records import Image, InitialImage

THUMBNAIL = 40
ROWS = 5


class ImageList(QListWidget):
    """The initial images, to tick; files can be dropped on it."""

    files_dropped = Signal(list)

    def __init__(self, thumbnails: Thumbnails) -> None:
        super().__init__()
        self._thumbnails = thumbnails
        self._thumbnails.thumbnail_ready.connect(self._show_thumbnail)
        self.known: dict[str, Image] = {}
        self.setAccessibleName("Initial images")
        self.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.setUniformItemSizes(True)
        self.setTextElideMode(MIDDLE)
        self.setAcceptDrops(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._fit()

    @property
    def ticked(self) -> tuple[str, ...]:
        """Names of those ticked."""
        items = [self.item(row) for row in range(self.count())]
        return tuple(name_of(item) for item in items if item.checkState() == Qt.CheckState.Checked)

    def show_images(self, initial: list[InitialImage], choose: tuple[str, ...]) -> bool:
        """Show images, those ticked before and those of `choose` ticked; False when nothing is new."""
        known = {each.name: each.image for each in initial}
        if known == self.known and not choose:
            return False
        ticked = {*self.ticked, *choose}
        self.known = known
        with QSignalBlocker(self):
            self.clear()
            for each in initial:
                self.addItem(_item(each, ticked=each.name in ticked))
            self._fit()
        for sha256 in dict.fromkeys(image.sha256 for image in known.values()):
            self._show_thumbnail(sha256)
        return True

    def _fit(self) -> None:
        """Take the height of the images, of five at most."""
        self.setFixedHeight(min(max(self.count(), 1), ROWS) * (THUMBNAIL + theme.GRID))

    def _show_thumbnail(self, sha256: str) -> None:
        names = {name for name, image in self.known.items() if image.sha256 == sha256}
        pixmap = self._thumbnails.pixmap(sha256) if names else None
        if pixmap is None:
            return
        with QSignalBlocker(self):
            for row in range(self.count()):
                item = self.item(row)
                if name_of(item) in names:
                    item.setIcon(QIcon(pixmap))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Say what to do while there is nothing."""
        super().paintEvent(event)
        if self.count() == 0:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.colours().muted))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, "Drop pictures here")
            painter.end()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Let files come in."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Let them be dropped anywhere."""
        event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Hand the files on."""
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            self.files_dropped.emit(files)
            event.acceptProposedAction()


def name_of(item: QListWidgetItem) -> str:
    """The name of the initial image that a line shows."""
    name: str = item.data(Qt.ItemDataRole.UserRole)
    return name


def _item(each: InitialImage, *, ticked: bool) -> QListWidgetItem:
    item = QListWidgetItem(f"{each.name}\n{each.image.width} × {each.image.height}")
    item.setData(Qt.ItemDataRole.UserRole, each.name)
    item.setSizeHint(QSize(0, THUMBNAIL + theme.GRID))
    item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
    item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
    item.setToolTip(plain_tip("\n".join(part for part in (each.name, each.credit) if part)))
    return item
