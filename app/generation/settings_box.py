"""Settings of runs; only those that the editor honours can be set, and the others say why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.notifications import plain_label
from app.parts import Choices, Fold, number, rows
from app.tooltips import plain_tip
from banana100_core.catalog.settings import (
    ASPECT_RATIOS,
    INTERLEAVED,
    SIZES,
    RunSettings,
    SeedMode,
    SessionMode,
)

if TYPE_CHECKING:
    from banana100_core.generation.editor import Capabilities

SEEDS = ((SeedMode.PER_STEP, "One a step"), (SeedMode.FIXED, "One for all steps"), (SeedMode.NONE, "None"))
TEMPERATURES = (0.0, 0.4)
SESSIONS = ((SessionMode.FRESH, "A fresh one each step"), (SessionMode.SINGLE, "One, its history kept"))
_IN_TURN = ("1K", "2K", "4K")
_OWN = "The editor's own"


class SettingsBox(QWidget):
    """Seed, temperature, resolution, aspect ratio and session."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._editor: Capabilities | None = None
        self.seed_mode = Choices([(text, mode) for mode, text in SEEDS])
        self.seed = number(0, 2_000_000_000, 1)
        self.seed.setToolTip("Of the first repeat; each further one has the next")
        self.temperature = Choices([(_OWN, None), *((f"{each:g}", each) for each in TEMPERATURES)])
        sizes = [(size, size) for size in SIZES]
        self.resolution = Choices([(_OWN, None), *sizes, ("1K, 2K, 4K in turn", INTERLEAVED)])
        self.aspect_ratio = Choices([("As the picture", None), *((ratio, ratio) for ratio in ASPECT_RATIOS)])
        self.session = Choices([(text, mode) for mode, text in SESSIONS])
        self.limits = plain_label(muted=True, wrap=True)
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(
            rows(
                [
                    ("Seeds", self.seed_mode),
                    ("First seed", self.seed),
                    ("Temperature", self.temperature),
                    ("Resolution", self.resolution),
                    ("Aspect ratio", self.aspect_ratio),
                    ("Session", self.session),
                ]
            )
        )
        column.addWidget(self.limits)
        self.fold = Fold("Settings", content, strong=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.fold)
        for box in self._boxes:
            box.currentIndexChanged.connect(lambda _row: self._tell())
        self.seed.valueChanged.connect(lambda _value: self._tell())
        self._tell()

    @property
    def _boxes(self) -> tuple[Choices, ...]:
        return (self.seed_mode, self.temperature, self.resolution, self.aspect_ratio, self.session)

    @property
    def settings(self) -> RunSettings:
        """The settings as they are; those that the editor does not honour are left to it."""
        return RunSettings(
            # Qt hands enumerations of texts back as plain texts.
            seed=SeedMode(_value(self.seed_mode) or SeedMode.NONE),
            temperature=_value(self.temperature),
            resolution=_value(self.resolution),
            aspect_ratio=_value(self.aspect_ratio),
            session=SessionMode(_value(self.session) or SessionMode.FRESH),
        )

    @property
    def first_seed(self) -> int | None:
        """The first repeat's seed; None where none is sent."""
        return None if self.settings.seed is SeedMode.NONE else self.seed.value()

    def show_settings(self, settings: RunSettings) -> None:
        """Take a protocol's settings."""
        for box, value in (
            (self.seed_mode, settings.seed),
            (self.temperature, settings.temperature),
            (self.resolution, settings.resolution),
            (self.aspect_ratio, settings.aspect_ratio),
            (self.session, settings.session),
        ):
            with QSignalBlocker(box):
                if not box.choose(value):
                    box.addItem(f"{value:g}" if isinstance(value, float) else str(value), value)
                    box.choose(value)
        self._tell()

    def heed(self, editor: Capabilities) -> None:
        """Let only that be set which the editor honours."""
        self._editor = editor
        title = editor.title or editor.model
        without = []
        for name, box, words in (
            ("seed", self.seed_mode, "seed"),
            ("temperature", self.temperature, "temperature"),
            ("resolution", self.resolution, "resolution"),
            ("aspect_ratio", self.aspect_ratio, "aspect ratio"),
        ):
            honoured = name in editor.honours
            box.setEnabled(honoured)
            box.setToolTip("" if honoured else plain_tip(f"{title} takes no heed of a {words}"))
            if not honoured:
                without.append(words)
        self.session.setEnabled(editor.keeps_session)
        self.session.setToolTip("" if editor.keeps_session else plain_tip(f"{title} keeps no session"))
        if not editor.keeps_session:
            without.append("session")
        self._allow_sizes(editor, title)
        self.limits.setText(f"{title} takes no heed of {_listed(without)}." if without else "")
        self.limits.setVisible(bool(without))
        self._tell()

    def _allow_sizes(self, editor: Capabilities, title: str) -> None:
        sizes = editor.sizes or SIZES
        for row in range(1, self.resolution.count()):
            wanted = self.resolution.itemData(row)
            lacking = [
                size for size in (_IN_TURN if wanted == INTERLEAVED else (wanted,)) if size not in sizes
            ]
            self.resolution.allow(row, f"{title} makes no {_listed(lacking)}" if lacking else "")
            if lacking and self.resolution.currentIndex() == row:
                self.resolution.setCurrentIndex(0)

    def _tell(self) -> None:
        self.seed.setEnabled(self.settings.seed is not SeedMode.NONE)
        changed = len(self.settings.changed())
        self.fold.set_title("Settings" if not changed else f"Settings · {changed} not the default")
        self.changed.emit()


def _value(box: Choices) -> Any:  # noqa: ANN401 - whatever the box holds
    return box.currentData() if box.isEnabled() else None


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
