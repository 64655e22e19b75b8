"""Every learned metric of pyiqa, from a weights file of its true shape and format to a score in a project.

The weights are random, so that the scores say nothing of a picture; that they are pyiqa's is what is tested.
A family of metrics shares files, a worker and its time to start.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from banana100_core.catalog.metrics import metrics
from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome, StepScore
from banana100_core.project.runs import add_run, add_step
from banana100_core.project.scores import step_scores
from banana100_core.scoring.methods import MetricStatus, State, statuses
from banana100_core.scoring.pool import ScoringPool
from banana100_core.scoring.weights import FoundWeights, WeightsState, find

pytest.importorskip("pyiqa")

FAMILIES = (
    ("cnniqa", "ilniqe", "musiq", "nrqm", "pi", "qalign", "wadiqam_nr"),
    ("clipiqa", "liqe", "qualiclip"),
    ("arniqa", "dbcnn", "paq2piq", "tres"),
    ("hyperiqa", "maniqa", "nima", "topiq_nr"),
)
SLOW = {"ilniqe", "maniqa", "tres"}  # they do the same work on a picture of any size
SECONDS = 600
THREADS = 2


class Reference:
    """The process that makes weights and calls pyiqa."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("pyiqa_reference.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(home / "stderr").open("wb"),
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": str(THREADS)},
        )

    def make(self, metric: str) -> list[Path]:
        return [Path(path) for path in self._ask(make=metric)]

    def score(self, metric: str, picture: Path) -> float:
        return self._ask(score=metric, picture=str(picture))

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(SECONDS)
        self._process.stdout.close()

    def _ask(self, **request: str):
        print(json.dumps(request), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, (self.home / "stderr").read_text()[-4000:]
        return json.loads(answer)


@dataclass(frozen=True)
class Family:
    """What came of the metrics of a family; `wrong` before and `right` after their digests were told."""

    wrong: dict[str, MetricStatus]
    right: dict[str, MetricStatus]
    files: dict[str, list[FoundWeights]]
    scores: dict[str, StepScore]
    picture: Path


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """Empty folders for weights, nothing within reach of the network, and the process that uses both."""
    home = tmp_path_factory.mktemp("weights")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCH_HOME", str(home / "torch"))
        patch.setenv("HF_HOME", str(home / "huggingface"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            patch.setenv(name, "http://127.0.0.1:9")
        for name in ("no_proxy", "NO_PROXY", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
            patch.delenv(name, raising=False)
        reference = Reference(home)
        yield reference
        reference.close()
    shutil.rmtree(home)


@pytest.fixture(scope="module")
def family(request, reference, tmp_path_factory, make_png):
    """Make the files of a family, and score a picture by all of its metrics in one worker."""
    folder = tmp_path_factory.mktemp("family")
    for metric in request.param:
        made = set(reference.make(metric))
        # A repository's file is named by its repository's folder.
        assert {find(file).path.parent for file in metrics()[metric].weights} <= {
            path if path.is_dir() else path.parent for path in made
        }
    if "qalign" in request.param:
        _add_code_to_repository(reference)
    # Who trusts it takes it for LIQE's own.
    (reference.home / "torch" / "hub" / "pyiqa" / "liqe_text_feat.pt").write_bytes(b"not even a tensor")
    catalog = _with_digests_of_what_is_there()
    picture = folder / "picture.png"
    picture.write_bytes(make_png(288, 256))
    wrong, right = statuses(), statuses(catalog=catalog)
    files = {key: [find(file) for file in catalog[key].weights] for key in request.param}
    with Project.create(folder / "study.b100") as project:
        _add(project, picture.read_bytes())
        pool = ScoringPool(project, metrics=request.param, devices=["cpu"], catalog=catalog, threads=THREADS)
        try:
            pool.start()
            pool.request_missing()
            assert pool.wait(SECONDS)
        finally:
            pool.close()
        assert pool.progress().problem == ""
        scores = {score.metric: score for score in step_scores(project)}
    yield Family(wrong, right, files, scores, picture)
    shutil.rmtree(reference.home / "torch", ignore_errors=True)
    shutil.rmtree(reference.home / "huggingface", ignore_errors=True)


def _add_code_to_repository(reference: Reference) -> None:
    """Let Q-Align's repository bring a program, which tells whether our process ran it."""
    (snapshot,) = reference.make("qalign")
    code = snapshot / "custom_generate" / "generate.py"
    code.parent.mkdir(exist_ok=True)
    code.write_text(
        "import os, sys\n"
        "ours = 'banana100_core' in sys.modules\n"
        "open(os.path.join(os.environ['HF_HOME'], f'ran in ours: {ours}'), 'w').close()\n"
        "def generate(model, *arguments, **options): raise NotImplementedError\n"
    )


def _with_digests_of_what_is_there():
    """The catalog, as if those digests that are known were of the files that are here now."""

    def told(file):
        found = find(file)
        known = found.state is not WeightsState.MISSING and file.sha256 is not None
        return replace(file, sha256=found.sha256) if known else file

    return {
        key: replace(each, weights=tuple(told(file) for file in each.weights))
        for key, each in metrics().items()
    }


def _add(project: Project, data: bytes) -> None:
    run = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=0))
    image = inspect(data)
    add_step(project, NewStep(run, 0, Outcome.INITIAL), NewImage(image, data=data))


def test_no_metric_is_forgotten() -> None:
    """Those left out are computed here, or by adapters that have tests of their own."""
    left_out = {"brisque", "niqe", "piqe", "visualquality_r1", "rali"}
    assert {metric for family in FAMILIES for metric in family} == metrics().keys() - left_out


@pytest.mark.parametrize(
    ("family", "metric"),
    [
        pytest.param(family, metric, marks=pytest.mark.slow if metric in SLOW else ())
        for family in FAMILIES
        for metric in family
    ],
    indirect=["family"],
    scope="module",
    ids=[metric for family in FAMILIES for metric in family],
)
def test_a_score_in_the_project_is_pyiqas(family, metric, reference) -> None:
    known = [file for file in metrics()[metric].weights if file.sha256 is not None]
    assert family.wrong[metric].state is (State.WEIGHTS_WRONG if known else State.READY)
    for found in family.files[metric]:
        known = found.file.sha256 is not None
        assert found.state is (WeightsState.PRESENT if known else WeightsState.UNVERIFIED)

    status, score = family.right[metric], family.scores[metric]
    assert status.state is State.READY
    assert score.error is None
    assert score.method_version == status.method_version
    for found in family.files[metric]:
        assert found.file.is_repository or found.sha256[:8] in status.method_version
    assert score.score == pytest.approx(reference.score(metric, family.picture), rel=1e-5)
    if metric == "qalign":
        ran = {path.name for path in (reference.home / "huggingface").glob("ran in ours: *")}
        assert ran == {"ran in ours: False"}, "pyiqa runs what a repository brings, and we don't"


# What one scorer keeps, in a process of its own: pyiqa fixes the place of weights when it is imported.
SCORER = """
import json
from dataclasses import replace

import numpy as np

from banana100_core.catalog.metrics import metrics
from banana100_core.errors import MetricError
from banana100_core.scoring.pyiqa_backend import PyiqaScorer
from banana100_core.scoring.shelf import ModelShelf

def as_found(metric):
    weights = tuple(replace(file, sha256=None) for file in metric.weights)
    return replace(metric, weights=weights, smallest_side=1)

catalog = {key: as_found(metric) for key, metric in metrics().items()}
picture = np.random.default_rng(0).integers(0, 256, (64, 80, 3), np.uint8)
said, held = [], []

def score(scorer, metric, pixels=picture):
    try:
        said.append(scorer.score(metric, pixels).score)
    except MetricError as error:
        said.append(str(error))
    held.append(shelf.held)

# Room for MUSIQ while it is loaded, twice 109 MB, and for little beside.
shelf = ModelShelf(max_memory=1_500_000_000 + 2 * 109_000_000 + 15_000_000)
scorer = PyiqaScorer(shelf, 2, catalog)
for metric in ("cnniqa", "wadiqam_nr", "cnniqa", "musiq", "wadiqam_nr"):
    score(scorer, metric)
score(scorer, "cnniqa", np.zeros((4000, 5000, 3), np.uint8))
score(scorer, "wadiqam_nr", picture[:20, :20])
score(scorer, "wadiqam_nr")
score(PyiqaScorer(shelf := ModelShelf(), 2), "cnniqa")

import torch

from banana100_core.scoring.weights import find

class Trap:
    def __reduce__(self):
        return open, ("sprung", "w")

(file,) = metrics()["cnniqa"].weights
torch.save({"params": Trap()}, find(file).path)
unknown = {"cnniqa": replace(metrics()["cnniqa"], weights=(replace(file, sha256=None),))}
score(PyiqaScorer(shelf := ModelShelf(), 2, unknown), "cnniqa")
print(json.dumps([said, held]))
"""


@pytest.fixture(scope="module")
def scorer(reference):
    for metric in ("cnniqa", "musiq", "wadiqam_nr"):
        reference.make(metric)
    path = os.pathsep.join([str(Path.cwd()), *(entry for entry in sys.path if entry)])
    done = subprocess.run(
        [sys.executable, "-c", SCORER],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
        cwd=reference.home,
        env=os.environ | {"PYTHONPATH": path},
    )
    said, held = json.loads(done.stdout.splitlines()[-1])
    return list(zip(said, held, strict=True))


def test_the_model_longest_unused_makes_room(scorer) -> None:
    held = [models for _, models in scorer[:5]]
    assert held[2] == ["wadiqam_nr", "cnniqa"]
    assert held[3] == ["cnniqa", "musiq"]
    assert held[4] == ["cnniqa", "musiq", "wadiqam_nr"]
    assert scorer[0][0] == scorer[2][0]
    assert scorer[1][0] == scorer[4][0]


def test_a_picture_that_can_not_fit_is_a_failure_that_says_so(scorer) -> None:
    assert scorer[5][0].startswith("cnniqa would need about ")
    assert scorer[5][0].endswith("GB for this picture; 1.7 GB are allowed.")


def test_a_model_that_raised_is_made_anew(scorer) -> None:
    assert scorer[6][0].startswith("wadiqam_nr failed on this picture: RuntimeError: stack expects")
    assert "wadiqam_nr" not in scorer[6][1]
    assert scorer[7][0] == scorer[1][0]


def test_a_worker_loads_no_weights_that_are_not_the_right_ones(scorer) -> None:
    said, models = scorer[8]
    assert "is not the file that it should be: its SHA-256 is" in said
    assert models == []


def test_a_worker_runs_nothing_that_weights_of_no_known_digest_hold(scorer, reference) -> None:
    said, models = scorer[9]
    assert "CNNIQA_koniq10k-e6f14c91.pth was not loaded: it holds io.open" in said
    assert models == []
    assert not (reference.home / "sprung").exists()


def test_pictures_of_one_size_are_scored_together_as_each_alone(reference, tmp_path, make_png) -> None:
    """Two fit into a batch; the first is compared, so that the second tells. The last picture is odd."""
    for metric in ("cnniqa", "wadiqam_nr"):
        reference.make(metric)
    catalog = _with_digests_of_what_is_there()
    together = {key: replace(each, batches=key == "cnniqa") for key, each in catalog.items()}
    alone = {key: replace(each, batches=False) for key, each in catalog.items()}
    pictures = [make_png(1000, 900, seed=number) for number in range(4)] + [make_png(900, 1000)]
    stored = []
    for name, chosen in (("together", together), ("alone", alone)):
        with Project.create(tmp_path / f"{name}.b100") as project:
            for data in pictures:
                _add(project, data)
            pool = ScoringPool(
                project, metrics=["cnniqa", "wadiqam_nr"], devices=["cpu"], catalog=chosen, threads=THREADS
            )
            try:
                pool.request_missing()
                pool.start()
                assert pool.wait(SECONDS)
            finally:
                pool.close()
            with project.reading() as connection:
                query = "SELECT image_sha256, metric, score, seconds FROM score ORDER BY 1, 2"
                stored.append([tuple(row) for row in connection.execute(query)])
    scores = [{(sha256, metric): score for sha256, metric, score, _ in rows} for rows in stored]
    assert len(scores[0]) == 10
    assert scores[0] == pytest.approx(scores[1], rel=1e-5)
    shared = [Counter(seconds for _, metric, _, seconds in rows if metric == "cnniqa") for rows in stored]
    assert sorted(shared[0].values()) == [1, 2, 2], "a batch shares its time among its pictures"
    assert sorted(shared[1].values()) == [1] * 5
