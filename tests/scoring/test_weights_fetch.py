"""Fetching weights by the loaders' own ways from a stand-in for the hub, which does all that networks do."""

from __future__ import annotations

import hashlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from banana100_core.catalog.metrics import metrics
from banana100_core.errors import MetricError, WeightsError
from banana100_core.scoring import terms
from banana100_core.scoring.weights import WeightsState, find
from banana100_core.scoring.weights_fetch import WeightsFetch, fetch_weights
from tests.scoring.hub_mirror import REVISION, run_mirror, use_mirror

hub = pytest.importorskip("huggingface_hub")

CONTENT = bytes(range(256)) * 8192
DIGEST = hashlib.sha256(CONTENT).hexdigest()
PYIQA = "/chaofengc/IQA-PyTorch-Weights/resolve/main/"


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """An empty mirror, as HF_ENDPOINT, and empty folders for what comes from it."""
    for mirror in run_mirror():
        use_mirror(monkeypatch, mirror, tmp_path)
        yield mirror


def only(key: str, index: int = 0, **changes: object):
    """A catalog of one metric that needs one of its files, as if this content had been published."""
    each = metrics()[key]
    file = replace(each.weights[index], **({"sha256": DIGEST} | changes))
    return {key: replace(each, weights=(file,))}, file


def leftovers(path) -> list[str]:
    names = [each.name for each in path.rglob("*")]
    return [name for name in names if name.startswith(".arriving") or name.endswith(".incomplete")]


@pytest.fixture(scope="module")
def fetched(tmp_path_factory):
    """What came of many files at once: each has a fate of its own."""
    home = tmp_path_factory.mktemp("home")
    catalog, files, seen = {}, {}, []
    with pytest.MonkeyPatch.context() as patch:
        for mirror in run_mirror():
            use_mirror(patch, mirror, home)
            for key, index in (
                ("cnniqa", 0),
                ("arniqa", 1),
                ("topiq_nr", 0),
                ("musiq", 0),
                ("qualiclip", 1),
                ("nima", 1),
                ("wadiqam_nr", 0),
                ("ilniqe", 0),
            ):
                one, files[key] = only(key, index)
                catalog |= one
                path = f"{PYIQA}{files[key].name}"
                if files[key].file:
                    path = f"/{files[key].name}/resolve/main/{files[key].file}"
                mirror.files[path] = CONTENT
            mirror.hangs_up_once_after[PYIQA + files["musiq"].name] = 1_000_000
            mirror.files[PYIQA + files["nima"].name] = CONTENT[::-1]
            mirror.statuses[PYIQA + files["qualiclip"].name] = 403
            del mirror.files[PYIQA + files["wadiqam_nr"].name]
            liqe, files["liqe"] = only("liqe", 1, sha256=None)
            tres, files["tres"] = only("tres", 1, sha256=None)
            mirror.files[PYIQA + files["liqe"].name] = mirror.files[PYIQA + files["tres"].name] = CONTENT
            mirror.told_digests[PYIQA + files["liqe"].name] = "f" * 64
            report = fetch_weights((), lambda *arrival: seen.append(arrival), catalog | liqe | tres)
            found = {key: find(file) for key, file in files.items()}
            yield files, report, found, seen, mirror, home


def reason(fetched, key: str) -> str:
    files, report, *_ = fetched
    return {file.name: reason for file, reason in report.failed}[files[key].name]


def test_files_come_from_the_mirror_into_their_places(fetched) -> None:
    _, report, found, seen, _, home = fetched
    right = [found[key] for key in ("cnniqa", "arniqa", "topiq_nr", "musiq", "ilniqe")]
    assert [each for each in report.fetched if each.state is WeightsState.PRESENT] == right
    assert {each.path.read_bytes() for each in right} == {CONTENT}
    assert found["cnniqa"].path.is_relative_to(home / "torch" / "hub" / "pyiqa")
    assert found["arniqa"].path.is_relative_to(home / "torch" / "hub" / "checkpoints")
    assert leftovers(home) == []
    assert (right[0].file.name, len(CONTENT), len(CONTENT)) in seen


