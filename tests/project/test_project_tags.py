"""Tags, their log, and undo and redo that follow from it."""

from __future__ import annotations

import sqlite3
from dataclasses import fields, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banana100_core.catalog.failure_modes import failure_modes as catalog_modes
from banana100_core.errors import ProjectError
from banana100_core.project import Project
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import NewTag, ReviewState, Tag
from banana100_core.project.runs import add_run
from banana100_core.project.tags import add_tag, change_tag, edits, redo, remove_tag, tags, undo


@pytest.fixture
def run_id(project, new_run):
    return add_run(project, new_run(steps_planned=20))


def timeless(found: list[Tag]) -> list[Tag]:
    return sorted((replace(tag, modified_at="") for tag in found), key=lambda tag: tag.uuid)


def test_a_project_has_the_catalogs_failure_modes(project):
    assert failure_modes(project) == list(catalog_modes().values())


def test_a_project_keeps_its_own_failure_modes(tmp_path):
    with Project.create(tmp_path / "a.b100") as project:
        project.write(
            lambda db: db["failure_mode"].update("green_tint", {"name": "Verdigris", "shortcut": "V"})
        )
    with Project.open(tmp_path / "a.b100") as project:
        modes = {mode.key: mode for mode in failure_modes(project)}
        assert (modes["green_tint"].name, modes["green_tint"].shortcut) == ("Verdigris", "V")
        assert len(modes) == len(catalog_modes())


def test_a_mode_that_a_new_version_adds_is_taken_in_without_a_clash_of_keys(tmp_path):
    with Project.create(tmp_path / "a.b100") as project:
        project.write(lambda db: db["failure_mode"].delete("green_tint"))
        project.write(lambda db: db["failure_mode"].update("wrinkles", {"shortcut": "G"}))
    with Project.open(tmp_path / "a.b100") as project:
        modes = {mode.key: mode.shortcut for mode in failure_modes(project)}
        assert (modes["wrinkles"], modes["green_tint"]) == ("G", "")


def test_a_tag_comes_back_as_it_was(project, run_id):
    new = NewTag(run_id, "green_tint", 7, 12, 3, 0.8, "<i>faint</i> 🍌", ReviewState.DONE)
    tag = add_tag(project, "Ännchen", new)
    for field in fields(NewTag):
        assert getattr(tag, field.name) == getattr(new, field.name)
    assert tag.annotator == "Ännchen"
    assert tags(project) == tags(project, run_id) == [tag]
    assert tags(project, run_id + 1) == []


def test_every_tag_has_a_uuid_of_its_own(project, run_id):
    assert len({add_tag(project, "Ann", NewTag(run_id, "green_tint", 7)).uuid for _ in range(10)}) == 10


def test_a_tag_shows_in_the_view(project, run_id):
    add_tag(project, "Ann", NewTag(run_id, "green_tint", 7, 12))
    with project.reading() as connection:
        assert tuple(connection.execute("SELECT * FROM tag_onsets").fetchone()) == (
            *(run_id, "Dongpo", "jpeg", "replicate", 1, "green_tint", "image", "Ann", 7, 12, 2, "draft"),
        )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"onset": 0}, "onset 0 can't be"),
        ({"onset": 21}, "onset 21 can't be. For run 1 it can be from 1 to 20"),
        ({"onset": -3}, "onset -3"),
        ({"onset": 2.5}, "onset 2.5"),
        ({"onset": 5, "end_step": 4}, "end step 4 can't be. For run 1 it can be from 5 to 20"),
        ({"end_step": 21}, "end step 21"),
        ({"severity": 0}, "severity 0"),
        ({"severity": 4}, "severity 4"),
        ({"certainty": 1.1}, "certainty 1.1"),
        ({"certainty": float("nan")}, "certainty nan"),
        ({"failure_mode": "bad_mood"}, "no failure mode 'bad_mood'"),
        ({"run_id": 9}, "no run 9"),
        ({"review_state": "maybe"}, "review state 'maybe'"),
    ],
)
def test_a_tag_that_cant_be_is_refused_by_name(project, run_id, change, said):
    with pytest.raises(ProjectError, match=said):
        add_tag(project, "Ann", replace(NewTag(run_id, "green_tint", 7), **change))
    tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    if "run_id" not in change:
        with pytest.raises(ProjectError, match=said):
            change_tag(project, "Ann", tag.uuid, **change)
    assert tags(project) == [tag]
    assert len(edits(project)) == 1


