"""A study's report: one HTML file with everything in it, all texts escaped, no scripts, nothing loaded."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from html import escape
from statistics import median
from typing import TYPE_CHECKING

from banana100_core.analysis.agreement import agreement
from banana100_core.analysis.gap_formats import as_svg
from banana100_core.analysis.gaps import gaps
from banana100_core.errors import ProjectError
from banana100_core.project.database import sibling
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.images import initial_images
from banana100_core.project.records import ReviewState
from banana100_core.project.runs import run_costs, runs
from banana100_core.project.suggestions import acceptance
from banana100_core.project.tags import tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from banana100_core.analysis.agreement import Agreement
    from banana100_core.project import Project

_MARK = "<!-- banana100 report -->"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MOST_DISPUTED = 20
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1c1c; background: #fff; margin: 2rem auto;
  max-width: 72rem; padding: 0 1.5rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; } p.note { color: #636363; }
table { border-collapse: collapse; margin: 1rem 0; }
th { text-align: left; font-weight: 600; color: #636363; }
th, td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #e2e2e2; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 1rem 0; overflow-x: auto; }
"""
_LICENCES = (
    "Scores of metrics that run through pyiqa are for noncommercial use: pyiqa is under the PolyForm "
    "Noncommercial licence, its weights under CC BY-NC-SA 4.0. PIQE, BRISQUE and NIQE are computed by "
    "Banana100 Inspector itself (MIT); the parameters of BRISQUE and NIQE are LIVE's. Pictures have the "
    "licences that their sources give them."
)
_EMBEDDED = (
    "Runs of restoration_loop and codec_loss come from editors that ship with the program. Neither is a "
    "generative model: the one asks a small restoration network to reproduce its own output, the other "
    "encodes and resamples."
)


def write_report(project: Project, out: Path) -> None:
    """Write the report to `out`, in place of an older report.

    Raises ProjectError when `out` is another file, or can't be written.
    """
    if out.exists() and (out.is_dir() or _MARK.encode() not in out.read_bytes()[:200]):
        raise ProjectError(f"{out} exists already and is no report. Choose another name.")
    if not out.resolve().parent.is_dir():
        raise ProjectError(f"There is no folder {out.resolve().parent}. Make it first.")
    unfinished = sibling(out, ".new")
    try:
        unfinished.write_text(as_html(project), "utf-8")
        unfinished.replace(out)
    except OSError as error:
        raise ProjectError(f"{out} can't be written: {error.strerror}. Choose another place.") from error
    finally:
        unfinished.unlink(missing_ok=True)


def as_html(project: Project) -> str:
    """The report as HTML."""
    title = escape(project.path.name)
    at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    parts = [
        "<!DOCTYPE html>",
        _MARK,
        '<html lang="en"><head><meta charset="utf-8">',
        # Nothing may be loaded or run, whatever a text in it may try.
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1>",
        f'<p class="note">Made by Banana100 Inspector, {at}.</p>',
        *_runs(project),
        *_gaps(project),
        *_onsets(project),
        *_agreement(project),
        *_suggestions(project),
        *_credits(project),
        "</body></html>",
        "",
    ]
    return "\n".join(parts)


def _runs(project: Project) -> Iterator[str]:
    groups: dict[tuple[str, str, str], list[tuple[int, int, int]]] = defaultdict(list)
    costs: dict[tuple[str, str, str], float] = defaultdict(float)
    by_id = {cost.run_id: cost for cost in run_costs(project)}
    found = runs(project)
    for run in found:
        key = (run.provider, run.model, run.protocol)
        groups[key].append((run.steps_done, run.steps_planned, run.steps_failed))
        costs[key] += by_id[run.id].cost_usd or 0.0
    images = len({run.initial_image for run in found})
    yield "<h2>Runs</h2>"
    steps = sum(run.steps_done for run in found)
    yield f"<p>{len(found):,} runs from {images:,} initial images, {steps:,} steps.</p>"
    yield _table(
        ["Editor", "Model", "Protocol"],
        ["Runs", "Steps done", "Planned", "Failed", "Cost"],
        [
            (
                *key,
                len(of_group),
                *(sum(counts) for counts in zip(*of_group, strict=True)),
                f"${costs[key]:,.2f}" if costs[key] else "–",
            )
            for key, of_group in groups.items()
        ],
    )


def _gaps(project: Project) -> Iterator[str]:
    yield "<h2>Score gaps</h2>"
    found = gaps(project)
    if not found:
        yield '<p class="note">There are no scores yet.</p>'
        return
    yield (
        "<p>A gap is the normalised score of step 5, 10 or 20 minus that of step 1. Blue is a failure of the "
        "metric: it calls the worn picture better. Means over repeats.</p>"
    )
    yield f"<figure>{as_svg(found)}</figure>"