def test_a_file_of_the_hubs_cache_is_found_by_its_library(fetched) -> None:
    _, _, found, *_ = fetched
    path = found["topiq_nr"].path
    cached = hub.try_to_load_from_cache(found["topiq_nr"].file.name, path.name, cache_dir=path.parents[3])
    assert cached == str(path)
    assert path.parent.name == REVISION


def test_a_line_that_breaks_is_taken_up_where_it_ended(fetched) -> None:
    files, _, _, _, mirror, _ = fetched
    parts = [part for path, part in mirror.asked if path == PYIQA + files["musiq"].name]
    assert parts[0] is None
    assert parts[1].startswith("bytes=")
    assert 0 < int(parts[1].removeprefix("bytes=").removesuffix("-")) <= 1_000_000


def test_what_is_not_the_file_is_never_put_in_place(fetched) -> None:
    _, _, found, *_ = fetched
    assert hashlib.sha256(CONTENT[::-1]).hexdigest() in reason(fetched, "nima")
    assert f"should have {DIGEST}" in reason(fetched, "nima")
    assert found["nima"].state is WeightsState.MISSING


def test_a_file_of_no_known_digest_is_held_against_the_one_it_is_kept_under(fetched) -> None:
    _, _, found, *_ = fetched
    assert "f" * 64 in reason(fetched, "liqe")
    assert found["liqe"].state is WeightsState.MISSING
    assert found["tres"].state is WeightsState.UNVERIFIED


@pytest.mark.parametrize(("key", "said"), [("wadiqam_nr", "404 Not Found"), ("qualiclip", "403 Forbidden")])
def test_a_refusal_is_told_with_the_way_out(fetched, key, said) -> None:
    files, _, found, _, mirror, _ = fetched
    text = reason(fetched, key)
    assert f"{mirror.address}{PYIQA}{files[key].name} can't be fetched: it answers {said}." in text
    assert "weights add DIR" in text
    assert ("HF_TOKEN" in text) == (key == "qualiclip")
    assert found[key].state is WeightsState.MISSING


def test_what_is_there_is_not_fetched(mirror) -> None:
    catalog, file = only("cnniqa")
    path = find(file).path
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    report = fetch_weights(["cnniqa"], None, catalog)
    assert not report.fetched
    assert not report.failed
    assert mirror.asked == []


def test_torchs_files_come_by_torchs_loader(mirror, tmp_path) -> None:
    catalog, file = only("tres", source=f"{mirror.address}/models")
    other, missing = only("paq2piq", source=f"{mirror.address}/models")
    mirror.files[f"/models/{file.name}"] = CONTENT
    seen = []
    report = fetch_weights(["tres", "paq2piq"], lambda *arrival: seen.append(arrival), catalog | other)
    assert (tmp_path / "torch" / "hub" / "checkpoints" / file.name).read_bytes() == CONTENT
    assert seen[-1] == (file.name, len(CONTENT), len(CONTENT))
    ((failed, said),) = report.failed
    assert failed == missing
    assert "404" in said
    assert leftovers(tmp_path) == []


