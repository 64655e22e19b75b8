"""SIGKILL while steps are written: what was acknowledged is there, whole, and nothing twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from banana100_core.project import ImageStorage, Project
from banana100_core.project.check import Severity, check
from banana100_core.project.images import image_bytes
from banana100_core.project.runs import add_run, steps

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import hashlib, sys
from pathlib import Path
from banana100_core.project import Project
from banana100_core.project.images import NewImage
from banana100_core.project.records import Image, NewStep, Outcome
from banana100_core.project.runs import add_step, steps

project = Project.open(Path(sys.argv[1]))
number = len(steps(project, 1))
print("open", flush=True)
while True:
    data = hashlib.sha256(b"%d" % number).digest() * 8192
    image = Image(hashlib.sha256(data).hexdigest(), 64, 64, "image/png", len(data))
    outcome = Outcome.DONE if number else Outcome.INITIAL
    add_step(project, NewStep(1, number, outcome, reasoning="r" * 3000), NewImage(image, data))
    print(number, flush=True)
    number += 1
"""


def acknowledged_before_kill(path: Path, acknowledgements: int) -> list[int]:
    """Let a process write steps, kill it after some were acknowledged; gives those that were."""
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True)
    with writer:
        assert writer.stdout.readline() == "open\n"
        lines = [writer.stdout.readline() for _ in range(acknowledgements)]
        os.kill(writer.pid, signal.SIGKILL)
        lines += writer.stdout.readlines()
    assert writer.returncode == -signal.SIGKILL
    return [int(line) for line in lines if line.endswith("\n")]


@pytest.mark.parametrize("images", list(ImageStorage))
def test_no_acknowledged_step_is_lost_to_a_kill(tmp_path, new_run, images):
    path = tmp_path / "study.b100"
    with Project.create(path, images=images) as project:
        add_run(project, new_run())
    random_numbers = random.Random(7)
    known: list[int] = []
    for _ in range(6):
        known += acknowledged_before_kill(path, random_numbers.randint(1, 15))
        assert not [finding for finding in check(path) if finding.severity is Severity.ERROR]
        with Project.open(path, read_only=True) as project:
            found = [step.number for step in steps(project, 1)]
        # The step that was being written may be there or not; those before it are, once.
        assert found in (known, [*known, len(known)])
        known = found
    with Project.open(path) as project:
        for step in steps(project, 1):
            assert len(image_bytes(project, step.image.sha256)) == 32 * 8192
    assert {entry.name for entry in tmp_path.iterdir()} <= {"study.b100", "study.images"}