def test_a_tag_of_nobody_is_refused(project, run_id):
    tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    for act in (
        lambda: add_tag(project, " ", NewTag(run_id, "green_tint", 3)),
        lambda: change_tag(project, "", tag.uuid, severity=1),
        lambda: remove_tag(project, "\t", tag.uuid),
    ):
        with pytest.raises(ProjectError, match="needs an annotator"):
            act()


def test_a_run_without_steps_cant_be_tagged(project, new_run):
    run_id = add_run(project, new_run(steps_planned=0))
    with pytest.raises(ProjectError, match="it has no steps"):
        add_tag(project, "Ann", NewTag(run_id, "green_tint", 1))


def test_a_finished_run_may_be_longer_than_planned(project, add_study):
    run_id = add_study(project, 5, steps_planned=0)
    assert add_tag(project, "Ann", NewTag(run_id, "green_tint", 5)).onset == 5


def test_what_a_tag_is_about_cant_be_changed(project, run_id):
    tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    with pytest.raises(ProjectError, match="created_at, run_id"):
        change_tag(project, "Ann", tag.uuid, run_id=2, created_at="")


def test_an_unknown_tag_is_said(project):
    for act in (lambda: change_tag(project, "Ann", "x", severity=1), lambda: remove_tag(project, "Ann", "x")):
        with pytest.raises(ProjectError, match="no tag x"):
            act()


def test_the_log_tells_who_did_what(project, run_id):
    tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    changed = change_tag(project, "Bob", tag.uuid, onset=4, review_state=ReviewState.ACCEPTED)
    assert change_tag(project, "Bob", tag.uuid, onset=4) == changed
    remove_tag(project, "Ann", tag.uuid)
    log = edits(project)
    assert [(edit.annotator, edit.action, edit.tag_uuid) for edit in log] == [
        ("Ann", "add", tag.uuid),
        ("Bob", "change", tag.uuid),
        ("Ann", "remove", tag.uuid),
    ]
    assert (log[0].before, log[0].after["onset"]) == (None, 3)
    assert (log[1].before["onset"], log[1].after["onset"], log[1].after["review_state"]) == (3, 4, "accepted")
    assert (log[2].before["onset"], log[2].after) == (4, None)


