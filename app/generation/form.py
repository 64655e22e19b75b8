"""The form of a new plan: initial images, editor, protocol, steps, repeats, seed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QColor, QDragEnterEvent, QDragMoveEvent, QDropEvent, QIcon, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.notifications import plain_label
from app.thumbnails import Thumbnails
from app.tooltips import plain_tip
from banana100_core.catalog.models import EditorModel, editor_models
from banana100_core.catalog.protocols import protocols

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.project.records import Image, InitialImage

THUMBNAIL = 40
ROWS = 5
STEPS = 20
REPEATS = 2
IMAGE_FILES = "Pictures (*.png *.jpg *.jpeg *.webp *.tif *.tiff *.bmp *.gif);;All files (*)"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the form says; a seed of None leaves every step to chance."""

    images: tuple[str, ...]
    provider: str
    model: str
    protocol: str
    steps: int
    repeats: int
    seed: int | None


class PlanForm(QWidget):
    """Asks for all that a plan needs."""

    changed = Signal()
    files_chosen = Signal(list)

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = Thumbnails.of(session)
        self._thumbnails.thumbnail_ready.connect(self._show_thumbnail)
        self._known: dict[str, Image] = {}
        self.images = _ImageList()
        self.images.itemChanged.connect(lambda _item: self.changed.emit())
        self.images.files_dropped.connect(self.files_chosen)
        self.add = QPushButton("Add files…")
        self.add.setIcon(theme.icon("plus"))
        self.add.clicked.connect(self._ask_files)
        self.editor = QComboBox()
        for model in editor_models():
            self.editor.addItem(model.title, model)
        self.editor_note = plain_label(muted=True, wrap=True)
        self.protocol = QComboBox()
        for key, protocol in protocols().items():
            self.protocol.addItem(protocol.title, key)
            self.protocol.setItemData(
                self.protocol.count() - 1, plain_tip(protocol.note), Qt.ItemDataRole.ToolTipRole
            )
        self.steps = _number(1, 1000, STEPS)
        self.repeats = _number(1, 100, REPEATS)
        self.repeats.setToolTip("Runs of each image; mean and standard deviation are taken over them")
        self.seed = _number(-1, 2_000_000_000, 1)
        self.seed.setSpecialValueText("none")
        self.seed.setToolTip(
            "The first repeat's seed; each further one has the next. Below 0: left to chance"
        )
        self._lay_out()
        for box in (self.editor, self.protocol):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.currentIndexChanged.connect(lambda _row: self._tell())
        for field in (self.steps, self.repeats, self.seed):
            field.valueChanged.connect(lambda _value: self._tell())
        self._tell()

    @property
    def model(self) -> EditorModel:
        """The editor chosen."""
        chosen: EditorModel = self.editor.currentData()
        return chosen

    @property
    def known(self) -> dict[str, Image]:
        """The project's initial images by name."""
        return self._known

    def wishes(self) -> Wishes:
        """What the form says now."""
        items = [self.images.item(row) for row in range(self.images.count())]
        chosen = tuple(_name(item) for item in items if item.checkState() == Qt.CheckState.Checked)
        seed = self.seed.value()
        return Wishes(
            chosen,
            self.model.provider,
            self.model.key,
            self.protocol.currentData(),
            self.steps.value(),
            self.repeats.value(),
            None if seed < 0 else seed,
        )

    def show_images(self, initial: list[InitialImage], *, choose: tuple[str, ...] = ()) -> None:
        """Show the project's initial images, those ticked before and those of `choose` ticked."""
        ticked = {*self.wishes().images, *choose}
        known = {each.name: each.image for each in initial}
        if known == self._known and not choose:
            return
        self._known = known
        with QSignalBlocker(self.images):
            self._fill(initial, ticked)
        for sha256 in dict.fromkeys(image.sha256 for image in known.values()):
            self._show_thumbnail(sha256)
        self.changed.emit()

    def _fill(self, initial: list[InitialImage], ticked: set[str]) -> None:
        self.images.clear()
        for each in initial:
            item = QListWidgetItem(f"{each.name}\n{each.image.width} × {each.image.height}")
            item.setData(Qt.ItemDataRole.UserRole, each.name)
            item.setSizeHint(QSize(0, THUMBNAIL + theme.GRID))
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if each.name in ticked else Qt.CheckState.Unchecked)
            item.setToolTip(plain_tip("\n".join(part for part in (each.name, each.credit) if part)))
            self.images.addItem(item)
        self.images.fit()

    def _lay_out(self) -> None:
        half = theme.GRID // 2
        head = QHBoxLayout()
        head.addWidget(plain_label("Initial images", muted=True), 1)
        head.addWidget(self.add)
        numbers = QGridLayout()
        numbers.setHorizontalSpacing(theme.GRID)
        numbers.setVerticalSpacing(half)
        fields = (("Steps", self.steps), ("Repeats", self.repeats), ("Seed", self.seed))
        for column, (name, field) in enumerate(fields):
            field.setAccessibleName(name)
            numbers.addWidget(plain_label(name, muted=True), 0, column)
            numbers.addWidget(field, 1, column)
            numbers.setColumnStretch(column, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(half)
        layout.addLayout(head)
        layout.addWidget(self.images)
        layout.addSpacing(theme.GRID)
        for name, box in (("Editor", self.editor), ("Protocol", self.protocol)):
            box.setAccessibleName(name)
            layout.addWidget(plain_label(name, muted=True))
            layout.addWidget(box)
            if box is self.editor:
                layout.addWidget(self.editor_note)
            layout.addSpacing(theme.GRID)
        layout.addLayout(numbers)

    def _tell(self) -> None:
        self.editor_note.setText(self.model.note)
        self.changed.emit()

    def _ask_files(self) -> None:
        names, _filter = QFileDialog.getOpenFileNames(self, "Add initial images", "", IMAGE_FILES)
        if names:
            self.files_chosen.emit([Path(name) for name in names])

    def _show_thumbnail(self, sha256: str) -> None:
        names = {name for name, image in self._known.items() if image.sha256 == sha256}
        if not names:
            return
        pixmap = self._thumbnails.pixmap(sha256)
        if pixmap is None:
            return
        with QSignalBlocker(self.images):
            for row in range(self.images.count()):
                item = self.images.item(row)
                if _name(item) in names:
                    item.setIcon(QIcon(pixmap))


class _ImageList(QListWidget):
    """The initial images, to tick; files can be dropped on it."""

    files_dropped = Signal(list)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Initial images")
        self.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.setUniformItemSizes(True)
        self.setAcceptDrops(True)
        self.fit()
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def fit(self) -> None:
        """Take the height of the images, of five at most."""
        self.setFixedHeight(min(max(self.count(), 1), ROWS) * (THUMBNAIL + theme.GRID))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.count() == 0:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.colours().muted))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, "Drop pictures here")
            painter.end()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            self.files_dropped.emit(files)
            event.acceptProposedAction()


def _number(low: int, high: int, value: int) -> QSpinBox:
    field = QSpinBox()
    field.setRange(low, high)
    field.setValue(value)
    field.setMinimumWidth(6 * theme.GRID)
    field.lineEdit().setTextMargins(theme.GRID // 2, 0, 0, 0)
    return field


def _name(item: QListWidgetItem) -> str:
    name: str = item.data(Qt.ItemDataRole.UserRole)
    return name
