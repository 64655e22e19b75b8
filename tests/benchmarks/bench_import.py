"""Importing a folder of 28,000 pictures against hashing the same files."""

from __future__ import annotations

import hashlib
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from PIL import Image

from banana100_core.exchange.folder import import_folder, preview_folder
from banana100_core.project import Project
from tests.benchmarks.bench import BenchRow

RUNS, STEPS = 280, 100
LIMIT_SECONDS = 60.0


def rows() -> list[BenchRow]:
    """Time the preview and the import of 280 runs of 100 steps, with a side file of a prompt for each."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "set"
        _make_pictures(root)
        _hash_all(root)  # so that both find the files in memory
        hashing = _timed(lambda: _hash_all(root))
        with Project.create(Path(folder) / "import.b100") as project:
            started = time.perf_counter()
            preview = preview_folder(root)
            previewed = time.perf_counter() - started
            report = import_folder(project, preview)
            ours = time.perf_counter() - started
            again = _timed(lambda: import_folder(project, preview_folder(root)))
    assert report.steps_added == RUNS * STEPS
    beside = ours - hashing
    return [
        BenchRow(
            "import 28,000 files, beside hashing them",
            f"{beside:.1f} s",
            f"hashing {hashing:.1f} s",
            beside / LIMIT_SECONDS,
            f"limit {LIMIT_SECONDS:.0f} s: 1 or less",
            beside <= LIMIT_SECONDS,
        ),
        BenchRow(
            "preview a folder of 28,000 files",
            f"{previewed:.1f} s",
            f"hashing {hashing:.1f} s",
            previewed / 10,
            "limit 10 s: 1 or less",
            previewed <= 10,
        ),
        BenchRow(
            "import the same 28,000 files again",
            f"{again:.1f} s",
            f"first time {ours:.1f} s",
            ours / again,
            "faster than the first: 1 or more",
            again <= ours,
        ),
    ]


def _make_pictures(root: Path) -> None:
    pixels = np.zeros((4, 4, 3), np.uint8)
    prompts = ["file,prompt"]
    for run in range(RUNS):
        folder = root / f"Initial{run % 14:02}" / "replicate" / f"run{run // 14 + 1}"
        folder.mkdir(parents=True)
        for step in range(1, STEPS + 1):
            pixels[0, 0], pixels[0, 1] = run % 256, step
            pixels[0, 2] = run // 256
            file = folder / f"step_{step:03}.png"
            Image.fromarray(pixels).save(file, compress_level=0)
            prompts.append(f"{file.relative_to(root).as_posix()},Replicate it.")
    (root / "prompts.csv").write_text("\n".join(prompts))


def _hash_all(root: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda path: hashlib.sha256(path.read_bytes()).hexdigest(), root.rglob("*.png")))


def _timed(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
