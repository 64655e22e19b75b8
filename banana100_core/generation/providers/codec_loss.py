"""Codec loss: what JPEG/WebP re-encoding and hidden resampling do to a picture, with no network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from banana100_core.generation.editor import Capabilities, EditResult, EditSettings, shipped
from banana100_core.generation.providers.resampling import Pixels, encode, resample
from banana100_core.imaging.decode import Purpose, decode

SIDE_MULTIPLE = 16  # real editors work on sides of multiples of 16


@dataclass(frozen=True, slots=True)
class Loss:
    """What one step does; `scale` is of the nearby size, `shift` in pixels."""

    file_format: str = "JPEG"
    quality: int = 85
    scale: float = 0.96
    shift: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def drawn(cls, seed: int | None) -> Loss:
        """Draw a loss from a seed; None gives the same one always."""
        if seed is None:
            return cls()
        random = np.random.default_rng(seed)
        return cls(
            file_format=str(random.choice(["JPEG", "JPEG", "WEBP"])),
            quality=int(random.integers(75, 93)),
            scale=float(random.uniform(0.92, 0.99)),
            shift=(float(random.uniform(-0.5, 0.5)), float(random.uniform(-0.5, 0.5))),
        )


class CodecLoss:
    """Crops to the size that editors work in, resamples to a nearby size and back, and encodes with loss."""

    def __init__(self, capabilities: Capabilities) -> None:
        self.capabilities = capabilities

    def edit(self, image: bytes, prompt: str, settings: EditSettings) -> EditResult:  # noqa: ARG002
        """Give the image with a loss drawn from the seed, as JPEG or WebP; no prompt is read."""
        whole = decode(image, Purpose.DISPLAY).pixels
        pixels = _cropped(whole)
        height, width = pixels.shape[:2]
        loss = Loss.drawn(settings.seed)
        nearby = max(1, round(width * loss.scale)), max(1, round(height * loss.scale))
        restored = resample(resample(pixels, nearby, loss.shift), (width, height))
        # WebP's slower methods gain little and would take seconds on a large picture.
        options = {"method": 2} if loss.file_format == "WEBP" else {}
        notes = [f"resampled over {nearby[0]}x{nearby[1]}, {loss.file_format} quality {loss.quality}"]
        if pixels.shape != whole.shape:
            notes.insert(0, f"cropped from {whole.shape[1]}x{whole.shape[0]} to {width}x{height}")
        return EditResult(
            data=encode(restored, loss.file_format, quality=loss.quality, **options),
            declared_media_type=f"image/{loss.file_format.lower()}",
            model_version=self.capabilities.model,
            notes=tuple(notes),
        )


def capabilities() -> list[Capabilities]:
    """The models of this provider."""
    return shipped("codec_loss", ("image/jpeg", "image/webp"))


def editor(chosen: Capabilities) -> CodecLoss:
    """Make the editor for one of `capabilities()`."""
    return CodecLoss(chosen)


def _cropped(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    kept_height, kept_width = _kept(height), _kept(width)
    top, left = (height - kept_height) // 2, (width - kept_width) // 2
    return pixels[top : top + kept_height, left : left + kept_width]


def _kept(side: int) -> int:
    return side - side % SIDE_MULTIPLE if side >= SIDE_MULTIPLE else side
