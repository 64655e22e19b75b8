"""Tags written for other programs: COCO, Label Studio, CSV, Parquet, and a Hugging Face image folder.

In all of them a region is in pixels of the picture as it is exported, which is upright.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError
from banana100_core.exchange.export_tags import coco, image_folder, label_studio, tables
from banana100_core.exchange.export_tags.content import gather, totals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from banana100_core.exchange.export_tags.content import Exported
    from banana100_core.exchange.export_tags.only import Only
    from banana100_core.progress import Progress
    from banana100_core.project import Project


class Form(StrEnum):
    """What tags can be exported to."""

    COCO = "coco"
    LABEL_STUDIO = "label-studio"
    CSV = "csv"
    PARQUET = "parquet"
    IMAGE_FOLDER = "imagefolder"

    @property
    def has_pictures(self) -> bool:
        """Whether it is a folder with the pictures in it, and not a table alone."""
        return self in {Form.COCO, Form.LABEL_STUDIO, Form.IMAGE_FOLDER}


def export_tags(
    project: Project,
    out: Path,
    form: Form,
    *,
    run_ids: Sequence[int] | None = None,
    only: Only | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Write all tags, or those of some runs, to `out`: a new file for CSV and Parquet, else a new folder.

    All tags are written, whatever a window shows, but for those that `only` leaves out. Nothing stays of an
    export that an error in `progress` ends. Raises ProjectError when `out` exists or a library is
    missing, ImageError when a picture is gone.
    """
    if out.exists():
        raise ProjectError(f"{out} exists already. Choose another name.")
    folder = out.resolve().parent
    if not folder.is_dir():
        raise ProjectError(f"There is no folder {folder}. Make it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ProjectError(f"The folder {folder} can't be written. Choose another place for {out.name}.")
    content = gather(project, run_ids, only)
    match form:
        case Form.COCO:
            return coco.write(project, content, out, progress)
        case Form.LABEL_STUDIO:
            return label_studio.write(project, content, out, progress)
        case Form.CSV:
            return tables.write_csv(content, out)
        case Form.PARQUET:
            return tables.write_parquet(content, out)
        case Form.IMAGE_FOLDER:
            return image_folder.write(project, content, out, progress)


def count_tags(
    project: Project, out: Path, form: Form, *, run_ids: Sequence[int] | None = None, only: Only | None = None
) -> Exported:
    """What `export_tags` would write; nothing is written."""
    content = gather(project, run_ids, only)
    return totals(content, out, len(content.pictures) if form.has_pictures else 0)
