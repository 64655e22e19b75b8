"""Between the values of Python and the columns of a project file."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping


def now() -> str:
    """This moment, as all tables keep it: UTC, ISO 8601 with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def file_moment() -> str:
    """This moment as part of a file's name."""
    return now().replace(":", "").replace("-", "").replace(".", "")[:18]


def text(value: str) -> str:
    """`value` as SQLite can keep it: half characters, of cut replies or odd file names, become escapes."""
    return value.encode("utf-8", "backslashreplace").decode()


def to_json(value: object) -> str:
    """`value` as JSON that a person can read."""
    return text(json.dumps(value, ensure_ascii=False))


def columns_of(row: sqlite3.Row | Mapping[str, Any], value: type) -> dict[str, Any]:
    """Those columns of a row that a dataclass has fields for; a newer minor version may have added others."""
    return {name: row[name] for name in _shared(value, tuple(row.keys()))}


@cache
def _shared(value: type, columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(value) if field.name in columns)


def from_json(value: str) -> Any:  # noqa: ANN401 - what the JSON holds
    """The value of a JSON column."""
    return json.loads(value)
