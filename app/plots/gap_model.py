"""Score gaps as a table: what each cell shows, its colour, its figures and its run."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app import theme
from app.plots.look import contrast
from app.tooltips import plain_tip
from banana100_core.analysis.gap_formats import FULL_COLOUR_AT
from banana100_core.analysis.gaps import GAP_STEPS, Gap, GapSummary, Spread, summarise
from banana100_core.catalog.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
Row = tuple[str, str, str]  # initial image, model, protocol

_FAILURE = {False: "#1f62ac", True: "#4c93e6"}  # by whether the theme is dark


class GapTable:
    """Gaps of a project by equal runs and metric; of a metric with several method versions, one is shown."""

    def __init__(self, found: Sequence[Gap], ready: Mapping[str, str] | None = None) -> None:
        """`ready` gives the method version to prefer for a metric; otherwise the commonest is shown."""
        versions: dict[str, Counter[str]] = defaultdict(Counter)
        for gap in found:
            versions[gap.metric][gap.method_version] += 1
        self.versions = {
            metric: max(known, key=lambda version: (known[version], version))
            for metric, known in versions.items()
        }
        self.versions |= {
            metric: version
            for metric, version in (ready or {}).items()
            if version in versions.get(metric, ())
        }
        self.version_counts = {metric: len(known) for metric, known in versions.items()}
        self.shown = shown = [gap for gap in found if self.versions[gap.metric] == gap.method_version]
        self.repeats: dict[tuple[Row, str], list[Gap]] = defaultdict(list)
        for gap in shown:
            self.repeats[(gap.initial_image, gap.model, gap.protocol), gap.metric].append(gap)
        self.cells: dict[tuple[Row, str], GapSummary] = {
            ((each.initial_image, each.model, each.protocol), each.metric): each for each in summarise(shown)
        }
        known = {metric for (_, metric), each in self.cells.items() if any(each.deltas.values())}
        self.columns = [key for key in metrics() if key in known]
        self.rows = list(dict.fromkeys(row for row, metric in self.cells if metric in known))

    @property
    def last_step(self) -> int | None:
        """The last step of which there is a gap."""
        steps = {step for each in self.cells.values() for step, delta in each.deltas.items() if delta}
        return max(steps, default=None)

    def row_title(self, row: Row) -> str:
        """The initial image, and the model and protocol where the rows differ in them."""
        image, *others = row
        return " · ".join(
            [
                image,
                *(
                    name
                    for place, name in enumerate(others, 1)
                    if len({each[place] for each in self.rows}) > 1
                ),
            ]
        )


class GapModel(QAbstractTableModel):
    """The table at one step, or the counts of failures."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._table = GapTable(())
        self._step: int | None = GAP_STEPS[-1]

    @property
    def table(self) -> GapTable:
        """What is shown."""
        return self._table

    def show(self, table: GapTable) -> None:
        """Show another table; cells are only painted anew while rows and columns stay."""
        same = table.rows == self._table.rows and table.columns == self._table.columns
        if not same:
            self.beginResetModel()
        self._table = table
        if not same:
            self.endResetModel()
        else:
            self.colours_changed()

    def show_step(self, step: int | None) -> None:
        """Show the gaps at a step, or with None the counts of failures."""
        self._step = step
        self.colours_changed()

    def colours_changed(self) -> None:
        """Paint all cells anew."""
        if self._table.rows:
            last = self.index(len(self._table.rows) - 1, len(self._table.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def run_at(self, index: Index, current: int | None) -> tuple[Gap, int] | None:
        """The run that a cell leads to, the current one if it is among them, and the step to look at."""
        found = self._table.repeats.get(self._key(index), [])
        step = self._step or self._telling_step(index)
        there = [gap for gap in found if gap.deltas.get(step) is not None]
        if not there:
            return None
        return next((gap for gap in there if gap.run_id == current), there[0]), step

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give the number of rows."""
        return 0 if parent.isValid() else len(self._table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give the number of metrics with gaps."""
        return 0 if parent.isValid() else len(self._table.columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own signature
        """Give metrics across and initial images down."""
        if orientation == Qt.Orientation.Vertical:
            title = self._table.row_title(self._table.rows[section])
            tip = "\n".join(self._table.rows[section])
        else:
            key = self._table.columns[section]
            title = metrics()[key].title
            tip = f"{title}\n{self._table.versions[key]}"
            if self._table.version_counts[key] > 1:
                tip += f"\n1 of {self._table.version_counts[key]} method versions"
        if role == Role.ToolTipRole:
            return plain_tip(tip)
        return title if role == Role.DisplayRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:  # noqa: ANN401 - Qt's own signature
        """Give a cell's text, colours and figures."""
        summary = self._table.cells.get(self._key(index))
        give: dict[int, Callable[[], object]] = {
            Role.DisplayRole: lambda: self._text(summary),
            Role.BackgroundRole: lambda: self._colour(summary),
            Role.ForegroundRole: lambda: self._ink(summary),
            Role.ToolTipRole: lambda: plain_tip(self._figures(index, summary)),
            Role.TextAlignmentRole: lambda: Qt.AlignmentFlag.AlignCenter,
        }
        return give[role]() if role in give else None

    def _key(self, index: Index) -> tuple[Row, str]:
        return self._table.rows[index.row()], self._table.columns[index.column()]

    def _text(self, summary: GapSummary | None) -> str:
        if self._step is None:
            return str(summary.failures) if summary and any(summary.deltas.values()) else "–"
        delta = summary.deltas[self._step] if summary else None
        return "–" if delta is None else f"{delta.mean:+.1f}"

    def _colour(self, summary: GapSummary | None) -> QColor:
        shown = theme.colours()
        surface = QColor(shown.field)
        if summary is None:
            return surface
        failure = QColor(_FAILURE[theme.is_dark()])
        if self._step is None:
            return _mixed(surface, failure, summary.failures / len(GAP_STEPS))
        delta = summary.deltas[self._step]
        if delta is None:
            return surface
        share = min(1.0, abs(delta.mean) / FULL_COLOUR_AT)
        if delta.mean > 0:
            # Even a small failure is one, and must be told from none.
            return _mixed(surface, failure, 0.15 + 0.85 * share)
        return _mixed(surface, QColor(shown.selected), share)

    def _ink(self, summary: GapSummary | None) -> QColor:
        ground = self._colour(summary)
        inks = QColor("#ffffff"), QColor("#1c1c1c")
        if self._text(summary) == "–":
            return QColor(theme.colours().muted)
        return max(inks, key=lambda ink: contrast(ink, ground))

    def _figures(self, index: Index, summary: GapSummary | None) -> str:
        row, key = self._key(index)
        lines = [f"{metrics()[key].title}, {' · '.join(row)}"]
        if summary is None:
            return "\n".join([*lines, "Not scored."])
        lines += [f"Δ{step}: {_in_words(summary.deltas[step])}" for step in GAP_STEPS]
        lines.append(f"Failures: {summary.failures} of {len(GAP_STEPS)}")
        repeats = self._table.repeats[row, key]
        if len(repeats) > 1 and self._step is not None:
            each = (_of_repeat(gap, self._step) for gap in repeats)
            lines.append(f"Δ{self._step} of each repeat: {', '.join(each)}")
        return "\n".join(lines)

    def _telling_step(self, index: Index) -> int:
        """Where counts are shown: the first step that fails, else the last that has a gap."""
        summary = self._table.cells.get(self._key(index))
        if summary is None:
            return GAP_STEPS[-1]
        known = {step: delta.mean for step, delta in summary.deltas.items() if delta is not None}
        failing = [step for step, mean in known.items() if mean > 0]
        return failing[0] if failing else max(known, default=GAP_STEPS[-1])


def _in_words(delta: Spread | None) -> str:
    if delta is None:
        return "no score"
    sd = "" if delta.sd is None else f" ± {delta.sd:.2f}"
    return f"{delta.mean:+.2f}{sd} ({delta.repeats} {'repeat' if delta.repeats == 1 else 'repeats'})"


def _of_repeat(gap: Gap, step: int) -> str:
    delta = gap.deltas[step]
    return f"r{gap.repeat} {'no score' if delta is None else f'{delta:+.2f}'}"


def _mixed(one: QColor, other: QColor, share: float) -> QColor:
    return QColor(
        round(one.red() + (other.red() - one.red()) * share),
        round(one.green() + (other.green() - one.green()) * share),
        round(one.blue() + (other.blue() - one.blue()) * share),
    )
