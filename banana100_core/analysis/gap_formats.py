"""Gaps as CSV, as JSON and as the paper's heat maps in SVG."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from banana100_core.analysis.gaps import GAP_STEPS, Gap, GapSummary, summarise
from banana100_core.catalog.metrics import metrics as catalog_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Row = tuple[str, str, str]  # initial image, model, protocol
    Column = tuple[str, str]  # metric, method version
    CellOf = Callable[[GapSummary], tuple[str, str]]  # fill and label

COLUMNS = ("run_id", "initial_image", "model", "protocol", "repeat", "metric", "method_version")
FULL_COLOUR_AT = 30.0  # points; larger gaps have the same colour
_FAILURE_RGB = (31, 98, 172)  # blue, as in the paper
_SUCCESS_RGB = (196, 190, 182)  # a quiet grey: what one should expect
_NO_CELL = ("#ffffff", "–")
_CELL, _COLUMN_LABEL, _TITLE, _PAD = 44, 96, 32, 24
_LETTER = 7  # pixels that a letter takes at most, on the average of a word


def as_csv(found: Sequence[Gap]) -> str:
    """One row a run and method; the columns of the view `score_gaps`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*COLUMNS, *(f"delta_{step}" for step in GAP_STEPS), "failures"])
    for gap in found:
        known = [getattr(gap, column) for column in COLUMNS]
        writer.writerow([*known, *(gap.deltas[step] for step in GAP_STEPS), gap.failures])
    return out.getvalue()


def as_json(found: Sequence[Gap]) -> str:
    """The gaps of every run, and their mean and standard deviation over repeats."""
    runs = [
        {column: getattr(gap, column) for column in COLUMNS}
        | {f"delta_{step}": gap.deltas[step] for step in GAP_STEPS}
        | {"failures": gap.failures}
        for gap in found
    ]
    summaries = []
    for summary in summarise(found):
        row = asdict(summary)
        deltas = row.pop("deltas")
        summaries.append(row | {f"delta_{step}": deltas[step] for step in GAP_STEPS})
    return json.dumps({"gaps": runs, "summaries": summaries}, indent=2, ensure_ascii=False) + "\n"


def as_svg(found: Sequence[Gap]) -> str:
    """Four heat maps side by side: Δ5, Δ10, Δ20 and the count of failures.

    Metrics go across, initial images down; a cell is the mean over repeats. Positive gaps, failures of the
    metric, are blue. The paper's figures 5 and 6.
    """
    summaries = summarise(found)
    rows = list(dict.fromkeys((s.initial_image, s.model, s.protocol) for s in summaries))
    columns = list(dict.fromkeys((s.metric, s.method_version) for s in summaries))
    cells = {((s.initial_image, s.model, s.protocol), (s.metric, s.method_version)): s for s in summaries}
    labels = {row: _row_label(row, rows) for row in rows}
    beside = 8 + _LETTER * max(map(len, labels.values()), default=0)
    panel_width = beside + _CELL * len(columns)
    height = _PAD * 2 + _TITLE + _CELL * len(rows) + _COLUMN_LABEL
    panels: list[tuple[str, CellOf]] = [
        *((f"Δ{step}", _gap_cell(step)) for step in GAP_STEPS),
        ("failures of 3", _failure_cell),
    ]
    width = (panel_width + _PAD) * len(panels) + _PAD
    size = f'width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect {size} fill="#ffffff"/>',
    ]
    for place, (title, cell_of) in enumerate(panels):
        left = _PAD + (panel_width + _PAD) * place + beside
        parts.append(f'<text x="{left}" y="{_PAD + 12}" font-size="15">{title}</text>')
        parts += _heat_map(left, _PAD + _TITLE, labels, columns, cells, cell_of)
    return "\n".join([*parts, "</svg>", ""])


def _heat_map(
    left: float,
    top: float,
    labels: dict[Row, str],
    columns: Sequence[Column],
    cells: dict[tuple[Row, Column], GapSummary],
    cell_of: CellOf,
) -> Iterator[str]:
    for down, (row, title) in enumerate(labels.items()):
        y = top + _CELL * down
        yield _text(left - 8, y + _CELL / 2 + 4, title, "end")
        for across, column in enumerate(columns):
            summary = cells.get((row, column))
            fill, label = cell_of(summary) if summary else _NO_CELL
            x = left + _CELL * across
            yield f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{fill}" stroke="#ffffff"/>'
            yield _text(x + _CELL / 2, y + _CELL / 2 + 4, label, "middle", _ink(fill))
    for across, (metric, _) in enumerate(columns):
        x, y = left + _CELL * (across + 0.5) + 4, top + _CELL * len(labels) + 12
        turned = f'transform="translate({x},{y}) rotate(-45)" text-anchor="end"'
        yield f"<text {turned}>{escape(_title(metric))}</text>"


def gap_colour(delta: float) -> tuple[int, int, int]:
    """RGB of a gap: blue for a failure, grey for a metric that sees the wear, white at 0."""
    return _mixed(_FAILURE_RGB if delta > 0 else _SUCCESS_RGB, min(abs(delta) / FULL_COLOUR_AT, 1.0))


def failure_colour(failures: int) -> tuple[int, int, int]:
    """RGB of a count of failures, white for none to blue for all three."""
    return _mixed(_FAILURE_RGB, failures / len(GAP_STEPS))


def _gap_cell(step: int) -> CellOf:
    def cell(summary: GapSummary) -> tuple[str, str]:
        delta = summary.deltas[step]
        return _NO_CELL if delta is None else (_hex(gap_colour(delta.mean)), f"{delta.mean:+.1f}")

    return cell


def _failure_cell(summary: GapSummary) -> tuple[str, str]:
    if all(delta is None for delta in summary.deltas.values()):
        return _NO_CELL
    return _hex(failure_colour(summary.failures)), str(summary.failures)


def _row_label(row: Row, rows: Sequence[Row]) -> str:
    image, *others = row
    differing = [
        name for place, name in enumerate(others, start=1) if len({other[place] for other in rows}) > 1
    ]
    return " · ".join([image, *differing])


def _title(metric: str) -> str:
    known = catalog_metrics().get(metric)
    return known.title if known else metric


def _mixed(colour: tuple[int, int, int], amount: float) -> tuple[int, int, int]:
    red, green, blue = (round(255 + (channel - 255) * amount) for channel in colour)
    return red, green, blue


def _hex(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _ink(fill: str) -> str:
    red, green, blue = (int(fill[place : place + 2], 16) for place in (1, 3, 5))
    return "#ffffff" if 0.299 * red + 0.587 * green + 0.114 * blue < 140 else "#202020"


def _text(x: float, y: float, content: str, anchor: str, fill: str = "#202020") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{escape(content)}</text>'
