"""A card that is out of memory: torch's own error, raised by a hook of torch's in the midst of real models.

In a process of its own, as a worker is one. `meta` stands for the card: a device that is not the CPU, whose
memory is always full.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyiqa")

SCRIPT = """
import json
import os
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
import sys

import numpy as np
import torch

from banana100_core.catalog.metrics import metrics
from banana100_core.errors import MetricError
from banana100_core.scoring.pyiqa_backend import PyiqaScorer
from banana100_core.scoring.shelf import ModelShelf
from tests.scoring.pyiqa_reference import make

with redirect_stdout(sys.stderr):
    for metric in ("cnniqa", "wadiqam_nr"):
        make(metric)
catalog = {
    key: replace(each, weights=tuple(replace(file, sha256=None) for file in each.weights))
    for key, each in metrics().items()
}
random = np.random.default_rng(0)
pictures = [random.integers(0, 256, (112, 128, 3), np.uint8) for _ in range(5)]
said, batches = {}, []


@contextmanager
def memory_for(fits):
    def look(module, arguments):
        if type(module).__name__ == "InferenceModel":
            batches.append(len(arguments[0]))
            if not fits(arguments[0]):
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")
    hook = torch.nn.modules.module.register_module_forward_pre_hook(look)
    try:
        yield
    finally:
        hook.remove()


def tell(name, call):
    batches.clear()
    try:
        answer = call()
    except MetricError as error:
        answer = str(error)
    said[name] = [answer, list(batches)]


def told(rating):
    return [rating.score, rating.device]


def scores(ratings):
    return [rating.score for rating in ratings]


scorer = PyiqaScorer(shelf := ModelShelf(), 1, catalog)
alone = [scorer.score("cnniqa", each).score for each in pictures]
scorer.score("wadiqam_nr", pictures[0])
with memory_for(lambda image: len(image) <= 2):
    tell("together", lambda: scores(scorer.score_together("cnniqa", pictures)))
    said["held"] = shelf.held
    tell("together again", lambda: scores(scorer.score_together("cnniqa", pictures)))
scorer.score("wadiqam_nr", pictures[0])
with memory_for(lambda image: shelf.held == ["cnniqa"]):
    tell("others in the way", lambda: scorer.score("cnniqa", pictures[0]).score)
with memory_for(lambda image: False):
    tell("never", lambda: scorer.score("cnniqa", pictures[0]).score)
tell("afterwards", lambda: scorer.score("cnniqa", pictures[0]).score)

card = PyiqaScorer(ModelShelf("meta"), 1, catalog)
with memory_for(lambda image: image.device.type != "meta"):
    tell("niqe on the card", lambda: told(card.score("niqe", pictures[0])))
    tell("cnniqa on the card", lambda: card.score("cnniqa", pictures[0]).score)
said["niqe on the CPU"] = scorer.score("niqe", pictures[0]).score
tell("many crops", lambda: scorer.score_together("maniqa", pictures))
print(json.dumps([alone, said]))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    environment = os.environ | {
        "TORCH_HOME": str(home / "torch"),
        "HF_HOME": str(home / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(Path.cwd()), *(entry for entry in sys.path if entry)]),
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_batch_that_does_not_fit_is_halved(run) -> None:
    alone, said = run
    answer, batches = said["together"]
    assert answer == pytest.approx(alone, rel=1e-5)
    assert batches[0] == 5
    assert set(batches[1:]) == {1, 2}
    assert said["held"] == ["cnniqa"], "other models make room before a batch is cut"
    answer, batches = said["together again"]
    assert answer == pytest.approx(alone, rel=1e-5)
    assert batches == [2, 2, 1], "what did not fit once is not tried again"


def test_other_models_make_room_for_one_picture(run) -> None:
    alone, said = run
    assert said["others in the way"] == [pytest.approx(alone[0]), [1, 1]]


def test_a_picture_that_never_fits_is_a_failure_and_the_next_is_scored(run) -> None:
    alone, said = run
    assert said["never"] == ["cnniqa ran out of memory on cpu.", [1]]
    assert said["afterwards"] == [pytest.approx(alone[0]), []]


def test_the_cpu_scores_what_a_card_can_not_where_that_is_the_same_score(run) -> None:
    _, said = run
    assert said["niqe on the card"] == [[said["niqe on the CPU"], "cpu"], [1, 1]]
    assert said["cnniqa on the card"] == ["cnniqa ran out of memory on meta.", [1]]


def test_on_the_cpu_a_metric_of_many_crops_takes_one_picture_at_a_time(run) -> None:
    assert run[1]["many crops"] == [None, []]
