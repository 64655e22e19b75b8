"""The columns that the list of runs can have beside the run itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from natsort import natsort_keygen

from app import theme
from app.browser.listed import REVIEW_STATES, Listed, size_text, steps_text
from banana100_core.catalog.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from banana100_core.catalog.metrics import Metric

RUN, CURVE, STEPS, OUTCOME, TAGS, ANNOTATORS, REVIEW, SIZE = (
    "run",
    "curve",
    "steps",
    "outcome",
    "tags",
    "annotators",
    "review",
    "size",
)
SCORE = "score:"
"""Before the key of a metric: the column of its latest scores."""

STANDARD = (CURVE, STEPS)
"""Columns shown at first."""

_natural = natsort_keygen()


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what it says of a run, and what it is sorted by; None goes to the end either way."""

    key: str
    title: str
    width: int
    text: Callable[[Listed], str]
    order: Callable[[Listed], object]
    tip: str = ""
    to_right: bool = False


def _run_order(entry: Listed) -> object:
    run = entry.run
    return _natural(f"{run.initial_image}\0{run.protocol}\0{entry.editor}\0{run.repeat}\0{run.branch}")


_OF_RUNS = (
    Column(
        RUN,
        "Run",
        0,
        lambda entry: entry.run.initial_image,
        _run_order,
        "How many runs there are; a click sorts them by name, a right click on any title chooses columns",
    ),
    Column(
        CURVE,
        "Curve",
        7 * theme.GRID,
        lambda _entry: "",
        lambda _entry: None,
        "One metric over the steps, normalised, higher is better",
    ),
    Column(
        STEPS,
        "Steps",
        9 * theme.GRID,
        lambda entry: steps_text(entry.run),
        lambda entry: (entry.run.steps_done, -entry.run.steps_planned),
        "Steps done, and of how many while some are to come",
        to_right=True,
    ),
    Column(
        OUTCOME,
        "Outcome",
        15 * theme.GRID,
        lambda entry: entry.outcome,
        lambda entry: entry.outcome,
        "What became of the run, and how many steps failed",
    ),
    Column(
        TAGS,
        "Tags",
        6 * theme.GRID,
        lambda entry: str(entry.run.tag_count or ""),
        lambda entry: entry.run.tag_count,
        "How many tags it has",
        to_right=True,
    ),
    Column(
        ANNOTATORS,
        "Annotators",
        12 * theme.GRID,
        lambda entry: ", ".join(entry.facts.annotators),
        lambda entry: _natural(", ".join(entry.facts.annotators)) if entry.facts.annotators else None,
        "Who has tagged it",
    ),
    Column(
        REVIEW,
        "Review",
        16 * theme.GRID,
        lambda entry: ", ".join(f"{annotator} {state}" for annotator, state in entry.facts.said),
        lambda entry: list(REVIEW_STATES).index(entry.review_state) if entry.facts.said else None,
        "Where each annotator's work on it stands: draft, done, accepted or rejected",
    ),
    Column(
        SIZE,
        "Resolution",
        11 * theme.GRID,
        lambda entry: ", ".join(map(size_text, entry.facts.sizes)),
        lambda entry: max((width * height for width, height in entry.facts.sizes), default=None),
        "Sizes of its pictures",
    ),
)


def _of_metric(metric: Metric) -> Column:
    def score(entry: Listed) -> float | None:
        return entry.facts.scores.get(metric.key)

    def text(entry: Listed) -> str:
        found = score(entry)
        return "" if found is None else f"{found:.3g}" if abs(found) < 1000 else f"{found:.0f}"

    better = "lower" if metric.lower_is_better else "higher"
    return Column(
        f"{SCORE}{metric.key}",
        metric.title,
        8 * theme.GRID,
        text,
        score,
        f"{metric.title} of the latest scored step; {better} is better",
        to_right=True,
    )


COLUMNS: dict[str, Column] = {
    column.key: column for column in (*_OF_RUNS, *(_of_metric(metric) for metric in metrics().values()))
}
"""All columns by key, in the order in which they are offered."""


def known(keys: Iterable[str]) -> tuple[str, ...]:
    """Those keys that are columns beside the run's own, in the order of the list."""
    wanted = set(keys)
    return tuple(key for key in COLUMNS if key in wanted and key != RUN)
