from __future__ import annotations

import threading

import pytest

from app.background import Background, NewsDesk
from banana100_core.errors import BananaError
from banana100_core.generation.executor import GenerationProgress
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, NewTag, Outcome, RunState
from banana100_core.project.runs import add_run, add_step, set_run_state
from banana100_core.project.scores import step_scores
from banana100_core.project.tags import add_tag
from banana100_core.scoring.tally import ScoringProgress


@pytest.fixture
def opened(session, study):
    assert session.open_project(study)
    return session


def _new_step(make_png, run_id: int, number: int) -> tuple[NewStep, NewImage]:
    data = make_png(96, 64, seed=77_000 + number)
    return NewStep(run_id, number, Outcome.DONE), NewImage(inspect(data), data=data)


def test_opening_shows_the_last_step_of_the_first_run_beside_step_1(opened):
    assert opened.run == opened.runs[0]
    assert [step.number for step in opened.steps] == [0, 1, 2, 3, 4]
    assert (opened.step, opened.reference_step) == (4, 1)


def test_the_reference_is_the_initial_image_until_there_is_a_step_1(session, tmp_path, fill):
    with Project.create(tmp_path / "planned.b100") as project:
        fill(project, images=1, repeats=1, steps=0)
    session.open_project(tmp_path / "planned.b100")
    assert (session.step, session.reference_step) == (0, 0)


def test_what_is_no_project_is_told_and_leaves_the_open_project_alone(qtbot, opened, tmp_path):
    (tmp_path / "note.b100").write_text("not a project at all")
    with qtbot.waitSignal(opened.failed) as told:
        assert not opened.open_project(tmp_path / "note.b100")
    assert "note.b100" in told.args[0]
    assert opened.project is not None
    assert opened.run is not None


def test_steps_are_walked_and_stop_at_both_ends(opened):
    opened.next_step()
    assert opened.step == 4
    opened.previous_step()
    assert opened.step == 3
    opened.first_step()
    opened.previous_step()
    assert opened.step == 0
    opened.choose_step(99)
    assert opened.step == 4
    opened.next_reference()
    assert opened.reference_step == 2
    opened.choose_reference(-5)
    opened.previous_reference()
    assert opened.reference_step == 0


def test_another_run_is_shown_at_the_step_that_was_looked_at(qtbot, opened):
    opened.choose_step(2)
    opened.choose_reference(0)
    with (
        qtbot.waitSignal(opened.run_changed),
        qtbot.assertNotEmitted(opened.step_changed),
        qtbot.assertNotEmitted(opened.reference_changed),
    ):
        opened.choose_run(opened.runs[-1].id)
    assert (opened.step, opened.reference_step) == (2, 0)


def test_a_shorter_run_is_shown_at_the_nearest_step_it_has(qtbot, opened, fill):
    opened.choose_step(4)
    opened.choose_reference(3)
    (shorter,) = fill(opened.project, images=1, repeats=1, steps=2)
    qtbot.waitUntil(lambda: opened.runs[-1].id == shorter)
    told = []
    opened.step_changed.connect(lambda number: told.append(("step", number)))
    opened.reference_changed.connect(lambda number: told.append(("reference", number)))
    opened.choose_run(shorter)
    assert told == [("step", 2), ("reference", 2)]


def test_a_growing_run_is_followed_while_its_last_step_is_looked_at(qtbot, opened, make_png):
    run_id = opened.run.id
    set_run_state(opened.project, run_id, RunState.PLANNED)
    qtbot.waitUntil(lambda: opened.run.state is RunState.PLANNED)
    opened.choose_step(4)
    add_step(opened.project, *_new_step(make_png, run_id, 5))
    qtbot.waitUntil(lambda: opened.step == 5)

    opened.choose_step(3)
    add_step(opened.project, *_new_step(make_png, run_id, 6))
    qtbot.waitUntil(lambda: opened.steps[-1].number == 6)
    assert opened.step == 3


def test_a_run_that_arrives_is_listed(qtbot, opened):
    with qtbot.waitSignal(opened.runs_updated):
        add_run(opened.project, NewRun("Image 1", "codec_loss", "jpeg-webp", "replicate"))
    assert opened.runs[-1].provider == "codec_loss"


def test_the_first_run_of_an_empty_project_is_chosen_when_it_comes(qtbot, session, tmp_path, fill):
    Project.create(tmp_path / "empty.b100").close()
    session.open_project(tmp_path / "empty.b100")
    assert session.run is None
    with qtbot.waitSignal(session.run_changed):
        fill(session.project, images=1, repeats=1)
    qtbot.waitUntil(lambda: session.steps and session.steps[-1].number == 4)


def test_tags_count_where_runs_are_listed(qtbot, opened):
    with qtbot.waitSignal(opened.tags_updated):
        add_tag(opened.project, "Ada", NewTag(opened.run.id, "persistent_noise", onset=2))
    qtbot.waitUntil(lambda: opened.run.tag_count == 1)


