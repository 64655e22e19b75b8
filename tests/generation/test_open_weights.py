"""Open-weight editors on tiny pipelines of the true classes: the same code, no download."""

from __future__ import annotations

import os
import pickle
import signal

import pytest

from banana100_core.catalog.models import editor_models
from banana100_core.errors import ProviderError
from banana100_core.generation.editor import EditSettings, NoAnswerError, Trouble
from banana100_core.generation.executor import Executor
from banana100_core.generation.plan import add_plan, make_plan
from banana100_core.generation.providers import capabilities, editor
from banana100_core.generation.providers.open_weights_loading import Offload, Options
from banana100_core.generation.providers.resizes import Resize, watched_resizes
from banana100_core.imaging.decode import inspect
from banana100_core.project.records import RunState
from banana100_core.project.runs import run, steps

PROVIDER = "diffusers"
KLEIN = (PROVIDER, "FLUX.2-klein-4B")
MODELS = ("FLUX.2-klein-4B", "FLUX.2-dev", "Qwen-Image-Edit-2511", "FLUX.1-Kontext-dev", "instruct-pix2pix")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder that models are built into when they are first asked for."""
    pytest.importorskip("torch")
    pytest.importorskip("diffusers")
    return tmp_path_factory.mktemp("models")


@pytest.fixture
def tiny(models, monkeypatch):
    """Builds the pipeline of a model where it isn't, and lets editors find it there."""
    from tests.generation.tiny_pipelines import save

    def build(key):
        if not (models / key).exists():
            save(key, models)
        monkeypatch.setenv(Options.MODELS, str(models))
        monkeypatch.setenv(Options.DEVICE, "cpu")
        monkeypatch.setenv(Options.STEPS, "1")

    return build


def edited(key, image, seed=7, prompt="add a hat"):
    return editor(PROVIDER, key).edit(image, prompt, EditSettings(seed=seed))


def test_each_model_of_the_catalog_is_offered_and_a_large_one_in_4_bits_too() -> None:
    keys = [model.key for model in editor_models() if model.provider == PROVIDER]
    assert [key for key in keys if not key.endswith("-4bit")] == list(MODELS)
    assert [key for key in keys if key.endswith("-4bit")] == [f"{key}-4bit" for key in MODELS[:-1]]
    assert "other pictures" in capabilities(PROVIDER, "FLUX.2-dev-4bit").note
    assert capabilities(*KLEIN).from_text
    assert not capabilities(PROVIDER, "instruct-pix2pix").from_text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "made", "resizes"),
    [
        ("FLUX.2-klein-4B", [96, 64], [("crop", [100, 70], [96, 64])]),
        ("FLUX.2-dev", [96, 64], [("crop", [100, 70], [96, 64])]),
        ("instruct-pix2pix", [96, 64], [("resize", [100, 70], [96, 64])]),
        ("FLUX.1-Kontext-dev", [1216, 848], [("resize", [100, 70], [1248, 832])]),
        (
            "Qwen-Image-Edit-2511",
            [1216, 864],
            [("resize", [100, 70], [448, 320]), ("resize", [100, 70], [1216, 864])],
        ),
    ],
)
def test_an_edit_is_a_png_with_every_resize_noted(tiny, make_png, key, made, resizes) -> None:
    tiny(key)
    result = edited(key, make_png(100, 70))
    image = inspect(result.data)
    assert [image.width, image.height] == made
    assert image.media_type == result.declared_media_type == "image/png"
    details = pickle.loads(pickle.dumps(result.details))
    noted = [(each["how"], list(each["before"]), list(each["after"])) for each in details["resizes"]]
    assert noted == resizes
    assert [list(size) for size in details["sizes"].values()] == [[100, 70], made]
    assert f"sent 100x70, made {made[0]}x{made[1]}" in result.notes
    assert details["call"]["num_inference_steps"] == 1
    assert (details["device"], details["dtype"], details["offload"]) == ("cpu", "float32", "none")
    assert result.model_version.startswith(f"{key}, diffusers ")


@pytest.mark.slow
def test_a_seed_decides_and_none_is_drawn_and_noted(tiny, make_png) -> None:
    tiny(KLEIN[1])
    image, klein = make_png(64, 64), editor(*KLEIN)
    one, same, other = (klein.edit(image, "add a hat", EditSettings(seed=seed)) for seed in (1, 1, 2))
    assert one.data == same.data != other.data
    drawn = klein.edit(image, "add a hat", EditSettings())
    again = klein.edit(image, "add a hat", EditSettings(seed=drawn.details["seed"]))
    assert drawn.data == again.data
    assert not one.notes  # a size that it takes is left alone
    with pytest.raises(NoAnswerError, match="too small") as told:
        klein.edit(make_png(40, 40), "add a hat", EditSettings())
    assert told.value.trouble is Trouble.FINAL
    made = klein.edit(b"", "a hat", EditSettings(seed=1))
    assert inspect(made.data).width == 1024


