"""The example of docs/editors.md, installed as a package is and put to work."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from banana100_core.generation.executor import Executor
from banana100_core.generation.forecast import Basis, forecast
from banana100_core.generation.plan import make_plan
from banana100_core.generation.providers import offered, providers
from banana100_core.project.reasoning import step_sections
from banana100_core.project.records import RunState
from banana100_core.project.runs import run, steps

PAGE = Path(__file__).parents[2] / "docs" / "editors.md"
TWO_BITS = ("posterise", "2-bit")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The example's files where packages are, with the metadata that an installer writes."""
    files = re.compile(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
    blocks = dict(files.findall(PAGE.read_text("utf-8")))
    project = tomllib.loads(blocks["pyproject.toml"])["project"]
    site = tmp_path / "site"
    metadata = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    [(group, entries)] = project["entry-points"].items()
    lines = [f"{name} = {place}" for name, place in entries.items()]
    (metadata / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
    (site / "banana100_posterise.py").write_text(blocks["banana100_posterise.py"])
    monkeypatch.syspath_prepend(site)


def test_the_example_of_the_documentation_makes_runs(installed, project, plan_runs) -> None:
    assert providers()[-1] == "posterise"
    found, problems = offered()
    assert [one.title for one in found if one.provider == "posterise"] == [
        "Posterise to 4 bits",
        "Posterise to 2 bits",
    ]
    assert problems == []
    [run_id] = plan_runs(project, images=["one"], editor=TWO_BITS, steps=2)
    executor = Executor(project)
    executor.start()
    assert executor.wait(60)
    executor.close()
    assert run(project, run_id).state is RunState.DONE
    made = steps(project, run_id)[2]
    assert (made.settings["bits"], made.model_version) == (2, "posterise 1.0")
    assert [section.evaluates for section in step_sections(made)] == [False, True]
    assert (
        forecast(project, make_plan(["one"], "replicate", *TWO_BITS, 1, 1, 1), {}).time_basis is Basis.TYPICAL
    )
