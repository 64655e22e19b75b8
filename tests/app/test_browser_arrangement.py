"""The groups, rows and columns that runs come to, and what the filter and the facets find."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtTest import QAbstractItemModelTester

from app.browser import facets
from app.browser.arrangement import Arrangement, Grouping, arranged, arrangement_of, from_memory, to_memory
from app.browser.columns import COLUMNS
from app.browser.facets import Facet
from app.browser.listed import listed
from app.browser.model import NODE_ROLE, Node, RunTree
from banana100_core.project.records import ReviewState, Run, RunState
from banana100_core.project.run_facts import RunFacts
from banana100_core.project.saved_views import SavedView


def _run(number: int, image: str = "Dongpo", model: str = "gemini-3-pro", repeat: int = 1, **more) -> Run:
    values = {
        "id": number,
        "uuid": f"uuid-{number}",
        "initial_image": image,
        "initial_sha256": None,
        "last_sha256": None,
        "provider": "imported",
        "model": model,
        "protocol": "replicate",
        "repeat": repeat,
        "branch": "",
        "session_mode": "fresh",
        "seed": None,
        "settings": {},
        "source": None,
        "state": RunState.DONE,
        "state_reason": "",
        "steps_planned": 100,
        "steps_done": 100,
        "steps_failed": 0,
        "tag_count": 0,
        "created_at": "2026-01-01T00:00:00",
    }
    return Run(**(values | more))


def _texts(model, parent: QModelIndex | None = None) -> list[object]:
    parent = parent or QModelIndex()
    return [
        (model.index(row, 0, parent).data(NODE_ROLE).title, _texts(model, model.index(row, 0, parent)))
        for row in range(model.rowCount(parent))
    ]


def _show(tree: RunTree, runs: list[Run], **how) -> None:
    tree.show_groups(arranged([listed(run) for run in runs], Arrangement(**how)))


def _order(runs: list[Run], known: dict[int, RunFacts] | None = None, **how) -> list[int]:
    entries = [listed(run, (known or {}).get(run.id)) for run in runs]
    return [entry.listed.run.id for group in arranged(entries, Arrangement(**how)) for entry in group.entries]


@pytest.fixture
def tree(qtbot):
    model = RunTree()
    # Checks after each change that the model keeps Qt's rules.
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    yield model
    del tester


RUNS = [
    _run(1),
    _run(2, repeat=2),
    _run(3, "Fog"),
    _run(4, model="qwen-image-edit", protocol="mirror"),
]


@pytest.mark.parametrize(
    ("grouping", "groups"),
    [
        (
            Grouping.IMAGE,
            {"Dongpo": ["replicate · r1", "replicate · r2", "mirror · r1"], "Fog": ["replicate · r1"]},
        ),
        (
            Grouping.PROTOCOL,
            {"replicate": ["Dongpo · r1", "Dongpo · r2", "Fog · r1"], "mirror": ["Dongpo · r1"]},
        ),
        (
            Grouping.MODEL,
            {"gemini-3-pro": ["Dongpo · r1", "Dongpo · r2", "Fog · r1"], "qwen-image-edit": ["Dongpo · r1"]},
        ),
        (Grouping.TAGS, {"Not tagged": ["Dongpo · r1", "Dongpo · r2", "Dongpo · r1", "Fog · r1"]}),
    ],
)
def test_runs_are_grouped_and_named_by_what_the_group_does_not_say(tree, grouping, groups):
    _show(tree, RUNS, grouping=grouping)
    found = {title: [name for name, _rows in rows] for title, rows in _texts(tree)}
    if grouping is Grouping.TAGS:
        found = {title: sorted(rows) for title, rows in found.items()}
        groups = {title: sorted(rows) for title, rows in groups.items()}
    assert found == groups


def test_an_ungrouped_list_has_no_headings(tree):
    _show(tree, RUNS, grouping=Grouping.NONE)
    assert [title for title, _rows in _texts(tree)] == [
        "Dongpo · r1",
        "Dongpo · r2",
        "Fog · r1",
        "Dongpo · r1",
    ]
    assert tree.index(0, 0).data(NODE_ROLE).note == "replicate · gemini-3-pro · imported"


@pytest.mark.parametrize(
    ("reviews", "group"),
    [
        ({ReviewState.DRAFT, ReviewState.DONE}, "Tags in draft"),
        ({ReviewState.DONE, ReviewState.ACCEPTED}, "Tags done"),
        ({ReviewState.ACCEPTED, ReviewState.REJECTED}, "Tags reviewed"),
    ],
)
def test_the_least_finished_tag_decides_a_runs_tag_state(reviews, group):
    entry = listed(_run(1, tag_count=2), RunFacts(reviews=frozenset(reviews)))
    groups = arranged([listed(_run(2)), entry], Arrangement(Grouping.TAGS))
    assert [each.title for each in groups] == ["Not tagged", group]


def test_the_least_finished_work_decides_where_a_run_stands_with_reviewers():
    said = [
        (),
        (("Ada", ReviewState.ACCEPTED), ("Ben", ReviewState.DONE)),
        (("Ada", ReviewState.ACCEPTED),),
        (("Ada", ReviewState.DONE), ("Ben", ReviewState.REJECTED)),
    ]
    entries = [listed(_run(number), RunFacts(said=each)) for number, each in enumerate(said, start=1)]
    groups = arranged(entries, Arrangement(Grouping.REVIEW))
    assert [(group.title, [entry.listed.run.id for entry in group.entries]) for group in groups] == [
        ("Not yet done", [1]),
        ("Rejected", [4]),
        ("Done, to review", [2]),
        ("Accepted", [3]),
    ]
    assert [COLUMNS["review"].text(entry) for entry in entries] == [
        "",
        "Ada accepted, Ben done",
        "Ada accepted",
        "Ada done, Ben rejected",
    ]
    (ungrouped,) = arranged(entries, Arrangement(Grouping.NONE, sort="review"))
    assert [entry.listed.run.id for entry in ungrouped.entries] == [4, 2, 3, 1]


def test_runs_are_in_the_order_of_their_repeats():
    assert _order([_run(1, repeat=3), _run(2, "Dongpo", "other"), _run(3, repeat=1)]) == [3, 1, 2]


@pytest.mark.parametrize(("descending", "order"), [(False, [3, 1, 2]), (True, [1, 3, 2])])
def test_runs_without_a_score_are_last_whichever_way_they_are_sorted(descending, order):
    known = {1: RunFacts(scores={"niqe": 9.5}), 3: RunFacts(scores={"niqe": -1.0})}
    runs = [_run(1), _run(2, repeat=2), _run(3, repeat=3)]
    assert _order(runs, known, sort="score:niqe", descending=descending) == order


@pytest.mark.parametrize("key", [key for key in COLUMNS if key != "curve"])
def test_every_column_sorts_and_says_something_of_every_run(key):
    runs = [_run(1), _run(2, "Fog 10", steps_done=3), _run(3, "Fog 9", tag_count=1, state=RunState.STOPPED)]
    known = {
        3: RunFacts(
            ((8, 8),),
            dict.fromkeys(find_all(), 1.5),
            ("noise",),
            ("Ada",),
            frozenset({ReviewState.DONE}),
            (("Ada", ReviewState.DONE),),
        )
    }
    for descending in (False, True):
        assert sorted(_order(runs, known, grouping=Grouping.NONE, sort=key, descending=descending)) == [
            1,
            2,
            3,
        ]
    assert COLUMNS[key].text(listed(runs[2], known[3]))


def find_all() -> list[str]:
    return [key.removeprefix("score:") for key in COLUMNS if key.startswith("score:")]


def test_names_with_numbers_sort_as_people_count():
    runs = [_run(1, "Fog 10"), _run(2, "Fog 9")]
    assert _order(runs, grouping=Grouping.NONE, sort="run") == [2, 1]


def test_runs_come_and_go_without_a_reset(tree, qtbot):
    resets: list[None] = []
    tree.modelReset.connect(lambda: resets.append(None))
    _show(tree, [_run(1), _run(3, "Fog")])
    _show(tree, [_run(1), _run(2, "Holi"), _run(4, repeat=2)])
    assert _texts(tree) == [
        ("Dongpo", [("replicate · r1", []), ("replicate · r2", [])]),
        ("Holi", [("replicate · r1", [])]),
    ]
    for grouping in Grouping:
        _show(tree, RUNS, grouping=grouping)
    _show(tree, RUNS, sort="run", descending=True, grouping=Grouping.NONE)
    assert [index.data(NODE_ROLE).run.id for index in map(tree.index_of_run, (1, 2, 3, 4))] == [1, 2, 3, 4]
    _show(tree, [])
    assert _texts(tree) == []
    assert not tree.index_of_run(1).isValid()
    assert resets == []


def test_sorting_moves_rows_and_keeps_who_points_at_them(tree):
    runs = [_run(number, repeat=number, steps_done=10 - number) for number in range(1, 6)]
    _show(tree, runs)
    kept = [QPersistentModelIndex(tree.index_of_run(number)) for number in (1, 5)]
    _show(tree, runs, sort="steps")
    assert [index.data(NODE_ROLE).run.id for index in kept] == [1, 5]
    assert [index.row() for index in kept] == [4, 0]


def test_only_rows_that_changed_are_told(tree):
    first, second = listed(_run(1, steps_done=5)), listed(_run(2, repeat=2))
    tree.show_groups(arranged([first, second], Arrangement()))
    changed: list[str] = []
    tree.dataChanged.connect(lambda first, _last, _roles: changed.append(first.data(NODE_ROLE).title))
    tree.show_groups(arranged([listed(_run(1, steps_done=6)), second], Arrangement()))
    assert changed == ["replicate · r1"]


def test_groups_count_their_finished_runs(tree):
    _show(tree, [_run(1), _run(2, repeat=2, state=RunState.PLANNED)])
    node = tree.index(0, 0).data(NODE_ROLE)
    assert isinstance(node, Node)
    assert node.counts == (1, 2)


def test_the_editors_of_the_program_are_labelled_as_embedded(tree):
    _show(tree, [_run(1, provider="restoration_loop", model="realesr-animevideov3-x2")])
    run = tree.index(0, 0, tree.index(0, 0)).data(NODE_ROLE)
    assert run.note == "Restoration loop · embedded"


def test_names_from_outside_are_no_html_in_tool_tips(tree):
    _show(tree, [_run(1, image="<b>x</b>")])
    tip = tree.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "<b>" not in tip


# Looking for runs


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("R2 fog", True),
        ("fog replicate", True),
        ("ada", True),
        ("static noise", True),
        ("dongpo", False),
        ("stopped", False),
        ("", True),
        ('"static noise" fog', True),
        ('"noise static"', False),
        ('fog "STATIC n', True),  # while the second quote is still to come
        ('""', True),
        ('"', True),
    ],
)
def test_the_filter_wants_every_word_in_any_order(text, found):
    known = RunFacts(failure_modes=("static_noise",), annotators=("Ada",))
    entry = listed(_run(2, "Fog", repeat=2), known, names={"static_noise": "Static noise"})
    assert facets.fits(entry, Arrangement(filter=text).words, {}) is found


ENTRIES = [
    listed(_run(1), RunFacts(((96, 64),))),
    listed(
        _run(2, repeat=2, tag_count=1), RunFacts(((96, 64), (80, 80)), failure_modes=("noise",)), missing=3
    ),
    listed(_run(3, "Fog", protocol="mirror", steps_failed=1), RunFacts(((80, 80),))),
]


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        ({Facet.PROTOCOL: ("mirror",)}, [3]),
        ({Facet.PROTOCOL: ("mirror", "replicate")}, [1, 2, 3]),
        ({Facet.SIZE: ("80×80",)}, [2, 3]),
        ({Facet.SIZE: ("80×80",), Facet.PROTOCOL: ("replicate",)}, [2]),
        ({Facet.TAG: (facets.ANY,)}, [2]),
        ({Facet.TAG: (facets.NONE,)}, [1, 3]),
        ({Facet.TAG: ("noise",)}, [2]),
        ({Facet.SCORES: (facets.MISSING,)}, [2]),
        ({Facet.STEPS: (facets.FAILED,)}, [3]),
        ({Facet.MODEL: ("imported/gemini-3-pro",)}, [1, 2, 3]),
        ({Facet.MODEL: ("none/such",)}, []),
    ],
)
def test_values_of_one_facet_add_and_facets_narrow(chosen, found):
    assert [entry.run.id for entry in ENTRIES if facets.fits(entry, [], chosen)] == found


def test_counts_are_of_the_runs_that_a_value_would_leave():
    offered = facets.offered(ENTRIES, [], {Facet.PROTOCOL: ("replicate",)}, {"noise": "Noise"})
    said = {
        facet: [(value.label, value.count, value.chosen) for value in values]
        for facet, values in offered.items()
    }
    assert said[Facet.PROTOCOL] == [("replicate", 2, True), ("mirror", 1, False)]
    assert said[Facet.SIZE] == [("96×64", 2, False), ("80×80", 1, False)]
    assert said[Facet.TAG] == [("Any tag", 1, False), ("No tag", 1, False), ("Noise", 1, False)]
    assert said[Facet.SCORES] == [("Missing scores", 1, False)]
    assert said[Facet.STEPS] == [("Failed steps", 0, False)]


def test_a_value_is_chosen_and_left_again():
    chosen = facets.toggled({}, Facet.SIZE, "80×80")
    chosen = facets.toggled(chosen, Facet.SIZE, "96×64")
    assert chosen == {Facet.SIZE: ("80×80", "96×64")}
    chosen = facets.toggled(chosen, Facet.SIZE, "80×80")
    assert facets.toggled(chosen, Facet.SIZE, "96×64") == {}


# Ways to look at them


def test_an_arrangement_comes_back_from_a_saved_view():
    arrangement = Arrangement(
        Grouping.MODEL,
        ("steps", "score:niqe"),
        "score:niqe",
        descending=True,
        filter="fog",
        facets={Facet.SIZE: ("80×80",)},
    )
    assert arrangement_of(arrangement.saved("worst")) == arrangement


def test_what_a_newer_program_saved_is_used_as_far_as_it_is_known():
    view = SavedView("new", "phase", ("steps", "phase"), "phase", facets={"phase": ("x",), "size": ("8×8",)})
    assert arrangement_of(view) == Arrangement(columns=("steps",), facets={Facet.SIZE: ("8×8",)})


def test_grouping_columns_and_sort_are_remembered_but_not_what_was_looked_for():
    kept = Arrangement(Grouping.NONE, ("tags",), "tags", descending=True)
    looked_for = replace(kept, filter="fog", facets={Facet.TAG: (facets.ANY,)})
    assert from_memory(to_memory(looked_for)) == kept


@pytest.mark.parametrize("value", [None, [], {}, {"columns": "steps"}, {"grouping": 3, "columns": [1, None]}])
def test_a_memory_that_makes_no_sense_gives_the_standard_view(value):
    assert from_memory(value) in (Arrangement(), Arrangement(columns=()))


# The panel, on a real project
