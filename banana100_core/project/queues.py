"""The order in which an annotator goes through runs: shuffled, by a seed that the project keeps."""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING

from banana100_core.project.annotators import annotator_settings, remember

if TYPE_CHECKING:
    from collections.abc import Iterable

    from banana100_core.project.project import Project
    from banana100_core.project.records import Run


def shuffled(project: Project, annotator: str, queue: str, runs: Iterable[Run]) -> list[Run]:
    """Runs in this annotator's order of a queue.

    Each run has its place by itself, so that runs that come or go leave the order of the others.
    """
    seed = seed_of(project, annotator, queue)
    return sorted(runs, key=lambda run: hashlib.sha256(f"{seed} {run.uuid}".encode()).digest())


def seed_of(project: Project, annotator: str, queue: str) -> str:
    """The seed of a queue, drawn when it is first asked for; fixed where it can't be kept."""
    found = annotator_settings(project, annotator).get(_key(queue))
    if found is not None:
        return found
    if project.read_only:
        return f"{project.uuid} {annotator} {queue}"
    return shuffle_again(project, annotator, queue)


def shuffle_again(project: Project, annotator: str, queue: str) -> str:
    """Draw another seed for a queue, keep it and give it."""
    seed = secrets.token_hex(8)
    remember(project, annotator, {_key(queue): seed})
    return seed


def _key(queue: str) -> str:
    return f"seed of {queue}"
