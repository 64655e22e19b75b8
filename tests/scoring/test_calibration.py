"""pyiqa's published scores of its calibration pictures, by those learned metrics whose weights are here."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from pathlib import Path

import pytest

from banana100_core.processes import WorkerProcess
from banana100_core.project.images import ImageLocation
from banana100_core.scoring.methods import PYIQA, statuses
from banana100_core.scoring.native.score import NATIVE_METRICS
from banana100_core.scoring.worker import Job, Scored, Setup, make_worker

FOLDER = Path(os.environ.get("B100_CALIBRATION", Path(__file__).parents[3] / "shared" / "calibration"))
TOLERANCE = 0.01
SECONDS = 600


def published() -> dict[str, dict[str, float]]:
    """By metric and picture; the native metrics have a test of their own."""
    path = FOLDER / "expected.json"
    values = json.loads(path.read_text())["values"] if path.is_file() else {}
    return {metric: scores for metric, scores in values.items() if metric not in NATIVE_METRICS}


@pytest.mark.slow
@pytest.mark.skipif(not published(), reason="the calibration pictures are not here")
@pytest.mark.parametrize("metric", published() or [""])
def test_published_values_of_learned_metrics(metric) -> None:
    status = statuses()[metric]
    if status.method_version is None:
        pytest.skip(f"{metric} can't score here: {status.reason}")
    worker = WorkerProcess(functools.partial(make_worker, Setup("cpu", 2, {metric: PYIQA})), metric)
    heard = {}
    try:
        for name in published()[metric]:
            path = FOLDER / "pictures" / name
            sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
            events = []
            location = ImageLocation(sha256, FOLDER / "study.b100", path)
            worker.request(Job((location,), (metric,)), SECONDS, events.append)
            (heard[name],) = [event for event in events if isinstance(event, Scored)]
    finally:
        worker.stop()
    assert {name: scored.error for name, scored in heard.items()} == dict.fromkeys(heard)
    assert {name: scored.score for name, scored in heard.items()} == pytest.approx(
        published()[metric], rel=TOLERANCE
    )
