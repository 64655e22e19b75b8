"""Contact sheets: runs as rows, steps as columns, on neutral grey."""

from __future__ import annotations

import io
import os
import secrets
import textwrap
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from banana100_core.catalog.models import model_title
from banana100_core.errors import ImageError, ProjectError
from banana100_core.imaging.thumbnails import make_thumbnail
from banana100_core.project.images import image_bytes, thumbnails
from banana100_core.project.runs import run, steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from banana100_core.progress import Progress
    from banana100_core.project import Project
    from banana100_core.project.records import Run, Step

_GRID = 8
_SIDES = (256, 192, 128, 96, 64)
_MAX_PIXELS = 100_000_000
_MAX_SIDE = 60_000  # JPEG ends at 65,535
_PAGE_PROPORTION = 2**0.5

_BACKGROUND = (128, 128, 128)
_EMPTY = (112, 112, 112)
_TEXT = (16, 16, 16)
_TITLE_SIZE, _ROW_SIZE, _LABEL_SIZE = 24, 16, 13
_TITLE_HEIGHT, _ROW_HEIGHT, _LABEL_HEIGHT = 6 * _GRID, 4 * _GRID, 3 * _GRID
_LINE_HEIGHT = 2 * _GRID
_MARGIN = 3 * _GRID

_MOST_COLUMNS = 12
_CHOSEN_STEPS = (0, 1, 2, 5, 10, 15, 20, 30, 40, 50, 75)

_OPTIONS: dict[str, dict[str, Any]] = {
    ".png": {"format": "PNG"},
    ".jpg": {"format": "JPEG", "quality": 90},
    ".jpeg": {"format": "JPEG", "quality": 90},
    ".pdf": {"format": "PDF", "quality": 90, "resolution": 144},
}


