from __future__ import annotations

import json

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.suggestions import accept_suggestion, suggestions
from banana100_core.project.tags import tags


def test_suggestions_are_shown_with_their_reasons_and_their_rate(banana100, empty, make_png) -> None:
    assert banana100("suggest", empty).stdout == "0 suggestions, 0 of them new\n"
    with Project.open(empty) as project:
        run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "mirror", steps_planned=1))
        data = make_png()
        for number, outcome in enumerate((Outcome.INITIAL, Outcome.DONE)):
            step = NewStep(run_id, number, outcome, prompt="Mirror it horizontally.")
            add_steps(project, [(step, NewImage(inspect(data), data))])
    shown = banana100("suggest", empty).stdout
    assert "mirroring_failure" in shown
    assert "more like it unchanged: correlation 1.00" in shown
    assert shown.endswith("1 suggestion, 1 of them new\n")
    with Project.open(empty) as project:
        assert tags(project) == []
        accept_suggestion(project, "Ann", suggestions(project)[0].uuid)
    assert banana100("suggest", empty).stdout.endswith(
        "mirroring_failure: 1 accepted, 0 rejected (100%)\nacceptance rate: 100% of 1 decided\n"
    )
    figures = json.loads(banana100("suggest", empty, "--json").stdout)
    assert (figures["new"], figures["suggestions"][0]["state"]) == (0, "accepted")
