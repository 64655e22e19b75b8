"""Which metrics can score, by which backend, under which method version."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys

import pytest

from banana100_core.catalog.metrics import metrics
from banana100_core.errors import MetricError
from banana100_core.scoring.methods import State, available_backends, ready_methods, statuses

NATIVE = ("brisque", "niqe", "piqe")


@pytest.fixture(autouse=True)
def no_weights(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "huggingface"))


def test_the_native_metrics_score_anywhere():
    assert tuple(ready_methods()) == NATIVE
    assert all(
        re.fullmatch(r"native-\d+;weights=(none|[0-9a-f]{8});float(32|64)", v)
        for v in ready_methods().values()
    )
    assert list(ready_methods(["piqe", "brisque", "musiq"])) == ["brisque", "piqe"]


def test_every_other_metric_says_what_it_lacks_and_the_way_out():
    found = statuses()
    assert list(found) == list(metrics())
    for key, status in found.items():
        assert status.metric == key
        assert (status.method_version is not None) == (status.state is State.READY) == (key in NATIVE)
        if key not in NATIVE:
            assert status.reason
            assert status.way_out


@pytest.mark.skipif(importlib.util.find_spec("pyiqa") is None, reason="pyiqa is not installed")
def test_pyiqas_own_implementation_can_be_chosen_with_the_weights_that_ship():
    status = statuses({"brisque": "pyiqa"})["brisque"]
    assert status.state is State.READY
    weights = ready_methods()["brisque"].split(";")[1]
    assert re.fullmatch(rf"pyiqa-[\d.]+;torch-[\d.]+\S*;{weights};float32", status.method_version)
    assert statuses()["brisque"].backend == "native"


def test_a_backend_that_a_metric_does_not_have_is_refused():
    with pytest.raises(MetricError, match=r"musiq has no backend 'native'\. It has: pyiqa"):
        statuses({"musiq": "native"})
    with pytest.raises(MetricError, match="no metric 'musik'"):
        ready_methods(["musik"])
    assert available_backends("niqe") == ("native", "pyiqa")


def test_asking_imports_neither_torch_nor_pyiqa():
    code = (
        "import sys; from banana100_core.scoring.methods import statuses; statuses();"
        "print([name for name in ('torch', 'pyiqa', 'scipy', 'PySide6') if name in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"
