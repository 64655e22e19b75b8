"""Leaving tags and runs out of an export on purpose: by what they say, never by what a window shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from banana100_core.errors import ProjectError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import Run, Tag

OF_RUNS = ("initial_image", "model", "protocol")
OF_TAGS = ("annotator", "failure_mode", "level", "review_state")


@dataclass(frozen=True, slots=True)
class Only:
    """What is exported: any of the values of a field, of all fields that are named; nothing named is all."""

    values: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, wanted: Iterable[str]) -> Only:
        """From words such as "annotator=Ann"; ProjectError names those that can't be."""
        values: dict[str, frozenset[str]] = {}
        for each in wanted:
            name, equals, value = each.partition("=")
            if name not in (*OF_RUNS, *OF_TAGS) or not equals or not value:
                raise ProjectError(
                    f"{each!r} says nothing to choose by. Write FIELD=VALUE; fields are "
                    f"{', '.join((*OF_TAGS, *OF_RUNS))}."
                )
            values[name] = values.get(name, frozenset()) | {value}
        return cls(values)

    def takes_run(self, run: Run) -> bool:
        """Whether a run, with its pictures, is exported."""
        return all(self._takes(name, getattr(run, name)) for name in OF_RUNS)

    def takes_tag(self, tag: Tag, modes: Mapping[str, FailureMode]) -> bool:
        """Whether a tag of an exported run is exported; a failure mode has its kinds with it."""
        mode = modes.get(tag.failure_mode)
        named = self.values.get("failure_mode")
        return (
            (named is None or bool(named & {tag.failure_mode, mode.parent if mode else None}))
            and self._takes("level", mode.level.value if mode else "")
            and self._takes("annotator", tag.annotator)
            and self._takes("review_state", tag.review_state.value)
        )

    def _takes(self, name: str, value: str) -> bool:
        return name not in self.values or value in self.values[name]