@dataclass(frozen=True, slots=True)
class _Row:
    run: Run
    steps: dict[int, Step]

    def height(self, side: int) -> int:
        """The height of the row's tallest picture, or of a square half when it has none."""
        images = [step.image for step in self.steps.values() if step.image is not None]
        heights = (round(i.height * min(1, side / max(i.width, i.height))) for i in images)
        tallest = max(heights, default=side // 2)
        return -(-max(tallest, 1) // _GRID) * _GRID


def contact_sheet(
    project: Project,
    run_ids: Sequence[int],
    out: Path,
    steps: Sequence[int] | None = None,
    *,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> bool:
    """Draw runs as rows and steps as columns into a PNG, JPEG or PDF, by the ending of `out`.

    Without `steps`, all are shown when they are 12 or fewer, else a choice that is denser at the start. A PDF
    has as many pages as it needs. Returns False, with nothing written, when `stop` said so. Raises ImageError
    for another ending, or more rows than a picture can hold; ProjectError when there is nothing to draw or
    `out` can't be written.
    """
    options = _OPTIONS.get(out.suffix.lower())
    if options is None:
        raise ImageError(f"{out.name}: a contact sheet is a picture; end its name with {', '.join(_OPTIONS)}")
    rows = _rows(project, run_ids)
    columns = _columns(rows, steps)
    if steps is not None and not columns and any(row.steps for row in rows):
        raise ProjectError(
            f"{project.path} has none of these steps: {', '.join(map(str, sorted(set(steps))))}."
        )
    if not rows or not columns:
        raise ProjectError(f"{project.path} has no steps to draw. Import or generate runs first.")
    paged = options["format"] == "PDF"
    side = _SIDES[0] if paged else _fitting_side(rows, columns, out)
    pages: list[Pillow.Image] = []
    drawn = 0
    for page in _pages(rows, columns, side) if paged else [rows]:
        sheet = _blank(project, page, columns, side)
        top = _MARGIN + _TITLE_HEIGHT
        for row in page:
            if stop is not None and stop():
                return False
            _draw_run(project, sheet, row, columns, side, top)
            top += _row_height(row, side)
            drawn += 1
            if progress is not None:
                progress(drawn, len(rows), f"run {row.run.id}")
        pages.append(sheet)
    if stop is not None and stop():
        return False
    if paged:
        options = {**options, "save_all": True, "append_images": pages[1:], "title": project.path.stem}
    _save(pages[0], out, options)
    return True


def _rows(project: Project, run_ids: Sequence[int]) -> list[_Row]:
    return [
        _Row(run(project, run_id), {step.number: step for step in steps(project, run_id)})
        for run_id in run_ids
    ]


def _columns(rows: Sequence[_Row], wanted: Sequence[int] | None) -> list[int]:
    there = sorted({number for row in rows for number in row.steps})
    if wanted is not None:
        return [number for number in sorted(set(wanted)) if number in there]
    if len(there) <= _MOST_COLUMNS:
        return there
    return [number for number in there if number in _CHOSEN_STEPS or number == there[-1]]


def _width(columns: Sequence[int], side: int) -> int:
    return 2 * _MARGIN + len(columns) * (side + _GRID) - _GRID


def _row_height(row: _Row, side: int) -> int:
    return _ROW_HEIGHT + row.height(side) + _LABEL_HEIGHT + 2 * _GRID


def _height(rows: Sequence[_Row], side: int) -> int:
    return 2 * _MARGIN + _TITLE_HEIGHT + sum(_row_height(row, side) for row in rows)


def _fitting_side(rows: Sequence[_Row], columns: Sequence[int], out: Path) -> int:
    for side in _SIDES:
        width, height = _width(columns, side), _height(rows, side)
        if width * height <= _MAX_PIXELS and max(width, height) <= _MAX_SIDE:
            return side
    raise ImageError(
        f"{out.name}: {len(rows)} runs by {len(columns)} steps are more than one picture can hold; "
        "choose fewer, or write a PDF"
    )


def _pages(rows: Sequence[_Row], columns: Sequence[int], side: int) -> list[list[_Row]]:
    highest = max(_width(columns, side) * _PAGE_PROPORTION, _height(rows[:1], side))
    pages: list[list[_Row]] = [[]]
    for row in rows:
        if pages[-1] and _height([*pages[-1], row], side) > highest:
            pages.append([])
        pages[-1].append(row)
    return pages


def _blank(project: Project, rows: Sequence[_Row], columns: Sequence[int], side: int) -> Pillow.Image:
    """A sheet with nothing but its title."""
    sheet = Pillow.new("RGB", (_width(columns, side), _height(rows, side)), _BACKGROUND)
    pen = ImageDraw.Draw(sheet)
    _write(pen, (_MARGIN, _MARGIN), project.path.stem, _TITLE_SIZE, sheet.width - 2 * _MARGIN)
    return sheet


def _draw_run(
    project: Project, sheet: Pillow.Image, row: _Row, columns: Sequence[int], side: int, top: int
) -> None:
    pen = ImageDraw.Draw(sheet)
    _write(pen, (_MARGIN, top), _title(row.run), _ROW_SIZE, sheet.width - 2 * _MARGIN)
    _draw_row(project, sheet, row, columns, side, top + _ROW_HEIGHT)


def _draw_row(
    project: Project, sheet: Pillow.Image, row: _Row, columns: Sequence[int], side: int, top: int
) -> None:
    pen = ImageDraw.Draw(sheet)
    height = row.height(side)
    images = [row.steps[n].image for n in columns if n in row.steps]
    small = thumbnails(project, [image.sha256 for image in images if image is not None])
    for index, number in enumerate(columns):
        left = _MARGIN + index * (side + _GRID)
        step = row.steps.get(number)
        label = f"step {number}" if number else "initial image"
        picture, problem = _picture(project, step, small, side)
        if picture is not None:
            sheet.paste(picture, (left, top + height - picture.height))
        else:
            pen.rectangle((left, top, left + side - 1, top + height - 1), fill=_EMPTY)
            _write_block(pen, (left + _GRID, top + _GRID), problem, side - 2 * _GRID, height - 2 * _GRID)
        _write(pen, (left, top + height + _GRID // 2), label, _LABEL_SIZE, side)


def _picture(
    project: Project, step: Step | None, small: dict[str, bytes], side: int
) -> tuple[Pillow.Image | None, str]:
    if step is None:
        return None, "no such step"
    if step.image is None:
        return None, f"failed: {step.reason}"
    try:
        data = small.get(step.image.sha256) or make_thumbnail(image_bytes(project, step.image.sha256))
    except ImageError as error:
        return None, str(error)
    picture = Pillow.open(io.BytesIO(data), formats=["JPEG", "PNG", "WEBP"]).convert("RGB")
    picture.thumbnail((side, side))
    return picture, ""


def _title(run: Run) -> str:
    editor = model_title(run.provider, run.model)
    parts = (run.initial_image, run.protocol, editor, f"repeat {run.repeat}", run.branch)
    return "  ·  ".join(part for part in parts if part)


def _write_block(
    pen: ImageDraw.ImageDraw, place: tuple[int, int], text: str, width: int, height: int
) -> None:
    """Write as many lines as there is room for."""
    letters = int(width / ImageFont.load_default(_LABEL_SIZE).getlength("n"))
    for index, line in enumerate(textwrap.wrap(text, letters)[: height // _LINE_HEIGHT]):
        _write(pen, (place[0], place[1] + index * _LINE_HEIGHT), line, _LABEL_SIZE, width)


def _write(pen: ImageDraw.ImageDraw, place: tuple[int, int], text: str, size: int, room: int) -> None:
    """Write one line, shortened to the room there is."""
    font = ImageFont.load_default(size)
    line = " ".join(text.split())
    line = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    if font.getlength(line) > room:
        while line and font.getlength(line + "…") > room:
            line = line[:-1]
        line += "…"
    pen.text(place, line, fill=_TEXT, font=font)


def _save(sheet: Pillow.Image, out: Path, options: dict[str, Any]) -> None:
    unfinished = out.with_name(f".{out.name}.{secrets.token_hex(4)}")
    try:
        with unfinished.open("xb") as stream:
            sheet.save(stream, **options)
        unfinished.replace(out)
    except OSError as error:
        reason = error.strerror or os.fspath(error.filename or "unknown reason")
        raise ProjectError(f"{out} can't be written: {reason}. Choose another place.") from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
