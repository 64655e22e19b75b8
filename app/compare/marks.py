"""Tags, suggestions and admissions of the current run, as marks on slider and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.admissions import Admissions
from banana100_core.project.failure_modes import failure_modes
from banana100_core.project.records import SuggestionState
from banana100_core.project.suggestions import suggestions
from banana100_core.project.tags import tags

if TYPE_CHECKING:
    from app.compare.outlines.outline import Outlines
    from app.compare.slider import StepSlider
    from app.session import Session
    from banana100_core.catalog.failure_modes import FailureMode
    from banana100_core.project.records import Suggestion, Tag


class TagMarks(QObject):
    """Reads them again when they change; what an annotator is not to see is left out."""

    def __init__(self, session: Session, slider: StepSlider, outlines: Outlines) -> None:
        super().__init__(slider)
        self._session = session
        self._slider = slider
        self._outlines = outlines
        self._admissions = Admissions.of(session)
        self._last: tuple[int, list[Tag], dict[str, FailureMode], list[Suggestion]] = (0, [], {}, [])
        self._admissions.changed.connect(self._show_flags)
        for changed in (
            session.tags_updated,
            session.suggestions_updated,
            session.blinding_changed,
            session.annotator_changed,
            session.modes_updated,
        ):
            changed.connect(self.read)
        session.blinding_changed.connect(self._show)  # at once, before it is read again

    def read(self) -> None:
        """Read those of the current run."""
        self._show_flags()
        project, run = self._session.project, self._session.run
        if project is None or run is None:
            self._slider.show_tags([], {})
            return
        blind = self._session.blinding.suggestions

        def read() -> tuple[int, list[Tag], dict[str, FailureMode], list[Suggestion]]:
            modes = {mode.key: mode for mode in failure_modes(project)}
            suggested = [] if blind else suggestions(project, run.id, SuggestionState.OPEN)
            return run.id, tags(project, run.id), modes, suggested

        self._session.in_background(read, self._take)

    def _take(self, read: tuple[int, list[Tag], dict[str, FailureMode], list[Suggestion]]) -> None:
        self._last = read
        self._show()

    def _show(self) -> None:
        run_id, of_run, modes, suggested = self._last
        if self._session.run is not None and self._session.run.id == run_id:
            blinding, annotator = self._session.blinding, self._session.annotator
            told = [tag for tag in of_run if not blinding.tags or tag.annotator == annotator]
            shown = [] if blinding.suggestions else suggested
            self._slider.show_tags(told, modes, shown, annotator)
            self._outlines.show_tags(of_run, modes)

    def _show_flags(self) -> None:
        run, blind = self._session.run, self._session.blinding.tags
        self._slider.show_flags([] if run is None or blind else self._admissions.steps_of(run.id))
