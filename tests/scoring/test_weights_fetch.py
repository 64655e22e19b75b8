"""Fetching weights over HTTP from a mirror that runs here, which breaks off, forgets and lies on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from banana100_core.catalog.metrics import metrics
from banana100_core.errors import MetricError, WeightsError
from banana100_core.scoring import terms
from banana100_core.scoring.weights import WeightsState, find
from banana100_core.scoring.weights_fetch import fetch_weights

hub = pytest.importorskip("huggingface_hub")

CONTENT = bytes(range(256)) * 4096
DIGEST = hashlib.sha256(CONTENT).hexdigest()
REVISION = "0123456789" * 4
PYIQA = "/chaofengc/IQA-PyTorch-Weights/resolve/main/"


@dataclass
class Mirror:
    """Files by path, how many bytes it sends before it hangs up, and what it was asked for."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    hang_up_after: int | None = None
    linked_digest: str | None = None
    resumes: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """An empty mirror, as HF_ENDPOINT, and empty folders for what comes from it."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(head=True)

        def do_GET(self) -> None:
            self._answer()

        def _answer(self, *, head: bool = False) -> None:
            path, asked_for = self.path.partition("?")[0], self.headers.get("Range")
            if not head:
                mirror.asked.append((path, asked_for))
            content = mirror.files.get(path)
            if content is None:
                self.send_error(404)
                return
            start = int(asked_for.removeprefix("bytes=").rstrip("-")) if asked_for and mirror.resumes else 0
            if start and start >= len(content):
                self.send_error(416)
                return
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(content) - start))
            self.send_header("ETag", f'"{mirror.linked_digest or "an-etag"}"')
            self.send_header("X-Repo-Commit", REVISION)
            self.end_headers()
            if not head:
                self.wfile.write(content[start:][: mirror.hang_up_after])

        def log_message(self, *_what: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mirror = Mirror(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", mirror.address)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    for name in (
        *("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HUB_OFFLINE", "BANANA100_RALI"),
        *("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"),
    ):
        monkeypatch.delenv(name, raising=False)
    yield mirror
    server.shutdown()
    thread.join()
    server.server_close()


def only(key: str, index: int = 0, **changes: object):
    """A catalog of one metric that needs one of its files, as if this content had been published."""
    each = metrics()[key]
    file = replace(each.weights[index], **({"sha256": DIGEST} | changes))
    return {key: replace(each, weights=(file,))}, file


def leftovers(path) -> list[str]:
    return [each.name for each in path.rglob("*.part")]


def test_a_file_comes_from_the_mirror_into_its_place(mirror, tmp_path) -> None:
    catalog, file = only("cnniqa")
    mirror.files[PYIQA + file.name] = CONTENT
    seen = []
    report = fetch_weights((), lambda *arrival: seen.append(arrival), catalog)
    assert [found.file for found in report.fetched] == [file]
    assert not report.failed
    assert (find(file).state, find(file).path.read_bytes()) == (WeightsState.PRESENT, CONTENT)
    assert leftovers(tmp_path) == []
    assert seen[0] == (file.name, 0, len(CONTENT))
    assert seen[-1] == (file.name, len(CONTENT), len(CONTENT))
    again = fetch_weights(["cnniqa"], None, catalog)
    assert not again.fetched, "what is there is not fetched"
    assert len(mirror.asked) == 1


@pytest.mark.parametrize("resumes", [True, False])
def test_what_broke_off_is_taken_up_where_it_ended(mirror, tmp_path, resumes) -> None:
    catalog, file = only("cnniqa")
    mirror.files[PYIQA + file.name] = CONTENT
    mirror.hang_up_after, mirror.resumes = 300_000, resumes
    report = fetch_weights(["cnniqa"], None, catalog)
    ((failed, reason),) = report.failed
    assert failed == file
    assert f"{mirror.address}{PYIQA}{file.name} can't be fetched: " in reason
    assert "weights add DIR" in reason
    assert find(file).state is WeightsState.MISSING
    assert len(leftovers(tmp_path)) == 1
    mirror.hang_up_after = None
    assert fetch_weights(["cnniqa"], None, catalog).fetched
    assert mirror.asked[1] == (PYIQA + file.name, "bytes=300000-")
    assert find(file).path.read_bytes() == CONTENT
    assert leftovers(tmp_path) == []


def test_a_file_that_was_whole_when_the_program_ended_is_only_verified(mirror) -> None:
    catalog, file = only("cnniqa")
    mirror.files[PYIQA + file.name] = CONTENT
    path = find(file).path
    path.parent.mkdir(parents=True)
    path.with_name(f"{path.name}.part").write_bytes(CONTENT)
    assert fetch_weights(["cnniqa"], None, catalog).fetched
    assert path.read_bytes() == CONTENT


def test_what_is_not_the_file_is_removed_and_never_put_in_place(mirror, tmp_path) -> None:
    catalog, file = only("cnniqa")
    mirror.files[PYIQA + file.name] = CONTENT[::-1]
    report = fetch_weights(["cnniqa"], None, catalog)
    ((_, reason),) = report.failed
    assert hashlib.sha256(CONTENT[::-1]).hexdigest() in reason
    assert DIGEST in reason
    assert find(file).state is WeightsState.MISSING
    assert leftovers(tmp_path) == []


def test_a_file_of_no_known_digest_is_held_against_the_one_it_is_kept_under(mirror) -> None:
    catalog, file = only("liqe", 1, sha256=None)
    mirror.files[PYIQA + file.name] = CONTENT
    mirror.linked_digest = "f" * 64
    ((_, reason),) = fetch_weights(["liqe"], None, catalog).failed
    assert "f" * 64 in reason
    mirror.linked_digest = DIGEST
    assert fetch_weights(["liqe"], None, catalog).fetched
    assert find(file).state is WeightsState.UNVERIFIED


def test_other_places_than_hugging_face_are_asked_themselves(mirror, tmp_path) -> None:
    catalog, file = only("tres", source=f"{mirror.address}/models")
    mirror.files[f"/models/{file.name}"] = CONTENT
    assert fetch_weights(["tres"], None, catalog).fetched
    assert (tmp_path / "torch" / "hub" / "checkpoints" / file.name).read_bytes() == CONTENT


def test_a_file_of_a_repository_is_found_by_hugging_face(mirror) -> None:
    catalog, file = only("topiq_nr")
    mirror.files[f"/{file.name}/resolve/main/{file.file}"] = CONTENT
    assert fetch_weights(["topiq_nr"], None, catalog).fetched
    path = find(file).path
    assert hub.try_to_load_from_cache(file.name, file.file, cache_dir=path.parents[3]) == str(path)


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
    mirror.files[f"/api/models/{file.name}/revision/main"] = json.dumps(model).encode()
    mirror.files[f"/api/models/{file.name}/tree/{REVISION}"] = json.dumps(about).encode()
    report = fetch_weights(["rali"], None, catalog)
    assert not report.failed
    (found,) = report.fetched
    snapshot = found.path.parent
    there = {path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*") if path.is_file()}
    assert there == set(names[:3])
    assert found.sha256 == REVISION


def test_one_that_is_not_there_does_not_keep_the_others(mirror) -> None:
    catalog, file = only("cnniqa")
    other, missing = only("musiq")
    mirror.files[PYIQA + file.name] = CONTENT
    report = fetch_weights((), None, other | catalog)
    assert [found.file for found in report.fetched] == [file]
    ((failed, reason),) = report.failed
    assert failed == missing
    assert "404" in reason or "Not Found" in reason


def test_offline_is_said_at_once_and_an_unreachable_mirror_too(mirror, monkeypatch) -> None:
    catalog, _ = only("cnniqa")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    ((_, reason),) = fetch_weights(["cnniqa"], None, catalog).failed
    assert "Connection refused" in reason
    assert "HF_ENDPOINT" in reason
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
