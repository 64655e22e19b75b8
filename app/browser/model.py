"""The runs of a project as a tree: initial image, then protocol and model, then runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt

from app.tooltips import plain_tip
from banana100_core.catalog.models import editor_models
from banana100_core.project.records import Run, RunState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NODE_ROLE = Qt.ItemDataRole.UserRole + 1

Index = QModelIndex | QPersistentModelIndex
Key = tuple[str, ...]

_NOWHERE = QModelIndex()


@dataclass(eq=False, slots=True)
class Node:
    """A row of the tree: a group, or a run if `run` is set."""

    key: Key
    title: str
    note: str = ""
    parent: Node | None = None
    run: Run | None = None
    children: list[Node] = field(default_factory=list)

    def runs(self) -> Iterator[Run]:
        """All runs in it."""
        if self.run is not None:
            yield self.run
        for child in self.children:
            yield from child.runs()

    @property
    def counts(self) -> tuple[int, int]:
        """Finished runs, and all of them."""
        states = [run.state for run in self.runs()]
        return states.count(RunState.DONE), len(states)


class RunTree(QAbstractItemModel):
    """Takes the runs of a project again and again and changes only the rows that differ."""

    def __init__(self) -> None:
        super().__init__()
        self.curve_title = ""
        self._root = Node((), "")
        # An index carries a number instead of an object, so that none outlives its node.
        self._nodes: dict[int, Node] = {}
        self._numbers: dict[Key, int] = {}
        self._new_number = count(1)

    def set_runs(self, runs: Sequence[Run]) -> None:
        """Show these runs; rows that stay keep their selection and expansion."""
        images: dict[Key, Node] = {}
        for run in runs:
            image = images.setdefault((run.initial_image,), Node((run.initial_image,), run.initial_image))
            key = (run.initial_image, run.protocol, run.provider, run.model)
            group = next((child for child in image.children if child.key == key), None)
            if group is None:
                group = Node(key, run.protocol, " · ".join(filter(None, editor_label(run))))
                image.children.append(group)
            group.children.append(Node((*key, run.uuid), run_title(run), run=run))
        for image in images.values():
            for group in image.children:
                group.children.sort(key=lambda node: (node.run.repeat, node.run.id) if node.run else (0, 0))
        self._become(self._root, list(images.values()))

    def index_of_run(self, run_id: int) -> QModelIndex:
        """Where a run is; an invalid index if it isn't."""
        for node in self._nodes.values():
            if node.run is not None and node.run.id == run_id:
                return self._index(node)
        return QModelIndex()

    def index(self, row: int, column: int, parent: Index = _NOWHERE) -> QModelIndex:
        """Qt's: the index of a row."""
        children = self._node(parent).children
        if column or not 0 <= row < len(children):
            return QModelIndex()
        return self.createIndex(row, column, self._numbers[children[row].key])

    def parent(self, child: Index = _NOWHERE) -> QModelIndex:  # type: ignore[override]
        """Qt's: the index of the group that a row is in."""
        parent = self._node(child).parent
        return QModelIndex() if parent is None or parent is self._root else self._index(parent)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Qt's: the number of rows in a group."""
        return len(self._node(parent).children)

    def columnCount(self, _parent: Index = _NOWHERE) -> int:
        """Qt's: one column."""
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's
        """Qt's: texts for reading aloud and tool tips, and the node for drawing."""
        node = self._node(index)
        if role == NODE_ROLE:
            return node
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return (
                f"{node.title}, {node.run.steps_done} of {node.run.steps_planned}" if node.run else node.title
            )
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(_tool_tip(node, self.curve_title))
        return None

    def _become(self, parent: Node, wanted: list[Node]) -> None:
        """Make the children of a node equal to those wanted, with as few signals as that takes."""
        wanted_keys = {node.key for node in wanted}
        at = self._index(parent)
        for row in reversed(range(len(parent.children))):
            if parent.children[row].key not in wanted_keys:
                self.beginRemoveRows(at, row, row)
                self._forget(parent.children.pop(row))
                self.endRemoveRows()
        for row, new in enumerate(wanted):
            old = next((child for child in parent.children if child.key == new.key), None)
            if old is None:
                self.beginInsertRows(at, row, row)
                new.parent = parent
                parent.children.insert(row, new)
                self._know(new)
                self.endInsertRows()
                continue
            before = parent.children.index(old)
            if before != row:
                self.beginMoveRows(at, before, before, at, row)
                parent.children.insert(row, parent.children.pop(before))
                self.endMoveRows()
            self._update(old, new)

    def _update(self, old: Node, new: Node) -> None:
        counts = old.counts
        changed = (old.run, old.title, old.note) != (new.run, new.title, new.note)
        old.run, old.title, old.note = new.run, new.title, new.note
        self._become(old, new.children)
        if changed or old.counts != counts:
            at = self._index(old)
            self.dataChanged.emit(at, at, [NODE_ROLE, Qt.ItemDataRole.DisplayRole])

    def _know(self, node: Node) -> None:
        number = next(self._new_number)
        self._nodes[number], self._numbers[node.key] = node, number
        for child in node.children:
            child.parent = node
            self._know(child)

    def _forget(self, node: Node) -> None:
        for child in node.children:
            self._forget(child)
        del self._nodes[self._numbers.pop(node.key)]

    def _node(self, index: Index) -> Node:
        return self._nodes.get(index.internalId(), self._root) if index.isValid() else self._root

    def _index(self, node: Node) -> QModelIndex:
        if node is self._root or node.parent is None:
            return QModelIndex()
        return self.createIndex(node.parent.children.index(node), 0, self._numbers[node.key])


def matches(run: Run, words: Sequence[str]) -> bool:
    """Whether a run holds all of these words, in any order; they are lower case."""
    editor, note = editor_label(run)
    text = " ".join(
        (run.initial_image, run.protocol, run.provider, editor, note, run_title(run), run.state)
    ).casefold()
    return all(word in text for word in words)


def run_title(run: Run) -> str:
    """What a run is called inside its group."""
    return f"r{run.repeat} {run.branch}".rstrip()


def editor_label(run: Run) -> tuple[str, str]:
    """The model that made a run, and what kind of thing it is: "Restoration loop" and "embedded"."""
    for model in editor_models():
        if (model.provider, model.key) == (run.provider, run.model):
            return model.title.partition(" (")[0], "embedded" if model.embedded else ""
    return run.model, run.provider if run.provider != run.model else ""


def _tool_tip(node: Node, curve_title: str) -> str:
    run = node.run
    if run is None:
        done, total = node.counts
        return f"{node.title}{f' · {node.note}' if node.note else ''}\n{done} of {total} runs done"
    lines = [
        f"{run.initial_image} · {run.protocol} · repeat {run.repeat}",
        f"{run.provider} · {run.model}",
        f"{run.steps_done} of {run.steps_planned} steps done, {run.steps_failed} failed",
    ]
    if run.state is not RunState.DONE:
        lines.append(f"{run.state}{f': {run.state_reason}' if run.state_reason else ''}")
    if curve_title:
        lines.append(f"curve: {curve_title} over steps, normalised, higher is better")
    return "\n".join(lines)
