"""Large pictures of real content, and projects of one run of them."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as Pillow

if TYPE_CHECKING:
    from pathlib import Path


def photograph(width: int, height: int, seed: int = 0) -> np.ndarray:
    """Real photographs side by side until the size is reached; another seed gives other pixels."""
    from skimage import data

    tiles = [
        np.asarray(Pillow.fromarray(tile()).resize((688, 512))) for tile in (data.astronaut, data.coffee)
    ]
    random = np.random.default_rng(seed)
    columns = []
    for _ in range(-(-width // 688)):
        column = [
            np.roll(tiles[random.integers(2)], int(random.integers(500)), 1) for _ in range(-(-height // 512))
        ]
        columns.append(np.concatenate(column))
    return np.ascontiguousarray(np.concatenate(columns, axis=1)[:height, :width])


def encoded(pixels: np.ndarray, kind: str) -> bytes:
    """A picture as a file of this kind."""
    if kind == "PNG":
        return png(pixels)
    stream = io.BytesIO()
    Pillow.fromarray(pixels).save(stream, kind, quality=92)
    return stream.getvalue()


def png(pixels: np.ndarray, level: int = 3) -> bytes:
    """A picture as a PNG file, compressed so hard."""
    stream = io.BytesIO()
    Pillow.fromarray(pixels).save(stream, "PNG", compress_level=level)
    return stream.getvalue()


def make_run(path: Path, files: list[bytes]) -> None:
    """Make a project whose one run has these pictures as steps."""
    from banana100_core.imaging.decode import inspect
    from banana100_core.project import Project
    from banana100_core.project.images import NewImage
    from banana100_core.project.records import NewRun, NewStep, Outcome, RunState
    from banana100_core.project.runs import add_run, add_steps

    with Project.create(path) as project:
        run = add_run(project, NewRun("tiles", "codec_loss", "jpeg", "replicate", state=RunState.DONE))
        add_steps(
            project,
            [
                (NewStep(run, n, Outcome.DONE if n else Outcome.INITIAL), NewImage(inspect(data), data))
                for n, data in enumerate(files)
            ],
        )
