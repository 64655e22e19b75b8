"""Drift on pictures whose wear is known."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from PIL import Image as Pillow

from banana100_core.analysis.drift import drift
from banana100_core.analysis.drift_formats import as_csv
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps

REPLICATE, MIRROR, ROTATE = "Replicate it.", "Mirror it horizontally.", "Rotate it by 90 degrees clockwise."


@pytest.fixture
def start() -> np.ndarray:
    coarse = np.random.default_rng(4).integers(30, 226, (4, 6, 3), dtype=np.uint8)
    return np.asarray(Pillow.fromarray(coarse).resize((96, 64), Pillow.Resampling.BICUBIC))


@pytest.fixture
def add_edits(project):
    """Adds a run of (prompt, picture) from step 1 on; None for one that failed."""

    def add(*edits) -> int:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "x", steps_planned=len(edits)))
        for number, (prompt, pixels) in enumerate(edits, start=1):
            if pixels is None:
                failed = NewStep(run_id, number, Outcome.FAILED, prompt=prompt, reason="refused")
                add_steps(project, [(failed, None)])
                continue
            stream = io.BytesIO()
            Pillow.fromarray(np.ascontiguousarray(pixels)).save(stream, "PNG")
            data = stream.getvalue()
            step = NewStep(run_id, number, Outcome.DONE, prompt=prompt)
            add_steps(project, [(step, NewImage(inspect(data), data))])
        return run_id

    return add


def test_a_replica_has_not_drifted(project, add_edits, start):
    add_edits((REPLICATE, start), (REPLICATE, start))
    same = drift(project).steps[1]
    assert (same.psnr, same.ssim, same.delta_e_mean, same.detail) == (None, 1.0, 0.0, 1.0)
    assert (same.step, same.turned, same.resized_from) == (2, "", "")


def test_known_wear_is_measured(project, add_edits, start):
    lighter = np.clip(start.astype(int) + 5, 0, 255).astype(np.uint8)
    noise = np.random.default_rng(1).normal(0, 10, (64, 96, 1))
    noisy = np.clip(start + noise, 0, 255).astype(np.uint8)
    greener = np.clip(start.astype(int) + np.array([-20, 20, -20]), 0, 255).astype(np.uint8)
    add_edits(*((REPLICATE, each) for each in (start, lighter, noisy, greener)))
    first, light, grain, green = drift(project).steps
    # 10 log10(255^2 / 5^2), since every channel is off by 5.
    assert light.psnr == pytest.approx(34.15, abs=0.01)
    assert light.ssim > 0.99
    assert light.lightness > first.lightness
    assert grain.psnr == pytest.approx(28.1, abs=0.5)
    assert grain.noise == pytest.approx(10, rel=0.1)
    assert grain.detail > 3
    assert grain.ssim < light.ssim
    assert green.a_star < first.a_star - 5
    assert green.delta_e_95 >= green.delta_e_mean > 5


def test_turned_steps_are_turned_back_where_it_was_asked_for(project, add_edits, start):
    add_edits((MIRROR, start), (MIRROR, start[:, ::-1]), (ROTATE, np.rot90(start, -1)))
    _, mirrored, turned = drift(project).steps
    assert (mirrored.turned, mirrored.psnr) == ("mirrored", None)
    assert (turned.turned, turned.psnr, turned.width, turned.height) == ("turned clockwise", None, 64, 96)
    add_edits((REPLICATE, start), (REPLICATE, start[:, ::-1]))
    _, unasked = drift(project, [2]).steps
    assert unasked.turned == ""
    assert unasked.psnr < 25


def test_another_size_is_brought_to_that_of_step_1(project, add_edits, start):
    larger = np.asarray(Pillow.fromarray(start).resize((192, 128), Pillow.Resampling.BICUBIC))
    add_edits((REPLICATE, start), (REPLICATE, larger))
    _, resized = drift(project).steps
    assert (resized.resized_from, resized.width) == ("192x128", 192)
    assert resized.psnr > 35


def test_what_cannot_be_measured_is_named(project, add_edits, start):
    lost = add_edits((REPLICATE, None), (REPLICATE, start))
    good = add_edits((REPLICATE, start), (REPLICATE, None), (REPLICATE, start))
    found = drift(project)
    assert [(each.run_id, each.step) for each in found.steps] == [(good, 1), (good, 3)]
    assert found.unreadable == (f"run {lost}: step 1, which all are compared with, has no picture",)


def test_progress_is_told_and_it_can_be_stopped(project, add_edits, start):
    add_edits(*[(REPLICATE, start)] * 3)
    told = []
    drift(project, progress=lambda *state: told.append(state[:2]))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert drift(project, stop=lambda: True).steps == ()


def test_tiny_and_flat_pictures_are_measured(project, add_edits):
    flat = np.full((4, 4, 3), 128, np.uint8)
    add_edits((REPLICATE, flat), (REPLICATE, flat + 1))
    _, tiny = drift(project).steps
    assert (tiny.ssim, tiny.detail) == (None, None)


def test_csv_has_a_row_for_each_step(project, add_edits, start):
    add_edits((REPLICATE, start), (REPLICATE, start[::-1]))
    first, second = csv.DictReader(io.StringIO(as_csv(drift(project).steps)))
    assert (first["psnr"], first["ssim"], first["step"]) == ("", "1.0", "1")
    assert float(second["psnr"]) > 0
