"""Exporting tags: a form, what would be written, then the writing, with progress and cancel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QWidget,
)

from app import theme
from app.notifications import plain_label
from app.parts import Choices
from app.work_dialog import WorkDialog
from banana100_core.exchange.export_tags import Form, count_tags, export_tags
from banana100_core.exchange.export_tags.only import Only
from banana100_core.project.tags import tags

if TYPE_CHECKING:
    from app.session import Session
    from banana100_core.exchange.export_tags.content import Exported

FORMS: tuple[tuple[Form, str, str, str], ...] = (
    # Form, its name, what it is, ending of its file; a folder has none.
    (Form.COCO, "COCO", "annotations.json beside the pictures; pycocotools and CVAT read it", ""),
    (Form.LABEL_STUDIO, "Label Studio", "tasks.json and labels.xml beside the pictures", ""),
    (Form.IMAGE_FOLDER, "Hugging Face image folder", "metadata.jsonl beside the pictures", ""),
    (Form.CSV, "CSV", "A row for each region, and one for each tag without any; no pictures", ".csv"),
    (Form.PARQUET, "Parquet", "As CSV, each column with its type", ".parquet"),
)
_EVERYBODY = "Everybody"


class ExportDialog(WorkDialog):
    """Everything is exported unless something else is chosen here, whatever the list of runs shows."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, "Export tags", "Export", parent)
        self.resize(76 * theme.GRID, 44 * theme.GRID)
        self._asked = 0
        project = session.project
        self._folder = project.path.parent if project is not None else Path()
        self._name = project.path.stem if project is not None else "tags"
        self._build()
        self._take_form()
        if project is not None:
            session.in_background(
                lambda: sorted({tag.annotator for tag in tags(project)}), self._take_annotators
            )

    @property
    def form(self) -> Form:
        """The form that is chosen."""
        return FORMS[self.forms.currentIndex()][0]

    @property
    def out(self) -> Path:
        """Where to."""
        return Path(self.place.text().strip())

    def _build(self) -> None:
        self.forms = Choices()
        self.forms.addItems([name for _form, name, _what, _ending in FORMS])
        self.forms.currentIndexChanged.connect(lambda _place: self._take_form())
        self.what = plain_label(muted=True, wrap=True)
        self.all_runs = QRadioButton("All runs, those hidden by a filter too")
        self.all_runs.setChecked(True)
        self.chosen_runs = QRadioButton()
        self.chosen_runs.setText(f"Only the chosen runs ({len(self.session.selected_runs):,})")
        self.annotators = Choices()
        self.annotators.addItem(_EVERYBODY)
        self.place = QLineEdit()
        browse = QPushButton("Choose…")
        browse.setAutoDefault(False)
        browse.clicked.connect(self._ask_place)
        place = QHBoxLayout()
        place.setSpacing(theme.GRID)
        place.addWidget(self.place, 1)
        place.addWidget(browse)
        form = QFormLayout()
        form.setHorizontalSpacing(2 * theme.GRID)
        form.setVerticalSpacing(theme.GRID)
        form.addRow("Form", self.forms)
        form.addRow("", self.what)
        form.addRow("Runs", self.all_runs)
        form.addRow("", self.chosen_runs)
        form.addRow("Annotator", self.annotators)
        form.addRow("To", place)
        self.body.addLayout(form)
        self.body.addStretch(1)
        self.all_runs.toggled.connect(lambda _on: self._count())
        self.annotators.currentIndexChanged.connect(lambda _place: self._count())
        self.place.textChanged.connect(lambda _text: self._show_place())
        self.action.clicked.connect(self._export)

    def _take_annotators(self, names: list[str]) -> None:
        self.annotators.addItems(names)

    def _take_form(self) -> None:
        _form, _name, what, ending = FORMS[self.forms.currentIndex()]
        self.what.setText(what)
        folder = self.out.parent if self.place.text() else self._folder
        stem = f"{self._name}-{self.form}"
        number, free = 1, folder / f"{stem}{ending}"
        while free.exists():
            number += 1
            free = folder / f"{stem}-{number}{ending}"
        self.place.setText(str(free))
        self._count()

    def _choices(self) -> tuple[list[int] | None, Only]:
        run_ids = self.session.selected_runs if self.chosen_runs.isChecked() else None
        only = [f"annotator={self.annotators.currentText()}"] if self.annotators.currentIndex() > 0 else []
        return run_ids, Only.of(only)

    def _count(self) -> None:
        project = self.session.project
        if project is None or self.working:
            return
        self._asked += 1
        asked, form, out, (run_ids, only) = self._asked, self.form, self.out, self._choices()
        self.session.in_background(
            lambda: count_tags(project, out, form, run_ids=run_ids, only=only),
            lambda counted: self._show_count(asked, counted),
        )

    def _show_count(self, asked: int, counted: Exported) -> None:
        if asked == self._asked and not self.working:
            self.heading.setText(f"{_counts(counted)} to export")
            self._show_place()

    def _show_place(self) -> None:
        taken = self.out.exists()
        self._say_trouble(f"{self.out} exists already. Choose another name." if taken else "")
        self.action.setEnabled(bool(self.place.text().strip()) and not taken and not self.working)

    def _ask_place(self) -> None:
        name, _filter = QFileDialog.getSaveFileName(self, "Export tags to", self.place.text())
        if name:
            self.place.setText(name)

    def _export(self) -> None:
        project = self.session.project
        if project is None:
            return
        out, form, (run_ids, only) = self.out, self.form, self._choices()
        self._asked += 1  # a count that comes late would take back what is said of the export
        self.action.setEnabled(False)
        self.heading.setText(f"Exporting to {out.name} …")
        self.do(
            lambda: export_tags(project, out, form, run_ids=run_ids, only=only, progress=self.tell),
            lambda done: self.end_with(f"{_counts(done)} exported to {done.path}"),
        )

    def failed(self, _message: str) -> None:
        """Let another place be chosen."""
        self.heading.setText("Nothing was exported")
        self.action.setEnabled(True)


def _counts(counted: Exported) -> str:
    parts = [(counted.tags, "tag"), (counted.regions, "region")]
    parts += [(counted.pictures, "picture")] if counted.pictures else []
    return ", ".join(f"{number:,} {noun if number == 1 else noun + 's'}" for number, noun in parts)
