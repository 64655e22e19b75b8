"""Images and a small study for the tests of the project file, and a look at its folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from banana100_core.project.images import NewImage
from banana100_core.project.records import Image, NewRun, NewScore, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps, steps
from banana100_core.project.scores import add_scores


@pytest.fixture
def new_image():
    """Makes an image to store; its bytes stand for a picture, since a project file never decodes one."""

    def make(name: object = 0, *, file: Path | None = None) -> NewImage:
        data = f"picture {name} ".encode() * 50
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        image = Image(hashlib.sha256(data).hexdigest(), 64, 48, "image/png", len(data))
        return NewImage(image, None if file is not None else data, file)

    return make


@pytest.fixture
def new_run():
    """Makes a run to add."""

    def make(**values) -> NewRun:
        defaults = {
            "initial_image": "Dongpo",
            "provider": "codec_loss",
            "model": "jpeg",
            "protocol": "replicate",
            "steps_planned": 20,
        }
        return NewRun(**defaults | values)

    return make


@pytest.fixture
def add_study(new_image, new_run):
    """Adds a run with its initial image and `count` steps, scored by BRISQUE and NIQE; gives the run's id."""

    def add(project, count: int = 20, **values) -> int:
        run_id = add_run(project, new_run(**values))
        add_steps(
            project,
            [
                (
                    NewStep(run_id, number, Outcome.DONE if number else Outcome.INITIAL, prompt="Replicate."),
                    new_image((run_id, number)),
                )
                for number in range(count + 1)
            ],
        )
        for metric in ("brisque", "niqe"):
            add_scores(
                project,
                [
                    NewScore(step.image.sha256, metric, "test-1", 30.0 - step.number)
                    for step in steps(project, run_id)
                ],
            )
        return run_id

    return add


@pytest.fixture
def content():
    """Gives a folder's files with their bytes, to tell that nothing was changed."""

    def read(folder: Path) -> dict[str, bytes]:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }

    return read


@pytest.fixture
def open_folder():
    """A folder that every user can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="banana100-"))
    folder.chmod(0o755)
    yield folder
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def as_other_user():
    """Runs statements in a process that is nobody when the tests are root's, else one of this user's.

    It gives what they print; an error of the project is printed as its type and message.
    """
    script = """
import os, sys
from pathlib import Path
import sqlite_utils.migrations
from banana100_core.errors import BananaError
from banana100_core.project import Project, catalog, migrations, runs, check, pack
path = Path(sys.argv[1])
catalog.metrics(), catalog.failure_modes()
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    exec(sys.argv[2])
except BananaError as error:
    print(f"{type(error).__name__}: {error}")
"""

    def run(path: Path, statements: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", script, str(path), statements],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run
