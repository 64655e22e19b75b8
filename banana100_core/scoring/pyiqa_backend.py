"""Metrics of pyiqa, from verified local weights, never downloaded. Only workers import this module."""

from __future__ import annotations

import gc
import io
import os
from collections import OrderedDict
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.metrics import metrics as our_catalog
from banana100_core.errors import MetricError
from banana100_core.scoring.native.score import NATIVE_METRICS, too_small
from banana100_core.scoring.pyiqa_repairs import repaired
from banana100_core.scoring.weights import need
from banana100_core.scoring.weights_reader import guarded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from banana100_core.catalog.metrics import Metric

_BYTES_OF_LIBRARIES = 1_500_000_000

# Peak bytes a pixel on the CPU beside the model, measured at 17 megapixels, at 1 to 4 where that takes long.
_BYTES_A_PIXEL = {
    "arniqa": 300,
    "brisque": 300,
    "clipiqa": 330,
    "cnniqa": 510,
    "dbcnn": 770,
    "ilniqe": 520,
    "liqe": 650,
    "musiq": 280,
    "niqe": 470,
    "paq2piq": 130,
    "piqe": 120,
    "qualiclip": 330,
    "topiq_nr": 590,
    "wadiqam_nr": 440,
}
_BYTES_A_PIXEL_ELSE = 520

# What the work on any picture takes, in bytes: they resize it, or look at a fixed number of crops.
_BYTES_AT_LEAST = {
    "hyperiqa": 800_000_000,
    "ilniqe": 1_700_000_000,
    "maniqa": 1_500_000_000,
    "tres": 1_500_000_000,
}

# Heads of attention between all patches of 32 pixels a side: its scores, their softmax and a copy are held.
_HEADS = {"musiq": 6, "topiq_nr": 4}

# Computed in double precision, so that the CPU gives the score that a graphics card gives.
_SAME_ON_CPU = {"ilniqe", "niqe", "nrqm", "pi"}


@dataclass(frozen=True, slots=True)
class _Loaded:
    metric: Any
    byte_size: int


