"""Runs, steps, calls and what they cost."""

from __future__ import annotations

import sqlite3

import pytest

from banana100_core.errors import ProjectError
from banana100_core.project.images import add_initial_image, initial_images
from banana100_core.project.records import Call, NewStep, NewTag, Outcome, RunState
from banana100_core.project.runs import (
    _RUNS as RUNS,
)
from banana100_core.project.runs import (
    add_call,
    add_run,
    add_step,
    add_steps,
    run,
    run_by_source,
    run_costs,
    runs,
    set_run_state,
    step,
    steps,
)
from banana100_core.project.scores import step_scores, unscored_images
from banana100_core.project.tags import add_tag, edits, tags


def test_a_run_comes_back_as_it_was(project, new_run):
    new = new_run(
        repeat=3,
        seed=2**63 - 1,
        settings={"temperature": 0.4, "nested": {"ü": [1, None]}},
        session_mode="same",
        branch="left",
        source="folder/Dongpo",
        state=RunState.DONE,
    )
    found = run(project, add_run(project, new))
    for name in new.__dataclass_fields__:
        assert getattr(found, name) == getattr(new, name)
    assert (found.steps_done, found.steps_failed, found.tag_count, found.last_sha256) == (0, 0, 0, None)


def test_counts_of_a_run(project, add_study, new_image):
    run_id = add_study(project, 5)
    add_step(project, NewStep(run_id, 6, Outcome.FAILED, reason="blocked"), None)
    add_tag(project, "Ann", NewTag(run_id, "green_tint", 3))
    add_tag(project, "Ann", NewTag(run_id, "static_noise", 4))
    found = run(project, run_id)
    assert (found.steps_done, found.steps_failed, found.tag_count) == (5, 1, 2)
    assert found.initial_sha256 == new_image((run_id, 0)).image.sha256
    assert found.last_sha256 == new_image((run_id, 5)).image.sha256
    assert runs(project) == [found]


def test_the_initial_image_is_known_by_name_before_step_0_is_there(project, new_run, new_image):
    add_initial_image(project, "Dongpo", new_image("Dongpo"))
    run_id = add_run(project, new_run())
    assert run(project, run_id).initial_sha256 == new_image("Dongpo").image.sha256


def test_a_source_is_taken_in_once(project, new_run):
    run_id = add_run(project, new_run(source="a/b"))
    assert run_by_source(project, "a/b").id == run_id
    assert run_by_source(project, "a/c") is None
    with pytest.raises(ProjectError, match="from a/b already"):
        add_run(project, new_run(source="a/b"))
    assert len(runs(project)) == 1


def test_an_unknown_run_is_said(project):
    with pytest.raises(ProjectError, match="no run 7"):
        run(project, 7)
    with pytest.raises(ProjectError, match="no run 7"):
        set_run_state(project, 7, RunState.DONE)
    with pytest.raises(ProjectError, match="no run 7"):
        add_step(project, NewStep(7, 1, Outcome.FAILED), None)
    with pytest.raises(ProjectError, match="no run 7"):
        add_call(project, Call(7, 1, 1, "done"))


def test_a_state_is_kept_with_its_reason(project, new_run):
    run_id = add_run(project, new_run())
    set_run_state(project, run_id, RunState.STOPPED, "the service blocked it")
    found = run(project, run_id)
    assert (found.state, found.state_reason) == (RunState.STOPPED, "the service blocked it")
    set_run_state(project, run_id, RunState.PLANNED)
    assert run(project, run_id).state_reason == ""


def test_a_step_comes_back_as_it_was(project, new_run, new_image):
    run_id = add_run(project, new_run())
    new = NewStep(
        run_id,
        1,
        Outcome.DONE,
        prompt='<b>Produce</b> an exact replica\n of "it"; DROP TABLE step; --',
        reasoning="**Evaluating**\n\nIt is \0 perfect 🍌",
        settings={"seed": 1},
        sent_sha256="a" * 64,
        declared_media_type="image/jpeg",
        model_version="v1",
        finish_reason="STOP",
        input_tokens=1120,
        output_tokens=1290,
        cost_usd=0.134,
        seconds=21.5,
    )
    add_step(project, new, new_image())
    found = step(project, run_id, 1)
    for name in new.__dataclass_fields__:
        assert getattr(found, name) == getattr(new, name)
    assert found.image == new_image().image
    assert step(project, run_id, 2) is None
    assert steps(project, run_id) == [found]


def test_half_a_character_in_a_reply_costs_no_step(project, new_run, new_image):
    run_id = add_run(project, new_run())
    add_step(
        project,
        NewStep(run_id, 1, Outcome.DONE, reasoning="cut \ud83d", settings={"a": "\ud83d"}),
        new_image(),
    )
    assert step(project, run_id, 1).reasoning == "cut \\ud83d"


def test_steps_come_by_number(project, new_run, new_image):
    run_id = add_run(project, new_run())
    for number in (2, 10, 0, 1):
        outcome = Outcome.DONE if number else Outcome.INITIAL
        add_step(project, NewStep(run_id, number, outcome), new_image(number))
    assert [found.number for found in steps(project, run_id)] == [0, 1, 2, 10]


