"""What commands print: plain text that is safe on any terminal, tables, and figures as JSON."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Annotated, TextIO

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")]

# Joiners and variation selectors inside emoji and Indic words: not printable by themselves, harmless.
_HARMLESS = frozenset("\u200c\u200d\ufe0e\ufe0f")


def prepare_streams() -> None:
    """Let text that the terminal's encoding lacks come out as escapes instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def plain(text: object) -> str:
    """Text from outside on one line, with control and direction characters written as escapes."""
    return "".join(
        character
        if character.isprintable() or character in _HARMLESS
        else character.encode("unicode_escape", "backslashreplace").decode("ascii")
        for character in str(text)
    )


def say(text: str = "") -> None:
    """Print a line of result."""
    print(text, file=sys.stdout)


def note(text: str) -> None:
    """Print a line that is not a result: on stderr, so that results can be piped."""
    print(text, file=sys.stderr, flush=True)


def complain(error: object) -> None:
    """Print an error in one line."""
    note(f"banana100: {plain(error)}")


def in_words(error: OSError) -> str:
    """Say what the system refused, without its number: `out.csv: No space left on device`."""
    reason = error.strerror or str(error)
    return reason if error.filename is None else f"{error.filename}: {reason}"


def say_json(value: object) -> None:
    """Print figures as JSON; numbers that JSON lacks become null."""
    say(in_json(value))


def in_json(value: object) -> str:
    """Figures as JSON, in letters that the terminal has; see `say_json`."""
    ascii_only = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    known = json.loads(json.dumps(value, default=_as_json), parse_constant=lambda _name: None)
    return json.dumps(known, indent=2, ensure_ascii=ascii_only)


def _as_json(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, AbstractSet):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Collection[str] = ()) -> str:
    """Lay rows out under headings; columns whose headings are in `numbers` to the right."""
    return columns([headings, *rows], numbers=[headings.index(heading) for heading in numbers])


def columns(rows: Iterable[Sequence[object]], *, numbers: Collection[int] = ()) -> str:
    """Lay rows out in aligned columns; those in `numbers` to the right."""
    from rich.cells import cell_len

    lines = [[plain(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    laid_out = []
    for line in lines:
        cells = []
        for place, (cell, width) in enumerate(zip(line, widths, strict=True)):
            padding = " " * (width - cell_len(cell))
            cells.append(padding + cell if place in numbers else cell + padding)
        laid_out.append("  ".join(cells).rstrip())
    return "\n".join(laid_out)


def in_bytes(count: int) -> str:
    """Say a number of bytes, in powers of 1000."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"


def in_time(seconds: float) -> str:
    """Say a duration as people do: '8 s', '3 min 20 s', '2 h 5 min'."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest and minutes < 10 else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def count(number: int, noun: str, plural: str = "") -> str:
    """Say a number of things: '1 run', '1,240 images'."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def is_terminal(stream: TextIO) -> bool:
    """Tell whether a stream is a terminal that can redraw a line."""
    import os

    return stream.isatty() and os.environ.get("TERM") != "dumb"
