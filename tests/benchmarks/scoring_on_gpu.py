"""Scoring by eight learned metrics on a graphics card against pyiqa's own command line, with random weights.

B100_BENCH_GPU sets how many pictures there are; B100_BENCH_GPU_DEVICE=cpu tries it out where there is none.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from banana100_core.scoring import terms
from banana100_core.scoring.devices import graphics_cards
from tests.benchmarks.bench import BenchRow

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ("cnniqa", "dbcnn", "hyperiqa", "musiq", "nima", "paq2piq", "topiq_nr", "wadiqam_nr")
PICTURES = int(os.environ.get("B100_BENCH_GPU", "100"))
WIDTH, HEIGHT = 1408, 752
SPEED = 3.0
UTILISATION = 90.0  # per cent, aimed at
NAME = f"score {PICTURES} pictures of {WIDTH} x {HEIGHT} by {len(METRICS)} learned metrics"
REFERENCE = Path(__file__).parents[1] / "scoring" / "pyiqa_reference.py"

PYIQA = """
import json, os, sys, time
os.nice(10)
from pyiqa.archs import niqe_arch, nrqm_arch, topiq_arch
from pyiqa.pyiqa_cmd import main
began = time.perf_counter()
device, target, *metrics = sys.argv[1:]
sys.argv = ["pyiqa", *metrics, "--device", device, "--target", target]
main()
print("\\nmeasured " + json.dumps([time.perf_counter() - began, None]))
"""
OURS = """
import json, sys, tempfile, threading, time
from dataclasses import replace
from pathlib import Path
from banana100_core.catalog.metrics import metrics
from banana100_core.exchange.folder import import_folder, preview_folder
from banana100_core.project import Project
from banana100_core.scoring.pool import ScoringPool
from banana100_core.scoring.weights import find

def as_found(metric):
    return replace(metric, weights=tuple(replace(file, sha256=find(file).sha256) for file in metric.weights))

def watch(done, seen):
    try:
        import pynvml
        pynvml.nvmlInit()
        card = pynvml.nvmlDeviceGetHandleByIndex(0)
    except Exception:
        return
    while not done.wait(0.1):
        seen.append(pynvml.nvmlDeviceGetUtilizationRates(card).gpu)

device, target, *chosen = sys.argv[1:]
catalog = {key: as_found(each) if key in chosen else each for key, each in metrics().items()}
done, seen = threading.Event(), []
with tempfile.TemporaryDirectory() as folder, Project.create(Path(folder) / "bench.b100") as project:
    import_folder(project, preview_folder(Path(target)))
    watcher = threading.Thread(target=watch, args=(done, seen))
    watcher.start()
    began = time.perf_counter()
    pool = ScoringPool(project, metrics=chosen, devices=[device], catalog=catalog)
    pool.start()
    pool.request_missing()
    pool.wait()
    seconds = time.perf_counter() - began
    done.set()
    watcher.join()
    progress = pool.progress()
    pool.close()
assert progress.done == progress.total == len(chosen) * len(list(Path(target).iterdir())), progress
assert not progress.failed, progress
used = sorted(seen)[len(seen) // 10 :]  # without the start, when models are loaded
print("\\nmeasured " + json.dumps([seconds, sum(used) / len(used) if used else None]))
"""


def rows(folder: Path, make_pictures: Callable[[Path, int, int, int], None]) -> list[BenchRow]:
    """Measure both on the first card; where there is none, say so."""
    device = os.environ.get("B100_BENCH_GPU_DEVICE") or next(iter(graphics_cards()), None)
    if device is None:
        return [BenchRow(NAME, "-", "no GPU here", 0.0, f"speed: {SPEED:g} or more on a GPU", met=True)]
    pictures = folder / "for the GPU"
    make_pictures(pictures, WIDTH, HEIGHT, PICTURES)
    environment = os.environ | {
        "TORCH_HOME": str(folder / "torch"),
        "HF_HOME": str(folder / "huggingface"),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "OMP_NUM_THREADS": str(os.cpu_count()),
        terms.VARIABLE: "1",
    }
    wishes = "".join(json.dumps({"make": metric}) + "\n" for metric in METRICS)
    _run([str(REFERENCE)], environment, wishes)
    ours, utilisation = _measure(OURS, device, pictures, environment)
    peer, _ = _measure(PYIQA, device.partition(":")[0], pictures, environment)
    speed = BenchRow(
        f"{NAME} on {device}",
        f"{PICTURES / ours:.2f} a second",
        f"pyiqa {PICTURES / peer:.2f} a second",
        peer / ours,
        f"speed: {SPEED:g} or more",
        peer / ours >= SPEED,
    )
    if utilisation is None:
        return [speed]
    aim = f"aiming at {UTILISATION:g} %"
    return [
        speed,
        BenchRow(
            "the GPU meanwhile", f"{utilisation:.0f} % busy", aim, utilisation / UTILISATION, aim, met=True
        ),
    ]


def _measure(
    script: str, device: str, pictures: Path, environment: dict[str, str]
) -> tuple[float, float | None]:
    printed = _run(["-W", "ignore", "-c", script, device, str(pictures), *METRICS], environment)
    last = next(line for line in reversed(printed.splitlines()) if line.startswith("measured "))
    seconds, utilisation = json.loads(last.removeprefix("measured "))
    return seconds, utilisation


def _run(arguments: list[str], environment: dict[str, str], said: str = "") -> str:
    done = subprocess.run(
        [sys.executable, *arguments], env=environment, input=said, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"a benchmark failed:\n{done.stderr}")
    return done.stdout
