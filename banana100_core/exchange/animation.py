"""A run as a moving picture: its steps one after another, each with its number."""

from __future__ import annotations

import io
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from banana100_core.errors import ImageError, ProjectError
from banana100_core.exchange import video
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.project.images import image_bytes
from banana100_core.project.runs import run, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from banana100_core.progress import Progress
    from banana100_core.project import Project
    from banana100_core.project.records import Step

LONGEST_SIDE = 960
MOST_PIXELS = 600_000_000
"""Of all frames together, which are held in memory while they are encoded: 1.8 GB."""

_GREY = (128, 128, 128)
_PLATE, _INK = (20, 20, 20), (240, 240, 240)
_OPTIONS: dict[str, dict[str, Any]] = {
    ".webp": {"format": "WEBP", "quality": 85, "method": 2},
    ".gif": {"format": "GIF"},
}


def animation(
    project: Project,
    run_id: int,
    out: Path,
    *,
    per_second: float = 4.0,
    longest_side: int = LONGEST_SIDE,
    labels: bool = True,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> bool:
    """Write the steps of a run into an endless animated WebP or GIF, or an MP4, by the ending of `out`.

    Pictures keep their aspect, on grey in a frame of the largest one's aspect; failed steps are left out.
    Returns False, with nothing written, when `stop` said so. Raises ImageError for another ending, or more
    frames than memory should hold; ProjectError when there is nothing to show or `out` can't be written.
    """
    options = _OPTIONS.get(out.suffix.lower())
    as_video = out.suffix.lower() == video.SUFFIX
    if options is None and not as_video:
        raise ImageError(f"{out.name}: an animation ends with {', '.join(_OPTIONS)} or {video.SUFFIX}")
    if as_video:
        video.need_encoder(out)
    chosen = [step for step in steps(project, run_id) if step.image is not None]
    if not chosen:
        raise ProjectError(f"Run {run(project, run_id).initial_image} has no pictures to show.")
    size = _frame_size(chosen, longest_side)
    if not as_video and len(chosen) * size[0] * size[1] > MOST_PIXELS:
        raise ImageError(
            f"{out.name}: {len(chosen)} steps of {size[0]} x {size[1]} are too many; make it smaller"
        )
    frames = _told(_frames(project, chosen, size, labels=labels), chosen, progress)
    if options is None:
        return video.write_video(frames, size, out, per_second=per_second, stop=stop)
    kept = []
    for frame in frames:
        kept.append(frame)
        if stop is not None and stop():
            return False
    duration = round(1000 / per_second)
    return _write(kept, out, {**options, "duration": duration, "loop": 0}, stop)


def _told(
    frames: Iterator[Pillow.Image], chosen: Sequence[Step], progress: Progress | None
) -> Iterator[Pillow.Image]:
    for done, (frame, step) in enumerate(zip(frames, chosen, strict=True), start=1):
        if progress is not None:
            progress(done, len(chosen), f"step {step.number}")
        yield frame


def _frame_size(chosen: Sequence[Step], longest_side: int) -> tuple[int, int]:
    """As large as the largest picture, and no larger than asked for; even sides, which all players take."""
    images = [step.image for step in chosen if step.image is not None]
    width, height = max(
        ((image.width, image.height) for image in images), key=lambda sides: sides[0] * sides[1]
    )
    scale = min(1.0, longest_side / max(width, height))
    return tuple(max(2, round(side * scale / 2) * 2) for side in (width, height))  # type: ignore[return-value]


def _frames(
    project: Project, chosen: Sequence[Step], size: tuple[int, int], *, labels: bool
) -> Iterator[Pillow.Image]:
    for step in chosen:
        if step.image is None:
            continue
        name = f"step {step.number}"
        picture = Pillow.fromarray(
            decode(image_bytes(project, step.image.sha256), Purpose.DISPLAY, name=name).pixels
        )
        scale = min(size[0] / picture.width, size[1] / picture.height)
        sides = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        frame = Pillow.new("RGB", size, _GREY)
        corner = ((size[0] - sides[0]) // 2, (size[1] - sides[1]) // 2)
        frame.paste(picture.resize(sides, Pillow.Resampling.LANCZOS, reducing_gap=2.0), corner)
        if labels:
            _label(frame, name if step.number else "step 0 · initial image")
        yield frame


def _label(frame: Pillow.Image, text: str) -> None:
    pen = ImageDraw.Draw(frame)
    height = max(11, round(min(frame.size) / 28))
    font = ImageFont.load_default(height)
    left, top = height // 2, height // 2
    pen.rectangle((left, top, left + font.getlength(text) + height, top + height * 1.7), fill=_PLATE)
    pen.text((left + height / 2, top + height * 0.25), text, fill=_INK, font=font)


def _write(
    frames: list[Pillow.Image], out: Path, options: dict[str, Any], stop: Callable[[], bool] | None
) -> bool:
    """Encode into memory, then put the file into its place in one go."""
    encoded = io.BytesIO()
    frames[0].save(encoded, save_all=True, append_images=frames[1:], **options)
    if stop is not None and stop():
        return False
    unfinished = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as stream:
            stream.write(encoded.getbuffer())
        unfinished.replace(out)
    except OSError as error:
        reason = error.strerror or os.fspath(error.filename or "unknown reason")
        raise ProjectError(f"{out} can't be written: {reason}. Choose another place.") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return True
