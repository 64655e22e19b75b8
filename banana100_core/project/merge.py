"""Joining copies of a project that came back: tags united by UUID, the same edit once.

Each side's log tells what it did to a tag. Where one side's edits contain the other's, its state is the newer
one; where both have edits that the other lacks and the tags differ, that is a conflict. Runs are matched by
UUID, since copies may have given one number to different runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import NAMESPACE_URL, uuid5

from banana100_core.errors import ProjectError
from banana100_core.project import edit_log, tag_rows
from banana100_core.project.backup import back_up
from banana100_core.project.copies import reading_copy
from banana100_core.project.database import connect, sibling
from banana100_core.project.merge_reviews import ReviewConflict, new_reviews, put_reviews
from banana100_core.project.merge_runs import OtherRun, add_runs_of, runs_beyond
from banana100_core.project.merge_sides import Side, TagState, put_entries, read_side
from banana100_core.project.merge_suggestions import new_decisions, put_decisions
from banana100_core.project.merge_taxonomy import (
    ModeChange,
    add_missing_modes,
    newer_modes,
    put_log,
    put_newer,
)
from banana100_core.project.rows import file_moment, now, to_json
from banana100_core.project.tags import CHANGES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from sqlite_utils import Database

    from banana100_core.progress import Progress
    from banana100_core.project.project import Project

    Decisions = Mapping[tuple[str, str], "Prefer"]  # by tag UUID and name of the other side

_COPIES = uuid5(NAMESPACE_URL, "banana100:copy-of-tag")
UNKNOWN_RUN = "the project has no run of that UUID"


class Prefer(StrEnum):
    """Which side of a conflict is taken."""

    MINE = "mine"
    THEIRS = "theirs"
    NEWEST = "newest"  # whose last edit of the tag is the later one
    BOTH = "both"  # the project's own stays, and the other becomes a tag of its own


@dataclass(frozen=True, slots=True)
class Conflict:
    """A tag that both sides edited differently; a state is None where that side removed it."""

    tag_uuid: str
    other: str
    mine: TagState | None
    theirs: TagState | None
    fields: tuple[str, ...]  # those that differ
    taken: Prefer  # MINE, THEIRS or BOTH


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A tag that can't be taken over, and why."""

    tag_uuid: str
    other: str
    reason: str


