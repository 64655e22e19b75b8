"""The regions of the run on screen: edited at once, saved at once, and kept in sight if saving fails."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.kept_edits import AGAIN_MS, CHANGED_SINCE, KEPT, KeptEdits, Kind
from app.region_edit import RegionEdit, as_new
from banana100_core.errors import BananaError
from banana100_core.project import regions as stored
from banana100_core.project.records import NewRegion, Region, RegionKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from concurrent.futures import Future

    from app.session import Session
    from banana100_core.project import Project
    from banana100_core.project.regions import Points


class RegionEdits(QObject):
    """What the project has, with the edits on their way over it. An edit waits for the one before it.

    Whoever edits has made sure that the tag is this annotator's. What can't be is told by a ProjectError.
    """

    changed = Signal()
    """There are other regions, or an edit was saved or could not be."""
    said = Signal(str)

    _finished = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._project: Project | None = None
        self._saved: dict[str, Region] = {}
        self._pending: deque[RegionEdit] = deque()
        self._future: Future[list[Region]] | None = None
        self._read_wanted = self._reading = False
        self.reason = ""
        """Why the oldest edit could not be saved; empty when it could."""
        self._disputed = False  # of an edit that was kept: somebody has changed the same since
        self._kept: KeptEdits | None = None  # while there are any
        self._again = QTimer(self)
        self._again.setSingleShot(True)
        self._again.setInterval(AGAIN_MS)
        self._again.timeout.connect(lambda: self._send(again=True))
        self._finished.connect(lambda call: call(), Qt.ConnectionType.QueuedConnection)
        session.project_opened.connect(self._open)
        session.project_closed.connect(self._close)
        session.run_changed.connect(self._take_run)
        session.tags_updated.connect(self.read_again)
        self._open()

    @classmethod
    def of(cls, session: Session) -> RegionEdits:
        """The regions of a session, shared by all its panels."""
        found = session.findChild(cls)
        return found if isinstance(found, cls) else cls(session)

    # What there is

    @property
    def regions(self) -> dict[str, Region]:
        """The regions of the current run by UUID, as they are once all edits are saved."""
        run = self._session.run
        found = dict(self._saved)
        for edit in self._pending:
            if run is None or edit.run_id != run.id:
                continue
            for uuid in edit.removed:
                found.pop(uuid, None)
            for uuid, region in edit.put.items():
                there = found.get(uuid)
                found[uuid] = (
                    Region(
                        uuid, edit.tag_uuid, region.step, region.kind, region.points, "", "", region.end_step
                    )
                    if there is None
                    else replace(there, points=region.points, end_step=region.end_step)
                )
        return found

    @property
    def unsaved(self) -> frozenset[str]:
        """UUIDs of regions whose newest edit is not saved."""
        return frozenset(uuid for edit in self._pending for uuid in (*edit.put, *edit.removed))

    @property
    def failed_count(self) -> int:
        """How many edits wait because the oldest could not be saved."""
        return len(self._pending) if self.reason else 0

    @property
    def saving(self) -> bool:
        """Whether an edit is on its way."""
        return self._future is not None

    @property
    def settled(self) -> bool:
        """Whether nothing is being read or saved."""
        return not (self.saving or self._reading or self._read_wanted)

    @property
    def read_only(self) -> bool:
        """Whether nothing can be edited."""
        return self._project is None or self._project.read_only

    def held(self, tag_uuid: str, step: int) -> dict[str, NewRegion]:
        """The regions of a tag that hold at a step by UUID, in pixels of that step's picture.

        Those of an earlier step keep its number.
        """
        of_tag = [region for region in self.regions.values() if region.tag_uuid == tag_uuid]
        return {
            region.uuid: NewRegion(region.step, region.kind, self._scaled(region, step), region.end_step)
            for region in stored.regions_at(of_tag, step)
        }

    # Edits

    def draw(self, tag_uuid: str, step: int, kind: RegionKind, points: Points) -> str:
        """Add a region to those that hold at a step; returns its UUID."""
        uuid = str(uuid4())
        put = {uuid: NewRegion(step, kind, self._valid(kind, points, step))}
        self._edit(tag_uuid, put | self._copies(tag_uuid, step)[0])
        return uuid

    def reshape(self, uuid: str, step: int, points: Points) -> str:
        """Give a region other points at a step; returns the UUID that it has there.

        Where it is held from an earlier step, all that its tag holds become regions of this step.
        """
        region = self.regions[uuid]
        wanted = self._valid(region.kind, points, step)
        copies, names = self._copies(region.tag_uuid, step)
        uuid = names.get(uuid, uuid)
        if wanted != region.points or copies:
            self._edit(
                region.tag_uuid, copies | {uuid: NewRegion(step, region.kind, wanted, region.end_step)}
            )
        return uuid

    def remove(self, uuid: str, step: int) -> None:
        """Remove a region at its own step; at a later one, where it is held, let it end before that."""
        region = self.regions[uuid]
        if region.step == step:
            self._edit(region.tag_uuid, {}, (uuid,))
        else:
            ended = NewRegion(region.step, region.kind, region.points, step - 1)
            self._edit(region.tag_uuid, {uuid: ended})

    def copy(self, tag_uuid: str, step: int, to: int) -> bool:
        """Make regions of the step `to` of those that hold at `step`; False when it has some already."""
        held = self.held(tag_uuid, step)
        if any(region.tag_uuid == tag_uuid and region.step == to for region in self.regions.values()):
            return False
        size, other = self._size(step), self._size(to)
        put = {
            str(uuid4()): NewRegion(
                to,
                each.kind,
                stored.scaled(each.points, size, other),
                each.end_step if each.end_step is not None and each.end_step >= to else None,
            )
            for each in held.values()
        }
        if put:
            self._edit(tag_uuid, put)
        return bool(put)

    def retry(self) -> None:
        """Try again to save what could not be saved."""
        self.reason, self._disputed = "", False
        self._send()
        self.changed.emit()

    def discard_failed(self) -> None:
        """Give up edits that could not be saved, and show what the project has."""
        if self.reason:
            self._pending.clear()
            self.reason, self._disputed = "", False
            self._keep_failed()
            self.changed.emit()

    def flush(self) -> None:
        """Wait until every edit is saved or one has failed."""
        while self._future is not None:
            self._take_saved(self._future)

    def read_again(self) -> None:
        """Read the regions of the run on screen."""
        self._read_wanted = self._session.run is not None
        self._read()

    # Inside

    def _edit(self, tag_uuid: str, put: Mapping[str, NewRegion], removed: tuple[str, ...] = ()) -> None:
        run = self._session.run
        if run is None:
            return
        there = self.regions
        before = {uuid: as_new(there[uuid]) for uuid in (*put, *removed) if uuid in there}
        self._pending.append(RegionEdit(run.id, self._session.annotator, tag_uuid, put, removed, before))
        if self._disputed:  # which a person has to decide first
            self._keep_failed()
            self.changed.emit()
        else:
            self.retry()

    def _copies(self, tag_uuid: str, step: int) -> tuple[dict[str, NewRegion], dict[str, str]]:
        """What makes a step that holds regions of an earlier one have its own, and their UUIDs by the old."""
        held = {uuid: region for uuid, region in self.held(tag_uuid, step).items() if region.step != step}
        names = {uuid: str(uuid4()) for uuid in held}
        return {names[uuid]: replace(region, step=step) for uuid, region in held.items()}, names

    def _size(self, step: int) -> tuple[int, int]:
        found = self._session.step_numbered(step)
        return (found.image.width, found.image.height) if found and found.image else (1, 1)

    def _scaled(self, region: Region, step: int) -> Points:
        old, new = self._size(region.step), self._size(step)
        return region.points if old == new else stored.scaled(region.points, old, new)

    def _valid(self, kind: RegionKind, points: Points, step: int) -> Points:
        return stored.valid_points(kind, points, self._size(step), step)

    def _open(self) -> None:
        project = self._project = self._session.project
        if project is None:
            return
        if not project.read_only:
            # Queued, so that tags that were kept go first: these may be regions of theirs.
            self._finished.emit(lambda: self._take_kept(project))
        self.read_again()

    def _take_kept(self, project: Project) -> None:
        """Go on trying to save what could not be saved when the project closed."""
        if project is not self._project:
            return
        kept = KeptEdits(project, Kind.REGIONS)
        edits = kept.read(RegionEdit.made)
        if not edits:
            return
        self._kept = kept
        there = {region.uuid: as_new(region) for region in stored.regions(project)}
        for edit in edits:
            self._disputed = self._disputed or not edit.fits(there)
            there = {uuid: each for uuid, each in there.items() if uuid not in edit.removed} | dict(edit.put)
        self._pending.extendleft(reversed(edits))
        if self._disputed:
            self.reason = CHANGED_SINCE
        self._send()
        self.changed.emit()

    def _keep_failed(self) -> bool:
        """Keep what could not be saved, and forget what was kept once all is; whether it is kept."""
        if self._pending and self.reason and self._project is not None:
            self._kept = KeptEdits(self._project, Kind.REGIONS)
            return self._kept.keep(self._pending)
        if self._kept is not None and not self._pending:
            self._kept.forget()
            self._kept = None
        return False

    def _close(self) -> None:
        """Save to the last edit; the session closes the file only after this."""
        self.flush()
        lost, details = len(self._pending), self.reason
        if self._keep_failed():
            details += f"\n{KEPT}"
        self._again.stop()
        self._project = self._kept = None
        self._saved.clear()
        self._pending.clear()
        self._read_wanted = self._reading = self._disputed = False
        self.reason = ""
        if lost:
            what = "1 edit to a region" if lost == 1 else f"{lost} edits to regions"
            self._session.failed.emit(f"{what} could not be saved", details)
        self.changed.emit()

    def _take_run(self) -> None:
        self._saved.clear()
        self.read_again()
        self.changed.emit()

    def _send(self, *, again: bool = False) -> None:
        """Save the oldest edit; one that could not be only `again`, and its reason stays until it is."""
        project, thread = self._project, self._session.edit_thread
        if project is None or thread is None or self._future is not None or not self._pending:
            return
        if self.reason and (self._disputed or not again):
            return
        edit = self._pending[0]
        self._future = future = thread.submit(lambda: edit.write(project))
        future.add_done_callback(lambda done: self._finished.emit(lambda: self._take_saved(done)))

    def _take_saved(self, future: Future[list[Region]]) -> None:
        """Take the outcome of a write, once: from the thread's signal or, when flushing, ahead of it."""
        if future is not self._future:
            return
        self._future = None
        try:
            regions = future.result()
        except Exception as error:  # noqa: BLE001 - whatever it is, the edit stays in sight
            self.reason = str(error) or type(error).__name__
            self._again.start()
        else:
            self.reason = ""
            edit = self._pending.popleft()
            run = self._session.run
            if run is not None and edit.run_id == run.id:
                for uuid in edit.removed:
                    self._saved.pop(uuid, None)
                self._saved.update({region.uuid: region for region in regions})
            self._send()
        self._keep_failed()
        self.changed.emit()

    def _read(self) -> None:
        project, run, thread = self._project, self._session.run, self._session.edit_thread
        if not self._read_wanted or self._reading or project is None or run is None or thread is None:
            return
        self._read_wanted, self._reading = False, True
        run_id = run.id

        def work() -> None:
            try:
                found = stored.regions(project, run_id)
            except BananaError as error:
                text = str(error)
                self._finished.emit(lambda: self._take_failed_reading(project, text))
            else:
                self._finished.emit(lambda: self._take_read(project, run_id, found))

        thread.submit(work)

    def _take_read(self, project: Project, run_id: int, found: list[Region]) -> None:
        if project is not self._project:
            return
        self._reading = False
        run = self._session.run
        if run is not None and run.id == run_id:
            regions = {region.uuid: region for region in found}
            if regions != self._saved:
                self._saved = regions
        self._read()
        self.changed.emit()

    def _take_failed_reading(self, project: Project, text: str) -> None:
        if project is self._project:
            self._reading = False
            self.said.emit(text)
