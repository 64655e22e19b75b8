"""A scoring process that is killed again and again loses no finished score and doubles none."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.check import check
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps

PICTURES = 500
KILLS = 20
MOST = 20  # pictures of a process that is to be killed, so that something is left for the last one

SCORE = """
import sys
from pathlib import Path
from banana100_core.project import Project
from banana100_core.project.scores import unscored_images
from banana100_core.scoring.methods import ready_methods
from banana100_core.scoring.pool import ScoringPool

with Project.open(Path(sys.argv[1])) as project:
    pool = ScoringPool(project, threads=1)
    pool.subscribe(lambda progress: print(progress.done, flush=True))
    pool.start()
    missing = unscored_images(project, ready_methods(), None)
    pool.request([sha256 for sha256, _ in missing][: int(sys.argv[2])])
    pool.wait()
    pool.close()
"""


def test_twenty_kills_while_scoring(tmp_path, make_png):
    path = tmp_path / "study.b100"
    with Project.create(path) as project:
        run = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=PICTURES))
        steps = []
        for number in range(PICTURES):
            data = make_png(100, 100, seed=number)
            outcome = Outcome.DONE if number else Outcome.INITIAL
            steps.append((NewStep(run, number, outcome), NewImage(inspect(data), data=data)))
        add_steps(project, steps)

    chance = random.Random(100)
    finished: dict[tuple[str, str], float] = {}
    for _ in range(KILLS):
        process = _score(path, MOST)
        try:
            for line in process.stdout:
                # Some deaths come at the very start, most after a while of storing.
                if int(line) >= chance.choice([0, 1, 40]):
                    break
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        stored = _scores(path)
        assert {key: stored.get(key) for key in finished} == finished
        finished = stored
        assert len(finished) < 3 * PICTURES, "all was scored before the last kill"
    assert finished

    process = _score(path, PICTURES)
    process.communicate(timeout=600)
    assert process.returncode == 0
    stored = _scores(path)
    assert len(stored) == 3 * PICTURES
    assert {key: stored[key] for key in finished} == finished
    assert [finding for finding in check(path) if finding.severity == "error"] == []


def _score(path, most: int) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    return subprocess.Popen(
        [sys.executable, "-c", SCORE, str(path), str(most)],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )


def _scores(path) -> dict[tuple[str, str], float]:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        found = connection.execute("SELECT image_sha256, metric, score FROM score").fetchall()
    finally:
        connection.close()
    scores = {(sha256, metric): score for sha256, metric, score in found}
    assert len(scores) == len(found), "a score is doubled"
    assert None not in scores.values()
    return scores
