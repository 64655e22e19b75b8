"""What a library does to the size of pictures unasked, seen while it does it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Resize:
    """One change of a picture's size, (width, height) in pixels."""

    how: str  # "resize", "crop" or "thumbnail", as Pillow calls it
    before: Size
    after: Size


@contextmanager
def watched_resizes() -> Iterator[list[Resize]]:
    """Note each change of size that Pillow is asked for, in the order in which they come.

    To be used where one picture is worked on at a time, as in a worker process.
    """
    seen: list[Resize] = []

    def watched(how: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(picture: Image.Image, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 - as Pillow has it
            before = picture.size
            result = original(picture, *arguments, **options)
            after = (picture if result is None else result).size  # thumbnail() works in place
            if after != before:
                seen.append(Resize(how, before, after))
            return result

        return call

    kinds = ("resize", "crop", "thumbnail")
    originals = {how: getattr(Image.Image, how) for how in kinds}
    try:
        for how in kinds:
            setattr(Image.Image, how, watched(how, originals[how]))
        yield seen
    finally:
        for how, original in originals.items():
            setattr(Image.Image, how, original)
