"""A study of the size that the paper's data set has: 280 runs of 100 steps, all scored, some tagged."""

from __future__ import annotations

import io
import itertools
import random
from typing import TYPE_CHECKING

import skimage
from PIL import Image as Pillow

from banana100_core.catalog.failure_modes import failure_modes
from banana100_core.catalog.metrics import metrics
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, add_initial_image
from banana100_core.project.records import NewRun, NewStep, NewTag, Outcome, RunState
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag

if TYPE_CHECKING:
    from pathlib import Path

RUNS, STEPS = 280, 100
REPEATS = 5
PROTOCOLS = ("replicate", "mirror")
MODELS = (("gemini", "gemini-3-pro-image"), ("restoration_loop", "realesr-animevideov3-x2"))
SIZES = ((96, 64), (64, 96), (80, 80))
LARGE = (2816, 1504)
"""The last picture of every second run, the one whose thumbnail is shown, is as large as a model sends it."""
_PICTURES = ("astronaut", "coffee", "cat", "rocket", "chelsea", "immunohistochemistry", "retina")


def build(path: Path, *, runs: int = RUNS, steps: int = STEPS) -> None:
    """Write the study: small crops of real photographs, each step another one, so that no two are equal."""
    chance = random.Random(1)
    names = [f"Initial image {number + 1}" for number in range(-(-runs // 20))]
    plans = itertools.islice(itertools.product(names, PROTOCOLS, MODELS, range(1, REPEATS + 1)), runs)
    photographs = [Pillow.fromarray(getattr(skimage.data, name)()).convert("RGB") for name in _PICTURES]
    with Project.create(path) as project:
        for number, (name, protocol, (provider, model), repeat) in enumerate(plans):
            photograph = photographs[names.index(name) % len(photographs)]
            size = SIZES[names.index(name) % len(SIZES)]
            pictures = [_picture(photograph, size, chance) for _ in range(steps + 1)]
            if number % 2:
                pictures[-1] = _as_image(photograph.resize(LARGE), chance)
            if protocol == PROTOCOLS[0] and repeat == 1 and (provider, model) == MODELS[0]:
                add_initial_image(project, name, pictures[0])
            plan = NewRun(name, provider, model, protocol, repeat, steps, state=RunState.DONE)
            run_id = add_run(project, plan)
            add_steps(project, [_step(run_id, step, pictures[step], number) for step in range(steps + 1)])
            if number % 3 == 0:
                mode = list(failure_modes())[number % len(failure_modes())]
                add_tag(
                    project, "Ada" if number % 2 else "Grace", NewTag(run_id, mode, onset=number % 50 + 1)
                )
        _score_all(project)


def _picture(photograph: Pillow.Image, size: tuple[int, int], chance: random.Random) -> NewImage:
    left = chance.randrange(photograph.width - 2 * size[0])
    top = chance.randrange(photograph.height - 2 * size[1])
    crop = photograph.crop((left, top, left + 2 * size[0], top + 2 * size[1])).resize(size)
    return _as_image(crop, chance)


def _as_image(picture: Pillow.Image, chance: random.Random) -> NewImage:
    encoded = io.BytesIO()
    picture.save(encoded, "JPEG", quality=chance.randrange(60, 96))
    data = encoded.getvalue() + chance.randbytes(8)  # after the end of the picture: no two are equal
    return NewImage(inspect(data, name="a picture"), data=data)


def _step(run_id: int, step: int, picture: NewImage, run: int) -> tuple[NewStep, NewImage | None]:
    if step == 0:
        return NewStep(run_id, 0, Outcome.INITIAL), picture
    if run % 40 == 7 and step == 60:
        return NewStep(run_id, step, Outcome.FAILED, reason="the editor gave no picture"), None
    return NewStep(run_id, step, Outcome.DONE, prompt="again", reasoning="as it was " * 40), picture


def _score_all(project: Project) -> None:
    """Every picture by every metric, but for the last run, whose second half lacks its scores."""
    project.write(
        lambda database: database.conn.executemany(
            "INSERT OR IGNORE INTO score (image_sha256, metric, method_version, score, device, created_at)"
            " SELECT image_sha256, ?1, 'bench', abs(random() % 10000) / 100.0, 'cpu', '2026-01-01' FROM step"
            " WHERE image_sha256 IS NOT NULL AND NOT (number > 50 AND run_id = (SELECT max(id) FROM run))",
            [(key,) for key in metrics()],
        ),
        changes={"score"},
    )
