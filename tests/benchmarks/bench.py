"""One row of the benchmark table: a figure of ours beside a peer's or a physical limit, from the same run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BenchRow:
    """`ratio` is peer over ours for speed, ours over the limit for limits; `target` says what it is to be."""

    name: str
    ours: str
    peer: str
    ratio: float
    target: str
    met: bool
