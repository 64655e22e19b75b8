"""Agreement as CSV: figures by failure mode and level, the confusion of pairs of annotators, and the runs."""

from __future__ import annotations

import csv
import io
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from banana100_core.analysis.agreement import Agreement, Figures


class Part(StrEnum):
    """What of an agreement is written."""

    FIGURES = "figures"
    CONFUSION = "confusion"
    RUNS = "runs"


def as_csv(found: Agreement, part: Part = Part.FIGURES, within: Sequence[int] = (0, 1, 2)) -> str:
    """The figures of an agreement, or another part of it; nothing where a figure is not defined.

    `within` are the numbers of steps for which the share of onsets is written that are no further apart.
    """
    rows = {Part.FIGURES: lambda: _figures(found, within), Part.CONFUSION: lambda: _confusion(found)}
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(rows.get(part, lambda: _runs(found))())
    return stream.getvalue()


def _figures(found: Agreement, within: Sequence[int]) -> Iterator[Iterable[object]]:
    pairs = sorted({(kappa.one, kappa.other) for row in found.modes for kappa in row.kappas})
    yield (
        *("failure_mode", "name", "level", "runs", "alpha_presence", "alpha_extent", "mean_kappa"),
        *(f"kappa {one} {other}" for one, other in pairs),
        *("onset_pairs", "onset_mean", "onset_median", *(f"onset_within_{steps}" for steps in within)),
        *("regions", "iou_mean", "iou_median"),
    )
    for row in (*found.modes, *found.levels):
        kappas = {(kappa.one, kappa.other): kappa.kappa for kappa in row.kappas}
        yield (
            *("" if row in found.levels else row.key, row.name, row.level, row.runs),
            *(row.alpha_presence, row.alpha_extent, row.mean_kappa),
            *(kappas.get(pair) for pair in pairs),
            *_onset(row, within),
            *((row.overlap.count, row.overlap.mean, row.overlap.median) if row.overlap else (0, "", "")),
        )


def _onset(row: Figures, within: Sequence[int]) -> Iterable[object]:
    if row.onset is None:
        return (0, "", "", *("" for _ in within))
    shares = (row.onset.share_within(steps) for steps in within)
    return (row.onset.count, row.onset.mean, row.onset.median, *shares)


def _confusion(found: Agreement) -> Iterator[Iterable[object]]:
    yield ("annotator", "failure_mode", "other_annotator", "other_failure_mode", "runs")
    for pair in found.pairs:
        for cell in pair.cells:
            yield (pair.one, cell.one, pair.other, cell.other, cell.runs)


def _runs(found: Agreement) -> Iterator[Iterable[object]]:
    yield (
        "run_id",
        "initial_image",
        "model",
        "protocol",
        "repeat",
        "disagreement",
        "first_step",
        "annotators",
    )
    for run in found.by_run:
        yield (
            *(run.run_id, run.initial_image, run.model, run.protocol, run.repeat),
            *(run.disagreement, run.first_step, "; ".join(run.annotators)),
        )
