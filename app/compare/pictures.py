"""From steps to what a pane can paint of them now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.compare.content import PaneImage
from app.compare.painting import picture_size
from app.compare.steps import failure_text, neighbours
from app.compare.viewport import Size
from app.images import ImageLoader
from app.thumbnails import Thumbnails
from banana100_core.project.records import Outcome

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.project.records import Step


class StepPictures(QObject):
    """The pictures of the steps on screen; thumbnails stand in while a picture is decoded."""

    updated = Signal()
    """More is known of a step on screen."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.loader = ImageLoader(self)
        self.loader.follow(session)
        self._thumbnails = Thumbnails.of(session)
        self._on_screen: set[str] = set()
        self._direction = 1
        self._last: tuple[int, int] | None = None
        self.loader.loaded.connect(self._arrived)
        self._thumbnails.thumbnail_ready.connect(self._preview_arrived)

    def look_at(self, on_screen: list[Step], steps: list[Step]) -> None:
        """Ask for the pictures of the steps on screen, the current one first, and those of its neighbours.

        `steps` are those of the current one's run.
        """
        shown = [step.image.sha256 for step in on_screen if step.image]
        ahead: list[Step] = []
        if on_screen:
            current = on_screen[0]
            if self._last is not None and self._last[0] == current.run_id and self._last[1] != current.number:
                self._direction = 1 if current.number > self._last[1] else -1
            self._last = current.run_id, current.number
            ahead = neighbours(steps, current.number, self._direction)
        self._on_screen = set(shown)
        self.loader.want(*shown, ahead=[step.image.sha256 for step in ahead if step.image])

    def of(self, step: Step | None) -> PaneImage:
        """What can be painted of a step now."""
        if step is None:
            return PaneImage()
        if step.outcome is Outcome.FAILED or step.image is None:
            return PaneImage(message=failure_text(step, numbered=not self._session.blinding.steps))
        error = self.loader.error(step.image.sha256)
        if error is not None:
            which = "This step" if self._session.blinding.steps else f"Step {step.number}"
            return PaneImage(message=f"{which} can't be shown\n\n{error}")
        pyramid = self.loader.pyramid(step.image.sha256)
        if pyramid is not None:
            return PaneImage(picture_size(pyramid), pyramid, key=step.image.sha256)
        size = Size(step.image.width, step.image.height)
        preview = self._thumbnails.pixmap(step.image.sha256)
        return PaneImage(size, preview=preview, key=step.image.sha256)

    def _arrived(self, sha256: str) -> None:
        if sha256 in self._on_screen:
            self.updated.emit()

    def _preview_arrived(self, sha256: str) -> None:
        if sha256 in self._on_screen and self.loader.pyramid(sha256) is None:
            self.updated.emit()
