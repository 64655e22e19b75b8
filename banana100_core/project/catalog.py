"""Metrics and failure modes of the catalog, as rows that views and foreign keys can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from banana100_core.catalog.failure_modes import failure_modes
from banana100_core.catalog.metrics import metrics

if TYPE_CHECKING:
    from sqlite_utils import Database


def take_in_catalog(database: Database) -> None:
    """Add what the project lacks; what it has stays as the project's owner left it."""
    keys = {row[0] for row in database.execute("SELECT key FROM metric")}
    modes = {row[0]: row[1] for row in database.execute("SELECT key, shortcut FROM failure_mode")}
    new_metrics = [metric for metric in metrics().values() if metric.key not in keys]
    new_modes = [mode for mode in failure_modes().values() if mode.key not in modes]
    if not new_metrics and not new_modes:
        return
    taken = set(modes.values())
    with database.atomic():
        database["metric"].insert_all(
            {
                "key": metric.key,
                "title": metric.title,
                "low": metric.low,
                "high": metric.high,
                "lower_is_better": int(metric.lower_is_better),
            }
            for metric in new_metrics
        )
        database["failure_mode"].insert_all(
            {
                "key": mode.key,
                "name": mode.name,
                "level": mode.level.value,
                "definition": mode.definition,
                "example": mode.example,
                "shortcut": None if mode.shortcut in taken else mode.shortcut,
                "parent": mode.parent,
                "position": position,
            }
            for position, mode in enumerate(new_modes, start=len(modes))
        )
