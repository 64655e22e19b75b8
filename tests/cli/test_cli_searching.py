"""`search`: steps by what editors said of them."""

from __future__ import annotations

import json

import pytest

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step


@pytest.fixture
def reasoned(empty, make_png):
    data = make_png(16, 16)
    with Project.open(empty) as project:
        run_id = add_run(project, NewRun("Holi", "gemini", "pro", "replicate"))
        for number, said in enumerate(["All is well.", "**Checking**\n\nI notice\x1b[31m noise."], 1):
            step = NewStep(run_id, number, Outcome.DONE, reasoning=said)
            add_step(project, step, NewImage(inspect(data), data=data))
    return empty


def test_it_shows_where_the_words_are_as_plain_text(banana100, reasoned) -> None:
    told = banana100("search", reasoned, "noticed", "noise").stdout
    assert "run 1 (Holi, pro, repeat 1), step 2\n" in told
    assert r"**Checking** I [notice]\x1b[31m [noise]." in told
    assert told.endswith("1 step\n")
    assert banana100("search", reasoned, '") OR *').stdout == "0 steps\n"


def test_it_gives_the_finds_as_json(banana100, reasoned) -> None:
    told = json.loads(banana100("search", reasoned, "is", "--json").stdout)
    assert (told["total"], told["found"][0]["step"]) == (1, 1)
    assert told["found"][0]["pieces"] == [["All ", False], ["is", True], [" well.", False]]
    assert json.loads(banana100("search", reasoned, "is", "--run", 7, "--json").stdout)["total"] == 0
