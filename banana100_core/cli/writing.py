"""Files that commands write where they are told to: never over what isn't theirs, and whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.cli.console import in_bytes, plain, say
from banana100_core.errors import BananaError

if TYPE_CHECKING:
    from pathlib import Path

_HEAD_BYTES = 4096


class PlaceError(BananaError):
    """Nothing can be written at the place that was named."""


def need_place(out: Path | None) -> None:
    """Raise PlaceError unless text can be written to `out`, before work that would be for nothing.

    An older text is written over; a project or a picture of that name never is.
    """
    if out is None:
        return
    folder = out.absolute().parent
    if not folder.is_dir():
        raise PlaceError(f"There is no folder {folder}. Make it first, or choose another place.")
    if out.is_dir():
        raise PlaceError(f"{out} is a folder. Name a file.")
    if not out.is_file():
        return
    try:
        with out.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise _unwritable(out, error) from error
    if b"\0" in head:
        raise PlaceError(f"{out} exists already and is no text. Choose another name.")


def say_or_write(text: str, out: Path | None) -> None:
    """Print a text, or write it to the file `out` and say how large it is."""
    if out is None:
        say(text.rstrip("\n"))
        return
    need_place(out)
    try:
        size = _write(out, text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise _unwritable(out, error) from error
    say(f"{plain(out)}: {in_bytes(size)}")


def _write(out: Path, data: bytes) -> int:
    if out.exists() and not out.is_file():  # a pipe or a device
        return out.write_bytes(data)
    unfinished = out.with_name(f"{out.name}.new")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    return len(data)


def _unwritable(out: Path, error: OSError) -> PlaceError:
    return PlaceError(f"{out} can't be written: {error.strerror or error}. Choose another place.")