def test_a_failed_step_has_a_reason_and_no_image(project, new_run, new_image):
    run_id = add_run(project, new_run())
    add_step(project, NewStep(run_id, 1, Outcome.FAILED, reason="0 bytes"), None)
    found = step(project, run_id, 1)
    assert (found.image, found.reason) == (None, "0 bytes")
    with pytest.raises(ValueError, match="failed"):
        add_step(project, NewStep(run_id, 2, Outcome.FAILED), new_image())
    with pytest.raises(ValueError, match="done"):
        add_step(project, NewStep(run_id, 2, Outcome.DONE), None)


def test_a_failed_step_can_be_done_again_a_finished_one_is_never_replaced(project, new_run, new_image):
    run_id = add_run(project, new_run())
    add_step(project, NewStep(run_id, 1, Outcome.FAILED, reason="503"), None)
    add_step(project, NewStep(run_id, 1, Outcome.DONE), new_image())
    for outcome, image in ((Outcome.DONE, new_image("other")), (Outcome.FAILED, None)):
        with pytest.raises(ProjectError, match="has step 1 already"):
            add_step(project, NewStep(run_id, 1, outcome), image)
    assert [found.image for found in steps(project, run_id)] == [new_image().image]
    with project.reading() as connection:
        assert connection.execute("SELECT count(*) FROM blob").fetchone()[0] == 1


def test_steps_added_together_are_all_there_or_none(project, new_run, new_image):
    run_id = add_run(project, new_run())
    several = [(NewStep(run_id, number, Outcome.DONE), new_image(number)) for number in (1, 2, 2)]
    with pytest.raises(ProjectError, match="has step 2 already"):
        add_steps(project, several)
    assert steps(project, run_id) == []
    with project.reading() as connection:
        assert connection.execute("SELECT count(*) FROM image").fetchone()[0] == 0
    add_steps(project, several[:2])
    assert len(steps(project, run_id)) == 2


def test_changes_of_a_step_are_told(project, new_run, new_image):
    run_id = add_run(project, new_run())
    told = []
    project.subscribe(told.append)
    add_step(project, NewStep(run_id, 1, Outcome.DONE), new_image())
    assert told == [frozenset({"step", "image"})]


def test_lists_never_touch_the_bytes_of_images(project, add_study):
    add_study(project)

    def refuse_blobs(action, table, *_):
        return sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_READ and table == "blob" else sqlite3.SQLITE_OK

    with project.reading() as connection:
        connection.set_authorizer(refuse_blobs)
    for listed in (runs, run_costs, step_scores, tags, edits, initial_images):
        listed(project)
    assert len(steps(project, 1)) == 21
    assert unscored_images(project, {"piqe": "v1"})
    with project.reading() as connection:
        for view in ("step_scores", "score_gaps", "tag_onsets", "run_costs"):
            connection.execute(f"SELECT * FROM {view}").fetchall()
        with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
            connection.execute("SELECT bytes FROM blob")


def test_counts_of_runs_come_from_an_index(project, add_study):
    add_study(project)
    with project.reading() as connection:
        plan = [row["detail"] for row in connection.execute(f"EXPLAIN QUERY PLAN {RUNS}")]
    of_steps = [detail for detail in plan if " step " in detail]
    assert len(of_steps) == 4
    assert sum("COVERING INDEX step_summary" in detail for detail in of_steps) == 3
    assert sum("run_id=? AND number=?" in detail for detail in of_steps) == 1


def test_costs_count_every_call(project, add_study):
    run_id = add_study(project, 2, steps_planned=5)
    add_call(project, Call(run_id, 1, 1, "failed", "503", seconds=2.0))
    add_call(project, Call(run_id, 1, 2, "done", "", 100, 1290, 0.134, 20.0))
    add_call(project, Call(run_id, 2, 1, "done", "", 100, 1290, 0.134, 21.0))
    (cost,) = run_costs(project)
    assert (cost.run_id, cost.model, cost.protocol) == (run_id, "jpeg", "replicate")
    assert (cost.steps_done, cost.steps_planned, cost.calls, cost.failed_calls) == (2, 5, 3, 1)
    assert (cost.input_tokens, cost.output_tokens, cost.seconds) == (200, 2580, 43.0)
    assert cost.cost_usd == pytest.approx(0.268)


def test_costs_of_a_run_without_calls_are_those_of_its_steps(project, new_run, new_image):
    run_id = add_run(project, new_run())
    add_step(project, NewStep(run_id, 1, Outcome.DONE, cost_usd=0.1, input_tokens=5), new_image())
    add_run(project, new_run())
    known, unknown = run_costs(project)
    assert (known.calls, known.cost_usd, known.input_tokens, known.output_tokens) == (0, 0.1, 5, None)
    assert (unknown.steps_done, unknown.cost_usd) == (0, None)
