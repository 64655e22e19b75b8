"""Small studies to generate, and editors of an installed package that misbehave."""

from __future__ import annotations

import pytest

from banana100_core.generation.fake_gemini import FakeGemini
from banana100_core.generation.plan import add_plan, make_plan
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage, add_initial_image
from banana100_core.project.runs import steps

RESTORATION_LOOP = ("restoration_loop", "realesr-animevideov3-x2")

TROUBLE = """
import os, threading
from pathlib import Path
from banana100_core.errors import ProviderError
from banana100_core.generation.editor import Capabilities, EditResult

class Editor:
    def __init__(self, capabilities):
        self.capabilities = capabilities

    def edit(self, image, prompt, settings):
        model, marker = self.capabilities.model, Path(__file__).with_name("died")
        if model == "hangs":
            marker.touch()
            threading.Event().wait()
        if model == "dies" or (model == "dies-once" and not marker.exists()):
            marker.touch()
            os._exit(3)
        if model == "refuses":
            raise ProviderError("It won't edit this.")
        if model == "breaks":
            raise ValueError("a fault of its own")
        if model == "lies":
            return EditResult(b"no image", "image/png")
        return EditResult(image + bytes([settings.seed % 256]), "image/gif", reasoning=prompt, cost_usd=0.25)

def capabilities():
    models = ("hangs", "dies", "dies-once", "refuses", "breaks", "lies", "here")
    return [
        Capabilities("trouble", model, "", "", ("image/png",), True, False, model != "here", (0.2, 0.3))
        for model in models
    ]

editor = Editor
"""


@pytest.fixture
def trouble(tmp_path, monkeypatch):
    """The folder of an installed package with the editor `trouble`, whose models are ways to misbehave."""
    folder = tmp_path / "site"
    metadata = folder / "trouble_editor-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: trouble-editor\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[banana100.editors]\ntrouble = trouble_editor\nbroken = missing_package\n"
    )
    (folder / "trouble_editor.py").write_text(TROUBLE)
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture(scope="session")
def plan_runs(make_png):
    """Adds small initial images to a project, and a plan of runs from them; gives the runs' ids."""

    def plan(project, images=("one", "two"), editor=RESTORATION_LOOP, steps=4, repeats=1, size=(48, 32)):
        for seed, name in enumerate(images):
            data = make_png(*size, seed=seed)
            add_initial_image(project, name, NewImage(inspect(data), data=data))
        return add_plan(project, make_plan(images, "replicate", *editor, steps, repeats, seed=11))

    return plan


@pytest.fixture(scope="session")
def images_of():
    """Gives the image hashes of runs, step by step."""
    return lambda project, run_ids: [
        [step.image.sha256 for step in steps(project, run_id) if step.image] for run_id in run_ids
    ]


@pytest.fixture(scope="session")
def secret():
    """The API key of the tests, which must turn up nowhere."""
    return "AIza-a-secret-of-the-tests"


@pytest.fixture
def fake(monkeypatch, secret):
    """Starts a server with faults, and points the client to it."""
    servers = []

    def start(*faults, **options):
        server = FakeGemini(faults=faults, **{"retry_delay": 0.05, "slow_seconds": 0.1, "every": 1} | options)
        servers.append(server)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        monkeypatch.setenv("GEMINI_API_KEY", secret)
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        return server

    yield start
    for server in servers:
        server.close()
