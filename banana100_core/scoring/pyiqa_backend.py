"""Metrics of pyiqa, from verified local weights, never downloaded. Only workers import this module."""

from __future__ import annotations

import importlib
import io
import os
from collections import OrderedDict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.metrics import metric as catalog_metric
from banana100_core.errors import MetricError
from banana100_core.scoring.native.score import NATIVE_METRICS, too_small
from banana100_core.scoring.weights import need

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Without these imports first, pyiqa imports all of its architectures to find one.
_ARCHITECTURES = {"topiq_nr": "topiq_arch", "pi": "nrqm_arch", "ilniqe": "niqe_arch"}

# Peak bytes a pixel on the CPU, measured at 17 megapixels; the default is the largest but one.
_BYTES_A_PIXEL = {
    "arniqa": 300,
    "brisque": 300,
    "clipiqa": 330,
    "cnniqa": 510,
    "ilniqe": 520,
    "liqe": 650,
    "niqe": 470,
    "piqe": 120,
    "qualiclip": 330,
    "wadiqam_nr": 440,
}
_BYTES_A_PIXEL_ELSE = 520
_BYTES_OF_LIBRARIES = 1_500_000_000


class PyiqaScorer:
    """Holds pyiqa's models on one device and scores pictures, uint8 (H, W, 3) RGB; not for two threads."""

    def __init__(self, device: str, threads: int, max_memory: int | None = None) -> None:
        # Weights are all here, so nothing may be looked up; without this timm tries for 46 seconds.
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch

        torch.set_num_threads(threads)
        self._torch = torch
        self._device = torch.device(device)
        self._max_memory = max_memory
        self._models: OrderedDict[str, Any] = OrderedDict()

    def score(self, metric: str, pixels: NDArray[np.uint8]) -> float:
        """Score a picture; MetricError where it has no score, WeightsError where weights are not right."""
        height, width = pixels.shape[:2]
        smallest = catalog_metric(metric).smallest_side
        if min(height, width) < smallest:
            raise too_small(metric, smallest, width, height)
        self._need_memory(metric, height * width)
        model = self._model(metric)
        tensor = self._torch.from_numpy(pixels).permute(2, 0, 1)[None].to(self._device)
        try:
            output = model(tensor.float().div(255))
        except Exception as error:
            # An instance can be wrong for good after an exception.
            del self._models[metric]
            if isinstance(error, self._torch.OutOfMemoryError):
                self._torch.cuda.empty_cache()
                raise MetricError(f"{metric} ran out of memory on {self._device}.") from error
            raise MetricError(f"{metric} failed on this picture: {_first_line(error)}") from error
        return float(output.detach().flatten()[0])

    def _model(self, metric: str) -> Any:  # noqa: ANN401 - pyiqa is not typed
        if metric in self._models:
            self._models.move_to_end(metric)
            return self._models[metric]
        options = _options(metric)
        if metric in _ARCHITECTURES:
            importlib.import_module(f"pyiqa.archs.{_ARCHITECTURES[metric]}")
        import pyiqa

        try:
            model = pyiqa.create_metric(metric, device=self._device, as_loss=False, **options)
        except Exception as error:
            raise MetricError(f"{metric} can't be loaded: {_first_line(error)}") from error
        self._models[metric] = model
        while len(self._models) > 1 and self._over_budget():
            self._models.popitem(last=False)
        return model

    def _over_budget(self) -> bool:
        if self._max_memory is None:
            return False
        held: int = sum(
            parameter.numel() * parameter.element_size()
            for model in self._models.values()
            for parameter in model.parameters()
        )
        return held > self._max_memory // 3

    def _need_memory(self, metric: str, pixels: int) -> None:
        needed = _BYTES_OF_LIBRARIES + pixels * _BYTES_A_PIXEL.get(metric, _BYTES_A_PIXEL_ELSE)
        if self._max_memory is not None and needed > self._max_memory:
            raise MetricError(
                f"{metric} would need about {needed / 1e9:.1f} GB for this picture; "
                f"{self._max_memory / 1e9:.1f} GB are allowed."
            )


def _options(metric: str) -> dict[str, Any]:
    """Verify the weights of a metric, and give what pyiqa needs to find those that ship with us."""
    if metric not in NATIVE_METRICS:
        for file in catalog_metric(metric).weights:
            need(file)
        return {}
    weights = NATIVE_METRICS[metric].weights
    return {} if weights is None else {"pretrained_model_path": _in_pyiqas_format(weights)}


def _in_pyiqas_format(weights: str) -> io.BytesIO:
    """Give weights that ship with us as the file that pyiqa would read."""
    import numpy as np
    import scipy.io
    import torch

    out = io.BytesIO()
    with files("resources").joinpath("weights", weights).open("rb") as file, np.load(file) as data:
        if "sv" in data:
            torch.save((torch.from_numpy(data["sv_coef"]), torch.from_numpy(data["sv"])), out)
        else:
            scipy.io.savemat(out, {name: data[name] for name in ("mu_prisparam", "cov_prisparam")})
    out.seek(0)
    return out


def _first_line(error: Exception) -> str:
    text = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
