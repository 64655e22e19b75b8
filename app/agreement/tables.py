"""Tables of an agreement: figures, the confusion of two annotators, runs by disagreement."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor

from app import theme
from app.blinding import NO_MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtCore import QObject

    from app.blinding import Blinding
    from banana100_core.analysis.agreement import Agreement, Figures
    from banana100_core.analysis.confusion import PairConfusion

_Index = QModelIndex | QPersistentModelIndex
NOTHING_SEEN = "nothing"

FIGURE_HEADINGS = (
    ("Failure mode", ""),
    ("Runs", "Runs of two annotators or more in which somebody saw it"),
    ("α presence", "Krippendorff's alpha, nominal; each run is a unit"),
    ("α extent", "Krippendorff's alpha, nominal; each step of each run is a unit"),
    ("κ", "Cohen's kappa of presence, the mean over pairs of annotators"),
    ("Onset apart", "Mean difference of onsets, in steps, where both saw it"),
    ("Median", "Median difference of onsets, in steps"),
    ("Within ±k", "Share of onsets at most k steps apart"),
    ("IoU", "Mean intersection over union of regions at steps where both drew"),
)
RUN_HEADINGS = (
    ("Run", ""),
    ("Disagreement", "0: the same failure modes at the same steps; 1: none in common"),
    ("From step", "The first step at which annotators don't say the same"),
    ("Annotators", ""),
)


class TextTable(QAbstractTableModel):
    """Rows of words under headings, each with a tip; `shades` colour cells from 0 to 1."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.headings: Sequence[tuple[str, str]] = ()
        self.side: Sequence[str] = ()
        self.rows: list[Sequence[str]] = []
        self._shades: list[Sequence[float]] = []

    def show_rows(
        self,
        headings: Sequence[tuple[str, str]],
        rows: Sequence[Sequence[str]],
        side: Sequence[str] = (),
        shades: Sequence[Sequence[float]] = (),
    ) -> None:
        """Show other rows; `side` are headings of rows."""
        self.beginResetModel()
        self.headings, self.side, self.rows, self._shades = headings, side, list(rows), list(shades)
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        """The number of rows."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: ARG002, B008 - as Qt has it
        """The number of columns."""
        return len(self.headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> object:
        """The headings and their tips."""
        if orientation is Qt.Orientation.Vertical:
            shown = role == Qt.ItemDataRole.DisplayRole and section < len(self.side)
            return self.side[section] if shown else None
        if role == Qt.ItemDataRole.TextAlignmentRole and section == 0 and not self._shades:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        title, tip = self.headings[section]
        return {Qt.ItemDataRole.DisplayRole: title, Qt.ItemDataRole.ToolTipRole: tip or None}.get(
            Qt.ItemDataRole(role)
        )

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """The words of a cell, its place and its shade."""
        if role == Qt.ItemDataRole.DisplayRole:
            return self.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and (self._shades or index.column() > 0):
            return Qt.AlignmentFlag.AlignCenter
        if role == Qt.ItemDataRole.BackgroundRole and self._shades:
            shade = self._shades[index.row()][index.column()]
            colour = QColor(theme.colours().accent)
            colour.setAlphaF(0.65 * shade)
            return colour if shade else None
        return None


def figure_rows(found: Agreement, within: int) -> list[Sequence[str]]:
    """A row for each failure mode, then one for each level."""
    return [
        *(_figures(row, row.name, within) for row in found.modes),
        *(_figures(row, f"All of level {row.name}", within) for row in found.levels),
    ]


def confusion_rows(
    pair: PairConfusion, names: Mapping[str, str]
) -> tuple[list[str], list[list[str]], list[list[float]]]:
    """Names of what was seen, runs by what the first saw (rows) and the second saw (columns), and shades."""
    keys = [*pair.modes, ""]
    titles = [names.get(key, key) or NOTHING_SEEN for key in keys]
    counts = [[pair.count(one, other) for other in keys] for one in keys]
    most = max((count for row in counts for count in row), default=0) or 1
    return (
        titles,
        [[f"{count:,}" if count else "" for count in row] for row in counts],
        [[count / most for count in row] for row in counts],
    )


def told(found: Agreement, blinding: Blinding) -> Agreement:
    """The agreement without what is hidden: names of models, numbers of steps."""
    runs = tuple(
        replace(
            run,
            model=NO_MODEL if blinding.models else run.model,
            first_step=None if blinding.steps else run.first_step,
        )
        for run in found.by_run
    )
    return replace(found, by_run=runs)


def run_rows(found: Agreement) -> list[Sequence[str]]:
    """A row for each run of two annotators or more, the most disputed first."""
    return [
        (
            " · ".join([run.initial_image, run.protocol, run.model, f"r{run.repeat}"]),
            f"{run.disagreement:.2f}",
            "" if run.first_step is None else str(run.first_step),
            ", ".join(run.annotators),
        )
        for run in found.by_run
    ]


def _figures(row: Figures, name: str, within: int) -> Sequence[str]:
    onset, overlap = row.onset, row.overlap
    return (
        name,
        f"{row.runs:,}",
        _number(row.alpha_presence),
        _number(row.alpha_extent),
        _number(row.mean_kappa),
        "–" if onset is None else f"{onset.mean:.1f}",
        "–" if onset is None else f"{onset.median:g}",
        "–" if onset is None else f"{onset.share_within(within):.0%}",
        "–" if overlap is None else f"{overlap.mean:.2f}",
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
