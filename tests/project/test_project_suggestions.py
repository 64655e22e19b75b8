"""Suggestions, and what annotators decide on them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.records import NewSuggestion, NewTag, SuggestionState
from banana100_core.project.runs import add_run
from banana100_core.project.suggestions import (
    accept_suggestion,
    acceptance,
    reject_suggestion,
    reopen_suggestion,
    replace_suggestions,
    suggestions,
)
from banana100_core.project.tags import add_tag, edits, redo, remove_tag, tags, undo


@pytest.fixture
def run_id(project, new_run):
    return add_run(project, new_run(steps_planned=20))


def made(run_id, mode="green_tint", onset=5, figure=-4.0):
    return NewSuggestion(run_id, mode, onset, figure, "a* drifts by -4.0 <b>", "test-1")


def test_a_suggestion_is_no_tag(project, run_id):
    assert replace_suggestions(project, [run_id], [made(run_id)]) == 1
    (kept,) = suggestions(project)
    assert (kept.failure_mode, kept.onset, kept.figure, kept.state) == ("green_tint", 5, -4.0, "open")
    assert (kept.reason, kept.annotator, kept.tag_uuid) == ("a* drifts by -4.0 <b>", None, None)
    assert (tags(project), edits(project)) == ([], [])
    with project.reading() as connection:
        assert connection.execute("SELECT count(*) FROM tag_onsets").fetchone()[0] == 0


def test_an_accepted_one_is_the_annotators_tag(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    tag = accept_suggestion(project, "Ann", suggestions(project)[0].uuid, onset=7)
    assert tags(project) == [tag]
    assert (tag.annotator, tag.failure_mode, tag.onset) == ("Ann", "green_tint", 7)
    (kept,) = suggestions(project)
    assert (kept.state, kept.annotator, kept.tag_uuid) == (SuggestionState.ACCEPTED, "Ann", tag.uuid)


def test_undoing_an_acceptance_opens_the_suggestion_again_and_redoing_accepts_it(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    tag = accept_suggestion(project, "Ann", suggestions(project)[0].uuid)
    for _ in range(2):
        assert undo(project, "Ann").after is None
        assert tags(project) == []
        (kept,) = suggestions(project)
        assert (kept.state, kept.annotator, kept.tag_uuid) == (SuggestionState.OPEN, None, None)
        assert acceptance(project)[0].rate is None
        redo(project, "Ann")
        (kept,) = suggestions(project)
        assert (kept.state, kept.annotator, kept.tag_uuid) == (SuggestionState.ACCEPTED, "Ann", tag.uuid)
        assert [there.uuid for there in tags(project)] == [tag.uuid]


def test_redo_finds_the_suggestion_that_was_found_anew(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    accept_suggestion(project, "Ann", suggestions(project)[0].uuid)
    undo(project, "Ann")
    replace_suggestions(project, [run_id], [made(run_id, figure=-5.0)])
    redo(project, "Ann")
    assert suggestions(project)[0].state is SuggestionState.ACCEPTED


def test_undo_of_other_edits_leaves_suggestions_alone(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    add_tag(project, "Ann", NewTag(run_id, "green_tint", 15))
    undo(project, "Ann")
    redo(project, "Ann")
    assert suggestions(project)[0].state is SuggestionState.OPEN
    tag = accept_suggestion(project, "Ann", suggestions(project)[0].uuid)
    remove_tag(project, "Ann", tag.uuid)
    undo(project, "Ann")
    assert suggestions(project)[0].state is SuggestionState.ACCEPTED


def test_accepting_what_is_tagged_already_adds_no_second_tag(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    own = add_tag(project, "Ann", NewTag(run_id, "green_tint", 4))
    assert accept_suggestion(project, "Ann", suggestions(project)[0].uuid) == own
    assert tags(project) == [own]
    assert suggestions(project)[0].tag_uuid == own.uuid


def test_a_decision_can_be_taken_back(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    (there,) = suggestions(project)
    reject_suggestion(project, "Ann", there.uuid)
    reopen_suggestion(project, there.uuid)
    assert suggestions(project) == [there]
    with pytest.raises(ProjectError, match="no decision"):
        reopen_suggestion(project, there.uuid)


def test_decided_ones_are_neither_replaced_nor_decided_again(project, run_id, tmp_path):
    replace_suggestions(
        project, [run_id], [made(run_id), made(run_id, "wrinkles"), made(run_id, "texture_loss")]
    )
    green, _, _ = [there.uuid for there in suggestions(project)]
    by_mode = {there.failure_mode: there.uuid for there in suggestions(project)}
    accept_suggestion(project, "Ann", green)
    reject_suggestion(project, "Bob", by_mode["wrinkles"])
    for uuid in (green, by_mode["wrinkles"]):
        with pytest.raises(ProjectError, match="already"):
            accept_suggestion(project, "Carol", uuid)
        with pytest.raises(ProjectError, match="already"):
            reject_suggestion(project, "Carol", uuid)
    assert len(tags(project)) == 1
    again = [made(run_id, onset=9), made(run_id, "wrinkles", onset=9), made(run_id, "static_noise")]
    assert replace_suggestions(project, [run_id], again) == 1
    assert {(there.failure_mode, there.onset, there.state) for there in suggestions(project)} == {
        ("green_tint", 5, "accepted"),
        ("wrinkles", 5, "rejected"),
        ("static_noise", 5, "open"),
    }
    project.close()
    with Project.open(tmp_path / "study.b100") as reopened:
        assert [there.failure_mode for there in suggestions(reopened, run_id, SuggestionState.OPEN)] == [
            "static_noise"
        ]


def test_accepting_what_is_tagged_already_is_undone_and_redone_and_leaves_the_tag(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    own = add_tag(project, "Ann", NewTag(run_id, "green_tint", 2, note="mine"))
    accept_suggestion(project, "Ann", suggestions(project)[0].uuid)
    for _ in range(2):
        undo(project, "Ann")
        assert [there.state for there in suggestions(project)] == ["open"]
        redo(project, "Ann")
        assert [(there.state, there.tag_uuid) for there in suggestions(project)] == [("accepted", own.uuid)]
        assert [replace(tag, modified_at="") for tag in tags(project)] == [replace(own, modified_at="")]
    undo(project, "Ann")
    undo(project, "Ann")
    assert tags(project) == []


def test_a_refused_acceptance_leaves_all_as_it_was(project, run_id):
    replace_suggestions(project, [run_id], [made(run_id)])
    (before,) = suggestions(project)
    with pytest.raises(ProjectError, match="onset 21"):
        accept_suggestion(project, "Ann", before.uuid, onset=21)
    with pytest.raises(ProjectError, match="annotator"):
        reject_suggestion(project, " ", before.uuid)
    with pytest.raises(ProjectError, match="no suggestion x"):
        accept_suggestion(project, "Ann", "x")
    assert (suggestions(project), tags(project)) == ([before], [])


def test_runs_that_were_not_looked_at_keep_theirs(project, new_run, run_id):
    other = add_run(project, new_run(steps_planned=20))
    replace_suggestions(project, [run_id, other], [made(run_id), made(other)])
    assert replace_suggestions(project, [run_id], []) == 0
    assert [there.run_id for there in suggestions(project)] == [other]
    assert replace_suggestions(project, [other], [made(other)]) == 0


def test_the_rate_of_acceptance(project, new_run):
    runs = [add_run(project, new_run(steps_planned=20)) for _ in range(4)]
    replace_suggestions(project, runs, [made(run_id) for run_id in runs])
    assert acceptance(project)[0].rate is None
    first, second, third, _ = suggestions(project)
    accept_suggestion(project, "Ann", first.uuid)
    accept_suggestion(project, "Ann", second.uuid)
    reject_suggestion(project, "Ann", third.uuid)
    (green,) = acceptance(project)
    assert (green.failure_mode, green.open, green.accepted, green.rejected) == ("green_tint", 1, 2, 1)
    assert green.rate == pytest.approx(2 / 3)
