"""Where weights files lie, what is known of them, and how they come out of a folder."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace

import pytest

from banana100_core.catalog.metrics import metric, metrics
from banana100_core.errors import WeightsError
from banana100_core.scoring.methods import State, statuses
from banana100_core.scoring.weights import WeightsState, explain, find, list_weights, need, way_out
from banana100_core.scoring.weights_folder import add_weights

CNNIQA = metric("cnniqa").weights[0]
LIQE = metric("liqe").weights[1]
RESNET = metric("topiq_nr").weights[0]
ONE_ALIGN = metric("qalign").weights[0]
CONTENT = b"a model"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Nothing is there."""
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "BANANA100_RALI", "BANANA100_VISUALQUALITY_R1"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def offered(tmp_path):
    """Put a file into the folder that is offered; gives the folder."""

    def offer(name: str, content: bytes = CONTENT):
        path = tmp_path / "offered" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return tmp_path / "offered"

    return offer


def published(file, content: bytes = CONTENT):
    """The file, as if its authors had published this content."""
    return replace(file, sha256=hashlib.sha256(content).hexdigest())


def put(file, content: bytes = CONTENT):
    path = find(file).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_file_is_missing_then_wrong_then_right() -> None:
    assert find(CNNIQA).state is WeightsState.MISSING
    path = put(CNNIQA)
    wrong = find(CNNIQA)
    assert (wrong.state, wrong.byte_size) == (WeightsState.WRONG, len(CONTENT))
    assert str(path) in explain(wrong)
    assert hashlib.sha256(CONTENT).hexdigest() in explain(wrong)
    assert CNNIQA.source in way_out(wrong)
    assert find(published(CNNIQA)).state is WeightsState.PRESENT
    assert find(replace(CNNIQA, sha256=None)).state is WeightsState.UNVERIFIED


def test_what_may_not_be_loaded_is_an_error_that_names_the_way_out() -> None:
    with pytest.raises(
        WeightsError, match=r"are missing\. Type: banana100 weights fetch cnniqa \(or put the file from"
    ):
        need(CNNIQA)
    put(CNNIQA)
    with pytest.raises(WeightsError, match="is not the file that it should be"):
        need(CNNIQA)
    assert need(published(CNNIQA)).sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_a_change_that_keeps_size_and_time_is_seen_when_the_file_is_read() -> None:
    """What is remembered serves lists; what is loaded is read."""
    file = published(CNNIQA)
    path = put(file)
    assert find(file).state is WeightsState.PRESENT
    then = path.stat().st_mtime_ns
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(then, then))
    assert find(file).state is WeightsState.PRESENT
    assert find(file, read=True).state is WeightsState.WRONG
    with pytest.raises(WeightsError):
        need(file)


def test_statuses_ask_the_catalog_for_digests() -> None:
    put(CNNIQA)
    catalog = metrics() | {"cnniqa": replace(metric("cnniqa"), weights=(published(CNNIQA),))}
    assert statuses()["cnniqa"].state in {State.WEIGHTS_WRONG, State.LIBRARY_MISSING}
    status = statuses(catalog=catalog)["cnniqa"]
    if status.state is not State.LIBRARY_MISSING:
        assert status.state is State.READY
        assert hashlib.sha256(CONTENT).hexdigest()[:8] in status.method_version


def test_weights_of_native_metrics_ship() -> None:
    assert "brisque_svm_weights.pth" not in {found.file.name for found in list_weights()}


def test_files_are_taken_by_their_names_to_their_places(home, offered) -> None:
    offered(f"deep/{LIQE.name}")
    report = add_weights(offered("readme.txt"))
    assert [found.file for found in report.added] == [LIQE]
    assert (home / "torch" / "hub" / "pyiqa" / LIQE.name).read_bytes() == CONTENT
    assert [path.name for path in report.unknown] == ["readme.txt"]
    missing = {found.file.name for found in report.missing}
    assert LIQE.name not in missing
    assert {CNNIQA.name, RESNET.name, ONE_ALIGN.name} <= missing


def test_a_wrong_file_is_not_taken(offered) -> None:
    report = add_weights(offered(CNNIQA.name))
    assert not report.added
    ((path, reason),) = report.wrong
    assert path.name == CNNIQA.name
    assert CNNIQA.sha256 in reason
    assert find(CNNIQA).state is WeightsState.MISSING


def test_a_file_of_a_repository_is_found_there_by_hugging_face(offered) -> None:
    """Under the repository's name, since its own says nothing."""
    hub = pytest.importorskip("huggingface_hub")
    file = metric("maniqa").weights[0]
    report = add_weights(offered(f"{file.name.rpartition('/')[2]}/model.safetensors"))
    assert [found.file for found in report.added] == [file]
    cache = find(file).path.parents[3]
    assert hub.try_to_load_from_cache(file.name, "model.safetensors", cache_dir=cache) == str(find(file).path)


def test_a_whole_repository_is_taken_from_a_plain_folder_or_a_cache(home, offered) -> None:
    hub = pytest.importorskip("huggingface_hub")
    cached = f"models--{ONE_ALIGN.name.replace('/', '--')}"
    for number, (folder, revision) in enumerate(
        [("one-align", "local"), (f"{cached}/snapshots/0123abc", "0123abc")]
    ):
        index = {"weight_map": {"a": "pytorch_model-1.bin", "b": "pytorch_model-2.bin"}}
        here = f"{number}/{folder}"
        offered(f"{here}/pytorch_model.bin.index.json", json.dumps(index).encode())
        offered(f"{here}/pytorch_model-1.bin")
        offered(f"{here}/.cache/huggingface/download/config.json.metadata")
        add_weights(offered(f"{here}/config.json", b"{}") / str(number))
        assert find(ONE_ALIGN).state is WeightsState.MISSING, "a part is missing"
        offered(f"{here}/pytorch_model-2.bin")
        report = add_weights(home / "offered" / str(number))
        assert [found.file for found in report.added] == [ONE_ALIGN]
        assert not report.unknown
        found = find(ONE_ALIGN)
        assert (found.state, found.byte_size) == (WeightsState.UNVERIFIED, 2 * len(CONTENT))
        assert found.path.parent.name == revision
        assert not (found.path.parent / ".cache").exists()
        cache = found.path.parents[3]
        assert hub.try_to_load_from_cache(ONE_ALIGN.name, "config.json", cache_dir=cache) == str(found.path)
        (found.path.parents[2] / "refs" / "main").unlink()


def test_a_full_disk_is_said_and_leaves_nothing_half(home, offered) -> None:
    """A file stands where the folder should be: as good as a full disk."""
    (home / "torch").write_bytes(b"")
    with pytest.raises(WeightsError, match=r"can't be written.* set TORCH_HOME"):
        add_weights(offered(LIQE.name))


def test_a_folder_that_is_none_is_said(home) -> None:
    with pytest.raises(WeightsError, match="is not a folder"):
        add_weights(home / "nowhere")
