"""The restoration loop: a small real network asked again and again to reproduce its own output."""

from __future__ import annotations

import os
from functools import cached_property
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any

import numpy as np

from banana100_core.errors import ProviderError
from banana100_core.generation.editor import Capabilities, EditResult, EditSettings, shipped
from banana100_core.generation.providers.resampling import Pixels, encode, resample
from banana100_core.imaging.decode import Purpose, decode

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCALE = 2
# The network sees 18 pixels far and its last resizing two more: beyond that a tile can't know that it is one.
OVERLAP = 20
TILE = 320
PNG_COMPRESSION = 4


class RestorationLoop:
    """Halves a picture on a grid moved by a fraction of a pixel and lets Real-ESRGAN bring it back to size.

    The network is deterministic; the moved grid, drawn from the seed, makes repeats differ.
    """

    def __init__(self, capabilities: Capabilities, threads: int | None = None) -> None:
        self.capabilities = capabilities
        # Scoring and the window live on the other half.
        self._threads = threads or max(1, (os.cpu_count() or 2) // 2)

    def edit(self, image: bytes, prompt: str, settings: EditSettings) -> EditResult:  # noqa: ARG002
        """Reproduce the image as PNG of the same size; the network reads no prompt."""
        pixels = decode(image, Purpose.DISPLAY).pixels
        height, width = pixels.shape[:2]
        even = np.pad(pixels, ((0, height % SCALE), (0, width % SCALE), (0, 0)), mode="edge")
        right, down = _shift(settings.seed)
        half = resample(even, (even.shape[1] // SCALE, even.shape[0] // SCALE), (right, down))
        restored = self.network.enlarge(half)[:height, :width]
        return EditResult(
            data=encode(restored, "PNG", compress_level=PNG_COMPRESSION),
            declared_media_type="image/png",
            model_version=self.capabilities.model,
            notes=(f"sampling grid moved by {right:+.3f}, {down:+.3f} pixels",),
        )

    @cached_property
    def network(self) -> Network:
        """The network, loaded at the first edit."""
        return Network(self.capabilities.model, self._threads)


class Network:
    """A network that ships with the program and enlarges pictures by two, on the CPU."""

    def __init__(self, name: str, threads: int) -> None:
        import ncnn

        self._ncnn = ncnn
        self._net = ncnn.Net()
        self._net.opt.num_threads = threads
        # Half precision would make the images depend on the machine's instruction set.
        self._net.opt.use_fp16_packed = False
        self._net.opt.use_fp16_storage = False
        self._net.opt.use_fp16_arithmetic = False
        self._net.opt.use_bf16_storage = False
        for suffix, load in ((".param", self._net.load_param), (".bin", self._net.load_model)):
            with as_file(files("resources") / "models" / f"{name}{suffix}") as file:
                if load(str(file)) != 0:
                    raise ProviderError(
                        f"The network file {file} can't be loaded: install the program again."
                    )

    def enlarge(self, pixels: Pixels, tile: int = TILE) -> Pixels:
        """Give (H, W, 3) pixels as (2H, 2W, 3), in tiles that overlap by what the network sees."""
        height, width = pixels.shape[:2]
        out = np.empty((height * SCALE, width * SCALE, 3), np.uint8)
        for top in range(0, height, tile):
            for left in range(0, width, tile):
                bottom, right = min(top + tile, height), min(left + tile, width)
                above, before = max(top - OVERLAP, 0), max(left - OVERLAP, 0)
                seen = pixels[above : bottom + OVERLAP, before : right + OVERLAP]
                rows = slice((top - above) * SCALE, (bottom - above) * SCALE)
                columns = slice((left - before) * SCALE, (right - before) * SCALE)
                restored = self._run(seen)[:, rows, columns]
                out[top * SCALE : bottom * SCALE, left * SCALE : right * SCALE] = _to_pixels(restored)
        return out

    def _run(self, pixels: Pixels) -> NDArray[np.float32]:
        planes = np.ascontiguousarray(pixels.transpose(2, 0, 1), dtype=np.float32)
        planes /= 255
        extractor = self._net.create_extractor()
        # ncnn.Mat keeps no reference to the array: `planes` has to outlive the extraction.
        extractor.input("data", self._ncnn.Mat(planes))
        failed, output = extractor.extract("output")
        if failed:
            raise ProviderError(
                "The restoration network gave nothing, probably for want of memory: close others."
            )
        # The output's memory belongs to the extractor.
        copy: NDArray[np.float32] = np.array(output, copy=True)
        del extractor, planes
        return copy


def capabilities() -> list[Capabilities]:
    """The models of this provider."""
    return shipped("restoration_loop", ("image/png",))


def editor(chosen: Capabilities) -> RestorationLoop:
    """Make the editor for one of `capabilities()`."""
    return RestorationLoop(chosen)


def _shift(seed: int | None) -> tuple[float, float]:
    if seed is None:
        return 0.0, 0.0
    right, down = np.random.default_rng(seed).uniform(-0.5, 0.5, 2)
    return float(right), float(down)


def _to_pixels(planes: NDArray[np.float32]) -> NDArray[Any]:
    return np.rint(np.clip(planes, 0, 1) * 255).astype(np.uint8).transpose(1, 2, 0)
