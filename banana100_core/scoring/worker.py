"""What runs in a scoring worker: it decodes a picture once and scores it by all metrics asked for."""

from __future__ import annotations

import math
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.errors import BananaError, MetricError
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.processes import emit
from banana100_core.scoring.methods import ADAPTER, NATIVE
from banana100_core.scoring.native.score import NativeScorer
from banana100_core.scoring.vision_language.rating import Rating, ReplyError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from banana100_core.catalog.metrics import Metric
    from banana100_core.project.images import ImageLocation
    from banana100_core.scoring.pyiqa_backend import PyiqaScorer
    from banana100_core.scoring.vision_language.scorer import VisionLanguageScorer

_NATIVE_BYTES = 200_000_000
_NATIVE_BYTES_A_PIXEL = 12


@dataclass(frozen=True, slots=True)
class Setup:
    """What a worker is for."""

    device: str
    threads: int
    backends: dict[str, str]  # by metric
    max_memory: int | None = None  # bytes
    catalog: Mapping[str, Metric] | None = None  # ours if None


@dataclass(frozen=True, slots=True)
class Job:
    """A picture and its metrics; `following` is likely to be the next one and is decoded meanwhile."""

    location: ImageLocation
    metrics: tuple[str, ...]
    following: ImageLocation | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """Emitted as soon as a job arrives: the worker itself is well."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Emitted before a metric is computed: who dies next, dies of it."""

    metric: str


@dataclass(frozen=True, slots=True)
class Scored:
    """Emitted for every metric of a job: its score, or the reason why there is none.

    `replies` is what a language model said, word for word.
    """

    metric: str
    score: float | None
    error: str | None
    seconds: float | None
    replies: tuple[str, ...] = ()


def make_device_finder() -> Callable[[object], list[str]]:
    """Give the handler that names the graphics cards torch can compute on."""
    import torch

    return lambda _message: [f"cuda:{index}" for index in range(torch.cuda.device_count())]


def make_worker(setup: Setup) -> Callable[[Job], None]:
    """Give the handler of a worker process."""
    return _Worker(setup)


class _Worker:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="decode")
        self._ahead: tuple[ImageLocation, Future[NDArray[np.uint8]]] | None = None
        self._pyiqa: PyiqaScorer | None = None
        self._vision_language: VisionLanguageScorer | None = None

    def __call__(self, job: Job) -> None:
        emit(Opened())
        try:
            pixels = self._pixels(job.location)
        except Exception as error:  # noqa: BLE001 - one picture fails, the others go on
            for metric in job.metrics:
                emit(Scored(metric, None, _reason(error), 0.0))
            return
        if job.following is not None:
            self._ahead = job.following, self._reader.submit(_decode, job.following)
        native = NativeScorer(pixels, self._setup.threads)
        for metric in job.metrics:
            emit(Begun(metric))
            emit(self._score(metric, job.location.sha256, pixels, native))

    def _pixels(self, location: ImageLocation) -> NDArray[np.uint8]:
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == location:
            return ahead[1].result()
        return _decode(location)

    def _score(self, metric: str, sha256: str, pixels: NDArray[np.uint8], native: NativeScorer) -> Scored:
        began = time.perf_counter()
        try:
            rating = self._rate(metric, sha256, pixels, native)
        except Exception as error:  # noqa: BLE001 - one score fails, the others go on
            replies = error.replies if isinstance(error, ReplyError) else ()
            return Scored(metric, None, _reason(error), time.perf_counter() - began, replies)
        seconds = time.perf_counter() - began
        if not math.isfinite(rating.score):
            undefined = f"{metric} is undefined on this picture: it gave {rating.score}."
            return Scored(metric, None, undefined, seconds, rating.replies)
        return Scored(metric, rating.score, None, seconds, rating.replies)

    def _rate(self, metric: str, sha256: str, pixels: NDArray[np.uint8], native: NativeScorer) -> Rating:
        backend = self._setup.backends[metric]
        if backend == NATIVE:
            self._need_memory(metric, pixels)
            return Rating(native.score(metric))
        if backend == ADAPTER:
            return self._vision_language_scorer().score(metric, pixels, sha256)
        return Rating(self._pyiqa_scorer().score(metric, pixels))

    def _pyiqa_scorer(self) -> PyiqaScorer:
        if self._pyiqa is None:
            from banana100_core.scoring.pyiqa_backend import PyiqaScorer

            setup = self._setup
            self._pyiqa = PyiqaScorer(setup.device, setup.threads, setup.max_memory, setup.catalog)
        return self._pyiqa

    def _vision_language_scorer(self) -> VisionLanguageScorer:
        if self._vision_language is None:
            from banana100_core.scoring.vision_language.scorer import VisionLanguageScorer

            setup = self._setup
            self._vision_language = VisionLanguageScorer(setup.device, setup.threads, setup.max_memory)
        return self._vision_language

    def _need_memory(self, metric: str, pixels: NDArray[np.uint8]) -> None:
        needed = _NATIVE_BYTES + _NATIVE_BYTES_A_PIXEL * (pixels.size // 3)
        if self._setup.max_memory is not None and needed > self._setup.max_memory:
            raise MetricError(
                f"{metric} would need about {needed / 1e9:.1f} GB for this picture; "
                f"{self._setup.max_memory / 1e9:.1f} GB are allowed."
            )


def _decode(location: ImageLocation) -> NDArray[np.uint8]:
    name = location.file.name if location.file is not None else location.sha256[:12]
    return decode(location.read(), Purpose.SCORING, name=name).pixels


def _reason(error: Exception) -> str:
    if isinstance(error, BananaError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There was not enough memory for this picture."
    return f"{type(error).__name__}: {error}"
