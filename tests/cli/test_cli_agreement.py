from __future__ import annotations

import csv
import io
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
    assert green.split() == ["Green", "tint", "2", "-", "0.77", "-", "1.0", "50%", "100%", "-"]
    assert shown[-2].split() == ["1", "Dongpo", "jpeg", "1", "0.25", "Ann,", "Bob"]
    figures = json.loads(banana100("agreement", empty, "--json").stdout)
    assert (figures["shared_runs"], figures["modes"][0]["onset"]["within"]["2"]) == (2, 1.0)
    assert figures["modes"][0]["alpha_presence"] is None
    assert figures["pairs"][0]["cells"] == [{"one": "green_tint", "other": "green_tint", "runs": 2}]
    rows = list(csv.DictReader(io.StringIO(banana100("agreement", empty, "--format", "csv").stdout)))
    assert (rows[0]["failure_mode"], rows[0]["onset_mean"], rows[0]["kappa Ann Bob"]) == (
        "green_tint",
        "1.0",
        "",
    )
    assert (rows[1]["failure_mode"], rows[1]["level"]) == ("", "image")
    runs = banana100("agreement", empty, "--format", "csv", "--part", "runs").stdout.splitlines()
    assert runs[1] == "1,Dongpo,jpeg,replicate,1,0.25,3,Ann; Bob"
    assert "no run 9" in banana100("agreement", empty, "--run", "9", code=2).stderr
