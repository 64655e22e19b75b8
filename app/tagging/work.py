"""Going through a queue of runs: which is next, which are done, and what is said of each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.tagging.words import Word, Words
from banana100_core.analysis.queues import Queue, QueueItem, WorkQueue, work_queue
from banana100_core.errors import BananaError
from banana100_core.project import reviews as stored
from banana100_core.project.annotators import annotator_settings, remember
from banana100_core.project.queues import shuffle_again
from banana100_core.project.records import ReviewState
from banana100_core.project.rows import now

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.project.reviews import Review

NAMES = {
    Queue.ALL: "All runs",
    Queue.UNTAGGED: "Untagged",
    Queue.REVIEW: "To review",
    Queue.DISAGREEMENTS: "Disagreements",
}
TIPS = {
    Queue.ALL: "Every run that has pictures",
    Queue.UNTAGGED: "Runs that nobody else has tagged or finished",
    Queue.REVIEW: "Runs that somebody else has finished, to accept or reject",
    Queue.DISAGREEMENTS: "Runs of which annotators say different things",
}
JUDGING = frozenset({Queue.REVIEW, Queue.DISAGREEMENTS})
_READ_ONLY = "This project is open for reading only."


class Work(QObject):
    """The queue that the annotator works on, and what was said of runs."""

    changed = Signal()
    said = Signal(str)
    queue_chosen = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._queue = Queue.ALL
        self._content: WorkQueue | None = None
        self._reviews: list[Review] = []
        self._runs: frozenset[int] = frozenset()
        self._reading = self._wanted = False
        self.words = Words(session, self)
        self.words.written.connect(self._take_written)
        session.project_opened.connect(self._open)
        session.project_closed.connect(self._close)
        session.annotator_changed.connect(self._open)
        session.run_changed.connect(self.changed)
        session.reviews_updated.connect(self.read_again)
        session.runs_updated.connect(self._runs_updated)
        session.tags_updated.connect(self._tags_updated)
        self._open()

    # What there is

    @property
    def queue(self) -> Queue:
        """The queue chosen."""
        return self._queue

    @property
    def counts(self) -> tuple[int, int]:
        """How many runs of the queue are decided on, and how many there are."""
        content = self._content
        return (content.done, len(content.items)) if content else (0, 0)

    @property
    def judges(self) -> bool:
        """Whether the queue is one of others' work, to accept or reject."""
        return self._queue in JUDGING

    @property
    def own(self) -> Review | None:
        """What was said last of this annotator's work on the run on screen."""
        return next((each for each in self._here if each.annotator == self._session.annotator), None)

    @property
    def others(self) -> list[Review]:
        """What was said last of everybody else's work on it, where there is any to judge."""
        return [
            each
            for each in self._here
            if each.annotator != self._session.annotator and each.state is not ReviewState.DRAFT
        ]

    @property
    def settled(self) -> bool:
        """Whether nothing is being read or written."""
        return not (self._reading or self._wanted or self.words.writing)

    @property
    def _here(self) -> list[Review]:
        run = self._session.run
        return [each for each in self._reviews if run is not None and each.run_id == run.id]

    # Going through

    def choose_queue(self, queue: Queue) -> None:
        """Work on another queue."""
        if queue is self._queue:
            return
        self._queue, self._content = queue, None
        self._remember({"queue": queue.value})
        self.read_again()
        self.queue_chosen.emit()

    def next(self) -> None:
        """Go to the next run of the queue that is not decided on."""
        self._say(self._go(forward=True))

    def previous(self) -> None:
        """Go to the one before."""
        self._say(self._go(forward=False))

    def shuffle(self) -> None:
        """Draw another order for this queue."""
        project = self._session.project
        if project is None or project.read_only:
            self.said.emit(_READ_ONLY)
            return
        annotator, queue = self._session.annotator, self._queue
        self.words.write(partial(_draw, annotator=annotator, queue=queue), "Another order")
        self.said.emit("Shuffled.")

    # What is said of runs

    def done(self, tags: int) -> None:
        """Say that this run is done, with so many tags of one's own, and go to the next one."""
        own = self.own
        if not tags:
            self.said.emit("You have no tags in this run. If there is nothing to tag, say Nothing found.")
        elif own is not None and own.finished and not own.edited_since:
            self.next()
        else:
            self._mark(ReviewState.DONE, f"Done, with {tags} tag{'s' if tags > 1 else ''}.")

    def nothing_found(self, tags: int) -> None:
        """Say that one has looked at this run and found nothing, and go to the next one."""
        if tags:
            what = "1 tag" if tags == 1 else f"{tags} tags"
            self.said.emit(f"You have {what} in this run. Delete what is wrong, or say Done.")
        else:
            self._mark(ReviewState.DONE, "Done: nothing found.")

    def reopen(self) -> None:
        """Say that this run is not done after all."""
        if self.own is None or self.own.state is ReviewState.DRAFT:
            self.said.emit("This run is a draft.")
        else:
            self._mark(ReviewState.DRAFT, "A draft again.")

    def accept(self, annotator: str | None = None) -> None:
        """Accept the work of an annotator on this run, or of the first one that waits."""
        review = self._to_judge(annotator)
        if review is not None:
            self._judge(review, ReviewState.ACCEPTED)

    def reject(self, annotator: str, comment: str) -> None:
        """Give the work of an annotator on this run back, with a comment."""
        review = self._to_judge(annotator)
        if review is not None:
            self._judge(review, ReviewState.REJECTED, comment)

    def waiting(self) -> Review | None:
        """The first of the others whose work on this run waits for a word."""
        return next((each for each in self.others if each.waits), None)

    def _mark(self, state: ReviewState, text: str) -> None:
        run, annotator = self._session.run, self._session.annotator
        if run is None or self._refused():
            return
        words = f"{self._name(run.id)}: {state}"
        self.words.write(Word(words, run.id, annotator, state, annotator, now()), words)
        self._decide(run.id, done=state is ReviewState.DONE)
        left = self._go(forward=True) if state is ReviewState.DONE and not self.judges else ""
        self.said.emit(f"{text} {left}".rstrip())

    def _judge(self, review: Review, state: ReviewState, comment: str = "") -> None:
        if self._refused():
            return
        who = review.annotator
        words = f"{self._name(review.run_id)}, {who}: {state}"
        said_by = self._session.annotator
        self.words.write(Word(words, review.run_id, who, state, said_by, now(), comment), words)
        self._reviews = [each for each in self._reviews if each is not review]
        left = ""
        if self.waiting() is None:
            self._decide(review.run_id, done=True)
            left = self._go(forward=True) if self.judges else ""
        self.said.emit(f"{who}'s work is {state}. {left}".rstrip())

    def _to_judge(self, annotator: str | None) -> Review | None:
        found = (
            self.waiting()
            if annotator is None
            else next((each for each in self.others if each.annotator == annotator), None)
        )
        if found is None:
            self.said.emit("Nobody else's work on this run waits for a review.")
        return found

    def _go(self, *, forward: bool) -> str:
        """Go to another run of the queue, or say why not."""
        content, run = self._content, self._session.run
        if content is None:
            return "The queue is being read."
        here = run.id if run is not None else None
        found = content.undecided_after(here) if forward else content.undecided_before(here)
        if found is None:
            return _nothing_left(self._queue, len(content.items))
        if found == here:
            return "This is the last run of the queue that is not done."
        self._session.choose_run(found)
        return ""

    def _decide(self, run_id: int, *, done: bool) -> None:
        """Count a run at once; what the project says follows."""
        if self._content is not None:
            items = tuple(
                QueueItem(run_id, done) if item.run_id == run_id else item for item in self._content.items
            )
            self._content = WorkQueue(self._content.queue, items)
            self.changed.emit()

    def _say(self, text: str) -> None:
        if text:
            self.said.emit(text)

    def _refused(self) -> bool:
        project = self._session.project
        if project is None or project.read_only:
            self.said.emit(_READ_ONLY)
            return True
        return False

    def _name(self, run_id: int) -> str:
        run = next((run for run in self._session.runs if run.id == run_id), None)
        return f"{run.initial_image}, repeat {run.repeat}" if run else f"run {run_id}"

    # Reading and writing

    def read_again(self) -> None:
        """Read the queue and what was said of runs."""
        self._wanted = True
        self._read()

    def _runs_updated(self) -> None:
        """Read the queue again when runs have come, not whenever something in them has changed."""
        there = frozenset(run.id for run in self._session.runs if run.steps_done)
        if there != self._runs:
            self._runs = there
            self.read_again()

    def _tags_updated(self) -> None:
        """What was said of this run may have been about other tags."""
        if self._here:
            self.read_again()

    def _open(self) -> None:
        project = self._session.project
        if project is not None:
            kept = annotator_settings(project, self._session.annotator).get("queue", "")
            self._queue = Queue(kept) if kept in set(Queue) else Queue.ALL
            self._content, self._reviews = None, []
            self.read_again()
            self.queue_chosen.emit()

    def _close(self) -> None:
        self._content, self._reviews = None, []
        self._reading = self._wanted = False
        self.changed.emit()

    def _take_written(self) -> None:
        self.changed.emit()
        self.read_again()

    def _read(self) -> None:
        project = self._session.project
        if not self._wanted or self._reading or project is None:
            return
        self._wanted, self._reading = False, True
        annotator, queue = self._session.annotator, self._queue

        def work() -> tuple[WorkQueue | None, list[Review], str]:
            try:
                return work_queue(project, annotator, queue), stored.reviews(project), ""
            except BananaError as error:
                return None, [], str(error)

        self._session.in_background(
            work, lambda read: self._take(project, annotator, *read), self._read_no_more, once=True
        )

    def _read_no_more(self) -> None:
        """Leave it at what is known until the next wish to read."""
        self._reading = False

    def _take(
        self,
        project: Project,
        annotator: str,
        content: WorkQueue | None,
        found: list[Review],
        error: str,
    ) -> None:
        if project is not self._session.project:
            return
        self._reading = False
        if content is None:
            self.said.emit(error)
        elif not self.words.writing and annotator == self._session.annotator and content.queue is self._queue:
            self._content, self._reviews = content, found
            self.changed.emit()
        else:
            self._wanted = True  # it may not have what is being written
        if not self.words.writing:
            self._read()

    def _remember(self, values: dict[str, str]) -> None:
        project, thread = self._session.project, self._session.edit_thread
        if project is not None and thread is not None and not project.read_only:
            thread.submit(remember, project, self._session.annotator, values)


def _draw(project: Project, *, annotator: str, queue: Queue) -> None:
    shuffle_again(project, annotator, queue.value)


def _nothing_left(queue: Queue, count: int) -> str:
    if not count:
        return {
            Queue.REVIEW: "Nobody else has finished a run yet.",
            Queue.DISAGREEMENTS: "There are no disagreements.",
        }.get(queue, "There are no runs with pictures in this queue.")
    return f"All {count} runs of this queue are done."
