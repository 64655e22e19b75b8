"""Metrics of pyiqa, from verified local weights, never downloaded. Only workers import this module."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from importlib.resources import files
from math import isclose
from typing import TYPE_CHECKING, Any

from banana100_core.catalog.metrics import metrics as our_catalog
from banana100_core.errors import MetricError
from banana100_core.scoring.devices import CPU
from banana100_core.scoring.native.score import NATIVE_METRICS, too_small
from banana100_core.scoring.pyiqa_repairs import repaired
from banana100_core.scoring.rating import Rating
from banana100_core.scoring.shelf import ModelShelf
from banana100_core.scoring.weights import need
from banana100_core.scoring.weights_reader import guarded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from banana100_core.catalog.metrics import Metric

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

# They look at 20 and 50 crops of any picture, a batch in itself: on the CPU more at once are not faster, but
# take the memory of so many more, and keep the picture on screen waiting.
_MANY_CROPS = {"maniqa", "tres"}

# Computed in double precision, so that the CPU gives the score that a graphics card gives.
_SAME_ON_CPU = {"ilniqe", "niqe", "nrqm", "pi"}

_ANY = 1 << 62
_LIKE = 1e-5  # relative; what may lie between a score in a batch and the same picture's alone


class PyiqaScorer:
    """Scores pictures, uint8 (H, W, 3) RGB, by pyiqa's models on one device; not for two threads."""

    def __init__(self, shelf: ModelShelf, threads: int, catalog: Mapping[str, Metric] | None = None) -> None:
        """`shelf` holds the models, and says which device they are on; `threads` are the CPU's."""
        # Weights are all here, so nothing may be looked up; without this timm tries for 46 seconds.
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch

        torch.set_num_threads(threads)
        self._torch = torch
        self._shelf = shelf
        self._device = torch.device(shelf.device)
        self._threads = threads
        self._catalog = catalog or our_catalog()
        self._unlike: set[str] = set()  # metrics that a batch changed here
        self._alike: set[tuple[str, tuple[int, ...]]] = set()  # metrics and sizes that it did not
        self._most_pixels: dict[str, int] = {}  # of a batch, where more did not fit
        self._on_cpu: PyiqaScorer | None = None

    def score(self, metric: str, pixels: NDArray[np.uint8]) -> Rating:
        """Score a picture; MetricError where it has no score, WeightsError where weights are not right.

        A picture too large for a graphics card is scored on the CPU where that gives the same score.
        """
        height, width = pixels.shape[:2]
        smallest = self._catalog[metric].smallest_side
        if min(height, width) < smallest:
            raise too_small(metric, smallest, width, height)
        if self._device.type == "mps" and metric in _SAME_ON_CPU:
            return self._score_on_cpu(metric, pixels)  # it has no double precision
        try:
            (score,) = self._compute(metric, [pixels])
        except self._torch.OutOfMemoryError:
            others = [key for key in self._shelf.held if key != metric]
        else:
            return Rating(score)
        self._shelf.let_go_of(*self._shelf.held)
        if others:
            return self.score(metric, pixels)
        if self._device.type != CPU and metric in _SAME_ON_CPU:
            return self._score_on_cpu(metric, pixels)
        raise MetricError(f"{metric} ran out of memory on {self._device}.")

    def score_together(self, metric: str, pictures: Sequence[NDArray[np.uint8]]) -> list[Rating] | None:
        """Score pictures in one batch if that gives each the score that it has alone; None if it may not.

        Which metrics it may be is in the catalog. Since graphics cards choose other algorithms for other
        sizes, the first batch of a size is compared with what its pictures score alone.
        """
        shape = pictures[0].shape
        most = self._most_pixels.get(metric, _ANY) // (shape[0] * shape[1])
        if (
            min(len(pictures), most) < 2
            or not self._catalog[metric].batches
            or metric in self._unlike
            or (self._device.type == CPU and metric in _MANY_CROPS)
            or any(picture.shape != shape for picture in pictures)
            or min(shape[:2]) < self._catalog[metric].smallest_side
        ):
            return None
        if len(pictures) > most:
            parts = [pictures[start : start + most] for start in range(0, len(pictures), most)]
            return [rating for part in parts for rating in self._score_part(metric, part)]
        try:
            scores = self._compute(metric, pictures)
        except MetricError:
            return None  # alone, each says what is the matter with it
        except self._torch.OutOfMemoryError:
            self._most_pixels[metric] = len(pictures) * shape[0] * shape[1] // 2
        else:
            return self._compared(metric, pictures, scores)
        self._shelf.let_go_of(*(key for key in self._shelf.held if key != metric))
        return self.score_together(metric, pictures)

    def _score_part(self, metric: str, pictures: Sequence[NDArray[np.uint8]]) -> list[Rating]:
        together = self.score_together(metric, pictures)
        return [self.score(metric, each) for each in pictures] if together is None else together

    def _compared(
        self, metric: str, pictures: Sequence[NDArray[np.uint8]], scores: Sequence[float]
    ) -> list[Rating]:
        """Compare the first batch of a size with what its pictures score alone."""
        shape = pictures[0].shape
        if (metric, shape) in self._alike:
            return [Rating(score) for score in scores]
        alone = [self.score(metric, picture) for picture in pictures]
        if all(isclose(score, each.score, rel_tol=_LIKE) for score, each in zip(scores, alone, strict=True)):
            self._alike.add((metric, shape))
        else:
            self._unlike.add(metric)
        return alone

    def _score_on_cpu(self, metric: str, pixels: NDArray[np.uint8]) -> Rating:
        if self._on_cpu is None:
            shelf = ModelShelf(CPU, self._shelf.max_memory)
            self._on_cpu = PyiqaScorer(shelf, self._threads, self._catalog)
        return replace(self._on_cpu.score(metric, pixels), device=CPU)

    def _compute(self, metric: str, pictures: Sequence[NDArray[np.uint8]]) -> list[float]:
        height, width = pictures[0].shape[:2]
        model = self._model(metric, len(pictures) * _bytes_of_work(metric, height * width))
        # None draws at random in 0.1.16; one that did would still give a picture one score, in any order.
        self._torch.manual_seed(0)
        try:
            tensors = [self._torch.from_numpy(pixels).to(self._device) for pixels in pictures]
            output = model(self._torch.stack(tensors).permute(0, 3, 1, 2).float().div(255))
            scores: list[float] = output.detach().flatten().double().tolist()
        except self._torch.OutOfMemoryError:
            raise
        except Exception as error:
            # An instance can be wrong for good after an exception.
            self._shelf.let_go_of(metric)
            raise MetricError(f"{metric} failed on this picture: {_first_line(error)}") from error
        if len(scores) < len(pictures):
            raise MetricError(f"{metric} gave {len(scores)} scores for {len(pictures)} pictures.")
        return scores[: len(pictures)]

    def _model(self, metric: str, work: int) -> Any:  # noqa: ANN401 - pyiqa is not typed
        model = self._shelf.take(metric)
        if model is None:
            model = self._load(metric, work)
            self._shelf.put(metric, model, sum(tensor.nbytes for tensor in _tensors(model)))
        self._shelf.make_room(metric, self._shelf.size_of(metric) + work)
        return model

    def _load(self, metric: str, work: int) -> Any:  # noqa: ANN401 - pyiqa is not typed
        if metric in NATIVE_METRICS:
            weights, options = [], _shipped_weights(metric)
        else:
            weights, options = [need(file) for file in self._catalog[metric].weights], {}
        size = sum(found.byte_size or 0 for found in weights)
        # While it is loaded, a model is there twice: as read and as made.
        self._shelf.make_room(metric, size + max(size, work))
        try:
            with guarded(weights), repaired(metric, weights), self._torch.no_grad():
                import pyiqa

                return pyiqa.create_metric(metric, device=self._device, as_loss=False, **options)
        except (self._torch.OutOfMemoryError, MetricError):
            raise
        except Exception as error:
            raise MetricError(f"{metric} can't be loaded: {_first_line(error)}") from error


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
