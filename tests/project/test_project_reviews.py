"""Where work on a run stands: done, accepted, rejected; and how tags follow."""

from __future__ import annotations

import sqlite3

import pytest

from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.annotators import annotator_settings, remember
from banana100_core.project.records import NewTag, ReviewState
from banana100_core.project.reviews import accept_run, mark_run, reject_run, reviews
from banana100_core.project.tags import add_tag, change_tag, edits, remove_tag, tags, undo


@pytest.fixture
def project(tmp_path, add_study):
    with Project.create(tmp_path / "study.b100") as project:
        add_study(project, 10)
        yield project


def states(project):
    return [(tag.annotator, tag.review_state.value) for tag in tags(project)]


def test_a_run_is_done_also_when_nothing_was_found(project):
    assert reviews(project) == []
    mark_run(project, "Ann", 1, ReviewState.DONE)
    (review,) = reviews(project)
    assert (review.annotator, review.state, review.tags, review.said_by) == (
        "Ann",
        ReviewState.DONE,
        0,
        "Ann",
    )
    assert review.finished
    assert review.waits
    mark_run(project, "Ann", 1, ReviewState.DRAFT)
    assert not reviews(project)[0].finished


def test_tags_carry_the_state_of_their_annotators_run(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    add_tag(project, "Bob", NewTag(1, "green_tint", 3))
    mark_run(project, "Ann", 1, ReviewState.DONE)
    assert states(project) == [("Ann", "done"), ("Bob", "draft")]
    accept_run(project, "Cleo", 1, "Ann")
    assert states(project) == [("Ann", "accepted"), ("Bob", "draft")]
    with project.reading() as connection:
        onsets = connection.execute("SELECT annotator, review_state FROM tag_onsets ORDER BY 1").fetchall()
    assert [tuple(row) for row in onsets] == [("Ann", "accepted"), ("Bob", "draft")]


def test_a_rejection_needs_a_comment_which_the_annotator_reads(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    with pytest.raises(ProjectError, match="Say why"):
        reject_run(project, "Cleo", 1, "Ann", " ")
    reject_run(project, "Cleo", 1, "Ann", "It begins at 2.")
    (review,) = reviews(project, 1)
    assert (review.state, review.said_by, review.comment) == (ReviewState.REJECTED, "Cleo", "It begins at 2.")
    assert not review.finished
    assert not review.waits
    mark_run(project, "Ann", 1, ReviewState.DONE)
    assert reviews(project)[0].waits


def test_nobody_reviews_their_own_work_or_none(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    with pytest.raises(ProjectError, match="their own work"):
        accept_run(project, "Ann", 1, "Ann")
    with pytest.raises(ProjectError, match="their own work"):
        mark_run(project, "Ann", 1, ReviewState.ACCEPTED)
    with pytest.raises(ProjectError, match="nothing to judge"):
        accept_run(project, "Cleo", 1, "Bob")
    with pytest.raises(ProjectError, match="no run 7"):
        mark_run(project, "Ann", 7, ReviewState.DONE)
    assert reviews(project) == []


def test_what_is_changed_after_it_was_accepted_waits_again(project, next_moment):
    tag = add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    mark_run(project, "Ann", 1, ReviewState.DONE)
    accept_run(project, "Cleo", 1, "Ann")
    assert not reviews(project)[0].waits
    next_moment()
    change_tag(project, "Ann", tag.uuid, onset=2)
    assert states(project) == [("Ann", "draft")]
    assert reviews(project)[0].edited_since
    assert reviews(project)[0].waits
    undo(project, "Ann")
    assert states(project) == [("Ann", "accepted")]


def test_a_removal_after_acceptance_is_noticed(project, next_moment):
    tag = add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    accept_run(project, "Cleo", 1, "Ann")
    next_moment()
    remove_tag(project, "Ann", tag.uuid)
    assert reviews(project)[0].edited_since


def test_a_review_is_no_edit_that_undo_would_take_back(project):
    add_tag(project, "Ann", NewTag(1, "green_tint", 3))
    mark_run(project, "Ann", 1, ReviewState.DONE)
    assert len(edits(project)) == 1
    undo(project, "Ann")
    assert tags(project) == []
    assert reviews(project)[0].state is ReviewState.DONE


def test_all_that_was_said_is_kept(project):
    mark_run(project, "Ann", 1, ReviewState.DONE)
    reject_run(project, "Cleo", 1, "Ann", "Look again.")
    mark_run(project, "Ann", 1, ReviewState.DONE)
    with project.reading() as connection:
        said = connection.execute("SELECT said_by, state FROM review ORDER BY id").fetchall()
    assert [tuple(row) for row in said] == [("Ann", "done"), ("Cleo", "rejected"), ("Ann", "done")]
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        project.write(lambda database: database.execute("UPDATE review SET state = 'accepted'"))


def test_how_an_annotator_works_is_remembered_in_the_project(project):
    remember(project, "Ann", {"hidden": "scores", "queue": "all"})
    remember(project, "Ann", {"queue": "review"})
    remember(project, "Bob", {"queue": "untagged"})
    project.close()
    with Project.open(project.path, read_only=True) as again:
        assert annotator_settings(again, "Ann") == {"hidden": "scores", "queue": "review"}
        assert annotator_settings(again, "Cleo") == {}