@dataclass(slots=True)
class MergeReport:
    """What a merge did, or with a dry run would do.

    Numbers are of tags, but `edits` and `reviews` of entries that were taken over. Of review conflicts the
    last word counts. `new_runs` are those that only another copy has, without those that were added.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    edits: int = 0
    new_failure_modes: list[str] = field(default_factory=list)
    changed_failure_modes: list[ModeChange] = field(default_factory=list)
    reviews: int = 0
    review_conflicts: list[ReviewConflict] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    suggestions: int = 0  # that were decided on in a copy
    new_runs: list[OtherRun] = field(default_factory=list)
    runs_added: int = 0
    backup: Path | None = None


def merge(
    project: Project,
    others: Sequence[Path],
    *,
    prefer: Prefer | None = None,
    decisions: Decisions | None = None,
    add_runs: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    stop: Callable[[], bool] | None = None,
) -> MergeReport:
    """Take over the tags of other copies in turn, all or nothing; merging them again changes nothing.

    `decisions` say which side of a conflict is taken, `prefer` of those they don't name. Without either the
    conflict is listed, and the project's own side stays until it is decided. With `add_runs` runs that only a
    copy has come too, each whole or not at all; `stop` is asked between them. Unless nothing is to be done,
    the project is backed up first, without its images, which a merge never takes away. Raises ProjectError
    when another file is the project itself, and what `Project.open` raises.
    """
    sides, missing = [], []
    for path in others:
        if path.resolve() == project.path:
            raise ProjectError(f"{path} is the project itself. Name the copies that came back.")
        with reading_copy(path) as other:
            with other.reading() as connection:
                sides.append(read_side(connection, str(path)))
            missing += runs_beyond(project, other, str(path))
    missing = list({run.uuid: run for run in reversed(missing)}.values())[::-1]
    wanted = [run for run in missing if not run.reason] if add_runs else []
    backup, added = None, 0
    if wanted and not dry_run:
        backup = _new_backup(project)
        for path in others:
            uuids = [run.uuid for run in wanted if run.other == str(path)]
            with reading_copy(path) as other:
                added += add_runs_of(project, other, uuids, progress, stop)
        known = _run_uuids(project)
        missing = [run for run in missing if run.uuid not in known]
    report = merge_sides(project, sides, prefer=prefer, decisions=decisions, dry_run=dry_run, backup=backup)
    report.new_runs, report.runs_added = missing, added
    if dry_run and add_runs:
        unknown = {run.other for run in missing if run.reason}
        report.left_out = [
            left for left in report.left_out if left.reason != UNKNOWN_RUN or left.other in unknown
        ]
    return report


def merge_sides(
    project: Project,
    sides: Sequence[Side],
    *,
    prefer: Prefer | None = None,
    decisions: Decisions | None = None,
    dry_run: bool = False,
    backup: Path | None = None,
) -> MergeReport:
    """Take over tags that were read already; see `merge`. A `backup` is one that was made for it."""
    with project.reading() as connection:
        plan = _Plan(read_side(connection, str(project.path)), prefer, decisions)
        for side in sides:
            plan.take_over(side)
    plan.report.backup = backup
    if dry_run or not plan.changes_anything:
        return plan.report
    kept = backup or _new_backup(project)

    def work(database: Database) -> MergeReport:
        # Read again: in a window others may have written since.
        plan = _Plan(read_side(database.conn, str(project.path)), prefer, decisions)
        for side in sides:
            plan.take_over(side)
        plan.write(database)
        plan.report.backup = kept
        return plan.report

    return project.write(work, changes=CHANGES | {"failure_mode", "review", "suggestion"})


class _Plan:
    """What is to be written so that the project has what other sides have; built up in memory."""

    def __init__(self, mine: Side, prefer: Prefer | None, decisions: Decisions | None) -> None:
        self.report = MergeReport()
        self._mine = mine
        self._prefer = prefer
        self._decisions = decisions or {}
        self._before: dict[str, TagState | None] = {}  # of the tags to write, as they were
        self._entries: list[edit_log.Row] = []
        self._modes: dict[str, edit_log.Row] = {}
        self._newer_modes: dict[str, edit_log.Row] = {}
        self._mode_log: list[edit_log.Row] = []
        self._reviews: list[edit_log.Row] = []
        self._suggestions: list[edit_log.Row] = []

    @property
    def changes_anything(self) -> bool:
        return bool(self._before or self._entries or self._newer_modes or self._reviews or self._suggestions)

    def take_over(self, side: Side) -> None:
        """Go through all tags that another side has or had."""
        theirs, unknown = side.with_runs_of(self._mine)
        for uuid in unknown:
            self._leave_out(uuid, side, UNKNOWN_RUN)
        self._take_over_taxonomy(theirs)
        for uuid in sorted(theirs.tags.keys() | theirs.log.keys()):
            self._take_over_tag(uuid, theirs)
        self._take_over_reviews(theirs)
        decided = {row["uuid"]: row for row in new_decisions(self._mine.suggestions, theirs.suggestions)}
        self._suggestions += decided.values()
        self._mine.suggestions[:] = [decided.get(row["uuid"], row) for row in self._mine.suggestions]
        self.report.suggestions += len(decided)

    def write(self, database: Database) -> None:
        put_newer(database, self._newer_modes.values())
        put_log(database, self._mode_log)
        add_missing_modes(database, self._modes)
        for uuid in self._before:
            state = self._mine.tags.get(uuid)
            tag_rows.remove(database, uuid)
            if state is not None:
                tag_rows.put(database, state.row)
                for region in state.regions.values():
                    tag_rows.put_region(database, region)
        put_entries(database, self._entries)
        put_reviews(database, self._reviews)
        put_decisions(database, self._suggestions)

    def _take_over_taxonomy(self, theirs: Side) -> None:
        for row, change in newer_modes(self._mine.modes, theirs.modes, theirs.name):
            if change.key not in self._mine.modes:
                self.report.new_failure_modes.append(change.key)
            else:
                self.report.changed_failure_modes.append(change)
            self._newer_modes[change.key] = self._mine.modes[change.key] = row
        self._mode_log += theirs.mode_log

    def _take_over_reviews(self, theirs: Side) -> None:
        news, conflicts = new_reviews(self._mine.reviews, theirs.reviews, theirs.name)
        self._reviews += news
        self._mine.reviews.extend(news)
        self.report.reviews += len(news)
        self.report.review_conflicts += conflicts

    def _take_over_tag(self, uuid: str, theirs: Side) -> None:
        there, here = theirs.tags.get(uuid), self._mine.tags.get(uuid)
        news = theirs.entries_beyond(self._mine, uuid)
        if same_state(there, here):
            self.report.unchanged += there is not None
            if here is not None:
                self._log(uuid, news)
        elif theirs.has_log and not news:
            self.report.unchanged += 1
        elif not theirs.has_log and here is None and uuid not in self._mine.log:
            self._take(uuid, there, theirs, news)
        elif theirs.has_log and not self._mine.entries_beyond(theirs, uuid):
            if there is not None or here is not None:
                self._take(uuid, there, theirs, news)
        else:
            self._settle(uuid, theirs, news)

    def _settle(self, uuid: str, theirs: Side, news: list[edit_log.Row]) -> None:
        there, here = theirs.tags.get(uuid), self._mine.tags.get(uuid)
        decided = self._decisions.get((uuid, theirs.name), self._prefer)
        taken = decided or Prefer.MINE
        if taken is Prefer.NEWEST:
            newer = theirs.last_edit(uuid) > self._mine.last_edit(uuid)
            taken = Prefer.THEIRS if newer else Prefer.MINE
        if taken is Prefer.BOTH and (here is None or there is None):
            taken = Prefer.MINE if there is None else Prefer.THEIRS  # whichever is there
        if taken is Prefer.THEIRS:
            if not self._take(uuid, there, theirs, news):
                return
        elif decided is not None:
            if taken is Prefer.BOTH and there is not None and not self._add_copy(there, theirs):
                return
            if theirs.has_log:
                # What they did is known from now on, and the last word is what holds here.
                self._log(uuid, [*news, _entry(uuid, there, here)])
        self.report.conflicts.append(Conflict(uuid, theirs.name, here, there, differing(here, there), taken))

    def _add_copy(self, state: TagState, theirs: Side) -> bool:
        """Take another side's state of a tag over as a tag of its own."""
        copy = _as_copy(state)
        uuid = copy.row["uuid"]
        if uuid in self._mine.tags or uuid in self._mine.log:
            return True
        return self._take(uuid, copy, theirs, [_entry(uuid, None, copy)])

    def _take(self, uuid: str, state: TagState | None, theirs: Side, news: list[edit_log.Row]) -> bool:
        here = self._mine.tags.get(uuid)
        if state is not None:
            if reason := self._mine.reason_against(state):
                self._leave_out(uuid, theirs, reason)
                return False
            self._need_mode(state.row["failure_mode"], theirs)
        if here is None:
            self.report.added += 1
        elif state is None:
            self.report.removed += 1
        else:
            self.report.changed += 1
        self._before.setdefault(uuid, here)
        if state is None:
            self._mine.tags.pop(uuid, None)
        else:
            self._mine.tags[uuid] = state
        self._log(uuid, news if theirs.has_log else [_entry(uuid, here, state)])
        return True

    def _log(self, uuid: str, entries: list[edit_log.Row]) -> None:
        self._entries += entries
        self.report.edits += len(entries)
        if entries:
            self._mine.log.setdefault(uuid, []).extend(entries)

    def _need_mode(self, key: str, theirs: Side) -> None:
        if key in self._mine.modes:
            return
        row = theirs.modes[key]
        if row["parent"] is not None:
            self._need_mode(row["parent"], theirs)
        self._modes[key] = self._mine.modes[key] = row
        self.report.new_failure_modes.append(key)

    def _leave_out(self, uuid: str, side: Side, reason: str) -> None:
        self.report.left_out.append(LeftOut(uuid, side.name, reason))