def test_many_changes_are_told_at_most_ten_times_a_second(qtbot, opened, make_png):
    told: list[None] = []
    opened.runs_updated.connect(lambda: told.append(None))
    run_id = opened.run.id
    for number in range(5, 45):
        add_step(opened.project, *_new_step(make_png, run_id, number))
    qtbot.waitUntil(lambda: opened.steps[-1].number == 44)
    assert 1 <= len(told) < 40


def test_news_keeps_only_the_latest_progress_of_a_kind(qtbot):
    desk = NewsDesk()
    got: list[tuple[frozenset[str], dict[str, object]]] = []
    desk.delivered.connect(lambda tables, progress: got.append((tables, progress)))

    def tell() -> None:
        for number in range(1000):
            desk.tell_change(frozenset({"score" if number % 2 else "step"}))
            desk.tell_progress("scoring", number)

    thread = threading.Thread(target=tell)
    with qtbot.waitSignal(desk.delivered):
        thread.start()
        thread.join()
    qtbot.waitUntil(lambda: bool(got) and got[-1][1].get("scoring") == 999)
    assert frozenset({"score", "step"}) in [tables for tables, _progress in got]


def test_progress_that_a_thread_tells_too_late_is_shown_as_it_is_now(qtbot, session, study):
    session.open_project(study)
    scoring, generation = [], []
    session.scoring_progressed.connect(scoring.append)
    session.generation_progressed.connect(generation.append)
    session._news.tell_progress("scoring", ScoringProgress(3, 9, 0, 1.0, None, paused=True))
    session._news.tell_progress("generation", GenerationProgress(running=True))
    qtbot.waitUntil(lambda: bool(scoring and generation))
    assert not scoring[-1].paused
    assert not generation[-1].running


def test_nothing_is_delivered_after_stopping(qtbot):
    background = Background("test")
    begun, go_on = threading.Event(), threading.Event()
    got: list[object] = []

    def work() -> str:
        begun.set()
        go_on.wait(10)
        return "late"

    background.do(work, got.append)
    assert begun.wait(10)
    go_on.set()
    background.stop()
    qtbot.wait(0)
    assert got == []


def test_a_known_error_in_the_background_is_told_in_words(qtbot, opened):
    def work() -> None:
        raise BananaError("The thing is gone. Fetch it again.")

    with qtbot.waitSignal(opened.failed) as told:
        opened.in_background(work)
    assert told.args[1] == "The thing is gone. Fetch it again."


def test_any_other_error_in_the_background_surfaces_on_the_ui_thread(qtbot, opened):
    def work() -> None:
        raise ZeroDivisionError("a bug")

    with qtbot.captureExceptions() as caught:
        opened.in_background(work)
        qtbot.waitUntil(lambda: bool(caught))
    assert caught[0][0] is ZeroDivisionError


def test_what_is_generated_is_scored_as_it_arrives(qtbot, session, tmp_path, fill):
    with Project.create(tmp_path / "planned.b100") as project:
        fill(project, images=1, repeats=1, steps=0, scored=False)
    session.open_project(tmp_path / "planned.b100")
    run = NewRun("Image 1", "codec_loss", "jpeg-webp", "replicate", repeat=2, steps_planned=3, seed=1)
    run_id = add_run(session.project, run)
    session.executor.start([run_id])

    def scored_steps() -> set[int]:
        return {score.step for score in step_scores(session.project, [run_id])}

    qtbot.waitUntil(lambda: {1, 2, 3} <= scored_steps(), timeout=60_000)


def test_selected_runs_fall_back_to_the_run_looked_at(qtbot, opened):
    assert opened.selected_runs == [opened.run.id]
    with qtbot.waitSignal(opened.selection_changed):
        opened.selected_runs = [run.id for run in opened.runs[1:3]]
    assert opened.selected_runs == [run.id for run in opened.runs[1:3]]


def test_a_project_opened_for_reading_has_neither_pool_nor_executor(session, study):
    session.open_project(study, read_only=True)
    assert session.runs
    assert session.pool is None
    assert session.executor is None
    session.score_missing()
    session.retry_failed()


def test_closing_forgets_all_and_frees_the_file(qtbot, opened, study):
    with qtbot.waitSignal(opened.project_closed):
        opened.close_project()
    assert (opened.project, opened.run, opened.steps, opened.runs) == (None, None, [], [])
    opened.next_step()
    opened.choose_run(1)
    with Project.open(study):
        pass


def test_opening_another_project_closes_the_first(opened, tmp_path, study):
    Project.create(tmp_path / "other.b100").close()
    assert opened.open_project(tmp_path / "other.b100")
    assert opened.runs == []
    with Project.open(study):
        pass
