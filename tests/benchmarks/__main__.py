"""Run the benchmarks and print one row each: `python -m tests.benchmarks [NAME ...]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.benchmarks.bench import BenchRow

LAYOUT = "{:<72} {:>14} {:>22} {:>8}  {:<26} {}"


ONLY_WHEN_ASKED = {"viewers"}  # it downloads other programs


def benchmarks() -> list[str]:
    """Names of the benchmark modules that run unasked, without their `bench_` prefix."""
    names = {path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py")}
    return sorted(names - ONLY_WHEN_ASKED)


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; 1 when a target is not met."""
    print(LAYOUT.format("name", "ours", "peer or limit", "ratio", "target", "met"), flush=True)
    missed = 0
    for name in names or benchmarks():
        rows: list[BenchRow] = importlib.import_module(f"tests.benchmarks.bench_{name}").rows()
        for row in rows:
            missed += not row.met
            met = "met" if row.met else "NOT MET"
            print(
                LAYOUT.format(row.name, row.ours, row.peer, f"{row.ratio:.2f}", row.target, met), flush=True
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
