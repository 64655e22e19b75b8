"""Pictures as an MP4, encoded one by one by PyAV, which is no part of a plain installation."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from banana100_core.errors import ImageError, ProjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from PIL import Image as Pillow

SUFFIX = ".mp4"
_CODECS = ("libx264", "libopenh264", "mpeg4")
"""The first one there is: what each takes is played ever less widely."""
_QUALITY = {"libx264": {"crf": "16", "preset": "medium"}}
_BITS_A_PIXEL = 0.4  # for those that know no constant quality
_RATE_OF_FRAMES = 30  # players show too few frames a second unevenly


def need_encoder(out: Path) -> None:
    """Raise ImageError, with the way out, where no MP4 can be written."""
    try:
        import av  # noqa: F401
    except ImportError:
        raise ImageError(
            f"{out.name}: writing MP4 needs the package av: pip install 'banana100-inspector[video]'. "
            "WebP and GIF need nothing."
        ) from None


def write_video(
    frames: Iterable[Pillow.Image],
    size: tuple[int, int],
    out: Path,
    *,
    per_second: float,
    stop: Callable[[], bool] | None = None,
) -> bool:
    """Write frames of an even size, `per_second` of them; False, and no file, when stopped.

    Raises ImageError without an encoder, ProjectError when `out` can't be written.
    """
    need_encoder(out)
    unfinished = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    try:
        if not _encode(frames, size, unfinished, per_second, stop):
            return False
        unfinished.replace(out)
    except OSError as error:
        reason = error.strerror or os.fspath(error.filename or "unknown reason")
        raise ProjectError(f"{out} can't be written: {reason}. Choose another place.") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return True


def _encode(
    frames: Iterable[Pillow.Image],
    size: tuple[int, int],
    out: Path,
    per_second: float,
    stop: Callable[[], bool] | None,
) -> bool:
    import av

    shown = max(1, round(_RATE_OF_FRAMES / per_second))  # times that each picture is repeated
    rate = Fraction(shown * per_second).limit_denominator(1000)
    with av.open(str(out), "w", format="mp4", options={"movflags": "faststart"}) as container:
        codec = next(name for name in _CODECS if name in av.codecs_available)
        stream = container.add_stream(codec, rate=rate, options=_QUALITY.get(codec, {}))
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        if codec not in _QUALITY:
            stream.bit_rate = round(size[0] * size[1] * float(rate) * _BITS_A_PIXEL)
        place = 0
        for picture in frames:
            if stop is not None and stop():
                return False
            for _ in range(shown):
                frame = av.VideoFrame.from_image(picture)
                frame.pts, frame.time_base = place, 1 / rate
                container.mux(stream.encode(frame))
                place += 1
        container.mux(stream.encode(None))
    return True
