"""The list of metrics: what is shown, how each curve looks, what can't score and why; and a metric's card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QAbstractListModel,
    QIdentityProxyModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QIcon
from PySide6.QtWidgets import QFrame, QLabel, QListView, QVBoxLayout, QWidget

from app import theme
from app.plots.look import SWATCH, Look, look, swatch
from app.plots.words import arrow, direction
from app.tooltips import plain_tip
from banana100_core.catalog.metrics import Metric, metrics
from banana100_core.scoring.native.score import NATIVE_METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from banana100_core.scoring.methods import MetricStatus

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole

_FETCH = "Choose it in the list to fetch its weights."


class MetricModel(QAbstractListModel):
    """All metrics of the catalog, those chosen ticked; at the end, greyed, what has no scores."""

    chosen_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._metrics = list(metrics().values())
        self._places = {each.key: place for place, each in enumerate(self._metrics)}
        # The metrics that every installation scores with get the looks that differ most.
        first = sorted(self._places, key=lambda key: key not in NATIVE_METRICS)
        self._looks = {key: place for place, key in enumerate(first)}
        self._swatches: dict[str, QIcon] = {}
        self._chosen: set[str] = set()
        self._scored: set[str] = set()
        self._statuses: Mapping[str, MetricStatus] = {}

    @property
    def chosen(self) -> tuple[str, ...]:
        """Keys of the ticked metrics, in the catalog's order."""
        return tuple(key for key in self._places if key in self._chosen)

    def choose(self, keys: Iterable[str]) -> None:
        """Tick these metrics and no others."""
        wanted = {key for key in keys if key in metrics()}
        if wanted != self._chosen:
            self._chosen = wanted
            self._tell(Role.CheckStateRole)
            self.chosen_changed.emit()

    def set_statuses(self, statuses: Mapping[str, MetricStatus]) -> None:
        """Say which metrics can score here."""
        self._statuses = statuses
        self._sort()

    def add_scored(self, keys: Iterable[str]) -> None:
        """Say that these have scores in the project: they can be shown whatever this machine can do."""
        new = set(keys) - self._scored
        if new:
            self._scored |= new
            self._sort()

    def forget_scored(self) -> None:
        """Forget which metrics have scores: another project is shown."""
        self._scored.clear()
        self._sort()

    def look_changed(self) -> None:
        """Paint the swatches anew, in the colours of the theme."""
        self._swatches.clear()
        self._tell()

    def metric_at(self, row: int) -> Metric:
        """The metric of a row."""
        return self._metrics[row]

    def look_of(self, key: str) -> Look:
        """How a metric's curve looks, wherever its row is."""
        return look(self._looks[key])

    def row_of(self, key: str) -> int:
        """The row of a metric."""
        return next(row for row, each in enumerate(self._metrics) if each.key == key)

    def usable(self, key: str) -> bool:
        """Whether there is something to show: scores, or a metric that can score."""
        status = self._statuses.get(key)
        return key in self._scored or status is None or status.method_version is not None

    def status(self, key: str) -> MetricStatus | None:
        """Where a metric stands; None until that is known."""
        return self._statuses.get(key)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give the number of metrics."""
        return 0 if parent.isValid() else len(self._metrics)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Greyed rows can be reached, for their reason and their card, but not ticked."""
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        if self.usable(self._metrics[index.row()].key):
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own signature
        """Give title with direction, swatch, tick and tooltip."""
        each = self._metrics[index.row()]
        give: dict[int, Callable[[], object]] = {
            Role.DisplayRole: lambda: f"{each.title} {arrow(each)}",
            Role.DecorationRole: lambda: self._swatch(each.key),
            Role.CheckStateRole: lambda: self._tick(each.key),
            Role.ToolTipRole: lambda: plain_tip(self._tip(each)),
            Role.ForegroundRole: lambda: None if self.usable(each.key) else QColor(theme.colours().disabled),
            Role.AccessibleTextRole: lambda: f"{each.title}, {direction(each)}",
        }
        return give[role]() if role in give else None

    def setData(self, index: Index, value: object, role: int = Role.EditRole) -> bool:
        """Tick or untick a metric."""
        if role != Role.CheckStateRole:
            return False
        key = self._metrics[index.row()].key
        if Qt.CheckState(value) == Qt.CheckState.Checked:
            self._chosen.add(key)
        else:
            self._chosen.discard(key)
        self.dataChanged.emit(index, index, [Role.CheckStateRole])
        self.chosen_changed.emit()
        return True

    def _swatch(self, key: str) -> QIcon:
        if key not in self._swatches:
            self._swatches[key] = swatch(self.look_of(key))
        return self._swatches[key]

    def _tick(self, key: str) -> Qt.CheckState | None:
        if key in self._chosen:
            return Qt.CheckState.Checked
        return Qt.CheckState.Unchecked if self.usable(key) else None

    def _tip(self, each: Metric) -> str:
        lines = [f"{each.title}: {direction(each)}, typical range {each.low:g} to {each.high:g}"]
        status = self._statuses.get(each.key)
        if status is not None and status.method_version is None:
            lines += [status.reason, _FETCH if status.fetchable else status.way_out]
        lines.append("Right click for its card.")
        return "\n".join(line for line in lines if line)

    def _sort(self) -> None:
        """Put what can be shown first, since the list is the legend too."""
        order = sorted(
            metrics().values(), key=lambda each: (not self.usable(each.key), self._places[each.key])
        )
        if order == self._metrics:
            self._tell()
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        keys = [self._metrics[index.row()].key for index in before]
        self._metrics = order
        self.changePersistentIndexList(before, [self.index(self.row_of(key)) for key in keys])
        self.layoutChanged.emit()

    def _tell(self, *roles: int) -> None:
        self.dataChanged.emit(self.index(0), self.index(len(self._metrics) - 1), list(roles))


