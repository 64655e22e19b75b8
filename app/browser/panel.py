"""The list of runs: what is looked for, the runs in groups, and those chosen among them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import theme
from app.browser import facets
from app.browser.arrangement import (
    Arrangement,
    Grouping,
    arranged,
    arrangement_of,
    from_memory,
    to_memory,
)
from app.browser.columns import CURVE, OUTCOME, STEPS, known
from app.browser.delegate import RunDelegate, steps_width
from app.browser.facet_popup import FacetPopup
from app.browser.facts import Facts
from app.browser.filter_bar import FilterBar
from app.browser.folding import Folding
from app.browser.listed import count_text, steps_text
from app.browser.model import NODE_ROLE, Node, RunTree
from app.browser.sparklines import Sparklines
from app.browser.tree_view import RunView
from app.browser.view_menu import ViewMenu
from app.browser.views import Views
from app.memory import Memory
from app.thumbnails import Thumbnails
from banana100_core.catalog.metrics import metric as find_metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtCore import QPoint

    from app.actions import ActionRegistry
    from app.browser.facets import Facet, FacetValue
    from app.browser.listed import Listed
    from app.session import Session
    from banana100_core.generation.executor import GenerationProgress
    from banana100_core.project.saved_views import SavedView

_MEMORY, _WIDTHS = "runs", "run_columns"
_NO_RUNS = "No runs yet.\nImport a folder (Ctrl+I), or generate some (Ctrl+G)."
_NONE_FOUND = "No run matches.\nEscape in the filter shows all again."
_CHOOSE = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_ADD = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
_CONTEXT_MENU = ("score.selected", "file.export_sheet", "file.export_animation")


class BrowserPanel(QWidget):
    """Runs in groups; plots, scoring and export take what is selected here."""

    def __init__(self, session: Session, registry: ActionRegistry) -> None:
        super().__init__()
        self._session = session
        self._registry = registry
        self._memory = Memory.of(session)
        self._rows_change = False
        self._shown = 0
        self._entries: list[Listed] = []
        self.arrangement = from_memory(self._memory.value(_MEMORY))
        self._thumbnails = Thumbnails.of(session)
        self._sparklines = Sparklines(session)
        self._facts = Facts(session)
        self.tree = RunTree()
        self.tree.show_columns(self.arrangement.columns)
        self.view = RunView(self.tree)
        self._folding = Folding(self.tree, self.view)
        self._delegate = RunDelegate(self.tree, self._thumbnails, self._sparklines, self.view)
        self.view.setItemDelegate(self._delegate)
        self.view.set_widths(self._memory.value(_WIDTHS))
        self.bar = FilterBar(registry.qaction("edit.facets"), registry.qaction("view.arrange_runs"))
        self.popup = FacetPopup(self)
        self.views = Views(session, self)
        groupings = [registry.qaction(f"view.group_{grouping}") for grouping in Grouping]
        self.menu = ViewMenu(groupings, self)
        self._lay_out()
        self._connect()
        self._connect_actions()
        self._show_runs()
        self._show_arrangement()
        self._show_current()

    def is_settled(self) -> bool:
        """Whether thumbnails, curves and facts of the rows on screen are there."""
        runs = [node.run for node in self.view.nodes_on_screen() if node.run is not None]
        wanted = [run.last_sha256 or run.initial_sha256 for run in runs]
        there = all(
            self._thumbnails.pixmap(sha256) is not None or self._thumbnails.failed(sha256)
            for sha256 in wanted
            if sha256
        )
        return there and self._sparklines.settled and self._facts.settled

    def arrange(self, arrangement: Arrangement) -> None:
        """Look at the runs in another way, and remember it."""
        before, self.arrangement = self.arrangement, arrangement
        regrouped = before.grouping != arrangement.grouping
        with self._following():
            self._show_groups(asked=True)
            if regrouped:
                run = self._session.run
                self._folding.open_few_or(self.tree.index_of_run(run.id) if run else QModelIndex())
        if before.columns != arrangement.columns:
            self._fit_steps()
        self._show_arrangement()
        if to_memory(before) != to_memory(arrangement):
            self._memory.remember(_MEMORY, to_memory(arrangement))
        if before.sort != arrangement.sort or regrouped:
            self.view.scrollTo(self.view.currentIndex())

    # Making it

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.GRID, theme.GRID // 2, 0, 0)
        layout.setSpacing(theme.GRID // 2)
        layout.addWidget(self.bar)
        layout.addWidget(self.view)
        self.setMinimumWidth(26 * theme.GRID)

    def _connect(self) -> None:
        session, bar, menu = self._session, self.bar, self.menu
        self._thumbnails.thumbnail_ready.connect(self._take_thumbnail)
        self._sparklines.updated.connect(self._take_curves)
        self._facts.updated.connect(self._show_runs)
        self.view.sort_chosen.connect(self._sort_by_section)
        self.view.widths_changed.connect(lambda widths: self._memory.remember(_WIDTHS, widths))
        selection = self.view.selectionModel()
        selection.currentChanged.connect(self._look_at)
        selection.selectionChanged.connect(lambda *_changes: self._tell_selection())
        bar.text_changed.connect(lambda text: self.arrange(replace(self.arrangement, filter=text)))
        bar.entered.connect(self._leave_filter)
        bar.removed.connect(self._toggle)
        bar.cleared.connect(self._show_all)
        self.popup.toggled.connect(self._toggle)
        menu.column_toggled.connect(self._toggle_column)
        header = self.view.header()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(lambda place: self._open_columns(header.mapToGlobal(place)))
        menu.groups_opened.connect(lambda opened: self._folding.open_all(opened=opened))
        menu.sort_chosen.connect(self._sort)
        menu.view_chosen.connect(self._apply)
        menu.save_asked.connect(lambda: self.views.ask_to_save(self.arrangement))
        menu.rename_asked.connect(self.views.ask_to_rename)
        menu.remove_asked.connect(self.views.remove)
        menu.standard_asked.connect(lambda: self.arrange(Arrangement()))
        for changed in (session.project_opened, session.runs_updated):
            changed.connect(self._show_runs)
        session.project_closed.connect(self._forget)
        session.blinding_changed.connect(self._leave_hidden_facets)
        session.run_changed.connect(self._show_current)
        session.generation_progressed.connect(self._mark_generating)

    def _connect_actions(self) -> None:
        registry = self._registry
        registry.connect("edit.filter", self._focus_filter)
        registry.connect("edit.facets", self._open_facets)
        registry.connect("edit.show_all_runs", self._show_all)
        registry.connect("view.arrange_runs", self._open_menu)
        registry.connect("run.next_run", lambda: self._move(1))
        registry.connect("run.previous_run", lambda: self._move(-1))
        registry.connect("score.selected", lambda: self._session.score_missing(self._session.selected_runs))
        for grouping in Grouping:
            registry.connect(
                f"view.group_{grouping}",
                lambda _checked, grouping=grouping: self.arrange(
                    replace(self.arrangement, grouping=grouping)
                ),
            )
        self.view.addActions([registry.qaction(key) for key in _CONTEXT_MENU])

    # Showing it

    def _take_thumbnail(self, sha256: str) -> None:
        for cell in self._delegate.awaited(sha256):
            self.view.update(cell)

    def _take_curves(self, changed: set[int] | None) -> None:
        metric = self._sparklines.metric
        self.tree.name_curve(find_metric(metric).title if metric else "")
        if changed is None:
            self.view.viewport().update()
        else:
            self.view.update_runs(changed, CURVE)

    def _forget(self) -> None:
        """Without a project nothing is looked for."""
        self.arrangement = replace(self.arrangement, filter="", facets={})
        self._folding.forget()
        self.popup.hide()
        self._show_runs()
        self._show_arrangement()

    def _leave_hidden_facets(self) -> None:
        """What is hidden from the annotator narrows nothing down, and is not named by a choice."""
        blinding, chosen = self._session.blinding, self.arrangement.facets
        kinds = facets.Facet
        hidden = {
            kinds.MODEL: blinding.models,
            kinds.SCORES: blinding.scores,
            kinds.TAG: blinding.tags,
            kinds.STEPS: blinding.steps,
        }
        kept = {facet: values for facet, values in chosen.items() if not hidden.get(facet)}
        if kept != chosen:
            self.arrange(replace(self.arrangement, facets=kept))

    def _show_runs(self) -> None:
        self._entries = self._facts.entries(self._session.runs)
        with self._following():
            self._show_groups()
        self._fit_steps()
        self._show_chosen()

    def _fit_steps(self) -> None:
        texts = {steps_text(entry.run) for entry in self._entries}
        self.view.set_needed(STEPS, steps_width(texts, marked=not self.tree.shows(OUTCOME)))

    def _show_groups(self, *, asked: bool = False) -> None:
        groups = arranged(self._entries, self.arrangement)
        self._shown = sum(len(group.entries) for group in groups)
        with self._folding.kept(self._shown, found=self.arrangement.narrow, asked=asked):
            self.tree.show_columns(self.arrangement.columns)
            self.tree.show_groups(groups)
        self.view.setRootIsDecorated(any(group.key for group in groups))
        self.view.hint = "" if groups else _NONE_FOUND if self._entries else _NO_RUNS
        self.view.viewport().update()

    def _show_arrangement(self) -> None:
        now = self.arrangement
        self._registry.qaction(f"view.group_{now.grouping}").setChecked(True)
        keys = [self.tree.column(section).key for section in range(self.tree.columnCount())]
        self.view.show_sort(keys.index(now.sort) if now.sort in keys else -1, descending=now.descending)
        self.bar.show_text(now.filter)
        self._show_chosen()

    def _offered(self) -> dict[Facet, list[FacetValue]]:
        now = self.arrangement
        return facets.offered(self._entries, now.words, now.facets, self._facts.names)

    def _show_chosen(self) -> None:
        if self.popup.isVisible():
            self.popup.show_values(self._offered())
        names = self._facts.names
        self.bar.show_chips(
            [
                facets.FacetValue(facet, value, facets.label(facet, value, names), 0, chosen=True)
                for facet, chosen in self.arrangement.facets.items()
                for value in chosen
            ]
        )

    @contextmanager
    def _following(self) -> Iterator[None]:
        """While rows come and go, the view moves its current row about; what is looked at stays the same."""
        chosen = self._chosen_runs()
        current = self.view.currentIndex().siblingAtColumn(0).data(NODE_ROLE)
        on_group = current.key if isinstance(current, Node) and current.run is None else None
        self._rows_change = True
        try:
            yield
            self._choose_again(chosen, on_group)
        finally:
            self._rows_change = False
        self._tell_selection()

    def _choose_again(self, chosen: set[int], on_group: tuple[str, ...] | None) -> None:
        selection = self.view.selectionModel()
        group = self.tree.index_of_group(on_group) if on_group is not None else QModelIndex()
        if group.isValid():
            if self.view.currentIndex().siblingAtColumn(0) != group:
                selection.setCurrentIndex(group, _CHOOSE)
            return
        indexes = [index for index in map(self.tree.index_of_run, chosen) if index.isValid()]
        current_run = self._session.run
        current_index = self.tree.index_of_run(current_run.id) if current_run else QModelIndex()
        if not current_index.isValid():
            selection.clear()
        if self._chosen_runs() != {index.data(NODE_ROLE).run.id for index in indexes}:
            wanted = QItemSelection()
            for index in indexes:
                wanted.select(index, index)
            selection.select(wanted, QItemSelectionModel.SelectionFlag.Clear | _ADD)
        if current_index.isValid() and self.view.currentIndex().siblingAtColumn(0) != current_index:
            keep = selection.hasSelection()
            flags = QItemSelectionModel.SelectionFlag.NoUpdate if keep else _CHOOSE
            self._folding.open_to(current_index)
            selection.setCurrentIndex(current_index, flags)

    def _chosen_runs(self) -> set[int]:
        chosen: set[int] = set()
        for index in self.view.selectionModel().selectedRows():
            node = index.data(NODE_ROLE)
            if isinstance(node, Node):
                chosen.update(run.id for run in node.runs())
        return chosen

    def _show_current(self) -> None:
        """Have the list point at the run that the session looks at."""
        run = self._session.run
        self.view.mark_looked_at(run.id if run is not None else None)
        index = self.tree.index_of_run(run.id) if run is not None else QModelIndex()
        if index.isValid() and index != self.view.currentIndex().siblingAtColumn(0):
            self._folding.open_to(index)
            self.view.selectionModel().setCurrentIndex(index, _CHOOSE)
            self.view.scrollTo(index)

    def _look_at(self, current: QModelIndex) -> None:
        node = current.data(NODE_ROLE)
        if not self._rows_change and isinstance(node, Node) and node.run is not None:
            self._session.choose_run(node.run.id)

    def _tell_selection(self) -> None:
        if not self._rows_change:
            chosen = self._chosen_runs()
            runs = (node.run for node in self.tree.nodes())
            self._session.selected_runs = [run.id for run in runs if run is not None and run.id in chosen]
            self.tree.tell_count(count_text(self._shown, len(self._entries), len(chosen)))

    def _mark_generating(self, progress: GenerationProgress) -> None:
        run_id = progress.run_id if progress.running else None
        if run_id != self._delegate.generating:
            self._delegate.generating = run_id
            self.view.viewport().update()

    # What the user asks

    def _toggle(self, facet: Facet, value: str) -> None:
        self.arrange(replace(self.arrangement, facets=facets.toggled(self.arrangement.facets, facet, value)))

    def _show_all(self) -> None:
        self.arrange(replace(self.arrangement, filter="", facets={}))

    def _apply(self, view: SavedView) -> None:
        self.arrange(arrangement_of(view))

    def _sort(self, key: str, descending: bool) -> None:
        self.arrange(replace(self.arrangement, sort=key, descending=bool(key) and descending))

    def _sort_by_section(self, section: int, order: Qt.SortOrder) -> None:
        key = self.tree.column(section).key if section >= 0 else ""
        self._sort(key, order == Qt.SortOrder.DescendingOrder)

    def _focus_filter(self) -> None:
        self.bar.field.setFocus()
        self.bar.field.selectAll()

    def _leave_filter(self) -> None:
        """Enter goes to the first run found."""
        first = next((node.run for node in self.tree.nodes() if node.run is not None), None)
        if first is not None:
            index = self.tree.index_of_run(first.id)
            self._folding.open_to(index)
            self.view.selectionModel().setCurrentIndex(index, _CHOOSE)
            self.view.setFocus()

    def _open_facets(self) -> None:
        self.popup.show_values(self._offered())
        self.popup.open_at(self.bar.below(self.bar.facets_button))

    def _toggle_column(self, key: str) -> None:
        columns = known({*self.arrangement.columns} ^ {key})
        self.arrange(replace(self.arrangement, columns=columns))

    def _open_columns(self, place: QPoint) -> None:
        self._fill_menu()
        self.menu.columns.popup(place)

    def _fill_menu(self) -> None:
        used = {metric for entry in self._entries for metric in entry.facts.scores}
        self.menu.fill(self.arrangement, self.views.all, used, writable=self.views.writable)

    def _open_menu(self) -> None:
        self._fill_menu()
        self.menu.popup(self.bar.below(self.bar.arrange_button))

    def _move(self, by: int) -> None:
        ids = [node.run.id for node in self.tree.nodes() if node.run is not None]
        current = self._session.run.id if self._session.run else None
        row = ids.index(current) + by if current in ids else 0
        if 0 <= row < len(ids):
            self._session.choose_run(ids[row])
