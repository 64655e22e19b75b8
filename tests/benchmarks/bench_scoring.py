"""Scoring by PIQE, BRISQUE and NIQE against pyiqa's own command line: same pictures, same machine, same run.

On a graphics card by eight learned metrics too, where there is one. B100_BENCH_SMALL and B100_BENCH_LARGE set
how many pictures there are of each size, 0 for none.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from PIL import Image

from tests.benchmarks import scoring_on_gpu
from tests.benchmarks.bench import BenchRow

METRICS = ("piqe", "brisque", "niqe")
SMALL = (1408, 752, int(os.environ.get("B100_BENCH_SMALL", "20")), 4.0)
LARGE = (5504, 3072, int(os.environ.get("B100_BENCH_LARGE", "10")), 8.0)
MEMORY_RATIO = 3.0

# The highest memory of a process, without that of the one which started it: getrusage mixes the two.
PEAK = """
from pathlib import Path
def peak_of(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])
"""
# Both count from when their libraries are imported until the last score is written down.
# pyiqa gives way to other programs as our workers do, so that a busy machine slows both alike.
PYIQA = """
import json, os, sys, time
os.nice(10)
from pyiqa.pyiqa_cmd import main
began = time.perf_counter()
sys.argv = ["pyiqa", *sys.argv[2:], "--device", "cpu", "--target", sys.argv[1]]
main()
seconds = time.perf_counter() - began
print("\\nmeasured " + json.dumps([seconds, peak_of("self")]))
"""
OURS = """
import json, sys, tempfile, time
from banana100_core.exchange.folder import import_folder, preview_folder
from banana100_core.project import Project
from banana100_core.scoring.pool import ScoringPool
with tempfile.TemporaryDirectory() as folder, Project.create(Path(folder) / "bench.b100") as project:
    import_folder(project, preview_folder(Path(sys.argv[1])))
    began = time.perf_counter()
    pool = ScoringPool(project, metrics=sys.argv[2:], devices=["cpu"])
    pool.start()
    pool.request_missing()
    pool.wait()
    seconds = time.perf_counter() - began
    progress = pool.progress()
    peak = peak_of("self") + sum(peak_of(pid) for pid in pool.worker_pids())
    pool.close()
assert progress.done == progress.total and not progress.failed, progress
print("\\nmeasured " + json.dumps([seconds, peak]))
"""


@dataclass(frozen=True)
class _Measured:
    seconds: float
    peak_bytes: int


def rows() -> list[BenchRow]:
    """Measure both at both sizes; where pyiqa is not installed there is nothing to compare with."""
    if importlib.util.find_spec("pyiqa") is None:
        return [BenchRow("scoring against pyiqa", "-", "not installed", 0.0, "needs pyiqa", met=True)]
    with tempfile.TemporaryDirectory() as folder:
        torch_home = Path(folder) / "torch"
        _write_weights(torch_home / "hub" / "pyiqa")
        compared = [
            row
            for width, height, count, target in (SMALL, LARGE)
            if count
            for row in _compare(Path(folder), torch_home, width, height, count, target)
        ]
        return compared + scoring_on_gpu.rows(Path(folder), _make_pictures)


def _compare(
    folder: Path, torch_home: Path, width: int, height: int, count: int, target: float
) -> list[BenchRow]:
    pictures = folder / f"{width}x{height}"
    _make_pictures(pictures, width, height, count)
    ours = _measure(OURS, pictures, torch_home)
    peer = _measure(PYIQA, pictures, torch_home)
    speed, memory = peer.seconds / ours.seconds, peer.peak_bytes / ours.peak_bytes
    name = f"score {count} pictures of {width} x {height}"
    return [
        BenchRow(
            name,
            f"{count / ours.seconds:.2f} a second",
            f"pyiqa {count / peer.seconds:.2f} a second",
            speed,
            f"speed: {target:g} or more",
            speed >= target,
        ),
        BenchRow(
            f"{name}: peak memory",
            f"{ours.peak_bytes / 1e9:.2f} GB",
            f"pyiqa {peer.peak_bytes / 1e9:.2f} GB",
            memory,
            f"{MEMORY_RATIO:g} times less or better",
            memory >= MEMORY_RATIO,
        ),
    ]


def _make_pictures(folder: Path, width: int, height: int, count: int) -> None:
    """Tile a photograph and its mirror images, each picture from another place and with noise of its own."""
    import skimage.data

    photograph = skimage.data.astronaut()
    row = np.concatenate([photograph, photograph[:, ::-1]], axis=1)
    tile = np.concatenate([row, row[::-1]], axis=0)
    repeats = (-(-height // tile.shape[0]) + 1, -(-width // tile.shape[1]) + 1, 1)
    plane = np.tile(tile, repeats)
    folder.mkdir()
    for number in range(count):
        random = np.random.default_rng(number)
        top, left = random.integers(0, tile.shape[0]), random.integers(0, tile.shape[1])
        pixels = plane[top : top + height, left : left + width].astype(np.int16)
        pixels += random.integers(-3, 4, (height, width, 1), dtype=np.int16)
        picture = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
        picture.save(folder / f"picture_{number:03}.png", compress_level=1)


def _write_weights(folder: Path) -> None:
    """Write the parameters that ship with us as pyiqa expects them; they are the same."""
    import scipy.io
    import torch

    folder.mkdir(parents=True)
    with files("resources").joinpath("weights", "brisque_svm.npz").open("rb") as file, np.load(file) as data:
        vectors = torch.from_numpy(data["sv_coef"]), torch.from_numpy(data["sv"])
    torch.save(vectors, folder / "brisque_svm_weights.pth")
    with (
        files("resources").joinpath("weights", "niqe_pristine.npz").open("rb") as file,
        np.load(file) as data,
    ):
        scipy.io.savemat(folder / "niqe_modelparameters.mat", dict(data))


def _measure(script: str, pictures: Path, torch_home: Path) -> _Measured:
    environment = os.environ | {
        "TORCH_HOME": str(torch_home),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PEAK + script, str(pictures), *METRICS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"a benchmark failed:\n{done.stderr}")
    last = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("measured "))
    return _Measured(*json.loads(last.removeprefix("measured ")))