class WithoutTicks(QIdentityProxyModel):
    """The metrics for a box in which one is chosen: a tick would mean nothing there."""

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own signature
        """Give what the metrics give, but no tick and no swatch."""
        if role in {Role.CheckStateRole, Role.DecorationRole}:
            return None
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Leave out that a row can be ticked; one that can't be ticked can't be chosen either."""
        flags = super().flags(index)
        if not flags & Qt.ItemFlag.ItemIsUserCheckable:
            return flags & ~Qt.ItemFlag.ItemIsEnabled
        return flags & ~Qt.ItemFlag.ItemIsUserCheckable


class MetricList(QListView):
    """Chooser and legend in one; a right click or the menu key shows the card."""

    def __init__(self, model: MetricModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._metrics = model
        self.setModel(model)
        self.setAccessibleName("Metrics")
        self.setIconSize(SWATCH)
        self.setUniformItemSizes(True)
        self.setSpacing(0)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_card)

    def _show_card(self, place: QPoint) -> None:
        index = self.indexAt(place)
        if not index.isValid():
            index = self.currentIndex()
        if index.isValid():
            card = MetricCard(self._metrics, self._metrics.metric_at(index.row()).key, self)
            card.popup(self.viewport().mapToGlobal(place))


class MetricCard(QFrame):
    """What a metric measures, its range and direction, its paper, and what Banana100 found of it."""

    def __init__(self, model: MetricModel, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("metric_card")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setFixedWidth(47 * theme.GRID)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*(2 * theme.GRID,) * 4)
        layout.setSpacing(theme.GRID // 2)
        each = metrics()[key]
        self._add(each.title, bold=True)
        self._add(each.measures)
        self._section("Typical range", f"{each.low:g} to {each.high:g}, {direction(each)}. {each.range_note}")
        self._section("Paper", each.paper)
        self._section("What Banana100 found", each.finding)
        if each.smallest_side > 1:
            self._section("Smallest picture", f"{each.smallest_side} pixels a side")
        status = model.status(key)
        if status is not None:
            ready = f"Ready ({status.backend}, {status.method_version})"
            here = _FETCH if status.fetchable else ""
            missing = " ".join(part for part in (status.reason, here, status.way_out) if part)
            self._section("On this computer", ready if status.method_version else missing)

    def popup(self, place: QPoint) -> None:
        """Show the card at a place on the screen, wholly on it."""
        layout = self.layout()
        if layout is not None:  # wrapped labels ask for more height than they need at this width
            self.setFixedHeight(layout.totalHeightForWidth(self.width()))
        room = self.screen().availableGeometry()
        x = max(room.left(), min(place.x(), room.right() - self.width()))
        y = max(room.top(), min(place.y(), room.bottom() - self.height()))
        self.move(x, y)
        self.show()

    def text(self) -> str:
        """All that the card says."""
        return "\n".join(label.text() for label in self.findChildren(QLabel))

    def _section(self, heading: str, text: str) -> None:
        label = self._add(heading)
        label.setContentsMargins(0, theme.GRID // 2, 0, 0)
        palette = label.palette()
        palette.setColor(label.foregroundRole(), QColor(theme.colours().muted))
        label.setPalette(palette)
        self._add(text.strip())

    def _add(self, text: str, *, bold: bool = False) -> QLabel:
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        if bold:
            font = QFont(label.font())
            font.setBold(True)
            label.setFont(font)
        layout = self.layout()
        assert layout is not None  # noqa: S101 - set by our own constructor
        layout.addWidget(label)
        return label
