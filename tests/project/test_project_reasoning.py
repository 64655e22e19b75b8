"""Reasoning summaries: sections, the ones that evaluate, and a search that no text can break."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.backup import back_up
from banana100_core.project.database import connect
from banana100_core.project.images import NewImage
from banana100_core.project.reasoning import evaluation, search, sections, step_sections
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step, steps

SUMMARY = """**Analyzing the Image**

I look at the dunes; their edges are to stay as they are.

**Reproducing the Scene**

Two lines,
one **word** in bold.

**Assessing Replication Quality**

Noise is there.

**Confirming Fidelity**

All the same, it is faithful.
"""
TITLES = (
    "Analyzing the Image",
    "Reproducing the Scene",
    "Assessing Replication Quality",
    "Confirming Fidelity",
)


@pytest.fixture
def add_reasoned(make_png):
    """Adds a run whose steps have these reasoning summaries; gives its id."""
    data = make_png(16, 16)
    image = NewImage(inspect(data), data=data)

    def add(project, *reasonings, repeat=1):
        run_id = add_run(project, NewRun("Sand", "gemini", "pro", "replicate", repeat, len(reasonings)))
        for number, reasoning in enumerate(reasonings, 1):
            add_step(project, NewStep(run_id, number, Outcome.DONE, reasoning=reasoning), image)
        return run_id

    return add


def found(project, words, **options) -> list[tuple[int, int]]:
    return [(match.run_id, match.step) for match in search(project, words, **options).found]


def test_a_summary_is_parted_at_its_titles() -> None:
    parts = sections(SUMMARY)
    assert tuple(part.title for part in parts) == TITLES
    assert parts[1].text == "Two lines,\none **word** in bold."
    assert [part.evaluates for part in parts] == [False, False, True, True]
    assert sections("") == ()


def test_where_the_editor_looked_at_an_image_says_which_sections_evaluate_it() -> None:
    assert [part.evaluates for part in sections(SUMMARY, 1)] == [False, True, True, True]
    assert [part.evaluates for part in sections(SUMMARY, 4)] == [False] * 4


@pytest.mark.parametrize(
    ("titles", "evaluating"),
    [
        (["Analyzing the Image"], [False]),
        (["Assessing Quality"], [True]),
        (["Verifying the Task", "Planning", "Refining the Strokes"], [False, False, True]),
        (
            ["Planning", "Comparing Details", "Drawing", "Reviewing", "Looking Again"],
            [False] * 3 + [True] * 2,
        ),
    ],
)
def test_titles_tell_it_where_nothing_else_does(titles, evaluating) -> None:
    text = "\n\n".join(f"**{title}**\n\nWords." for title in titles)
    assert [part.evaluates for part in sections(text)] == evaluating


def test_what_precedes_the_first_title_has_none() -> None:
    before, titled = sections("Well.\n\n**Checking**\n\nFine.")
    assert (before.title, before.text, titled.text) == ("", "Well.", "Fine.")


def test_a_step_tells_what_it_knows(project, make_png) -> None:
    data = make_png(16, 16)
    run_id = add_run(project, NewRun("Sand", "gemini", "pro", "replicate"))
    step = NewStep(run_id, 1, Outcome.DONE, reasoning=SUMMARY, settings={"evaluates_from": 3})
    add_step(project, step, NewImage(inspect(data), data=data))
    [stored] = steps(project, run_id)
    assert [part.evaluates for part in step_sections(stored)] == [False, False, False, True]
    assert evaluation(stored) == "All the same, it is faithful."


def test_words_are_found_in_any_form_across_runs_with_what_is_around_them(project, add_reasoned) -> None:
    first = add_reasoned(project, "All is well.", "I notice noise while replicating the café.")
    second = add_reasoned(project, "The replica is noisy.", "Not a word.", repeat=2)
    assert found(project, "replicate") == [(first, 2)]
    assert found(project, "NOISE cafe") == [(first, 2)]
    assert found(project, "nois*") == [(first, 2), (second, 1)]
    assert found(project, '"notice noise"') == [(first, 2)]
    assert found(project, '"noise notice"') == []
    [match] = search(project, "noise").found
    assert (match.initial_image, match.model, match.protocol, match.repeat) == ("Sand", "pro", "replicate", 1)
    assert match.pieces == (("I notice ", False), ("noise", True), (" while replicating the café.", False))
    assert found(project, "nois*", run_ids=[second]) == [(second, 1)]
    some = search(project, "nois*", limit=1)
    assert (len(some.found), some.total) == (1, 2)


def test_a_step_that_takes_a_failed_ones_place_is_found_by_its_own_words(project, make_png) -> None:
    data = make_png(16, 16)
    run_id = add_run(project, NewRun("Sand", "gemini", "pro", "replicate"))
    add_step(project, NewStep(run_id, 1, Outcome.FAILED, reason="blocked", reasoning="forbidden fruit"), None)
    assert found(project, "fruit") == [(run_id, 1)]
    add_step(
        project, NewStep(run_id, 1, Outcome.DONE, reasoning="apples"), NewImage(inspect(data), data=data)
    )
    assert (found(project, "fruit"), found(project, "apples")) == ([], [(run_id, 1)])


def test_what_another_program_wrote_is_found_too(tmp_path, add_reasoned) -> None:
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        run_id = add_reasoned(project, "ripples", "specks", "stripes")
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE step SET reasoning = 'wrinkles' WHERE number = 1")
        other.execute("DELETE FROM step WHERE number = 2")
    with Project.open(path) as project:
        assert [found(project, word) for word in ("ripples", "specks")] == [[], []]
        assert found(project, "wrinkles") == [(run_id, 1)]
    with Project.open(path, read_only=True) as project:
        assert found(project, "stripes") == [(run_id, 3)]


def test_a_backup_can_be_searched_once_it_is_opened(tmp_path, add_reasoned) -> None:
    path, backup = tmp_path / "study.b100", tmp_path / "backup.b100"
    with Project.create(path) as project:
        run_id = add_reasoned(project, "ripples")
    with contextlib.closing(connect(path, "rw")) as connection:
        back_up(connection, backup)
    with Project.open(backup) as project:
        assert found(project, "ripples") == [(run_id, 1)]


ODD = [
    '"',
    "'",
    "*",
    "AND",
    "NOT x",
    "NEAR(a b)",
    "reasoning:noise",
    "a\0b",
    "\ud800",
    "-",
    "(",
    "🍌",
    "  ",
]


def test_no_text_breaks_the_search(project, add_reasoned) -> None:
    add_reasoned(project, "noise")
    assert [search(project, words).total for words in ODD] == [0] * len(ODD)
    assert search(project, " ".join(["noise"] * 10_000)).total == 1
    assert search(project, "^noise").total == 1
    assert search(project, "x" * 100_000).total == 0


@given(st.lists(st.text(max_size=40), min_size=50, max_size=50))
@settings(max_examples=3, deadline=None)
def test_no_drawn_text_breaks_it_either(tmp_path_factory, drawn) -> None:
    path = tmp_path_factory.mktemp("searched") / "study.b100"
    with Project.create(path) as project:
        assert [search(project, words).total for words in drawn] == [0] * 50


def test_a_name_of_the_search_itself_is_a_word_like_others(project, add_reasoned) -> None:
    run_id = add_reasoned(project, "near or not, and so on")
    assert found(project, "NEAR OR NOT AND") == [(run_id, 1)]
