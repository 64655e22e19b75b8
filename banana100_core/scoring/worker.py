"""What runs in a scoring worker: it decodes pictures once and scores them by all metrics asked for."""

from __future__ import annotations

import math
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from banana100_core.errors import BananaError, MetricError
from banana100_core.imaging.for_scoring import pixels_for_scoring
from banana100_core.processes import emit
from banana100_core.scoring.devices import CPU
from banana100_core.scoring.methods import ADAPTER, NATIVE, PYIQA
from banana100_core.scoring.native.score import NativeScorer
from banana100_core.scoring.rating import Rating, ReplyError
from banana100_core.scoring.shelf import BYTES_OF_LIBRARIES, ModelShelf, too_much

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from banana100_core.catalog.metrics import Metric
    from banana100_core.project.images import ImageLocation
    from banana100_core.scoring.pyiqa_backend import PyiqaScorer
    from banana100_core.scoring.vision_language.scorer import VisionLanguageScorer

_READERS_AT_THE_CPU = 2  # one may be held up by a picture that comes late, or that another worker took
_READERS_AT_A_CARD = 4  # which must not wait for pictures
_PIXELS_A_THREAD = 500_000  # with fewer, threads wait for each other longer than they gain
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
    """Pictures and their metrics; those `following` are likely to be next and are decoded meanwhile.

    `threads` are for native metrics; those with models use all that the worker has.
    """

    pictures: tuple[ImageLocation, ...]
    metrics: tuple[str, ...]
    following: tuple[ImageLocation, ...] = ()
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Opened:
    """Emitted as soon as a job arrives: the worker itself is well."""


@dataclass(frozen=True, slots=True)
class Begun:
    """Emitted before a metric is computed: who dies next, dies of it."""

    metric: str


@dataclass(frozen=True, slots=True)
class Scored:
    """Emitted for every picture and metric of a job: the score, or the reason why there is none.

    `replies` is what a language model said, word for word. `device` is where the score was computed.
    """

    sha256: str
    metric: str
    score: float | None
    error: str | None
    seconds: float | None
    device: str
    replies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Picture:
    sha256: str
    pixels: NDArray[np.uint8]
    native: NativeScorer


def make_worker(setup: Setup) -> Callable[[Job], None]:
    """Give the handler of a worker process."""
    return _Worker(setup)


