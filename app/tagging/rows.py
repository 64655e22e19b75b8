"""A tag as the board shows it: what the project has of it, what it shall have, and how that is written."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from banana100_core.project import tags as stored
from banana100_core.project.records import NewTag, ReviewState, Tag

if TYPE_CHECKING:
    from concurrent.futures import Future

    from banana100_core.project import Project

EDITABLE = ("onset", "end_step", "severity", "certainty", "note", "review_state")


class Saved(StrEnum):
    """Where the newest edit of a row stands."""

    YES = "saved"
    SAVING = "saving"
    FAILED = "failed"


@dataclass(slots=True)
class Row:
    """A tag as shown: `saved` is what the project has, `wanted` what it shall have; None is no tag."""

    id: int
    uuid: str
    annotator: str
    saved: Tag | None
    wanted: NewTag | None
    reason: str = ""
    future: Future[Tag | None] | None = None
    sent: NewTag | None = None

    @property
    def state(self) -> Saved:
        """Where the newest edit stands."""
        if self.reason:
            return Saved.FAILED
        return Saved.YES if not self.dirty else Saved.SAVING

    @property
    def dirty(self) -> bool:
        """Whether the project has not got what is wanted."""
        return self.wanted != (as_new(self.saved) if self.saved else None)


@dataclass(frozen=True, slots=True)
class KeptTag:
    """What is kept of a row that could not be saved: what the project had, and what it shall have."""

    uuid: str
    annotator: str
    before: NewTag | None
    wanted: NewTag | None

    @staticmethod
    def of(row: Row) -> KeptTag:
        """The same, of a row."""
        return KeptTag(row.uuid, row.annotator, as_new(row.saved) if row.saved else None, row.wanted)

    @staticmethod
    def made(values: dict[str, Any]) -> KeptTag:
        """The same, of what was written; KeyError or TypeError when it is something else."""
        before, wanted = (_tag_made(values[name]) for name in ("before", "wanted"))
        return KeptTag(values["uuid"], values["annotator"], before, wanted)


def as_new(tag: Tag) -> NewTag:
    """The fields of a tag that an annotator decides."""
    return NewTag(
        run_id=tag.run_id,
        failure_mode=tag.failure_mode,
        onset=tag.onset,
        end_step=tag.end_step,
        severity=tag.severity,
        certainty=tag.certainty,
        note=tag.note,
        review_state=tag.review_state,
    )


def shown_of(row: Row) -> NewTag:
    """What is said of a row, also of one that is being removed."""
    shown = row.wanted or row.sent or (as_new(row.saved) if row.saved else None)
    assert shown is not None  # noqa: S101 - a row has at least one of them
    return shown


def write(
    project: Project, annotator: str, uuid: str, saved: Tag | None, wanted: NewTag | None
) -> Tag | None:
    """Make a tag in the project what it shall be; gives what it is then."""
    if wanted is None:
        if saved is not None:
            stored.remove_tag(project, annotator, uuid)
        return None
    if saved is None:
        return stored.add_tag(project, annotator, wanted, uuid)
    before = as_new(saved)
    changes = {
        name: getattr(wanted, name) for name in EDITABLE if getattr(wanted, name) != getattr(before, name)
    }
    return stored.change_tag(project, annotator, uuid, **changes)


def _tag_made(values: dict[str, Any] | None) -> NewTag | None:
    if values is None:
        return None
    return NewTag(**values | {"review_state": ReviewState(values["review_state"])})