def same_state(one: TagState | None, other: TagState | None) -> bool:
    """Tell whether two sides say the same of a tag; when it was modified is no matter."""
    return one is other or (one is not None and other is not None and not differing(one, other))


def differing(one: TagState | None, other: TagState | None) -> tuple[str, ...]:
    """The fields in which two states of a tag differ, "regions" among them."""
    if one is None or other is None:
        return ("removed",)
    return tuple(name for name, value in one.said.items() if other.said[name] != value)


def _entry(uuid: str, before: TagState | None, after: TagState | None) -> edit_log.Row:
    """An entry of the log for what comes from a side without one."""
    state = after or before
    assert state is not None  # noqa: S101 - nothing to nothing is no change
    return {
        "at": now(),
        "annotator": state.row["annotator"],
        "action": "add" if before is None else "remove" if after is None else "change",
        "tag_uuid": uuid,
        **TagState.as_logged(before, after),
        "undoes": None,
    }


def _run_uuids(project: Project) -> set[str]:
    with project.reading() as connection:
        return {row[0] for row in connection.execute("SELECT uuid FROM run")}


def _as_copy(state: TagState) -> TagState:
    """The same with UUIDs that follow from it, so that copying it again adds nothing."""
    uuid = str(uuid5(_COPIES, to_json([state.row["uuid"], state.said])))
    regions = {}
    for old, row in state.regions.items():
        new = str(uuid5(_COPIES, f"{uuid} {old}"))
        regions[new] = row | {"uuid": new, "tag_uuid": uuid}
    return TagState(state.row | {"uuid": uuid}, regions)


def _new_backup(project: Project) -> Path:
    backup = sibling(project.path, f".before-merge-{file_moment()}.bak")
    connection = connect(project.path, "rw")
    try:
        back_up(connection, backup)
    finally:
        connection.close()
    return backup
