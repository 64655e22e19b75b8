"""The demo study: real photographs, planned at once, then built and scored to the end."""

from __future__ import annotations

import time
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from banana100_core import demo
from banana100_core.demo import METRICS, build_demo, create_demo, demo_images
from banana100_core.errors import ImageError, ProjectError
from banana100_core.generation.plan import add_plan, make_plan
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.check import check
from banana100_core.project.images import NewImage, add_initial_image, image_bytes, initial_images
from banana100_core.project.records import NewRun, RunState
from banana100_core.project.runs import add_run, runs, steps
from banana100_core.project.scores import step_scores

CREDITS = Path(demo.__file__).parent.parent / "resources" / "CREDITS.md"


@pytest.fixture
def short(monkeypatch):
    """The study with one step in place of 20."""
    monkeypatch.setattr(demo, "STEPS", 1)
    monkeypatch.setattr(demo, "REPEATS", 1)


def test_the_initial_images_are_credited_photographs_one_of_them_large():
    images = demo_images()
    sizes = {image.name: Image.open(BytesIO(image.data)).size for image in images}
    assert len(images) >= 4
    assert max(width * height for width, height in sizes.values()) >= 8_000_000
    credited = CREDITS.read_text("utf-8")
    for image in images:
        assert "CC0" in image.credit or "public domain" in image.credit
        assert f"| {image.name} |" in credited


def test_the_initial_images_are_the_same_every_time():
    assert demo_images() == demo_images()


def test_the_large_image_is_made_of_real_content_without_seams():
    large = Image.open(BytesIO(demo_images()[-1].data))
    height, width = 872, 1000
    tile = large.crop((0, 0, width, height))
    beside = large.crop((width, 0, 2 * width, height)).transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    difference = [abs(one - other) for one, other in zip(tile.tobytes(), beside.tobytes(), strict=True)]
    assert sum(difference) / len(difference) < 2  # JPEG's loss, no more


def test_photographs_that_are_missing_are_told_with_a_way_out(monkeypatch):
    monkeypatch.setattr(demo, "_PHOTOGRAPHS", {"Nobody": ("nobody.png", "nobody")})
    with pytest.raises(ImageError, match=r"nobody\.png.*Install the program again"):
        demo_images()


def test_the_project_is_there_at_once_with_all_runs_planned(tmp_path):
    began = time.process_time()
    with create_demo(tmp_path / "demo.b100") as project:
        assert time.process_time() - began < 5
        planned = runs(project)
        assert len(planned) == 2 * len(demo_images())
        assert {(run.state, run.steps_planned, run.protocol) for run in planned} == {
            (RunState.PLANNED, 20, "replicate")
        }
        assert [run.repeat for run in planned] == [1] * 5 + [2] * 5
        assert planned[0].provider == "restoration_loop"
        assert {run.initial_image for run in planned if run.provider == "codec_loss"} == {"Deep field"}
        assert len({(run.initial_image, run.seed) for run in planned}) == len(planned)
        assert all(steps(project, run.id)[0].image is not None for run in planned)
        assert all(initial.credit for initial in initial_images(project))


def test_made_again_it_is_only_opened(tmp_path):
    path = tmp_path / "demo.b100"
    create_demo(path).close()
    with create_demo(path) as project:
        assert len(runs(project)) == 10


def test_a_study_that_was_ended_while_it_was_made_is_completed(tmp_path):
    path = tmp_path / "demo.b100"
    image = demo_images()[0]
    with Project.create(path) as project:
        add_initial_image(project, image.name, NewImage(inspect(image.data), data=image.data), image.credit)
        add_plan(
            project,
            make_plan([image.name], "replicate", "restoration_loop", "realesr-animevideov3-x2", 20, 1, 100),
        )
    with create_demo(path) as project:
        assert len(runs(project)) == 10
        assert len({(run.initial_image, run.repeat) for run in runs(project)}) == 10


def test_another_study_is_left_as_it_is(project):
    add_run(project, NewRun("Dongpo", "gemini", "some", "replicate", state=RunState.DONE))
    project.close()
    with create_demo(project.path) as opened:
        assert [run.initial_image for run in runs(opened)] == ["Dongpo"]
        assert initial_images(opened) == []


def test_another_study_is_not_gone_on_with(project):
    run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg-webp", "replicate", steps_planned=2))
    project.close()
    with pytest.raises(ProjectError, match="not the demo study"):
        build_demo(project.path)
    with Project.open(project.path, read_only=True) as opened:
        assert [(run.id, run.state) for run in runs(opened)] == [(run_id, RunState.PLANNED)]


def test_runs_that_were_added_to_the_study_are_left_as_they_are(tmp_path, monkeypatch):
    planned = make_plan(["Chelsea"], "replicate", "codec_loss", "jpeg-webp", 1, 1, 100).runs
    monkeypatch.setattr(demo, "_plan", lambda: list(planned))
    path = tmp_path / "demo.b100"
    with create_demo(path) as project:
        own = NewRun("Dongpo", "gemini", "gemini-3-pro-image", "replicate", steps_planned=2)
        run_id = add_run(project, own)
    build_demo(path)
    with Project.open(path, read_only=True) as project:
        states = {run.id: run.state for run in runs(project)}
    assert states.pop(run_id) is RunState.PLANNED
    assert set(states.values()) == {RunState.DONE}


@pytest.mark.slow
def test_it_is_built_and_scored_to_the_end_also_after_an_early_end(tmp_path, short):
    path = tmp_path / "demo.b100"
    heard: list[tuple[int, int, str]] = []
    build_demo(path, stop=lambda: True)
    with Project.open(path, read_only=True) as project:
        assert len(runs(project)) == 5
        assert any(run.state is RunState.PLANNED for run in runs(project))
    build_demo(path, lambda *progress: heard.append(progress))
    with Project.open(path, read_only=True) as project:
        assert {run.state for run in runs(project)} == {RunState.DONE}
        scores = step_scores(project)
        assert {(score.metric, score.step) for score in scores} == {
            (metric, step) for metric in METRICS for step in (0, 1)
        }
        assert len(scores) == 5 * 2 * len(METRICS)
        assert [score.error for score in scores if score.error] == []
        for run in runs(project):
            assert inspect(image_bytes(project, steps(project, run.id)[1].image.sha256)).width > 400
    assert check(path) == []
    done = [progress[0] for progress in heard]
    assert done == sorted(done)
    assert {progress[1] for progress in heard} == {10 + 10 * len(METRICS)}
    assert done[-1] <= 10 + 10 * len(METRICS)
