"""Drift as CSV: a row for each step."""

from __future__ import annotations

import csv
import io
from dataclasses import astuple, fields
from typing import TYPE_CHECKING

from banana100_core.analysis.drift import Drift

if TYPE_CHECKING:
    from collections.abc import Sequence

COLUMNS = tuple(field.name for field in fields(Drift))


def as_csv(found: Sequence[Drift]) -> str:
    """All figures of all steps; nothing where one is not defined."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(
        [round(value, 6) if isinstance(value, float) else value for value in astuple(each)] for each in found
    )
    return out.getvalue()
