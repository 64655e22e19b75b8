"""Suggestions on pictures in which the failure was made, and on pictures that must not be suspected."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image as Pillow

from banana100_core.analysis.measures import Turn, best_turn, measure, noise_of
from banana100_core.analysis.suggestions import find_suggestions, suggest
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.suggestions import suggestions
from banana100_core.project.tags import tags

MIRROR = "Mirror the image horizontally."
ROTATE = "Rotate the image by 90 degrees clockwise."
GREY = "Make the image monochrome."
REPLICATE = "Produce an exact replica of the provided image, with no alterations."


def picture(width=192, height=128, seed=4) -> np.ndarray:
    """Smooth colours without symmetry."""
    coarse = np.random.default_rng(seed).integers(30, 226, (4, 6, 3), dtype=np.uint8)
    return np.asarray(Pillow.fromarray(coarse).resize((width, height), Pillow.Resampling.BICUBIC))


def noisy(pixels, sigma, seed=0) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(0, sigma, pixels.shape)
    return np.clip(pixels + noise, 0, 255).astype(np.uint8)


def grey(pixels) -> np.ndarray:
    return np.asarray(Pillow.fromarray(pixels).convert("L").convert("RGB"))


@pytest.fixture
def add_pictures(project):
    """Adds a run of an initial picture and (prompt, picture) for each step; None for one that failed."""

    def add(initial, *edits) -> int:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "x", steps_planned=len(edits)))
        steps = []
        for number, (prompt, pixels) in enumerate([("", initial), *edits]):
            if pixels is None:
                steps.append((NewStep(run_id, number, Outcome.FAILED, prompt=prompt, reason="refused"), None))
                continue
            stream = io.BytesIO()
            Pillow.fromarray(np.ascontiguousarray(pixels)).save(stream, "PNG")
            data = stream.getvalue()
            outcome = Outcome.DONE if number else Outcome.INITIAL
            steps.append((NewStep(run_id, number, outcome, prompt=prompt), NewImage(inspect(data), data)))
        add_steps(project, steps)
        return run_id

    return add


def found(project, run_id) -> list[tuple[str, int]]:
    return [(there.failure_mode, there.onset) for there in find_suggestions(project, run_id)]


def test_faithful_replicas_are_not_suspected(project, add_pictures):
    start = picture()
    run_id = add_pictures(start, *[(REPLICATE, noisy(start, 1, seed)) for seed in range(5)])
    assert found(project, run_id) == []


def test_edits_that_were_done_are_not_suspected(project, add_pictures):
    start = picture()
    mirrored = start[:, ::-1]
    turned = np.rot90(mirrored, -1)
    run_id = add_pictures(
        start, (MIRROR, mirrored), (ROTATE, turned), (GREY, grey(turned)), (REPLICATE, grey(turned))
    )
    assert found(project, run_id) == []


def test_the_papers_crop_is_an_aspect_ratio_mismatch(project, add_pictures):
    start = picture(176 * 2, 96 * 2)
    run_id = add_pictures(start, (REPLICATE, start[:188]), (REPLICATE, start[:188]))
    (only,) = find_suggestions(project, run_id)
    assert (only.failure_mode, only.onset) == ("aspect_ratio", 1)
    assert only.figure == pytest.approx(192 / 188 - 1, abs=1e-4)
    assert "352x188" in only.reason
    assert "352x192" in only.reason
    assert "+2.1%" in only.reason


def test_colour_that_is_left_is_a_monochrome_failure(project, add_pictures):
    start = picture()
    half = ((start.astype(int) + grey(start)) // 2).astype(np.uint8)
    run_id = add_pictures(start, (GREY, grey(start)), ("Now decolourise it.", half))
    (only,) = find_suggestions(project, run_id)
    assert (only.failure_mode, only.onset) == ("monochrome_failure", 2)
    assert only.figure > 4


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [
        ("Convert the provided image to monochrome, with no other alterations.", True),
        ("Make it black-and-white.", True),
        ("Desaturate the image.", True),
        ("Now decolourise it.", True),
        ("Colourise the provided monochrome image with natural colours, with no other alterations.", False),
        ("Recolorize this black and white photograph.", False),
        ("Turn the greyscale picture back into colour.", False),
        (REPLICATE, False),
    ],
)
def test_a_prompt_that_asks_to_colour_a_grey_picture_asks_for_no_grey(project, add_pictures, prompt, asks):
    start = picture()
    run_id = add_pictures(start, (prompt, start))
    assert (("monochrome_failure", 1) in found(project, run_id)) == asks


def test_a_picture_that_was_not_mirrored(project, add_pictures):
    start = picture()
    run_id = add_pictures(start, (MIRROR, start[:, ::-1]), (MIRROR, noisy(start[:, ::-1], 1)))
    (only,) = find_suggestions(project, run_id)
    assert (only.failure_mode, only.onset) == ("mirroring_failure", 2)
    assert "more like it unchanged" in only.reason


def test_a_symmetric_picture_is_not_suspected_of_anything(project, add_pictures):
    start = picture()
    start = np.concatenate([start, start[:, ::-1]], axis=1)
    assert found(project, add_pictures(start, (MIRROR, start))) == []


@pytest.mark.parametrize(("turns", "said"), [(0, "unchanged"), (1, "counterclockwise"), (2, "upside down")])
def test_a_picture_that_was_turned_otherwise(project, add_pictures, turns, said):
    start = picture()
    (only,) = find_suggestions(project, add_pictures(start, (ROTATE, np.rot90(start, turns))))
    assert (only.failure_mode, only.onset) == ("rotation_failure", 1)
    assert said in only.reason
    counter = add_pictures(start, ("Turn it 90 degrees counterclockwise", np.rot90(start, turns)))
    assert (found(project, counter) == []) == (turns == 1)


def test_what_was_sent_after_a_failed_step_is_the_last_picture(project, add_pictures):
    start = picture()
    run_id = add_pictures(start, (MIRROR, start[:, ::-1]), (MIRROR, None), (MIRROR, start))
    assert found(project, run_id) == []


def test_a_lasting_drift_to_green_begins_where_it_stays(project, add_pictures):
    start = picture().astype(int)
    shifts = [0, 0, 20, 0, 20, 28]
    edits = [
        (REPLICATE, np.clip(start + np.array([-shift, shift, -shift]), 0, 255).astype(np.uint8))
        for shift in shifts
    ]
    (only,) = find_suggestions(project, add_pictures(start.astype(np.uint8), *edits))
    assert (only.failure_mode, only.onset) == ("green_tint", 5)
    assert only.figure < -3
    assert "mean a*" in only.reason


def test_noise_begins_where_it_stays(project, add_pictures):
    start = picture()
    run_id = add_pictures(
        start, *[(REPLICATE, noisy(start, sigma, place)) for place, sigma in enumerate([2, 2.2, 6, 2, 5, 8])]
    )
    (only,) = find_suggestions(project, run_id)
    assert (only.failure_mode, only.onset) == ("persistent_noise", 5)
    assert only.figure == pytest.approx(
        noise_of(np.asarray(Pillow.fromarray(noisy(start, 5, 4)).convert("L"))), abs=0.01
    )


@pytest.mark.parametrize("sigma", [2.0, 5.0, 12.0])
def test_the_measured_noise_is_the_noise_that_was_added(sigma):
    flat = np.full((256, 256), 128.0) + np.linspace(-40, 40, 256)
    values = flat + np.random.default_rng(1).normal(0, sigma, flat.shape)
    assert noise_of(values.round().astype(np.uint8)) == pytest.approx(sigma, rel=0.05)


def test_turns_are_those_of_the_eye():
    """A bright upper left corner goes to the upper right when a picture is turned clockwise or mirrored."""
    small = np.zeros((64, 64), np.float32)
    small[:16, :32] = 1
    clockwise = np.zeros((64, 64), np.float32)
    clockwise[:32, 48:] = 1
    best, likeness = best_turn(small, clockwise)
    assert (best, likeness[best]) == (Turn.CLOCKWISE, pytest.approx(1))
    assert best_turn(small, small[:, ::-1])[0] is Turn.MIRRORED
    assert best_turn(small, np.ones((64, 64), np.float32))[1][Turn.UNCHANGED] == 0


def test_tiny_pictures_are_measured():
    assert measure(np.zeros((1, 2, 3), np.uint8)).noise == 0


def test_suggestions_are_kept_apart_from_tags(project, add_pictures):
    start = picture()
    good = add_pictures(start, (REPLICATE, start))
    bad = add_pictures(start, (MIRROR, start))
    assert suggest(project).new == 1
    assert [(there.run_id, there.failure_mode) for there in suggestions(project)] == [
        (bad, "mirroring_failure")
    ]
    assert tags(project) == []
    assert suggest(project).new == 0
    assert suggest(project, [good]).new == 0
    assert len(suggestions(project)) == 1


def test_a_search_stops_between_pictures_and_keeps_runs_looked_at_whole(project, add_pictures):
    start = picture()
    first, _second = (add_pictures(start, (MIRROR, start)) for _ in range(2))
    asked = []

    def stop() -> bool:
        asked.append(True)
        return len(asked) > 3  # twice while the two pictures of the first run are read, once after it

    done = suggest(project, stop=stop)
    assert (done.stopped, done.runs, done.new) == (True, 1, 1)
    assert [there.run_id for there in suggestions(project)] == [first]


def test_a_run_with_a_picture_that_is_gone_is_passed_over_by_name(project, add_pictures, tmp_path):
    start = picture()
    lost = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "x", steps_planned=1))
    file = tmp_path / "step.png"
    Pillow.fromarray(start[::-1]).save(file)
    image = NewImage(inspect(file.read_bytes()), file=file)
    add_steps(project, [(NewStep(lost, 1, Outcome.DONE, prompt=MIRROR), image)])
    file.unlink()
    found = add_pictures(start, (MIRROR, start))
    done = suggest(project)
    assert (done.runs, done.new) == (2, 1)
    assert len(done.unreadable) == 1
    assert f"run {lost}" in done.unreadable[0]
    assert "step.png" in done.unreadable[0]
    assert [there.run_id for there in suggestions(project)] == [found]
