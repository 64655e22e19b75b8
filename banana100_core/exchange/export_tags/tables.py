"""CSV and Parquet: a row for each region, and one for each tag without any."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError
from banana100_core.exchange.export_tags.content import attributes, totals
from banana100_core.installation import how_to_add
from banana100_core.project.database import sibling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from banana100_core.exchange.export_tags.content import Content, Exported

COLUMNS = {
    "tag_uuid": str,
    "run_uuid": str,
    "initial_image": str,
    "model": str,
    "protocol": str,
    "repeat": int,
    "failure_mode": str,
    "failure_mode_name": str,
    "level": str,
    "annotator": str,
    "onset": int,
    "end_step": int,
    "severity": int,
    "certainty": float,
    "note": str,
    "review_state": str,
    "created_at": str,
    "modified_at": str,
    "region_uuid": str,
    "region_step": int,
    "region_end_step": int,
    "region_kind": str,
    "region_points": str,  # JSON: [[x, y], ...]
}


def write_csv(content: Content, out: Path) -> Exported:
    """Write the file `out`: UTF-8, a heading, commas; nothing where there is no value."""
    unfinished = sibling(out, ".new")
    try:
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(COLUMNS))
            writer.writeheader()
            writer.writerows(_rows(content))
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    return totals(content, out)


def write_parquet(content: Content, out: Path) -> Exported:
    """Write the file `out`, each column with its type; ProjectError when PyArrow is missing."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise ProjectError(
            f"Parquet needs PyArrow, which is not installed. {how_to_add('parquet')}. Or export to CSV."
        ) from None
    types = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    table = pa.Table.from_pylist(list(_rows(content)), schema)
    unfinished = sibling(out, ".new")
    try:
        parquet.write_table(table, unfinished)
        unfinished.replace(out)
    finally:
        unfinished.unlink(missing_ok=True)
    return totals(content, out)


def _rows(content: Content) -> Iterator[dict[str, object]]:
    modes = {mode.key: mode for mode in content.modes}
    for tag in content.tags:
        run, mode = content.runs[tag.run_id], modes[tag.failure_mode]
        row: dict[str, object] = {
            "run_uuid": run.uuid,
            "initial_image": run.initial_image,
            "model": run.model,
            "protocol": run.protocol,
            "repeat": run.repeat,
            "failure_mode": mode.key,
            "failure_mode_name": mode.name,
            "level": mode.level.value,
            **attributes(tag),
        }
        for region in content.regions[tag.uuid] or (None,):
            yield (
                row
                if region is None
                else row
                | {
                    "region_uuid": region.uuid,
                    "region_step": region.step,
                    "region_end_step": region.end_step,
                    "region_kind": region.kind.value,
                    "region_points": json.dumps(region.points),
                }
            )
