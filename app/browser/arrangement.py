"""How the runs are looked at, grouped, sorted and narrowed down; and the groups that this comes to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from app.browser import columns as all_columns
from app.browser import facets as all_facets
from app.browser.columns import COLUMNS, STANDARD
from app.browser.listed import REVIEW_STATES, TAG_STATES, Listed, run_title
from banana100_core.project.saved_views import SavedView

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from app.browser.facets import Chosen


_WORD = re.compile(r'"([^"]*)"?|([^\s"]+)')


class Grouping(StrEnum):
    """What runs are put together by."""

    IMAGE = "image"
    PROTOCOL = "protocol"
    MODEL = "model"
    TAGS = "tags"
    REVIEW = "review"
    NONE = "none"


# Groups that come in an order of their own, by key, with their titles.
_IN_ORDER: dict[Grouping, dict[str, str]] = {Grouping.TAGS: TAG_STATES, Grouping.REVIEW: REVIEW_STATES}


@dataclass(frozen=True, slots=True)
class Arrangement:
    """One way to look at the runs; without `sort` they are in the order in which they were added."""

    grouping: Grouping = Grouping.IMAGE
    columns: tuple[str, ...] = STANDARD
    sort: str = ""
    descending: bool = False
    filter: str = ""
    facets: Chosen = field(default_factory=dict)

    @property
    def words(self) -> list[str]:
        """The words to look for; what stands in quotes is one of them."""
        found = _WORD.findall(self.filter.casefold())
        return [word for pair in found for word in pair if word.strip()]

    @property
    def narrow(self) -> bool:
        """Whether some runs may be left out."""
        return bool(self.words or self.facets)

    def saved(self, name: str) -> SavedView:
        """The same, to be kept under a name."""
        return SavedView(
            name,
            self.grouping,
            self.columns,
            self.sort,
            self.descending,
            self.filter,
            {str(facet): values for facet, values in self.facets.items()},
        )


def arrangement_of(view: SavedView) -> Arrangement:
    """What was saved, as far as this program knows it."""
    return _checked(
        view.grouping, view.columns, view.sort, view.descending, view.filter, all_facets.known(view.facets)
    )


def to_memory(arrangement: Arrangement) -> dict[str, Any]:
    """What the next start begins with; not what was looked for."""
    return {
        "grouping": arrangement.grouping.value,
        "columns": list(arrangement.columns),
        "sort": arrangement.sort,
        "descending": arrangement.descending,
    }


def from_memory(value: object) -> Arrangement:
    """What was remembered, as far as it makes sense."""
    if not isinstance(value, dict) or not isinstance(value.get("columns"), list):
        return Arrangement()
    return _checked(
        value.get("grouping"), value["columns"], str(value.get("sort", "")), value.get("descending") is True
    )


def _checked(
    grouping: object,
    columns: Sequence[str],
    sort: str,
    descending: bool,
    text: str = "",
    facets: Chosen | None = None,
) -> Arrangement:
    return Arrangement(
        next((each for each in Grouping if each == grouping), Grouping.IMAGE),
        all_columns.known(columns),
        sort if sort in COLUMNS else "",
        descending,
        text,
        facets or {},
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """A run in a group: its title leaves out what the group says already."""

    listed: Listed
    title: str
    note: str


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that have something in common; the only one of an ungrouped list has no key."""

    key: str
    title: str
    note: str
    entries: tuple[Entry, ...]


def arranged(entries: Sequence[Listed], arrangement: Arrangement) -> list[Group]:
    """The groups to show."""
    grouping, words = arrangement.grouping, arrangement.words
    fitting = [entry for entry in entries if all_facets.fits(entry, words, arrangement.facets)]
    groups: dict[str, list[Listed]] = {key: [] for key in _IN_ORDER.get(grouping, ())}
    for entry in fitting:
        groups.setdefault(_group_key(grouping, entry), []).append(entry)
    return [
        Group(
            key,
            *_heading(grouping, members[0]),
            tuple(
                Entry(entry, *_names(grouping, entry))
                for entry in _sorted(members, arrangement.sort, arrangement.descending)
            ),
        )
        for key, members in groups.items()
        if members
    ]


def _group_key(grouping: Grouping, entry: Listed) -> str:
    run = entry.run
    return {
        Grouping.IMAGE: run.initial_image,
        Grouping.PROTOCOL: run.protocol,
        Grouping.MODEL: f"{run.provider}/{run.model}",
        Grouping.TAGS: entry.tag_state,
        Grouping.REVIEW: entry.review_state,
        Grouping.NONE: "",
    }[grouping]


def _heading(grouping: Grouping, entry: Listed) -> tuple[str, str]:
    if grouping is Grouping.MODEL:
        return entry.editor, entry.editor_note
    key = _group_key(grouping, entry)
    return _IN_ORDER.get(grouping, {}).get(key, key), ""


def _names(grouping: Grouping, entry: Listed) -> tuple[str, str]:
    run, number = entry.run, run_title(entry.run)
    editor = " · ".join(filter(None, (entry.editor, entry.editor_note)))
    if grouping is Grouping.IMAGE:
        return f"{run.protocol} · {number}", editor
    note = {Grouping.PROTOCOL: editor, Grouping.MODEL: run.protocol}.get(grouping)
    return f"{run.initial_image} · {number}", note or f"{run.protocol} · {editor}"


def _sorted(members: list[Listed], sort: str, descending: bool) -> list[Listed]:
    """By a column, the runs that have nothing in it at the end; else repeats side by side."""
    first_seen: dict[Hashable, int] = {}
    for entry in members:
        run = entry.run
        first_seen.setdefault((run.initial_image, run.protocol, run.provider, run.model), len(first_seen))

    def place(entry: Listed) -> tuple[int, int, int]:
        run = entry.run
        like = (run.initial_image, run.protocol, run.provider, run.model)
        return first_seen[like], run.repeat, run.id

    in_order = sorted(members, key=place)
    column = COLUMNS.get(sort)
    if column is None:
        return in_order
    keyed = [(column.order(entry), entry) for entry in in_order]
    having = [pair for pair in keyed if pair[0] is not None]
    having.sort(key=lambda pair: pair[0], reverse=descending)  # type: ignore[arg-type,return-value]
    return [entry for _key, entry in having] + [entry for key, entry in keyed if key is None]