@pytest.mark.slow
def test_runs_work_in_one_process_that_is_started_anew_when_it_is_killed(tiny, project, plan_runs) -> None:
    tiny(KLEIN[1])
    run_ids = plan_runs(project, images=["one"], editor=KLEIN, steps=3, repeats=2, size=(100, 70))
    executor = Executor(project)
    pids = []

    def watch(progress):
        [seat] = [job.seat for job in executor._jobs if job.seat] or [None]
        if seat is not None and progress.step and seat.pid is not None:
            pids.append(seat.pid)
            if len(set(pids)) == 1 and progress.step == 2:
                os.kill(seat.pid, signal.SIGKILL)

    executor.subscribe(watch)
    executor.start()
    assert executor.wait(300)
    executor.close()
    assert [run(project, run_id).state for run_id in run_ids] == [RunState.DONE] * 2
    assert len(dict.fromkeys(pids)) == 2  # the second run goes on in the first one's process
    stored = steps(project, run_ids[0])[1]
    assert stored.settings["sizes"] == {"sent": [100, 70], "made": [96, 64]}
    assert stored.settings["resizes"] == [{"how": "crop", "before": [100, 70], "after": [96, 64]}]
    assert stored.settings["call"] == {"num_inference_steps": 1, "guidance_scale": 1.0}
    with project.reading() as connection:
        [failed] = connection.execute("SELECT reason FROM call WHERE outcome = 'failed'").fetchall()
    assert "SIGKILL" in failed[0]


def test_a_model_that_is_not_there_is_told_with_the_way_out(monkeypatch, tmp_path, make_png) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("diffusers")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(
        ProviderError, match=r"not on this machine.*hf download black-forest-labs/FLUX\.2-klein"
    ):
        edited(KLEIN[1], make_png(64, 64))
    with pytest.raises(ProviderError, match=r"hf download.*112 GB.*Accept its licence"):
        edited("FLUX.2-dev", make_png(64, 64))
    monkeypatch.setenv(Options.MODELS, str(tmp_path))
    with pytest.raises(ProviderError, match=r"it has no model_index\.json"):
        edited(KLEIN[1], make_png(64, 64))


def test_4_bits_need_a_graphics_card(monkeypatch, make_png) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("diffusers")
    monkeypatch.setenv(Options.DEVICE, "cpu")
    with pytest.raises(ProviderError, match="needs a graphics card"):
        edited("FLUX.2-klein-4B-4bit", make_png(64, 64))


def test_without_the_package_it_says_what_to_install(monkeypatch, make_png) -> None:
    monkeypatch.setitem(__import__("sys").modules, "diffusers", None)
    with pytest.raises(ProviderError, match=r"banana100-inspector\[diffusers\]"):
        edited(KLEIN[1], make_png(64, 64))


def test_options_come_from_the_environment() -> None:
    known = {Options.OFFLOAD: "sequential", Options.STEPS: "28", Options.DOWNLOAD: "yes"}
    options = Options.from_environment(known)
    assert (options.offload, options.steps, options.download) == (Offload.SEQUENTIAL, 28, True)
    assert Options.from_environment({}) == Options()
    for name, value in ((Options.OFFLOAD, "some"), (Options.STEPS, "0")):
        with pytest.raises(ProviderError, match=name):
            Options.from_environment({name: value})


def test_changes_of_size_are_seen_while_they_are_watched() -> None:
    from PIL import Image

    picture = Image.new("RGB", (40, 30))
    with watched_resizes() as seen:
        picture.resize((40, 30))
        picture.resize((20, 15)).crop((0, 0, 10, 10))
    picture.resize((5, 5))
    assert seen == [Resize("resize", (40, 30), (20, 15)), Resize("crop", (20, 15), (10, 10))]


def test_a_plan_from_text_needs_an_editor_that_can(project) -> None:
    plan = make_plan([], "replicate", *KLEIN, 1, 1, 1, from_text={"Fog": "mist"})
    assert len(add_plan(project, plan)) == 1
    with pytest.raises(ProviderError, match="makes no picture from a prompt"):
        make_plan([], "replicate", PROVIDER, "instruct-pix2pix", 1, 1, 1, from_text={"Fog": "mist"})