def test_a_whole_repository_comes_only_when_it_is_named(mirror) -> None:
    """Of RALI's, which serves other models too, what is needed."""
    catalog = {"rali": metrics()["rali"]}
    (file,) = catalog["rali"].weights
    assert fetch_weights((), None, catalog).too_large == (file,)
    assert mirror.asked == []
    names = ["RALI/best/config.json", "RALI/best/model.safetensors", "RALI/basis.npz", "Q-Insight/big.bin"]
    about = [{"type": "file", "path": name, "size": len(CONTENT), "oid": "0" * 40} for name in names]
    model = {"id": file.name, "sha": REVISION, "siblings": [{"rfilename": name} for name in names]}
    mirror.files |= {f"/{file.name}/resolve/{REVISION}/{name}": CONTENT for name in names}
    mirror.files[f"/api/models/{file.name}"] = json.dumps(model).encode()
    mirror.files[f"/api/models/{file.name}/revision/main"] = json.dumps(model).encode()
    mirror.files[f"/api/models/{file.name}/tree/{REVISION}"] = json.dumps(about).encode()
    report = fetch_weights(["rali"], None, catalog)
    assert not report.failed
    (found,) = report.fetched
    snapshot = found.path.parent
    there = {path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*") if path.is_file()}
    assert there == set(names[:3])
    assert found.sha256 == REVISION


def test_a_place_that_does_not_answer_is_asked_once(mirror, monkeypatch) -> None:
    """As where packets are dropped: nothing comes back, and nothing says so."""
    monkeypatch.setenv("HF_HUB_ETAG_TIMEOUT", "1")
    catalog, file = only("cnniqa")
    other, not_tried = only("musiq")
    for each in (file, not_tried):
        mirror.stalls_after[PYIQA + each.name] = 0
    first, second = fetch_weights((), None, catalog | other).failed
    assert first[0] == file
    assert "timed out" in first[1]
    assert "weights add DIR" in first[1]
    host = mirror.address.removeprefix("http://")
    assert second == (not_tried, f"{not_tried.name} was not tried, since {host} gave no answer.")


def test_a_file_that_stands_still_is_given_up(mirror, tmp_path) -> None:
    catalog, file = only("cnniqa")
    mirror.files[PYIQA + file.name] = CONTENT
    mirror.stalls_after[PYIQA + file.name] = 1_000_000
    fetch = WeightsFetch(["cnniqa"], None, catalog, patience=4)
    ((_, said),) = fetch.run().failed
    assert "nothing came for 4 seconds" in said
    assert find(file).state is WeightsState.MISSING
    assert leftovers(tmp_path) == []


def test_a_cancelled_fetch_leaves_nothing_half_done(mirror, tmp_path) -> None:
    catalog, file = only("cnniqa")
    other, never = only("musiq")
    mirror.files[PYIQA + file.name] = mirror.files[PYIQA + never.name] = CONTENT
    mirror.stalls_after[PYIQA + file.name] = 1_000_000
    arrived = threading.Event()
    fetch = WeightsFetch((), lambda *_arrival: arrived.set(), catalog | other)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(fetch.run)
        assert arrived.wait(60)
        fetch.cancel()
        report = running.result(60)
    assert report.cancelled
    assert (report.fetched, report.failed) == ((), ())
    assert {path for path, _ in mirror.asked if path.endswith(".pth")} == {PYIQA + file.name}
    assert leftovers(tmp_path) == []


def test_a_full_disk_is_told_as_one(mirror, tmp_path) -> None:
    resource = pytest.importorskip("resource")
    catalog, file = only("cnniqa")
    mirror.files[PYIQA + file.name] = CONTENT
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, before[1]))  # as a disk that holds no more
    try:
        ((_, said),) = fetch_weights(["cnniqa"], None, catalog).failed
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert said.startswith(f"{file.name} can't be written: File too large. Make room, or set TORCH_HOME")
    assert leftovers(tmp_path) == []


def test_offline_is_said_at_once_and_an_unreachable_mirror_too(mirror, monkeypatch) -> None:
    catalog, _ = only("cnniqa")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    ((_, said),) = fetch_weights(["cnniqa"], None, catalog).failed
    assert "refused" in said
    assert "HF_ENDPOINT" in said
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(WeightsError, match=r"HF_HUB_OFFLINE is set.*Unset it"):
        fetch_weights(["cnniqa"], None, catalog)
    assert mirror.asked == []


def test_terms_come_first_where_they_are_needed(mirror, monkeypatch) -> None:
    monkeypatch.delenv(terms.VARIABLE)
    catalog, _ = only("cnniqa")
    with pytest.raises(terms.TermsNotAcceptedError):
        fetch_weights(["cnniqa"], None, catalog)
    assert fetch_weights(["rali"], None, {"rali": replace(metrics()["rali"], weights=())}).failed == ()
    with pytest.raises(MetricError, match="no metric 'beauty'"):
        fetch_weights(["beauty"])
    assert mirror.asked == []