def _onsets(project: Project) -> Iterator[str]:
    yield "<h2>Failure modes</h2>"
    counted = [tag for tag in tags(project) if tag.review_state is not ReviewState.REJECTED]
    rejected = len(tags(project)) - len(counted)
    if not counted:
        yield '<p class="note">Nothing is tagged yet.</p>'
        return
    by_mode = defaultdict(list)
    for tag in counted:
        by_mode[tag.failure_mode].append(tag)
    left = f" {rejected:,} tags that a reviewer rejected are left out." if rejected else ""
    yield f"<p>{len(counted):,} tags of {len({tag.annotator for tag in counted}):,} annotators.{left}</p>"
    yield _table(
        ["Failure mode", "Level"],
        ["Runs", "Tags", "Annotators", "Median onset", "First onset", "Last onset", "Mean severity"],
        [
            (
                mode.name,
                mode.level.value,
                len({tag.run_id for tag in found}),
                len(found),
                len({tag.annotator for tag in found}),
                f"{median(tag.onset for tag in found):g}",
                min(tag.onset for tag in found),
                max(tag.onset for tag in found),
                f"{sum(tag.severity for tag in found) / len(found):.1f}",
            )
            for mode in failure_modes(project)
            if (found := by_mode.get(mode.key))
        ],
    )


def _agreement(project: Project) -> Iterator[str]:
    yield "<h2>Agreement</h2>"
    found = agreement(project)
    if not found.shared_runs:
        yield '<p class="note">No run has been tagged or finished by two annotators.</p>'
        return
    who = escape(", ".join(found.annotators))
    yield (
        f"<p>{found.shared_runs:,} runs of two annotators or more: {who}. Alpha is Krippendorff's, nominal, "
        "of presence in a run and of extent over steps; kappa is Cohen's, the mean over pairs.</p>"
    )
    yield _table(
        ["Failure mode"],
        ["Runs", "α presence", "α extent", "κ", "Onset apart", "Within ±2", "IoU"],
        [
            (
                row.name,
                row.runs,
                *map(_figure, (row.alpha_presence, row.alpha_extent, row.mean_kappa)),
                _figure(None if row.onset is None else row.onset.mean, 1),
                "–" if row.onset is None else f"{row.onset.share_within(2):.0%}",
                _figure(None if row.overlap is None else row.overlap.mean),
            )
            for row in (*found.modes, *found.levels)
        ],
    )
    yield from _disputed(found)


def _disputed(found: Agreement) -> Iterator[str]:
    disputed = [run for run in found.by_run if run.disagreement > 0][:_MOST_DISPUTED]
    if disputed:
        yield "<h3>Most disputed runs</h3>"
        yield _table(
            ["Initial image", "Model", "Protocol", "Annotators"],
            ["Run", "Repeat", "Disagreement", "From step"],
            [
                (
                    *(run.initial_image, run.model, run.protocol, ", ".join(run.annotators)),
                    *(run.run_id, run.repeat, f"{run.disagreement:.2f}", run.first_step),
                )
                for run in disputed
            ],
        )


def _suggestions(project: Project) -> Iterator[str]:
    decided = acceptance(project)
    if decided:
        names = {mode.key: mode.name for mode in failure_modes(project)}
        yield "<h2>Suggestions</h2>"
        yield "<p>What the program took for failure modes. Only what an annotator accepted is a tag.</p>"
        yield _table(
            ["Failure mode"],
            ["Accepted", "Rejected", "Open", "Acceptance rate"],
            [
                (
                    names.get(row.failure_mode, row.failure_mode),
                    *(row.accepted, row.rejected, row.open),
                    "–" if row.rate is None else f"{row.rate:.0%}",
                )
                for row in decided
            ],
        )


def _credits(project: Project) -> Iterator[str]:
    yield "<h2>Credits and licences</h2>"
    yield _table(
        ["Initial image", "Size", "Credit"],
        [],
        [
            (each.name, f"{each.image.width} × {each.image.height}", each.credit or "–")
            for each in initial_images(project)
        ],
    )
    if {run.provider for run in runs(project)} & {"restoration_loop", "codec_loss"}:
        yield f"<p>{_EMBEDDED}</p>"
    yield f"<p>{_LICENCES}</p>"


def _table(words: Sequence[str], numbers: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns of words, then columns of numbers, to the right."""
    heads = [f"<th>{escape(word)}</th>" for word in words]
    heads += [f'<th class="n">{escape(number)}</th>' for number in numbers]
    lines = [f"<tr>{''.join(heads)}</tr>"]
    for row in rows:
        cells = [
            f"<td>{_cell(value)}</td>" if place < len(words) else f'<td class="n">{_cell(value)}</td>'
            for place, value in enumerate(row)
        ]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>"


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else escape(str(value))


def _figure(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
