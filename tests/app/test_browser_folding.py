"""Which groups of the run list are open while rows become others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex

from app.browser.arrangement import Arrangement, Grouping, arranged
from app.browser.folding import EXPANDED_RUNS, FOUND_RUNS, Folding
from app.browser.listed import listed
from app.browser.model import RunTree
from app.browser.tree_view import RunView
from banana100_core.project.records import Run, RunState

IMAGES = tuple(f"Image {number}" for number in range(1, 15))
REPEATS = 20
FIRST_RUN = Run(
    id=0,
    uuid="",
    initial_image="",
    initial_sha256=None,
    last_sha256=None,
    provider="imported",
    model="gemini-3-pro",
    protocol="replicate",
    repeat=1,
    branch="",
    session_mode="fresh",
    seed=None,
    settings={},
    source=None,
    state=RunState.DONE,
    state_reason="",
    steps_planned=100,
    steps_done=100,
    steps_failed=0,
    tag_count=0,
    created_at="2026-01-01T00:00:00",
)
RUNS = [
    listed(
        replace(FIRST_RUN, id=number, uuid=str(number), initial_image=image, repeat=1 + number % REPEATS),
    )
    for number, image in enumerate(image for image in IMAGES for _repeat in range(REPEATS))
]


class Desk:
    """A list of 280 runs of 14 initial images."""

    def __init__(self) -> None:
        self.tree = RunTree()
        self.view = RunView(self.tree)
        self.folding = Folding(self.tree, self.view)

    def show(self, entries=RUNS, *, asked: bool = True, regrouped: bool = False, **how) -> None:
        arrangement = Arrangement(**how)
        groups = arranged(entries, arrangement)
        coming = sum(len(group.entries) for group in groups)
        with self.folding.kept(coming, found=arrangement.narrow, asked=asked):
            self.tree.show_columns(arrangement.columns)
            self.tree.show_groups(groups)
        if regrouped:
            self.folding.open_few_or(self.tree.index_of_run(45))

    def toggle(self, image: str) -> None:
        index = self.tree.index_of_group((image,))
        self.view.setExpanded(index, not self.view.isExpanded(index))

    @property
    def open(self) -> set[str]:
        groups = self.tree.indexes_of_groups()
        return {self.tree.node(index).title for index in groups if self.view.isExpanded(index)}


@pytest.fixture
def desk(qtbot):
    desk = Desk()
    qtbot.addWidget(desk.view)
    desk.view.resize(300, 400)
    desk.view.show()
    return desk


def test_a_short_list_begins_open_and_a_long_one_closed(desk):
    desk.show(RUNS[:EXPANDED_RUNS])
    assert desk.open == set(IMAGES[:2])
    desk.show([])
    desk.show()
    assert desk.open == set()


def test_groups_that_come_one_by_one_open_while_runs_are_few(desk):
    for count in range(1, EXPANDED_RUNS + 1, 13):
        desk.show(RUNS[:count])
        assert desk.open == set(IMAGES[: 1 + (count - 1) // REPEATS])
    desk.toggle("Image 1")
    desk.show(RUNS[: 3 * REPEATS])
    assert desk.open == {"Image 2"}


def test_another_column_leaves_groups_and_place_as_they_are(desk):
    desk.show()
    desk.toggle("Image 3")
    desk.toggle("Image 9")
    bar = desk.view.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place = bar.value()
    assert place
    desk.show(columns=("steps", "tags", "size"))
    assert desk.open == {"Image 3", "Image 9"}
    assert bar.value() == place


def test_what_is_found_opens_and_afterwards_all_is_as_before(desk):
    desk.show()
    desk.toggle("Image 9")
    desk.show(filter="r3")
    assert desk.open == set(IMAGES)
    desk.show(filter="r31")
    desk.show(filter="image 13 r3")
    assert desk.open == {"Image 13"}
    desk.show()
    assert desk.open == {"Image 9"}


def test_much_that_is_found_is_not_opened(desk):
    desk.show()
    desk.show(filter="image")
    assert len(RUNS) > FOUND_RUNS
    assert desk.open == set()


def test_what_is_closed_among_the_found_stays_closed_while_news_arrive(desk):
    desk.show()
    desk.show(filter="r3")
    desk.toggle("Image 5")
    news = [replace(entry, missing=3) for entry in RUNS]
    desk.show(news, asked=False, filter="r3")
    assert desk.open == set(IMAGES) - {"Image 5"}


def test_grouped_otherwise_during_a_search_the_group_looked_at_is_open_afterwards(desk):
    desk.show()
    desk.show(filter="image")
    desk.show(filter="image", grouping=Grouping.PROTOCOL, regrouped=True)
    desk.show(grouping=Grouping.PROTOCOL)
    assert desk.open == {"replicate"}


def test_headings_reach_over_all_columns_whatever_comes(desk):
    for how in ({}, {"columns": ("steps",)}, {"filter": "r3"}, {"sort": "run"}):
        desk.show(**how)
        rows = range(desk.tree.rowCount())
        assert all(desk.view.isFirstColumnSpanned(row, QModelIndex()) for row in rows)
