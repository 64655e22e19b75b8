"""What a worker's memory does: it stays level over a thousand pictures, and within what is allowed."""

from __future__ import annotations

import functools
import hashlib
import statistics
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

from banana100_core.processes import WorkerProcess
from banana100_core.project.images import ImageLocation
from banana100_core.scoring.driver import _environment
from banana100_core.scoring.methods import NATIVE
from banana100_core.scoring.worker import Job, Scored, Setup, make_worker

METRICS = ("brisque", "niqe", "piqe")
PICTURES = 1000
SETTLED = 100  # pictures, after which memory is level
GROWTH = 25_000_000  # bytes; a picture that stayed would be 50 times as much
SECONDS = 600


@pytest.fixture
def worker():
    """Makes workers, and ends them."""
    made = []

    def make(**limits: int) -> WorkerProcess:
        setup = Setup("cpu", 1, dict.fromkeys(METRICS, NATIVE), **limits)
        factory = functools.partial(make_worker, setup)
        made.append(WorkerProcess(factory, "memory", environment=_environment(threads=1)))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def picture(folder: Path, width: int, height: int, seed: int) -> ImageLocation:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    path = folder / f"{width}x{height}-{seed}.bmp"
    Image.fromarray(pixels).save(path)
    return ImageLocation(hashlib.sha256(path.read_bytes()).hexdigest(), folder / "study.b100", path)


@pytest.mark.slow
def test_memory_is_level_after_the_first_hundred_pictures(worker, tmp_path) -> None:
    sizes = np.random.default_rng(0).integers(96, 230, (50, 2))
    pictures = [picture(tmp_path, *size, seed) for seed, size in enumerate(sizes.tolist())]
    process, scored, resident = worker(), [], []
    for number in range(PICTURES):
        job = Job((pictures[number % 50],), METRICS, (pictures[(number + 1) % 50],))
        process.request(job, SECONDS, lambda event: scored.append(isinstance(event, Scored) and event.error))
        resident.append(psutil.Process(process.pid).memory_info().rss)
    assert scored.count(None) == PICTURES * len(METRICS)
    settled = statistics.median(resident[SETTLED : 2 * SETTLED])
    assert statistics.median(resident[-SETTLED:]) - settled < GROWTH


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_a_picture_is_scored_within_what_is_allowed_or_not_at_all(worker, tmp_path) -> None:
    allowed, heard = 320_000_000, []
    process = worker(max_memory=allowed)
    for size in ((3000, 2500), (5504, 3072)):
        process.request(Job((picture(tmp_path, *size, 0),), METRICS), SECONDS, heard.append)
    errors = [event.error for event in heard if isinstance(event, Scored)]
    assert errors[:3] == [None] * 3
    assert all(
        "would need about 0.4 GB for this picture; 0.3 GB are allowed" in error for error in errors[3:]
    )
    status = Path(f"/proc/{process.pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]
    assert int(peak) * 1024 < allowed
