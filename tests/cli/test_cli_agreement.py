from __future__ import annotations

import json

from banana100_core.project import Project
from banana100_core.project.records import NewRun, NewTag
from banana100_core.project.runs import add_run
from banana100_core.project.tags import add_tag


def test_agreement_is_shown_and_given_as_json(banana100, empty) -> None:
    assert "no run has tags of two annotators yet" in banana100("agreement", empty).stderr
    with Project.open(empty) as project:
        for onsets in ((3, 5), (4, 4)):
            run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=10))
            for name, onset in zip(("Ann", "Bob"), onsets, strict=True):
                add_tag(project, name, NewTag(run_id, "green_tint", onset))
    shown = banana100("agreement", empty).stdout.splitlines()
    green = next(line for line in shown if line.startswith("Green tint"))
    assert green.split() == ["Green", "tint", "2", "-", "0.77", "-", "1.0", "50%", "-"]
    assert shown[-2].split() == ["1", "Dongpo", "jpeg", "1", "0.25", "Ann,", "Bob"]
    figures = json.loads(banana100("agreement", empty, "--json").stdout)
    assert (figures["shared_runs"], figures["modes"][0]["onset"]["within"]["2"]) == (2, 1.0)
    assert figures["modes"][0]["alpha_presence"] is None
    assert "no run 9" in banana100("agreement", empty, "--run", "9", code=2).stderr
