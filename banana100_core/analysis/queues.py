"""What there is to do for an annotator, run after run, and how far everybody has come."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from banana100_core.analysis.agreement import disagreements
from banana100_core.project.queues import shuffled
from banana100_core.project.records import ReviewState
from banana100_core.project.reviews import reviews
from banana100_core.project.rows import text
from banana100_core.project.runs import runs

if TYPE_CHECKING:
    from banana100_core.project import Project
    from banana100_core.project.reviews import Review


class Queue(StrEnum):
    """Which runs an annotator goes through."""

    ALL = "all"
    UNTAGGED = "untagged"  # nobody else has tagged or finished them
    REVIEW = "review"  # somebody else has finished them
    DISAGREEMENTS = "disagreements"  # annotators don't say the same of them


@dataclass(frozen=True, slots=True)
class QueueItem:
    """A run of a queue, and whether the annotator has decided on it."""

    run_id: int
    done: bool


@dataclass(frozen=True, slots=True)
class WorkQueue:
    """The runs of a queue in the annotator's order."""

    queue: Queue
    items: tuple[QueueItem, ...]

    @property
    def done(self) -> int:
        """How many are decided on."""
        return sum(item.done for item in self.items)

    def undecided_after(self, run_id: int | None) -> int | None:
        """The next run to decide on, beginning again at the end; None when all are done."""
        return self._next(run_id, list(self.items))

    def undecided_before(self, run_id: int | None) -> int | None:
        """The run to decide on that comes before."""
        return self._next(run_id, list(reversed(self.items)))

    @staticmethod
    def _next(run_id: int | None, items: list[QueueItem]) -> int | None:
        place = next((place for place, item in enumerate(items) if item.run_id == run_id), -1)
        others = items[place + 1 :] + items[: max(place, 0)]
        here = items[place : place + 1] if place >= 0 else []
        return next((item.run_id for item in (*others, *here) if not item.done), None)


@dataclass(frozen=True, slots=True)
class AnnotatorProgress:
    """How far an annotator has come; `runs` are all runs with pictures."""

    annotator: str
    runs: int
    tagged: int  # runs
    tags: int
    done: int  # runs, accepted and rejected ones among them
    nothing_found: int
    accepted: int
    rejected: int
    last_at: str  # when they last edited a tag or finished a run


def work_queue(project: Project, annotator: str, queue: Queue) -> WorkQueue:
    """The runs of a queue as they are now.

    One's own queues are decided on run by run with done; runs to review and disagreements once the work of
    every other annotator is accepted or rejected.
    """
    who = text(annotator)
    there = [run for run in runs(project) if run.steps_done]
    said: dict[int, dict[str, Review]] = defaultdict(dict)
    for review in reviews(project):
        said[review.run_id][review.annotator] = review
    others = _annotators(project)
    for run_id, found in said.items():
        others[run_id] |= {name for name, review in found.items() if review.state is not ReviewState.DRAFT}
    for names in others.values():
        names.discard(who)
    if queue in {Queue.ALL, Queue.UNTAGGED}:
        members = {run.id for run in there if queue is Queue.ALL or not others[run.id]}
        done = {run_id for run_id, found in said.items() if who in found and found[who].finished}
    else:
        members, done = _to_judge(project, queue, who, said, others)
    order = shuffled(project, annotator, queue.value, (run for run in there if run.id in members))
    return WorkQueue(queue, tuple(QueueItem(run.id, run.id in done) for run in order))


def progress(project: Project) -> list[AnnotatorProgress]:
    """How far each annotator has come who tagged or finished anything, by name."""
    there = sum(run.steps_done > 0 for run in runs(project))
    with project.reading() as connection:
        tagged = {
            row[0]: (row[1], row[2])
            for row in connection.execute(
                "SELECT annotator, count(*), count(DISTINCT run_id) FROM tag GROUP BY annotator"
            )
        }
        last = dict(
            connection.execute(
                "SELECT who, max(at) FROM (SELECT annotator AS who, at FROM edit"
                " UNION ALL SELECT said_by, at FROM review) GROUP BY who"
            ).fetchall()
        )
    found: dict[str, list[Review]] = defaultdict(list)
    for review in reviews(project):
        found[review.annotator].append(review)
    return [
        AnnotatorProgress(
            name,
            there,
            tagged.get(name, (0, 0))[1],
            tagged.get(name, (0, 0))[0],
            sum(review.state is not ReviewState.DRAFT for review in found[name]),
            sum(review.finished and not review.tags for review in found[name]),
            sum(review.state is ReviewState.ACCEPTED for review in found[name]),
            sum(review.state is ReviewState.REJECTED for review in found[name]),
            last.get(name, ""),
        )
        for name in sorted(tagged.keys() | found.keys())
    ]


def _to_judge(
    project: Project,
    queue: Queue,
    who: str,
    said: dict[int, dict[str, Review]],
    others: dict[int, set[str]],
) -> tuple[set[int], set[int]]:
    """The runs whose work is to be judged, and those where all of it is."""
    if queue is Queue.DISAGREEMENTS:
        members = {found.run_id for found in disagreements(project)}
        wanted = {run_id: others[run_id] for run_id in members}
    else:
        wanted = {
            run_id: {name for name in found if name != who and found[name].state is not ReviewState.DRAFT}
            for run_id, found in said.items()
        }
        members = {run_id for run_id, names in wanted.items() if names}
    judged = {ReviewState.ACCEPTED, ReviewState.REJECTED}
    done = {
        run_id
        for run_id in members
        if all(
            name in said[run_id] and said[run_id][name].state in judged and not said[run_id][name].waits
            for name in wanted[run_id]
        )
    }
    return members, done


def _annotators(project: Project) -> dict[int, set[str]]:
    """Who has tagged in each run."""
    found: dict[int, set[str]] = defaultdict(set)
    with project.reading() as connection:
        for run_id, annotator in connection.execute("SELECT DISTINCT run_id, annotator FROM tag"):
            found[run_id].add(annotator)
    return found
