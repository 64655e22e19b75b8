"""Holds the models of VisualQuality-R1 and RALI on one device. Only workers import this module."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from banana100_core.errors import MetricError, WeightsError
from banana100_core.scoring.vision_language import rali, visualquality_r1
from banana100_core.scoring.vision_language.availability import lack
from banana100_core.scoring.vision_language.model_folder import model_folder, weights_bytes
from banana100_core.scoring.vision_language.rating import Rating

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BYTES_OF_LIBRARIES = 1_500_000_000


class VisionLanguageScorer:
    """Scores pictures, uint8 (H, W, 3) RGB; a model is loaded when it is first asked; not for two threads."""

    def __init__(self, device: str, threads: int, max_memory: int | None = None) -> None:
        """`max_memory`, in bytes, is the process's; weights on a graphics card don't count."""
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch

        torch.set_num_threads(threads)
        self._torch = torch
        self._device = device
        self._max_memory = max_memory
        self._models: dict[str, Any] = {}

    def score(self, metric: str, pixels: NDArray[np.uint8], image_sha256: str) -> Rating:
        """Score a picture; MetricError where it has no score, with the replies if it is a ReplyError."""
        model = self._model(metric)
        try:
            if metric == visualquality_r1.KEY:
                rating: Rating = model.rate(pixels, image_sha256)
                return rating
            return Rating(model.rate(pixels))
        except self._torch.OutOfMemoryError as error:
            self._torch.cuda.empty_cache()
            raise MetricError(f"{metric} ran out of memory on {self._device}.") from error

    def _model(self, metric: str) -> Any:  # noqa: ANN401 - one of two classes with different arguments
        if metric not in self._models:
            lacking = lack(metric)
            if lacking is not None:
                raise WeightsError(f"{lacking.reason} {lacking.way_out}")
            folder = model_folder(metric)
            if metric == visualquality_r1.KEY:
                self._need_memory(metric, weights_bytes(folder))
                settings = visualquality_r1.Settings.from_environment()
                self._models[metric] = visualquality_r1.VisualQualityR1(folder, self._device, settings)
            else:
                self._need_memory(metric, weights_bytes(rali.Files.of(folder).model))
                self._models[metric] = rali.Rali(folder, self._device)
        return self._models[metric]

    def _need_memory(self, metric: str, weights: int) -> None:
        needed = _BYTES_OF_LIBRARIES + weights
        if self._max_memory is not None and self._device == "cpu" and needed > self._max_memory:
            raise MetricError(
                f"{metric} would need about {needed / 1e9:.1f} GB; "
                f"{self._max_memory / 1e9:.1f} GB are allowed."
            )
