"""RALI on a tiny CLIP model of its true class, with random weights, a PCA and prototypes made here."""

from __future__ import annotations

import functools
import pickle
import subprocess
import sys
import types

import numpy as np
import pytest

from banana100_core.errors import MetricError, WeightsError
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.processes import WorkerProcess
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step
from banana100_core.project.scores import step_scores
from banana100_core.scoring.methods import State, ready_methods, statuses
from banana100_core.scoring.pool import ScoringPool
from banana100_core.scoring.shelf import ModelShelf
from banana100_core.scoring.vision_language import lack, method_version
from banana100_core.scoring.vision_language.rali import Rali
from banana100_core.scoring.vision_language.rali_pca import Pca, convert_rali_pca
from banana100_core.scoring.vision_language.scorer import VisionLanguageScorer

pytest.importorskip("transformers")

FEATURES, COMPONENTS, PROTOTYPES = 24, 10, 40


def build_clip(folder):
    import torch
    from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel

    small = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    torch.manual_seed(3)
    CLIPModel(
        CLIPConfig(
            text_config={**small, "vocab_size": 50, "eos_token_id": 2},
            vision_config={**small, "image_size": 336, "patch_size": 56, "initializer_range": 1.0},
            projection_dim=FEATURES,
        )
    ).save_pretrained(folder)
    CLIPImageProcessor(size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336}).save_pretrained(
        folder
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as the authors publish it, the PCA converted."""
    folder = tmp_path_factory.mktemp("repository") / "RALI"
    build_clip(folder / "best")
    random = np.random.default_rng(11)
    np.savez(
        folder / "basis.npz",
        vectors=random.normal(size=(PROTOTYPES, COMPONENTS)).astype(np.float32),
        scores=random.uniform(1, 5, PROTOTYPES).astype(np.float32),
    )
    pca_state(random, "var_").write(folder / "pca.npz")
    return folder


def pca_state(random, variance):
    size = FEATURES if variance == "var_" else COMPONENTS
    name = "feature_variance" if variance == "var_" else "component_variance"
    return Pca(
        mean=random.normal(size=FEATURES),
        components=random.normal(size=(COMPONENTS, FEATURES)),
        **{name: random.uniform(0.5, 2, size)},
    )


def picture(number, height=80):
    return np.random.default_rng(number).integers(0, 256, (height, 120 + number, 3), dtype=np.uint8)


def make_rater(folder):
    model = Rali(folder, "cpu")
    return lambda numbers: [model.rate(picture(number)) for number in numbers]


def test_the_score_is_that_of_the_formula(folder):
    import torch
    from PIL import Image
    from transformers import CLIPImageProcessorPil, CLIPModel

    clip = CLIPModel.from_pretrained(folder / "best").eval()
    pca, basis = np.load(folder / "pca.npz"), np.load(folder / "basis.npz")
    model = Rali(folder, "cpu")
    scores = []
    for number in range(3):
        image = Image.fromarray(picture(number))
        pixels = CLIPImageProcessorPil.from_pretrained(folder / "best")(image, return_tensors="pt")
        assert pixels["pixel_values"].shape == (1, 3, 336, 336)
        with torch.no_grad():
            pooled = clip.vision_model(**pixels).pooler_output[0]
        features = clip.visual_projection.weight.detach().numpy().astype(float) @ pooled.numpy().astype(float)
        whitened = ((features - pca["mean"]) / np.sqrt(pca["feature_variance"])) @ pca["components"].T
        cosines = [
            np.dot(whitened, vector) / np.linalg.norm(whitened) / np.linalg.norm(vector)
            for vector in basis["vectors"].astype(float)
        ]
        exponentials = [np.exp(cosine / 0.07) for cosine in cosines]
        expected = sum(
            weight * score for weight, score in zip(exponentials, basis["scores"], strict=True)
        ) / sum(exponentials)
        scores.append(model.rate(picture(number)))
        assert scores[-1] == pytest.approx(expected, rel=1e-5)
    assert len(set(scores)) == 3
    assert all(1 <= score <= 5 for score in scores)


def test_a_picture_has_one_score_in_any_order_and_process(folder):
    import torch

    model = Rali(folder, "cpu")
    first = [model.rate(picture(number)) for number in range(3)]
    assert [model.rate(picture(number)) for number in (2, 1, 0)] == first[::-1]
    environment = {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    worker = WorkerProcess(functools.partial(make_rater, folder), "rater", environment=environment)
    try:
        assert worker.request([1, 2, 0], timeout=600) == [first[1], first[2], first[0]]
    finally:
        worker.stop()


def test_the_scorer_takes_the_repository_or_its_folder(folder, monkeypatch):
    expected = Rali(folder, "cpu").rate(picture(0))
    versions = set()
    for named in (folder, folder.parent):
        monkeypatch.setenv("BANANA100_RALI", str(named))
        assert lack("rali") is None
        versions.add(method_version("rali"))
        rating = VisionLanguageScorer(ModelShelf(), 1).score("rali", picture(0), "a" * 64)
        assert rating.score == pytest.approx(expected, rel=1e-6)
        assert rating.replies == ()
    assert len(versions) == 1


def test_another_model_makes_room_where_memory_ends(folder, monkeypatch):
    """Torch's own error, raised by a hook in the midst of the model as a full card would."""
    import torch

    monkeypatch.setenv("BANANA100_RALI", str(folder))
    shelf = ModelShelf()
    scorer = VisionLanguageScorer(shelf, 1)
    expected = scorer.score("rali", picture(0), "a" * 64).score
    shelf.put("cnniqa", torch.nn.Linear(4, 4), 80)
    room_for = ["rali"]

    def look(module, _arguments):
        if type(module).__name__ == "CLIPVisionEmbeddings" and shelf.held != room_for:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    hook = torch.nn.modules.module.register_module_forward_pre_hook(look)
    try:
        assert scorer.score("rali", picture(0), "a" * 64).score == pytest.approx(expected, rel=1e-6)
        assert shelf.held == ["rali"]
        room_for.clear()
        with pytest.raises(MetricError, match="rali ran out of memory on cpu"):
            scorer.score("rali", picture(0), "a" * 64)
    finally:
        hook.remove()
    assert shelf.held == []


def test_the_pool_stores_the_score(folder, project, make_png, monkeypatch):
    monkeypatch.setenv("BANANA100_RALI", str(folder))
    data = make_png(120, 90)
    run = add_run(project, NewRun("Fog", "codec_loss", "jpeg", "replicate"))
    add_step(project, NewStep(run, 0, Outcome.INITIAL), NewImage(inspect(data), data=data))
    pool = ScoringPool(project, metrics=["rali"])
    try:
        pool.start()
        pool.request_missing()
        assert pool.wait(600)
    finally:
        pool.close()
    (stored,) = step_scores(project)
    assert stored.error is None
    assert stored.method_version == ready_methods()["rali"] == method_version("rali")
    expected = Rali(folder, "cpu").rate(decode(data, Purpose.SCORING).pixels)
    assert stored.score == pytest.approx(expected, rel=1e-5)


def test_the_method_version_follows_prototypes_and_pca(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("BANANA100_RALI", str(tmp_path))
    (tmp_path / "best").symlink_to(folder / "best")
    basis = np.load(folder / "basis.npz")
    versions = []
    for seed, shift in ((1, 0), (2, 0), (2, 1), (1, 0)):
        pca_state(np.random.default_rng(seed), "var_").write(tmp_path / "pca.npz")
        np.savez(tmp_path / "basis.npz", vectors=basis["vectors"], scores=basis["scores"] + shift)
        versions.append(method_version("rali"))
    assert len(set(versions)) == 3
    assert versions[0] == versions[3]


def test_a_pickle_is_named_and_never_loaded_by_itself(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("BANANA100_RALI", str(tmp_path))
    (tmp_path / "best").symlink_to(folder / "best")
    (tmp_path / "basis.npz").write_bytes((folder / "basis.npz").read_bytes())
    assert "pca.npz" in lack("rali").reason
    assert statuses()["rali"].state is State.WEIGHTS_MISSING
    write_malice(tmp_path / "pca.pkl", tmp_path / "harm")
    assert "convert-rali" in lack("rali").way_out
    with pytest.raises(WeightsError, match="convert-rali"):
        VisionLanguageScorer(ModelShelf(), 1).score("rali", picture(0), "a" * 64)
    assert not (tmp_path / "harm").exists()


def test_files_that_do_not_belong_together_are_refused(folder, tmp_path):
    (tmp_path / "best").symlink_to(folder / "best")
    (tmp_path / "pca.npz").write_bytes((folder / "pca.npz").read_bytes())
    np.savez(tmp_path / "basis.npz", vectors=np.ones((4, COMPONENTS + 1)), scores=np.ones(4))
    with pytest.raises(WeightsError, match="don't belong together"):
        Rali(tmp_path, "cpu")
    np.savez(tmp_path / "basis.npz", vectors=np.ones((4, COMPONENTS)), scores=np.ones(3))
    with pytest.raises(WeightsError, match="one score a vector"):
        Rali(tmp_path, "cpu")


@pytest.fixture
def sklearn_classes(monkeypatch):
    """Stand-ins at the places of scikit-learn's classes, only while a pickle is written."""
    classes = {}
    monkeypatch.setitem(sys.modules, "sklearn", types.ModuleType("sklearn"))
    monkeypatch.setitem(sys.modules, "sklearn.decomposition", types.ModuleType("sklearn.decomposition"))
    for module, name in (("_pca", "PCA"), ("_incremental_pca", "IncrementalPCA")):
        full = f"sklearn.decomposition.{module}"
        classes[name] = type(name, (), {"__module__": full})
        holder = types.ModuleType(full)
        setattr(holder, name, classes[name])
        monkeypatch.setitem(sys.modules, full, holder)
    return classes


@pytest.mark.parametrize("protocol", [3, 4, 5])
@pytest.mark.parametrize(
    ("name", "variance"), [("PCA", "explained_variance_"), ("IncrementalPCA", "var_"), (None, "var_")]
)
def test_a_pickled_pca_is_converted(sklearn_classes, tmp_path, monkeypatch, name, variance, protocol):
    original = pca_state(np.random.default_rng(5), variance)
    state = {
        "mean_": original.mean,
        "components_": original.components,
        "explained_variance_": np.ones(COMPONENTS),
        variance: original.feature_variance if variance == "var_" else original.component_variance,
        "n_components": COMPONENTS,
        "noise_variance_": np.float64(0.5),
        "_sklearn_version": "1.5.0",
    }
    content = state
    if name is not None:
        content = sklearn_classes[name]()
        content.__dict__.update(state)
    (tmp_path / "pca.pkl").write_bytes(pickle.dumps(content, protocol))
    monkeypatch.undo()
    converted = convert_rali_pca(tmp_path / "pca.pkl", tmp_path / "pca.npz")
    read = Pca.read(tmp_path / "pca.npz")
    features = np.random.default_rng(6).normal(size=FEATURES)
    for pca in (converted, read):
        np.testing.assert_array_equal(pca.transform(features), original.transform(features))
    if variance == "var_":
        expected = (features - original.mean) / np.sqrt(original.feature_variance) @ original.components.T
    else:
        expected = (features - original.mean) @ original.components.T / np.sqrt(original.component_variance)
    np.testing.assert_allclose(read.transform(features), expected)


def test_a_pickle_by_an_older_numpy_is_converted(tmp_path):
    state = {"mean": np.zeros(3), "components": np.eye(3)[:2], "var": np.ones(3)}
    pickled = pickle.dumps(state, 3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")
    assert b"numpy.core.multiarray" in pickled
    (tmp_path / "pca.pkl").write_bytes(pickled)
    pca = convert_rali_pca(tmp_path / "pca.pkl", tmp_path / "pca.npz")
    np.testing.assert_array_equal(pca.transform(np.array([1.0, 2.0, 3.0])), [1.0, 2.0])


def test_the_command_warns_and_converts(tmp_path):
    state = {"mean": np.zeros(3), "components": np.eye(3)[:2], "var": np.ones(3)}
    (tmp_path / "pca.pkl").write_bytes(pickle.dumps(state))
    command = [sys.executable, "-m", "banana100_core.cli", "weights", "convert-rali", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "A pickle can hold a program" in done.stderr
    assert Pca.read(tmp_path / "pca.npz").components.shape == (2, 3)
    write_malice(tmp_path / "pca.pkl", tmp_path / "harm")
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "was refused" in refused.stderr
    assert not (tmp_path / "harm").exists()


class Malice:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def write_malice(path, harm):
    path.write_bytes(pickle.dumps({"mean_": Malice(harm)}))


@pytest.mark.parametrize(
    "stream",
    [
        b"cos\nsystem\n(S'touch harm'\ntR.",
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"cnumpy\nload\n(S'harm.npy'\ntR.",
        b"csklearn.decomposition._pca\nPCA.__init__.__globals__\n.",
        b"\x80\x04\x8c\x05numpy\x8c\x0dndarray.dtype\x93.",
        b"cnumpy.testing._private.utils\nrunstring\n(S'1'\nd.",
        b"not a pickle",
        b"",
    ],
)
def test_a_malicious_pickle_is_refused(stream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pca.pkl").write_bytes(stream)
    with pytest.raises(WeightsError, match="was refused"):
        convert_rali_pca(tmp_path / "pca.pkl", tmp_path / "pca.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["pca.pkl"]


def test_malice_inside_a_pca_is_refused_before_it_runs(tmp_path):
    write_malice(tmp_path / "pca.pkl", tmp_path / "harm")
    with pytest.raises(WeightsError, match=r"asks for .*open"):
        convert_rali_pca(tmp_path / "pca.pkl", tmp_path / "pca.npz")
    assert not (tmp_path / "harm").exists()
    # The same file, opened as any pickle is, does what it wants.
    pickle.loads((tmp_path / "pca.pkl").read_bytes())["mean_"].close()
    assert (tmp_path / "harm").exists()


def test_a_pickle_without_a_pca_is_refused(tmp_path):
    (tmp_path / "pca.pkl").write_bytes(pickle.dumps({"mean_": np.zeros(3)}))
    with pytest.raises(WeightsError, match="holds no PCA"):
        convert_rali_pca(tmp_path / "pca.pkl", tmp_path / "pca.npz")
    wrong = {"mean_": np.zeros(3), "components_": np.eye(2), "var_": np.ones(3)}
    (tmp_path / "pca.pkl").write_bytes(pickle.dumps(wrong))
    with pytest.raises(WeightsError, match="don't fit together"):
        convert_rali_pca(tmp_path / "pca.pkl", tmp_path / "pca.npz")
    objects = {"mean_": np.array([Malice], dtype=object)}
    (tmp_path / "pca.pkl").write_bytes(pickle.dumps(objects))
    with pytest.raises(WeightsError, match="was refused"):
        convert_rali_pca(tmp_path / "pca.pkl", tmp_path / "pca.npz")
