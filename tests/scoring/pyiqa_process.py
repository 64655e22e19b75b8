"""pyiqa in a worker process whose matrix products don't depend on the processor's instructions.

pyiqa takes luma from a product of matrices, which MKL adds up with or without fused operations, as the
processor has it. Some pixels lie halfway between two steps of 255 and then fall to one side or the other, and
NIQE moves by up to 2 in 1,000. Ours is compared with what every processor can do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from banana100_core.errors import MetricError
from banana100_core.processes import WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LUMA = "luma"


def pyiqa_process() -> WorkerProcess:
    """Takes a metric and pixels (H, W, 3) for pyiqa's score or NaN, or `LUMA` and pixels for two planes."""
    return WorkerProcess(_answerer, "pyiqa", environment={"MKL_CBWR": "COMPATIBLE"})


def _answerer() -> Callable[[tuple[str, NDArray[np.uint8]]], object]:
    from banana100_core.scoring.pyiqa_backend import PyiqaScorer
    from banana100_core.scoring.shelf import ModelShelf

    scorer = PyiqaScorer(ModelShelf(), 1)

    def answer(asked: tuple[str, NDArray[np.uint8]]) -> object:
        what, pixels = asked
        if what == LUMA:
            return _luma(pixels)
        try:
            return scorer.score(what, np.ascontiguousarray(pixels)).score
        except MetricError:
            return float("nan")

    return answer


def _luma(pixels: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Luma in whole steps of 255, and stretched to the brightest pixel, as NIQE and PIQE take it."""
    import torch
    from pyiqa.utils.color_util import to_y_channel

    tensor = torch.from_numpy(pixels).permute(2, 0, 1)[None].float().div(255)
    luma = to_y_channel(tensor, 1.0)
    return to_y_channel(tensor, 255)[0, 0].numpy(), torch.round(255 * (luma / luma.max()))[0, 0].numpy()
