"""Queues of runs: who has what to do, in which order, and how far everybody is."""

from __future__ import annotations

import hashlib

import pytest

from banana100_core.analysis.agreement import agreement, disagreements
from banana100_core.analysis.queues import Queue, progress, work_queue
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.queues import seed_of, shuffle_again
from banana100_core.project.records import Image, NewRun, NewStep, NewTag, Outcome, ReviewState
from banana100_core.project.reviews import accept_run, mark_run, reject_run
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag, change_tag

RUNS = 12


def add_runs(project, repeats):
    data = b"a picture"
    image = NewImage(Image(hashlib.sha256(data).hexdigest(), 64, 48, "image/png", len(data)), data)
    for repeat in repeats:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", repeat, 5))
        steps = [NewStep(run_id, number, Outcome.DONE if number else Outcome.INITIAL) for number in range(6)]
        add_steps(project, [(step, image) for step in steps])


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "study.b100") as project:
        add_runs(project, range(1, RUNS + 1))
        add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", 99, 5))  # without pictures
        yield project


def order(project, annotator="Ann", queue=Queue.ALL):
    return [item.run_id for item in work_queue(project, annotator, queue).items]


def done(project, annotator="Ann", queue=Queue.ALL):
    return {item.run_id for item in work_queue(project, annotator, queue).items if item.done}


def test_a_queue_is_shuffled_and_stays_so_over_restarts(project):
    first = order(project)
    assert sorted(first) == list(range(1, RUNS + 1))
    assert first != sorted(first)
    project.close()
    with Project.open(project.path) as again:
        assert order(again) == first
    with Project.open(project.path, read_only=True) as reading:
        assert order(reading) == first


def test_each_annotator_and_queue_has_an_order_of_its_own(project):
    orders = [order(project, who, queue) for who in ("Ann", "Bob") for queue in (Queue.ALL, Queue.UNTAGGED)]
    assert len({tuple(each) for each in orders}) == 4
    before = seed_of(project, "Ann", Queue.ALL)
    assert shuffle_again(project, "Ann", Queue.ALL) != before
    assert order(project) != orders[0]
    assert order(project, "Bob") == orders[2]


def test_new_runs_take_their_place_and_leave_the_others_in_order(project):
    before = order(project)
    add_runs(project, range(20, 26))
    after = order(project)
    assert len(after) == RUNS + 6
    assert [run_id for run_id in after if run_id in before] == before


def test_what_is_marked_done_counts_and_next_goes_on_behind_it(project):
    first, second, third, *_, last = order(project)
    mark_run(project, "Ann", first, ReviewState.DONE)
    mark_run(project, "Ann", third, ReviewState.DONE)
    mark_run(project, "Bob", second, ReviewState.DONE)
    queue = work_queue(project, "Ann", Queue.ALL)
    assert (queue.done, len(queue.items)) == (2, RUNS)
    assert queue.undecided_after(first) == second
    assert queue.undecided_after(second) == order(project)[3]
    assert queue.undecided_after(last) == second
    assert queue.undecided_before(second) == last
    assert queue.undecided_after(None) == second


def test_a_queue_that_is_done_has_nothing_next(project):
    for run_id in order(project):
        mark_run(project, "Ann", run_id, ReviewState.DONE)
    queue = work_queue(project, "Ann", Queue.ALL)
    assert queue.undecided_after(order(project)[0]) is None
    mark_run(project, "Ann", 3, ReviewState.DRAFT)
    assert work_queue(project, "Ann", Queue.ALL).undecided_after(3) == 3


def test_the_run_at_hand_comes_last_when_it_is_undecided(project):
    for run_id in order(project)[1:]:
        mark_run(project, "Ann", run_id, ReviewState.DONE)
    assert work_queue(project, "Ann", Queue.ALL).undecided_after(order(project)[0]) == order(project)[0]


def test_untagged_runs_are_those_nobody_else_has_looked_at(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    add_tag(project, "Bob", NewTag(2, "green_tint", 3))
    mark_run(project, "Bob", 3, ReviewState.DONE)
    assert set(order(project, queue=Queue.UNTAGGED)) == set(range(1, RUNS + 1)) - {2, 3}
    mark_run(project, "Ann", 1, ReviewState.DONE)
    assert done(project, queue=Queue.UNTAGGED) == {1}


def test_runs_to_review_are_others_that_are_done_until_they_are_decided_on(project, next_moment):
    for run_id in (1, 2, 3):
        mark_run(project, "Bob", run_id, ReviewState.DONE)
    mark_run(project, "Ann", 4, ReviewState.DONE)
    tag = add_tag(project, "Bob", NewTag(2, "green_tint", 3))
    assert set(order(project, queue=Queue.REVIEW)) == {1, 2, 3}
    accept_run(project, "Ann", 2, "Bob")
    reject_run(project, "Ann", 3, "Bob", "Look again.")
    assert done(project, queue=Queue.REVIEW) == {2, 3}
    next_moment()
    change_tag(project, "Bob", tag.uuid, onset=2)
    mark_run(project, "Bob", 3, ReviewState.DONE)
    assert done(project, queue=Queue.REVIEW) == set()
    assert set(order(project, "Bob", Queue.REVIEW)) == {4}


def test_disagreements_are_runs_of_which_annotators_say_different_things(project):
    for who in ("Ann", "Bob"):
        add_tag(project, who, NewTag(1, "green_tint", 3))
    add_tag(project, "Ann", NewTag(2, "green_tint", 3))
    add_tag(project, "Bob", NewTag(2, "green_tint", 5))
    add_tag(project, "Ann", NewTag(3, "green_tint", 3))
    mark_run(project, "Bob", 3, ReviewState.DONE)  # looked, and found nothing
    assert set(order(project, "Cleo", Queue.DISAGREEMENTS)) == {2, 3}
    accept_run(project, "Cleo", 2, "Ann")
    assert done(project, "Cleo", Queue.DISAGREEMENTS) == set()
    reject_run(project, "Cleo", 2, "Bob", "It begins at 3.")
    assert done(project, "Cleo", Queue.DISAGREEMENTS) == {2}


def test_a_finished_run_without_tags_counts_for_agreement(project):
    for who in ("Ann", "Bob"):
        mark_run(project, who, 4, ReviewState.DONE)
    assert agreement(project).shared_runs == 1
    assert disagreements(project) == []
    add_tag(project, "Ann", NewTag(4, "green_tint", 3))
    assert [run.disagreement for run in disagreements(project)] == [1.0]


def test_progress_counts_each_annotators_work(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    for run_id in (1, 2, 3):
        mark_run(project, "Ann", run_id, ReviewState.DONE)
    accept_run(project, "Bob", 1, "Ann")
    reject_run(project, "Bob", 3, "Ann", "Look again.")
    (found,) = progress(project)
    assert (found.annotator, found.runs, found.tagged, found.tags) == ("Ann", RUNS, 1, 1)
    assert (found.done, found.nothing_found, found.accepted, found.rejected) == (3, 1, 1, 1)
    assert found.last_at
