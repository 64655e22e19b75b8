"""Holds the models of VisualQuality-R1 and RALI on one device. Only workers import this module."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from banana100_core.errors import MetricError, WeightsError
from banana100_core.scoring.rating import Rating
from banana100_core.scoring.vision_language import rali, visualquality_r1
from banana100_core.scoring.vision_language.availability import lack
from banana100_core.scoring.vision_language.model_folder import model_folder, weights_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from banana100_core.scoring.shelf import ModelShelf


class VisionLanguageScorer:
    """Scores pictures, uint8 (H, W, 3) RGB; a model is loaded when it is first asked; not for two threads."""

    def __init__(self, shelf: ModelShelf, threads: int) -> None:
        """`shelf` holds the models, and says which device they are on; `threads` are the CPU's."""
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch

        torch.set_num_threads(threads)
        self._torch = torch
        self._shelf = shelf

    def score(self, metric: str, pixels: NDArray[np.uint8], image_sha256: str) -> Rating:
        """Score a picture; MetricError where it has no score, with the replies if it is a ReplyError."""
        try:
            model = self._model(metric)
            if metric == visualquality_r1.KEY:
                rating: Rating = model.rate(pixels, image_sha256)
                return rating
            return Rating(model.rate(pixels))
        except self._torch.OutOfMemoryError:
            others = [key for key in self._shelf.held if key != metric]
        self._shelf.let_go_of(*self._shelf.held)
        if others:
            return self.score(metric, pixels, image_sha256)
        raise MetricError(f"{metric} ran out of memory on {self._shelf.device}.")

    def _model(self, metric: str) -> Any:  # noqa: ANN401 - one of two classes with different arguments
        model = self._shelf.take(metric)
        if model is not None:
            self._shelf.make_room(metric, self._shelf.size_of(metric))
            return model
        lacking = lack(metric)
        if lacking is not None:
            raise WeightsError(f"{lacking.reason} {lacking.way_out}")
        folder, device = model_folder(metric), self._shelf.device
        if metric == visualquality_r1.KEY:
            size = weights_bytes(folder)
            self._shelf.make_room(metric, size)
            settings = visualquality_r1.Settings.from_environment()
            model = visualquality_r1.VisualQualityR1(folder, device, settings)
        else:
            size = weights_bytes(rali.Files.of(folder).model)
            self._shelf.make_room(metric, size)
            model = rali.Rali(folder, device)
        self._shelf.put(metric, model, size)
        return model