def test_the_log_cant_be_changed(project, run_id):
    add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    for statement in ("UPDATE edit SET annotator = 'Bob'", "DELETE FROM edit"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            project.write(lambda database, statement=statement: database.execute(statement))


def test_undo_and_redo_step_by_step(project, run_id):
    states = [[]]
    first = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    states.append(tags(project))
    change_tag(project, "Ann", first.uuid, severity=3, note="plain")
    states.append(tags(project))
    add_tag(project, "Ann", NewTag(run_id, "static_noise", 9))
    states.append(tags(project))
    remove_tag(project, "Ann", first.uuid)
    states.append(tags(project))
    for state in reversed(states[:-1]):
        assert undo(project, "Ann").action == "undo"
        assert timeless(tags(project)) == timeless(state)
    assert undo(project, "Ann") is None
    for state in states[1:]:
        assert redo(project, "Ann").action == "redo"
        assert timeless(tags(project)) == timeless(state)
    assert redo(project, "Ann") is None


def test_a_new_edit_ends_what_can_be_redone_not_what_can_be_undone(project, run_id):
    first = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    change_tag(project, "Ann", first.uuid, severity=3)
    undo(project, "Ann")
    add_tag(project, "Ann", NewTag(run_id, "wrinkles", 5))
    assert redo(project, "Ann") is None
    undo(project, "Ann")
    assert timeless(tags(project)) == timeless([first])
    undo(project, "Ann")
    assert tags(project) == []


def test_each_annotator_undoes_only_their_own(project, run_id):
    ann = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    bob = add_tag(project, "Bob", NewTag(run_id, "wrinkles", 5))
    undo(project, "Ann")
    assert tags(project) == [bob]
    assert undo(project, "Ann") is None
    assert undo(project, "Carol") is None
    redo(project, "Ann")
    undo(project, "Bob")
    assert timeless(tags(project)) == timeless([ann])


def test_undo_keeps_what_another_annotator_changed_elsewhere_in_the_tag(project, run_id):
    tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    change_tag(project, "Ann", tag.uuid, onset=4)
    change_tag(project, "Bob", tag.uuid, review_state=ReviewState.ACCEPTED)
    undo(project, "Ann")
    assert [(found.onset, found.review_state) for found in tags(project)] == [(3, ReviewState.ACCEPTED)]


def test_undo_never_takes_another_annotators_work(project, run_id):
    tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    change_tag(project, "Bob", tag.uuid, onset=5)
    before = (tags(project), edits(project))
    with pytest.raises(ProjectError, match=r"another annotator has changed that tag.*by hand"):
        undo(project, "Ann")
    assert (tags(project), edits(project)) == before
    undo(project, "Bob")
    undo(project, "Ann")
    assert tags(project) == []


def test_undo_of_a_removal_brings_the_same_tag_back(project, run_id):
    tag = add_tag(project, "Ann", NewTag(run_id, "green_tint", 3, note="look"))
    remove_tag(project, "Bob", tag.uuid)
    undo(project, "Bob")
    assert timeless(tags(project)) == timeless([tag])


def test_changes_of_tags_are_told(project, run_id):
    told = []
    project.subscribe(told.append)
    add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    undo(project, "Ann")
    # What is taken back may open a suggestion again.
    assert told == [frozenset({"tag", "edit"}), frozenset({"tag", "edit", "suggestion"})]


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 20)),
        st.tuples(st.just("change"), st.integers(1, 20), st.integers(0, 5)),
        st.tuples(st.just("remove"), st.integers(0, 5)),
        st.just(("undo",)),
        st.just(("undo",)),
        st.just(("redo",)),
        st.just(("reopen",)),
    ),
    max_size=30,
)


@given(ACTIONS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undo_and_redo_are_those_of_a_list_of_states(tmp_path_factory, new_run, actions):
    """The log alone gives what a program gives that keeps every state in memory, also after a restart."""
    path = tmp_path_factory.mktemp("undo") / "a.b100"
    project = Project.create(path)
    try:
        run_id = add_run(project, new_run(steps_planned=20))
        history, at = [timeless([])], 0
        for name, *values in actions:
            there = tags(project)
            match name:
                case "add":
                    add_tag(project, "Ann", NewTag(run_id, "green_tint", values[0]))
                case "change" if there and there[values[1] % len(there)].onset != values[0]:
                    change_tag(project, "Ann", there[values[1] % len(there)].uuid, onset=values[0])
                case "remove" if there:
                    remove_tag(project, "Ann", there[values[0] % len(there)].uuid)
                case "undo":
                    assert (undo(project, "Ann") is None) == (at == 0)
                    at = max(at - 1, 0)
                case "redo":
                    assert (redo(project, "Ann") is None) == (at == len(history) - 1)
                    at = min(at + 1, len(history) - 1)
                case "reopen":
                    project.close()
                    project = Project.open(path)
                case _:
                    continue
            now = timeless(tags(project))
            if name in {"add", "change", "remove"}:
                history[at + 1 :] = [now]
                at += 1
            assert now == history[at]
    finally:
        project.close()
