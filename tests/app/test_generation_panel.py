"""The panel of generation: plans in words, real runs by embedded editors, pause, cancel, trouble."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication

from app.generation.estimate import cost, disk, prompt_lines
from app.generation.work import RUN_ROLE, state
from app.thumbnails import Thumbnails
from banana100_core.catalog.protocols import protocols
from banana100_core.generation.plan import PlannedRun, make_plan
from banana100_core.project import Project
from banana100_core.project.images import image_location, initial_images
from banana100_core.project.records import RunState
from banana100_core.project.runs import runs, set_run_state, steps
from tests.app.faults import limit_pages
from tests.app.generation_desk import Desk


@pytest.fixture
def desk(qtbot, tmp_path):
    desk = Desk(qtbot, tmp_path / "study.b100")
    yield desk
    desk.session.close_project()


@pytest.fixture
def picture(tmp_path, make_png):
    """Makes a picture file of a name."""

    def make(name, width=96, height=64):
        file = tmp_path / name
        file.write_bytes(make_png(width, height, sum(name.encode())))
        return file

    return make


# The form and the plan


def test_an_empty_project_says_what_to_do_first(desk):
    assert desk.panel.summary.hint.text() == "Add the pictures that the runs start from."
    assert not desk.panel.summary.start.isEnabled()


def test_added_files_become_initial_images_kept_in_the_project_and_ticked(desk, picture):
    coffee = picture("coffee.png")
    desk.add(coffee, picture("<b>tea.png"))
    (first, _) = initial_images(desk.project)
    assert first.name == "coffee"
    coffee.unlink()  # the study does not need the file any more
    assert image_location(desk.project, first.image.sha256).read()
    item = desk.form.pictures.list.item(1)
    assert item.text().startswith("<b>tea\n96 × 64")
    assert "&lt;b&gt;" in item.toolTip()


def test_two_pictures_of_one_name_keep_both(desk, picture, tmp_path, make_png):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    other = elsewhere / "coffee.png"
    other.write_bytes(make_png(32, 32, 99))
    desk.add(picture("coffee.png"), other)
    assert [each.name for each in initial_images(desk.project)] == ["coffee", "coffee (2)"]


def test_a_file_that_is_no_picture_is_told_and_the_rest_is_added(desk, picture, tmp_path):
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"not a picture")
    desk.panel.add_files([broken, picture("coffee.png"), tmp_path / "gone.png"])
    desk.until(lambda: desk.form.wishes().images == ("coffee",))
    ((title, details),) = desk.told
    assert title == "Some files can't be initial images"
    assert "broken.png" in details
    assert "gone.png" in details


def test_files_can_be_dropped_on_the_list(desk, picture):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(picture("coffee.png")))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    desk.form.pictures.list.dropEvent(event)
    desk.until(lambda: desk.form.wishes().images == ("coffee",))


def test_embedded_editors_say_what_they_are(desk):
    for provider in ("restoration_loop", "codec_loss"):
        desk.choose_editor(provider)
        assert desk.form.editors.note.text() == desk.form.editors.chosen.note
        assert "reads no prompt" in desk.form.editors.note.text()


def test_the_plan_is_told_before_anything_is_made(desk, picture):
    desk.add(picture("coffee.png"), picture("tea.png"))
    desk.plan(numbers=20, repeats=2)
    figures = desk.settled_figures()
    assert (figures["Calls"], figures["Cost"]) == ("80 in 4 runs", "no cost")
    assert figures["Disk"]
    told = desk.form.lines.text().splitlines()
    assert told[:2] == ["coffee · r1: 20 steps, seed 1", "tea · r1: 20 steps, seed 1"]
    assert told[-1] == f"Steps 1 to 20: {protocols()['replicate'].prompts[0]}"
    assert runs(desk.project) == []
    desk.form.pictures.list.item(1).setCheckState(Qt.CheckState.Unchecked)
    assert desk.settled_figures()["Calls"] == "40 in 2 runs"
    desk.form.pictures.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert desk.panel.summary.hint.text() == "Tick an initial image."
    assert desk.panel.summary.figures == {}


def test_a_plan_with_turns_tells_at_which_steps_each_prompt_is_sent():
    run = PlannedRun("coffee", "p", "m", "mirror", 1, 1, ("there", "back"), 5, (0.1, 0.2))
    assert prompt_lines(run) == ["Steps 1, 3 …: there", "Steps 2, 4: back"]


def test_figures_for_people():
    assert cost((0.0, 0.0)) == "no cost"
    assert cost((1.5, 1.5)) == "$1.50"
    assert disk((2_000, 2_000)) == "2 kB"
    assert disk((150_000_000, 2_500_000_000)) == "150 MB to 2 GB"


# Making


@pytest.mark.parametrize("provider", ["codec_loss", "restoration_loop"])
def test_start_makes_the_planned_runs(desk, picture, provider):
    desk.add(picture("coffee.png"), picture("tea.png"))
    desk.plan(provider=provider, numbers=2, repeats=2)
    expected = make_plan(("coffee", "tea"), "replicate", provider, desk.form.editors.chosen.model, 2, 2, 1)
    desk.panel.summary.start.click()
    desk.until_done(4)
    made = runs(desk.project)
    assert [(run.initial_image, run.repeat, run.seed) for run in made] == [
        (run.initial_image, run.repeat, run.seed) for run in expected.runs
    ]
    assert [step.number for step in steps(desk.project, made[0].id)] == [0, 1, 2]
    desk.until(lambda: not desk.panel.progress.cancel_button.isVisible())
    assert "8 of 8 steps" in desk.panel.progress.overall.text()
    model = desk.panel.progress.work
    words = [state(model.data(model.index(row), RUN_ROLE)) for row in range(4)]
    assert words == ["Done, 2 steps"] * 4


def test_the_newest_step_is_the_picture_of_its_run(desk, picture):
    desk.add(picture("coffee.png"))
    desk.plan(numbers=2)
    desk.panel.start()
    desk.until_done(1)
    newest = runs(desk.project)[0].last_sha256
    desk.until(lambda: Thumbnails.of(desk.session).pixmap(newest) is not None)
    desk.until(lambda: desk.panel.progress.work.runs[0].last_sha256 == newest)


def test_starting_again_adds_further_repeats(desk, picture):
    desk.add(picture("coffee.png"))
    desk.plan(numbers=1)
    desk.panel.start()
    desk.until_done(1)
    desk.panel.start()
    desk.until_done(2)
    assert [run.repeat for run in runs(desk.project)] == [1, 2]


def test_pause_resume_and_cancel(desk, picture):
    desk.add(picture("coffee.png"))
    desk.plan(provider="restoration_loop", numbers=1000)
    desk.panel.start()
    desk.until(lambda: desk.session.executor.progress().steps_done >= 1)
    desk.until(desk.panel.progress.pause_button.isVisible)
    desk.panel.progress.pause_button.click()
    desk.until(desk.panel.progress.resume_button.isVisible)
    assert "paused" in desk.panel.progress.overall.text()
    assert desk.registry.qaction("generate.resume").isEnabled()
    assert not desk.registry.qaction("generate.pause").isEnabled()
    before = desk.session.executor.progress().steps_done
    desk.panel.progress.resume_button.click()
    desk.until(lambda: desk.session.executor.progress().steps_done > before + 1)
    desk.panel.progress.cancel_button.click()
    desk.until(lambda: runs(desk.project)[0].state is RunState.CANCELLED)
    desk.until(lambda: not desk.panel.progress.cancel_button.isVisible())
    kept = runs(desk.project)[0].steps_done
    assert kept >= before
    desk.until(lambda: state(desk.panel.progress.work.runs[0]) == f"Cancelled at {kept} of 1000 steps")


def test_a_stopped_run_says_why_and_can_go_on(desk, picture):
    desk.add(picture("coffee.png"))
    desk.plan(numbers=2)
    desk.panel.start()
    desk.until_done(1)
    (run,) = runs(desk.project)
    set_run_state(desk.project, run.id, RunState.STOPPED, "The <service> is gone. Ask again later.")
    desk.until(lambda: desk.panel.progress.work.runs[0].state is RunState.STOPPED)
    index = desk.panel.progress.work.index(0)
    assert "The <service> is gone" in desk.panel.progress.work.data(index)
    assert "&lt;service&gt;" in desk.panel.progress.work.data(index, Qt.ItemDataRole.ToolTipRole)
    trouble = desk.panel.progress.trouble
    desk.until(trouble.isVisible)
    assert trouble.title.text() == "coffee · r1 stopped"
    assert trouble.reason.text() == "The <service> is gone. Ask again later."
    assert trouble.reason.textFormat() == Qt.TextFormat.PlainText
    assert not desk.panel.progress.go_on_button.isVisible()  # one button is enough
    trouble.go.click()
    desk.until_done(1)
    desk.until(lambda: not trouble.isVisible())


def test_a_full_disk_is_told_though_nothing_can_be_written_of_it(desk, picture):
    desk.add(picture("coffee.png"))
    desk.plan(numbers=30)
    used = desk.project.write(lambda database: database.execute("PRAGMA page_count").fetchone()[0])
    limit_pages(desk.project, used + 8)  # the run has room, but not all of its pictures
    desk.panel.start()
    progress = desk.panel.progress
    desk.until(lambda: progress.message.isVisible() and "no space left" in progress.message.text())
    desk.until(lambda: "1 run stopped" in progress.overall.text())
    limit_pages(desk.project, 2**31)
    desk.until(progress.go_on_button.isVisible)
    progress.go_on_button.click()
    desk.until_done(1)
    desk.until(lambda: not progress.message.isVisible())


def test_runs_left_unfinished_are_offered_when_the_project_opens_again(qtbot, tmp_path, picture):
    path = tmp_path / "study.b100"
    desk = Desk(qtbot, path)
    desk.add(picture("coffee.png"))
    desk.plan(provider="restoration_loop", numbers=4)
    executor = desk.session.executor
    # On the thread that makes the steps, so that the run can't be done before the project is closed.
    executor.subscribe(lambda progress: progress.steps_done and not progress.paused and executor.pause())
    desk.panel.start()
    desk.until(lambda: executor.progress().paused)
    desk.session.close_project()
    again = Desk(qtbot, path)
    assert [run.state for run in again.panel.progress.work.runs] == [RunState.PLANNED]
    assert again.panel.progress.go_on_button.isVisible()
    again.panel.progress.go_on_button.click()
    again.until_done(1)
    again.session.close_project()


def test_the_window_answers_while_an_editor_works(desk, picture):
    """The editor computes in a process of its own: between two of its steps events go on being handled."""
    desk.add(picture("coffee.png", 600, 400))
    desk.plan(provider="restoration_loop", numbers=3)
    answers = []
    timer = QTimer()
    timer.timeout.connect(lambda: answers.append(desk.session.executor.progress().steps_done))
    desk.panel.start()
    timer.start(5)
    desk.until_done(1)
    timer.stop()
    assert all(answers.count(done) > 1 for done in range(3))


def test_the_menu_brings_the_panel_forward(desk):
    desk.dock.hide()
    desk.registry.qaction("generate.start").trigger()
    assert desk.dock.isVisible()
    QApplication.processEvents()


def test_a_double_click_looks_at_the_newest_step_of_a_run(desk, picture):
    desk.add(picture("coffee.png"), picture("tea.png"))
    desk.plan(numbers=2)
    desk.panel.start()
    desk.until_done(2)
    desk.panel.progress.view.activated.emit(desk.panel.progress.work.index(1))
    assert desk.session.run.initial_image == "tea"
    assert desk.session.step == 2


def test_a_project_open_for_reading_cannot_be_added_to(qtbot, tmp_path, picture):
    path = tmp_path / "study.b100"
    Project.create(path).close()
    desk = Desk(qtbot, path, read_only=True)
    assert desk.panel.summary.hint.text() == "This project is open for reading only."
    desk.panel.add_files([picture("coffee.png")])
    assert not desk.panel.summary.start.isEnabled()
    desk.session.close_project()


def test_nothing_is_left_when_the_project_closes(desk, picture):
    desk.add(picture("coffee.png"))
    desk.session.close_project()
    assert desk.form.pictures.list.count() == 0
    assert desk.panel.summary.hint.text().startswith("Open a project")
