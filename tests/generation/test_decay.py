"""What the restoration loop is there for: the picture falls apart, and metrics call it better."""

from __future__ import annotations

import numpy as np
import pytest

from banana100_core.demo import SEED, STEPS, demo_images
from banana100_core.generation.editor import EditSettings
from banana100_core.generation.plan import step_seed
from banana100_core.generation.providers import editor
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.scoring.native import score


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Coffee", "Astronaut"])
def test_brisque_and_piqe_improve_from_step_1_on_while_the_picture_falls_apart(name: str) -> None:
    restoration_loop = editor("restoration_loop", "realesr-animevideov3-x2")
    data = next(image.data for image in demo_images() if image.name == name)
    pictures = [decode(data, Purpose.SCORING).pixels]
    for step in range(1, STEPS + 1):
        data = restoration_loop.edit(data, "any", EditSettings(step_seed(SEED, step))).data
        pictures.append(decode(data, Purpose.SCORING).pixels)

    errors = [np.abs(picture.astype(float) - pictures[0]).mean() for picture in pictures]
    assert errors[1] < errors[5] < errors[10] < errors[20]
    assert errors[20] > 4 * errors[1]
    first, last = (score(pictures[step], ["brisque", "piqe"]) for step in (1, 20))
    assert last["brisque"] < first["brisque"]
    assert last["piqe"] < first["piqe"]
