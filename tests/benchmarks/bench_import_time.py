"""How long the core takes to import, beside an interpreter that imports nothing."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from tests.benchmarks.bench import BenchRow

LIMIT = 0.3
RUNS = 7


def rows() -> list[BenchRow]:
    """Time fresh interpreters, with and without the import, in turn."""
    ours, bare = [], []
    for _ in range(RUNS):
        bare.append(_seconds("pass"))
        ours.append(_seconds("import banana100_core"))
    seconds = statistics.median(ours) - statistics.median(bare)
    return [
        BenchRow(
            "import banana100_core",
            f"{seconds * 1000:.0f} ms",
            f"{LIMIT * 1000:.0f} ms",
            seconds / LIMIT,
            "at most 1 of the limit",
            seconds <= LIMIT,
        )
    ]


def _seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start
