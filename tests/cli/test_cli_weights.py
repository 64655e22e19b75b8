from __future__ import annotations

import json

import pytest

from tests.scoring.hub_mirror import run_mirror, use_mirror


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "BANANA100_RALI", "BANANA100_VISUALQUALITY_R1"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def offered(tmp_path):
    """A right file, as far as one can know; a wrong one; and one that nobody needs."""
    folder = tmp_path / "offered"
    folder.mkdir()
    for name in ("liqe_koniq.pt", "CNNIQA_koniq10k-e6f14c91.pth", "readme.txt"):
        (folder / name).write_bytes(b"a model")
    return folder


def test_add_says_what_was_taken_what_not_and_what_is_still_missing(banana100, offered) -> None:
    done = banana100("weights", "add", offered, code=1)
    assert "added liqe_koniq.pt: " in done.stdout
    assert "left aside 1 file that no metric needs: readme.txt" in done.stdout
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.startswith("  ")}
    assert lines["NRQM_model.mat"].split() == ["NRQM_model.mat", "missing", "nrqm,", "pi"]
    assert "liqe_koniq.pt" not in lines
    (complaint,) = (line for line in done.stderr.splitlines() if line.startswith("banana100: "))
    assert "CNNIQA_koniq10k-e6f14c91.pth was not taken: its SHA-256 is " in complaint
    report = json.loads(banana100("weights", "add", offered, "--json", code=1).stdout)
    assert [found["file"]["name"] for found in report["added"]] == ["liqe_koniq.pt"]
    assert len(report["missing"]) == len(lines)


def test_list_and_verify_say_what_is_there(banana100, offered, tmp_path) -> None:
    banana100("weights", "add", offered, code=1)
    place = tmp_path / "torch" / "hub" / "pyiqa"
    (place / "ILNIQE_templateModel.mat").write_bytes(b"cut off")
    listed = banana100("weights", "list").stdout
    assert str(place) in listed
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in listed.splitlines() if line[0] == " "}
    assert rows["liqe_koniq.pt"] == "present, digest not known 7 bytes liqe"
    assert rows["ILNIQE_templateModel.mat"] == "wrong file 7 bytes ilniqe"
    assert rows["RN50.pt"] == "missing clipiqa, qualiclip"
    done = banana100("weights", "verify", code=1)
    assert "ILNIQE_templateModel.mat is not the file that it should be" in done.stderr
    assert "banana100 weights add DIR" in done.stderr


def test_metrics_say_where_weights_come_from_and_where_to_put_them(banana100, offered, tmp_path) -> None:
    banana100("weights", "add", offered, code=1)
    shown = banana100("metrics").stdout
    assert "from https://huggingface.co/chaofengc/IQA-PyTorch-Weights" in shown
    assert f"to   {tmp_path / 'torch' / 'hub' / 'clip'}" in shown
    (row,) = (line.split() for line in shown.splitlines() if line.startswith("liqe "))
    assert row[-2:] == ["7", "bytes"]


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A stand-in for the hub."""
    for mirror in run_mirror():
        use_mirror(monkeypatch, mirror, tmp_path)
        yield mirror


def test_fetch_brings_what_is_missing_and_names_what_failed(banana100, mirror, tmp_path) -> None:
    pytest.importorskip("huggingface_hub")
    folder = "/chaofengc/IQA-PyTorch-Weights/resolve/main"
    mirror.files[f"{folder}/NRQM_model.mat"] = b"a model"
    mirror.files[f"{folder}/ILNIQE_templateModel.mat"] = b"another model"
    done = banana100("weights", "fetch", "nrqm", "ilniqe", "--accept-terms", code=1)
    assert f"fetched NRQM_model.mat (7 bytes): {tmp_path / 'torch' / 'hub' / 'pyiqa'}" in done.stdout
    assert "fetching NRQM_model.mat, 7 bytes" in done.stderr
    assert "ILNIQE_templateModel.mat has the SHA-256" in done.stderr
    again = banana100("weights", "fetch", "nrqm")
    assert again.stdout == "nothing is missing\n"
    report = json.loads(banana100("weights", "fetch", "ilniqe", "--json", code=1).stdout)
    assert [file["name"] for file, _reason in report["failed"]] == ["ILNIQE_templateModel.mat"]