class PyiqaScorer:
    """Holds pyiqa's models on one device and scores pictures, uint8 (H, W, 3) RGB; not for two threads."""

    def __init__(
        self,
        device: str,
        threads: int,
        max_memory: int | None = None,
        catalog: Mapping[str, Metric] | None = None,
    ) -> None:
        """`max_memory`, in bytes, is the process's on the CPU, and the card's share on a graphics card."""
        # Weights are all here, so nothing may be looked up; without this timm tries for 46 seconds.
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch

        torch.set_num_threads(threads)
        self._torch = torch
        self._device = torch.device(device)
        self._catalog = catalog or our_catalog()
        self._loaded: OrderedDict[str, _Loaded] = OrderedDict()
        self._max_memory = max_memory
        if max_memory is not None and self._device.type == "cuda":
            whole = torch.cuda.get_device_properties(self._device).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, max_memory / whole), self._device)

    @property
    def loaded(self) -> list[str]:
        """Metrics whose models are held, the longest unused first."""
        return list(self._loaded)

    def score(self, metric: str, pixels: NDArray[np.uint8]) -> float:
        """Score a picture; MetricError where it has no score, WeightsError where weights are not right.

        A picture too large for a graphics card is scored on the CPU where that gives the same score.
        """
        height, width = pixels.shape[:2]
        smallest = self._catalog[metric].smallest_side
        if min(height, width) < smallest:
            raise too_small(metric, smallest, width, height)
        try:
            return self._score(metric, pixels)
        except self._torch.OutOfMemoryError:
            alone = self._loaded.keys() <= {metric}
        self._let_go_of(self.loaded)
        if not alone:
            return self.score(metric, pixels)
        if self._device.type == "cuda" and metric in _SAME_ON_CPU:
            threads = self._torch.get_num_threads()
            on_cpu = PyiqaScorer("cpu", threads, self._max_memory, self._catalog)
            return on_cpu.score(metric, pixels)
        raise MetricError(f"{metric} ran out of memory on {self._device}.")

    def _score(self, metric: str, pixels: NDArray[np.uint8]) -> float:
        model = self._model(metric, pixels.shape[0] * pixels.shape[1])
        # None draws at random in 0.1.16; one that did would still give a picture one score, in any order.
        self._torch.manual_seed(0)
        try:
            tensor = self._torch.from_numpy(pixels).permute(2, 0, 1)[None].to(self._device)
            output = model(tensor.float().div(255))
        except self._torch.OutOfMemoryError:
            raise
        except Exception as error:
            # An instance can be wrong for good after an exception.
            del self._loaded[metric]
            raise MetricError(f"{metric} failed on this picture: {_first_line(error)}") from error
        return float(output.detach().flatten()[0])

    def _model(self, metric: str, pixels: int) -> Any:  # noqa: ANN401 - pyiqa is not typed
        work = _bytes_of_work(metric, pixels)
        loaded = self._loaded.get(metric) or self._load(metric, work)
        self._loaded[metric] = loaded
        self._loaded.move_to_end(metric)
        self._make_room(metric, loaded.byte_size + work)
        return loaded.metric

    def _load(self, metric: str, work: int) -> _Loaded:
        if metric in NATIVE_METRICS:
            weights, options = [], _shipped_weights(metric)
        else:
            weights, options = [need(file) for file in self._catalog[metric].weights], {}
        size = sum(found.byte_size or 0 for found in weights)
        # While it is loaded, a model is there twice: as read and as made.
        self._make_room(metric, size + max(size, work))
        try:
            with guarded(weights), repaired(metric, weights), self._torch.no_grad():
                import pyiqa

                model = pyiqa.create_metric(metric, device=self._device, as_loss=False, **options)
        except (self._torch.OutOfMemoryError, MetricError):
            raise
        except Exception as error:
            raise MetricError(f"{metric} can't be loaded: {_first_line(error)}") from error
        return _Loaded(model, sum(tensor.nbytes for tensor in _tensors(model)))

    def _make_room(self, metric: str, needed: int) -> None:
        """Let go of the models not used for longest until one metric's needs fit, in bytes."""
        if self._max_memory is None or self._device.type != "cpu":
            return
        left = self._max_memory - _BYTES_OF_LIBRARIES - needed
        if left < 0:
            raise MetricError(
                f"{metric} would need about {(_BYTES_OF_LIBRARIES + needed) / 1e9:.1f} GB for this picture; "
                f"{self._max_memory / 1e9:.1f} GB are allowed."
            )
        others = [key for key in self._loaded if key != metric]
        while others and sum(self._loaded[key].byte_size for key in others) > left:
            self._let_go_of([others.pop(0)])

    def _let_go_of(self, metrics: list[str]) -> None:
        for metric in metrics:
            del self._loaded[metric]
        gc.collect()
        if self._device.type == "cuda":
            self._torch.cuda.empty_cache()


def _bytes_of_work(metric: str, pixels: int) -> int:
    """Estimate the peak of a picture's work on the CPU beside the model."""
    attention = 3 * 4 * _HEADS.get(metric, 0) * (pixels // 32**2) ** 2
    whole = pixels * _BYTES_A_PIXEL.get(metric, _BYTES_A_PIXEL_ELSE)
    return max(whole, attention, _BYTES_AT_LEAST.get(metric, 0))


def _tensors(model: Any) -> Iterator[Any]:  # noqa: ANN401 - pyiqa is not typed
    """Give what a model holds; CLIP is kept in a list, where torch doesn't see it."""
    hidden = model.net.clip_model if isinstance(getattr(model.net, "clip_model", None), list) else []
    for module in (model, *hidden):
        yield from module.parameters()
        yield from module.buffers()


def _shipped_weights(metric: str) -> dict[str, Any]:
    """Give a native metric's weights, which ship with us, as the argument by which pyiqa takes them."""
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
