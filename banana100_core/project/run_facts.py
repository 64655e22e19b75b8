"""What a list of runs tells of each run beside its counts: sizes, scores, tags, what lacks scores.

Answered from indexes and the small rows of image, score and tag; never from the table of blobs, and never
from the rows of steps, which carry prompts and reasoning summaries.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from banana100_core.project.records import ReviewState
from banana100_core.project.rows import to_json
from banana100_core.project.views import NORMALISED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from banana100_core.project.project import Project

_SIZES = """
    SELECT DISTINCT step.run_id, image.width, image.height
    FROM step JOIN image ON image.sha256 = step.image_sha256
"""
# The last step that any metric has looked at: in a run that is still growing, that is not the last one.
_LATEST_SCORES = """
    SELECT run.id AS run_id, score.metric, score.score
    FROM run JOIN score ON score.image_sha256 = (
        SELECT image_sha256 FROM step
        WHERE run_id = run.id AND EXISTS (SELECT 1 FROM score WHERE image_sha256 = step.image_sha256)
        ORDER BY number DESC LIMIT 1
    )
    WHERE score.score IS NOT NULL
    ORDER BY run.id, score.metric, score.created_at
"""
_TAGS = "SELECT run_id, failure_mode, annotator, review_state FROM tag ORDER BY run_id, onset, failure_mode"
# The last word on each annotator's work, as the view run_reviews has it.
_REVIEWS = """
    SELECT run_id, annotator, state FROM review
    WHERE NOT EXISTS (
        SELECT 1 FROM review AS later
        WHERE later.run_id = review.run_id AND later.annotator = review.annotator
            AND (later.at, later.id) > (review.at, review.id)
    )
    ORDER BY run_id, annotator
"""
_TRIED = """
    SELECT run_id, count(image_sha256) AS images,
        sum((SELECT count(DISTINCT metric) FROM score WHERE image_sha256 = step.image_sha256)) AS tried
    FROM step GROUP BY run_id
"""
# One row a run, so that SQLite does the work without Python's lock; where two methods scored a step, the
# later score counts.
_CURVES = f"""
    SELECT run_id, json_group_array(number), json_group_array(normalised) FROM (
        SELECT step.run_id, step.number, {NORMALISED} AS normalised, max(score.created_at)
        FROM step
        JOIN score ON score.image_sha256 = step.image_sha256 AND score.metric = :metric
        JOIN metric ON metric.key = score.metric
        WHERE step.run_id IN (SELECT value FROM json_each(:runs)) AND score.score IS NOT NULL
        GROUP BY step.run_id, step.number
    )
    GROUP BY run_id
"""  # noqa: S608 - all parts are constants
_SCORES_BY_METRIC = """
    SELECT score.metric, count(*) FROM step JOIN score ON score.image_sha256 = step.image_sha256
    WHERE step.run_id = ? AND score.score IS NOT NULL
    GROUP BY score.metric
"""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of one run; `scores` are those of its last scored step, by metric."""

    sizes: tuple[tuple[int, int], ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)
    failure_modes: tuple[str, ...] = ()
    annotators: tuple[str, ...] = ()
    reviews: frozenset[ReviewState] = frozenset()  # states that its tags are in
    said: tuple[tuple[str, ReviewState], ...] = ()  # where each annotator's work on it stands


def run_facts(project: Project) -> dict[int, RunFacts]:
    """Facts of all runs that have any, by id."""
    sizes: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    scores: defaultdict[int, dict[str, float]] = defaultdict(dict)
    modes: defaultdict[int, dict[str, None]] = defaultdict(dict)
    annotators: defaultdict[int, set[str]] = defaultdict(set)
    reviews: defaultdict[int, set[ReviewState]] = defaultdict(set)
    said: defaultdict[int, list[tuple[str, ReviewState]]] = defaultdict(list)
    with project.reading() as connection:
        for run_id, width, height in connection.execute(_SIZES):
            sizes[run_id].append((width, height))
        for run_id, metric, score in connection.execute(_LATEST_SCORES):
            scores[run_id][metric] = score
        for run_id, mode, annotator, review in connection.execute(_TAGS):
            modes[run_id][mode] = None
            annotators[run_id].add(annotator)
            reviews[run_id].add(ReviewState(review))
        for run_id, annotator, state in connection.execute(_REVIEWS):
            said[run_id].append((annotator, ReviewState(state)))
    return {
        run_id: RunFacts(
            tuple(sorted(sizes[run_id])),
            scores[run_id],
            tuple(modes[run_id]),
            tuple(sorted(annotators[run_id])),
            frozenset(reviews[run_id]),
            tuple(said[run_id]),
        )
        for run_id in {*sizes, *scores, *modes, *said}
    }


def missing_scores(project: Project) -> dict[int, int]:
    """How many scores the pictures of each run lack, by the metrics that the project has scores of.

    A failed score counts as there, since its reason is known. Runs that lack none are left out.
    """
    with project.reading() as connection:
        used = connection.execute("SELECT count(DISTINCT metric) FROM score").fetchone()[0]
        rows = connection.execute(_TRIED).fetchall()
    lacking = {run_id: images * used - (tried or 0) for run_id, images, tried in rows}
    return {run_id: count for run_id, count in lacking.items() if count}


def run_curves(project: Project, run_ids: Sequence[int], metric: str) -> dict[int, list[tuple[int, float]]]:
    """The (step, normalised score) of runs that have scores by a metric, in order of steps."""
    with project.reading() as connection:
        rows = connection.execute(_CURVES, {"runs": to_json(list(run_ids)), "metric": metric}).fetchall()
    return {
        run_id: sorted(zip(json.loads(steps), json.loads(values), strict=True))
        for run_id, steps, values in rows
    }


def scores_by_metric(project: Project, run_id: int) -> dict[str, int]:
    """How many scores a run has, by metric; failed ones don't count."""
    with project.reading() as connection:
        return dict(connection.execute(_SCORES_BY_METRIC, (run_id,)).fetchall())
