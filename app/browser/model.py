"""The runs of a project as a tree of groups and runs, with a column for each thing told of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt

from app.browser.columns import COLUMNS, CURVE, RUN, STANDARD
from app.browser.listed import Listed, steps_text
from app.tooltips import plain_tip
from banana100_core.project.records import Run, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.browser.arrangement import Group
    from app.browser.columns import Column

NODE_ROLE = Qt.ItemDataRole.UserRole + 1

Index = QModelIndex | QPersistentModelIndex
Key = tuple[str, ...]

FEW_ROWS = 24
"""With more than so many rows that come or go at once, all rows are made anew."""

_NOWHERE = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(eq=False, slots=True)
class Node:
    """A row of the tree: a group, or a run if `listed` is set."""

    key: Key
    title: str
    note: str = ""
    parent: Node | None = None
    listed: Listed | None = None
    children: list[Node] = field(default_factory=list)
    row: int = 0
    number: int = 0  # what an index carries instead of the node itself

    @property
    def run(self) -> Run | None:
        """The run of the row."""
        return self.listed.run if self.listed is not None else None

    def runs(self) -> Iterator[Run]:
        """All runs in it."""
        if self.listed is not None:
            yield self.listed.run
        for child in self.children:
            yield from child.runs()

    @property
    def counts(self) -> tuple[int, int]:
        """Finished runs, and all of them."""
        states = [run.state for run in self.runs()]
        return states.count(RunState.DONE), len(states)


class RunTree(QAbstractItemModel):
    """Takes the groups to show again and again; changes only the rows that differ, while they are few."""

    def __init__(self) -> None:
        super().__init__()
        self.curve_title = ""
        self._count = ""
        self._sorted = ("", "")
        self._columns: list[Column] = [COLUMNS[key] for key in (RUN, *STANDARD)]
        self._root = Node((), "")
        # An index carries a number instead of an object, so that none outlives its node.
        self._nodes: dict[int, Node] = {}
        self._of_runs: dict[int, Node] = {}
        self._new_number = count(1)

    def show_groups(self, groups: Sequence[Group]) -> None:
        """Show these groups; rows that stay keep their selection and expansion."""
        wanted: list[Node] = []
        for group in groups:
            rows = [
                Node((group.key, entry.listed.run.uuid), entry.title, entry.note, listed=entry.listed)
                for entry in group.entries
            ]
            wanted.extend(
                rows if not group.key else [Node((group.key,), group.title, group.note, None, None, rows)]
            )
        before, after = _keys(self._root.children), _keys(wanted)
        if len(before ^ after) <= FEW_ROWS:
            self._become(self._root, wanted)
            return
        # Each of many rows that come and go one by one costs more than all of them at once.
        self.beginResetModel()
        self._nodes.clear()
        self._of_runs.clear()
        self._root.children = wanted
        for node in wanted:
            node.parent = self._root
            self._know(node)
        _number(self._root)
        self.endResetModel()

    def show_columns(self, keys: Sequence[str]) -> None:
        """Show these columns after the run's own; all rows are new then."""
        columns = [COLUMNS[key] for key in (RUN, *keys)]
        if columns != self._columns:
            self.beginResetModel()
            self._columns = columns
            self.endResetModel()

    def column(self, section: int) -> Column:
        """What a column shows."""
        return self._columns[section]

    def shows(self, key: str) -> bool:
        """Whether a column is shown."""
        return any(column.key == key for column in self._columns)

    def index_of_group(self, key: Key) -> QModelIndex:
        """Where a group is; an invalid index if it isn't."""
        found = (node for node in self._root.children if node.key == key)
        return self._index(next(found, self._root))

    def indexes_of_groups(self) -> Iterator[QModelIndex]:
        """Where all groups are, from top to bottom; none in an ungrouped list."""
        return (self._index(node) for node in self._root.children if node.listed is None)

    def index_of_run(self, run_id: int) -> QModelIndex:
        """Where a run is; an invalid index if it isn't."""
        node = self._of_runs.get(run_id)
        return QModelIndex() if node is None else self._index(node)

    def nodes(self) -> Iterator[Node]:
        """All runs from top to bottom."""
        for node in self._root.children:
            if node.listed is not None:
                yield node
            yield from node.children

    def node(self, index: Index) -> Node:
        """The row that an index is in; asked for here, it need not pass through Qt."""
        return self._node(index)

    def index(self, row: int, column: int, parent: Index = _NOWHERE) -> QModelIndex:
        """Qt's: the index of a cell."""
        children = self._node(parent).children
        if not (0 <= row < len(children) and 0 <= column < len(self._columns)):
            return QModelIndex()
        return self.createIndex(row, column, children[row].number)

    def parent(self, child: Index = _NOWHERE) -> QModelIndex:  # type: ignore[override]
        """Qt's: the index of the group that a row is in."""
        parent = self._node(child).parent
        return QModelIndex() if parent is None or parent is self._root else self._index(parent)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Qt's: the number of rows in a group."""
        return 0 if parent.isValid() and parent.column() else len(self._node(parent).children)

    def hasChildren(self, parent: Index = _NOWHERE) -> bool:
        """Qt's: whether it is a group."""
        return bool(self._node(parent).children)

    def columnCount(self, _parent: Index = _NOWHERE) -> int:
        """Qt's: the run and what is told of it."""
        return len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's
        """Qt's: texts for reading aloud and tool tips, and the node for drawing."""
        node = self._node(index)
        if role == NODE_ROLE:
            return node
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._text(node, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self._columns[index.column()].to_right else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(_tool_tip(node, self.curve_title))
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:  # noqa: ANN401 - Qt's
        """Qt's: titles of the columns, and what they tell."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            title = {RUN: self._count, CURVE: self.curve_title}.get(column.key) or column.title
            sorted_by, arrow = self._sorted
            return title + arrow if column.key == sorted_by else title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column.to_right else _LEFT
        return None

    def tell_sort(self, key: str, *, descending: bool) -> None:
        """Say beside its title which column the runs are sorted by; "" for none."""
        now = (key, "\N{NO-BREAK SPACE}▾" if descending else "\N{NO-BREAK SPACE}▴")
        if now != self._sorted:
            self._sorted = now
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._columns) - 1)

    def tell_count(self, count: str) -> None:
        """Say above the runs how many there are."""
        if count != self._count:
            self._count = count
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, 0)

    def name_curve(self, title: str) -> None:
        """Say which metric the small curves show."""
        if title != self.curve_title:
            self.curve_title = title
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._columns) - 1)

    def _text(self, node: Node, column: int) -> str:
        if node.listed is None:
            return "" if column else node.title
        if column:
            return self._columns[column].text(node.listed)
        steps = steps_text(node.listed.run)
        return f"{node.title}, {node.note}" + (f", {steps} steps" if steps else "")

    def _become(self, parent: Node, wanted: list[Node]) -> None:
        """Make the children of a node equal to those wanted, with as few signals as that takes."""
        at = self._index(parent)
        places = {node.key: place for place, node in enumerate(wanted)}
        self._remove_others(parent, places, at)
        kept = sorted(parent.children, key=lambda node: places[node.key])
        if kept != parent.children:
            self._reorder(parent, kept)
        row = 0
        while row < len(wanted):
            here = parent.children[row].key if row < len(parent.children) else None
            if here == wanted[row].key:
                self._update(parent.children[row], wanted[row])
                row += 1
                continue
            end = next((i for i in range(row, len(wanted)) if wanted[i].key == here), len(wanted))
            self.beginInsertRows(at, row, end - 1)
            parent.children[row:row] = wanted[row:end]
            for node in wanted[row:end]:
                node.parent = parent
                self._know(node)
            _number(parent)
            self.endInsertRows()
            row = end

    def _remove_others(self, parent: Node, places: dict[Key, int], at: QModelIndex) -> None:
        last = len(parent.children) - 1
        while last >= 0:
            if parent.children[last].key in places:
                last -= 1
                continue
            first = last
            while first > 0 and parent.children[first - 1].key not in places:
                first -= 1
            self.beginRemoveRows(at, first, last)
            for node in parent.children[first : last + 1]:
                self._forget(node)
            del parent.children[first : last + 1]
            _number(parent)
            self.endRemoveRows()
            last = first - 1

    def _reorder(self, parent: Node, children: list[Node]) -> None:
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        nodes = [self._node(index) for index in before]
        parent.children = children
        _number(parent)
        self.changePersistentIndexList(
            before,
            [self._index(node, index.column()) for node, index in zip(nodes, before, strict=True)],
        )
        self.layoutChanged.emit()

    def _update(self, old: Node, new: Node) -> None:
        counts = old.counts if old.listed is None else None
        changed = old.listed is not new.listed or (old.title, old.note) != (new.title, new.note)
        if changed:
            self._unlist(old)
            old.listed, old.title, old.note = new.listed, new.title, new.note
            self._list(old)
        if new.children or old.children:
            self._become(old, new.children)
        if changed or (counts is not None and old.counts != counts):
            self.dataChanged.emit(
                self._index(old),
                self._index(old, len(self._columns) - 1),
                [NODE_ROLE, Qt.ItemDataRole.DisplayRole],
            )

    def _know(self, node: Node) -> None:
        node.number = next(self._new_number)
        self._nodes[node.number] = node
        self._list(node)
        _number(node)
        for child in node.children:
            child.parent = node
            self._know(child)

    def _forget(self, node: Node) -> None:
        for child in node.children:
            self._forget(child)
        self._unlist(node)
        del self._nodes[node.number]

    def _list(self, node: Node) -> None:
        if node.run is not None:
            self._of_runs[node.run.id] = node

    def _unlist(self, node: Node) -> None:
        # While a run moves from one group to another, it may be in the new one already.
        if node.run is not None and self._of_runs.get(node.run.id) is node:
            del self._of_runs[node.run.id]

    def _node(self, index: Index) -> Node:
        return self._nodes.get(index.internalId(), self._root) if index.isValid() else self._root

    def _index(self, node: Node, column: int = 0) -> QModelIndex:
        if node is self._root or node.parent is None:
            return QModelIndex()
        return self.createIndex(node.row, column, node.number)


def _keys(nodes: Sequence[Node]) -> set[Key]:
    return {node.key for node in nodes} | {child.key for node in nodes for child in node.children}


def _number(parent: Node) -> None:
    for row, child in enumerate(parent.children):
        child.row = row


def _tool_tip(node: Node, curve_title: str) -> str:
    entry = node.listed
    if entry is None:
        done, total = node.counts
        return f"{node.title}{f' · {node.note}' if node.note else ''}\n{done} of {total} runs done"
    run = entry.run
    lines = [
        f"{run.initial_image} · {run.protocol} · repeat {run.repeat}",
        f"{run.provider} · {run.model}",
    ]
    if steps_text(run):
        lines.append(f"{run.steps_done} of {run.steps_planned} steps done, {run.steps_failed} failed")
    if run.state is not RunState.DONE:
        lines.append(f"{run.state}{f': {run.state_reason}' if run.state_reason else ''}")
    if entry.modes:
        lines.append(f"tagged by {', '.join(entry.facts.annotators)}: {', '.join(entry.modes)}")
    if entry.missing:
        lines.append(f"{entry.missing} scores missing")
    if curve_title:
        lines.append(f"curve: {curve_title} over steps, normalised, higher is better")
    return "\n".join(lines)
