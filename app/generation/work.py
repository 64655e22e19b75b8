"""The runs in work: newest picture, how far, and why one stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app import theme
from app.elided import RIGHT, shortened
from app.tooltips import plain_tip
from banana100_core.catalog.models import editor_models
from banana100_core.project.records import Run, RunState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.thumbnails import Thumbnails

Index = QModelIndex | QPersistentModelIndex
RUN_ROLE = Qt.ItemDataRole.UserRole
THUMBNAIL = 48


class WorkModel(QAbstractListModel):
    """Runs to show, in the order in which they are made."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs: list[Run] = []

    @property
    def runs(self) -> list[Run]:
        """The runs shown."""
        return list(self._runs)

    def show(self, runs: Sequence[Run]) -> None:
        """Show these runs; rows that stay are only painted anew where something changed."""
        if [run.id for run in runs] != [run.id for run in self._runs]:
            self.beginResetModel()
            self._runs = list(runs)
            self.endResetModel()
            return
        for row, run in enumerate(runs):
            if run != self._runs[row]:
                self._runs[row] = run
                self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give the number of runs."""
        return 0 if parent.isValid() else len(self._runs)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own
        """Give a run, and its words for tooltips and screen readers."""
        run = self._runs[index.row()]
        if role == RUN_ROLE:
            return run
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{title(run)}, {state(run)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{title(run)}\n{model_title(run)}\n{state(run)}")
        return None


class WorkView(QListView):
    """The list; a double click looks at the run."""

    def __init__(self, model: WorkModel, thumbnails: Thumbnails, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(_RunDelegate(thumbnails, self))
        self.setAccessibleName("Runs in work")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(16 * theme.GRID)
        thumbnails.thumbnail_ready.connect(lambda _sha256: self.viewport().update())


class _RunDelegate(QStyledItemDelegate):
    def __init__(self, thumbnails: Thumbnails, parent: QObject) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self._newest: dict[int, QPixmap] = {}

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(20 * theme.GRID, THUMBNAIL + theme.GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        run: Run = index.data(RUN_ROLE)
        shown = theme.colours()
        room: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if option.state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            painter.fillRect(room, QColor(shown.hover))
        half = theme.GRID // 2
        frame = QRect(room.left() + half, room.top() + half, THUMBNAIL, THUMBNAIL)
        self._paint_picture(painter, frame, run)
        left = frame.right() + theme.GRID
        width = room.right() - left - half
        metrics = painter.fontMetrics()
        line = metrics.height()
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(shown.text))
        painter.drawText(left, frame.top(), width, line, middle, shortened(metrics, title(run), width))
        troubled = run.state is RunState.STOPPED
        painter.setPen(QColor(shown.error if troubled else shown.muted))
        words = metrics.elidedText(f"{state(run)} · {model_title(run)}", RIGHT, width)
        painter.drawText(left, frame.top() + line, width, line, middle, words)
        self._paint_bar(painter, QRect(left, frame.bottom() - 4, width, 4), run)
        painter.restore()

    def _paint_picture(self, painter: QPainter, frame: QRect, run: Run) -> None:
        sha256 = run.last_sha256 or run.initial_sha256
        pixmap = self._thumbnails.pixmap(sha256) if sha256 else None
        if pixmap is not None:
            self._newest[run.id] = pixmap
        pixmap = self._newest.get(run.id)  # the one before, until the newest has come
        if pixmap is None:
            painter.fillRect(frame, QColor(theme.colours().line))
            return
        size = pixmap.size().scaled(frame.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRect(frame.topLeft(), size)
        place.moveCenter(frame.center())
        painter.drawPixmap(place, pixmap)

    def _paint_bar(self, painter: QPainter, place: QRect, run: Run) -> None:
        shown = theme.colours()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(shown.line))
        painter.drawRoundedRect(place, 2, 2)
        share = run.steps_done / run.steps_planned if run.steps_planned else 0
        if share:
            place.setWidth(max(4, round(place.width() * min(1.0, share))))
            live = run.state in {RunState.PLANNED, RunState.DONE}
            painter.setBrush(QColor(shown.accent if live else shown.muted))
            painter.drawRoundedRect(place, 2, 2)


def title(run: Run) -> str:
    """Name a run by its image and repeat."""
    return f"{run.initial_image} · r{run.repeat}"


def model_title(run: Run) -> str:
    """What made the run's steps, as the catalog names it."""
    known = (model for model in editor_models() if (model.provider, model.key) == (run.provider, run.model))
    found = next(known, None)
    return found.title if found else run.model


def state(run: Run) -> str:
    """How far a run is, and why it goes no further."""
    steps = f"{run.steps_done} of {run.steps_planned} steps"
    failed = f", {run.steps_failed} failed" if run.steps_failed else ""
    match run.state:
        case RunState.DONE:
            return f"Done, {run.steps_done} steps{failed}"
        case RunState.STOPPED:
            return f"Stopped at {steps}: {run.state_reason}"
        case RunState.CANCELLED:
            return f"Cancelled at {steps}"
        case RunState.PLANNED:
            return f"{steps}{failed}"