class _Worker:
    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        readers = _READERS_AT_THE_CPU if setup.device == CPU else _READERS_AT_A_CARD
        self._readers = ThreadPoolExecutor(readers, thread_name_prefix="decode")
        self._ahead: dict[ImageLocation, Future[NDArray[np.uint8]]] = {}
        self._shelf: ModelShelf | None = None
        self._pyiqa: PyiqaScorer | None = None
        self._vision_language: VisionLanguageScorer | None = None

    def __call__(self, job: Job) -> None:
        emit(Opened())
        pictures = list(self._open(job))
        for metric in job.metrics if pictures else ():
            emit(Begun(metric))
            for scored in self._score(metric, pictures):
                emit(scored)

    def _open(self, job: Job) -> Iterator[_Picture]:
        """Decode the pictures, and begin with those that follow; one that can't be is told at once."""
        ahead, self._ahead = self._ahead, {}
        decoded = [ahead.get(each) or self._readers.submit(_decode, each) for each in job.pictures]
        for location, future in zip(job.pictures, decoded, strict=True):
            try:
                pixels = future.result()
            except Exception as error:  # noqa: BLE001 - one picture fails, the others go on
                for metric in job.metrics:
                    emit(self._failed(location.sha256, metric, error, 0.0))
            else:
                yield _Picture(
                    location.sha256, pixels, NativeScorer(pixels, _threads_for(pixels, job.threads))
                )
        self._ahead = {each: ahead.get(each) or self._readers.submit(_decode, each) for each in job.following}
        for location in ahead.keys() - self._ahead.keys():
            ahead[location].cancel()

    def _score(self, metric: str, pictures: Sequence[_Picture]) -> Iterator[Scored]:
        """Score pictures by a metric, in one batch if that changes nothing."""
        if self._setup.backends[metric] == PYIQA and len(pictures) > 1:
            began = time.perf_counter()
            ratings = self._rate_together(metric, pictures)
            seconds = (time.perf_counter() - began) / len(pictures)
            if ratings is not None:
                for picture, rating in zip(pictures, ratings, strict=True):
                    yield self._scored(picture.sha256, metric, rating, seconds)
                return
        for picture in pictures:
            began = time.perf_counter()
            try:
                rating = self._rate(metric, picture)
            except Exception as error:  # noqa: BLE001 - one score fails, the others go on
                yield self._failed(picture.sha256, metric, error, time.perf_counter() - began)
            else:
                yield self._scored(picture.sha256, metric, rating, time.perf_counter() - began)

    def _rate_together(self, metric: str, pictures: Sequence[_Picture]) -> list[Rating] | None:
        try:
            return self._pyiqa_scorer().score_together(metric, [each.pixels for each in pictures])
        except Exception:  # noqa: BLE001 - alone, each says what is the matter with it
            return None

    def _rate(self, metric: str, picture: _Picture) -> Rating:
        backend = self._setup.backends[metric]
        if backend == NATIVE:
            self._make_room(metric, picture.pixels)
            return Rating(picture.native.score(metric))
        if backend == ADAPTER:
            return self._vision_language_scorer().score(metric, picture.pixels, picture.sha256)
        return self._pyiqa_scorer().score(metric, picture.pixels)

    def _scored(self, sha256: str, metric: str, rating: Rating, seconds: float) -> Scored:
        defined = math.isfinite(rating.score)
        return Scored(
            sha256,
            metric,
            rating.score if defined else None,
            None if defined else f"{metric} is undefined on this picture: it gave {rating.score}.",
            seconds,
            CPU if self._setup.backends[metric] == NATIVE else rating.device or self._setup.device,
            rating.replies,
        )

    def _failed(self, sha256: str, metric: str, error: Exception, seconds: float) -> Scored:
        replies = error.replies if isinstance(error, ReplyError) else ()
        return Scored(sha256, metric, None, _reason(error), seconds, self._setup.device, replies)

    def _models(self) -> ModelShelf:
        if self._shelf is None:
            self._shelf = ModelShelf(self._setup.device, self._setup.max_memory)
        return self._shelf

    def _pyiqa_scorer(self) -> PyiqaScorer:
        if self._pyiqa is None:
            from banana100_core.scoring.pyiqa_backend import PyiqaScorer

            self._pyiqa = PyiqaScorer(self._models(), self._setup.threads, self._setup.catalog)
        return self._pyiqa

    def _vision_language_scorer(self) -> VisionLanguageScorer:
        if self._vision_language is None:
            from banana100_core.scoring.vision_language.scorer import VisionLanguageScorer

            self._vision_language = VisionLanguageScorer(self._models(), self._setup.threads)
        return self._vision_language

    def _make_room(self, metric: str, pixels: NDArray[np.uint8]) -> None:
        """Let models make room for a native metric; MetricError where that is not enough."""
        allowed = self._setup.max_memory
        if allowed is None:
            return
        work = _NATIVE_BYTES_A_PIXEL * (pixels.size // 3)
        if _NATIVE_BYTES + work > allowed:
            raise MetricError(too_much(metric, _NATIVE_BYTES + work, allowed))
        if self._shelf is not None and self._setup.device == CPU:
            self._shelf.shrink(allowed - BYTES_OF_LIBRARIES - work)


def _threads_for(pixels: NDArray[np.uint8], allowed: int) -> int:
    """Leave the other cores to other programs where they would not help."""
    return max(1, min(allowed, pixels.size // 3 // _PIXELS_A_THREAD))


def _decode(location: ImageLocation) -> NDArray[np.uint8]:
    name = location.file.name if location.file is not None else location.sha256[:12]
    return pixels_for_scoring(location.read(), name=name)


def _reason(error: Exception) -> str:
    if isinstance(error, BananaError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There was not enough memory for this picture."
    return f"{type(error).__name__}: {error}"
