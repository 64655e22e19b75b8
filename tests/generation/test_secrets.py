"""API keys turn up in no error, traceback, log or project, however odd they are and whoever quotes them."""

from __future__ import annotations

import logging
import traceback

import pytest

from banana100_core.catalog.faults import Fault
from banana100_core.catalog.judge import judge_model, judge_prompt
from banana100_core.errors import BananaError
from banana100_core.generation.editor import EditSettings
from banana100_core.generation.executor import Executor
from banana100_core.generation.judge import Judge
from banana100_core.generation.keys import without_key
from banana100_core.generation.limits import Limits
from banana100_core.generation.providers import editor
from banana100_core.project.records import RunState
from banana100_core.project.runs import runs

PRO = ("gemini", "gemini-3-pro-image")
HIDDEN = "topmost-secret"
KEYS = [f"AIza-{HIDDEN}", f"AIza-é-{HIDDEN}", f"AIza\n{HIDDEN}", f"AIza {HIDDEN}\\x00", f"AIza\t{HIDDEN}€"]


def edit(make_png):
    gemini = editor(*PRO)
    try:
        gemini.edit(make_png(48, 32), "any", EditSettings())
    finally:
        gemini.close()


def judge(make_png):
    asked = Judge(judge_model(), judge_prompt(), Limits(first_delay=0.001))
    try:
        asked.admits("all is well")
    finally:
        asked.close()


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("ask", [edit, judge])
@pytest.mark.parametrize("vertex", [False, True])
def test_no_error_tells_a_key(fake, monkeypatch, make_png, caplog, key, ask, vertex) -> None:
    caplog.set_level(logging.DEBUG)
    server = fake(Fault.UNAUTHORISED)
    monkeypatch.setenv("GOOGLE_API_KEY" if vertex else "GEMINI_API_KEY", key)
    if vertex:
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "1")
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.url)
    with pytest.raises(BananaError) as told:
        ask(make_png)
    # What a crash report would have, were nobody to catch it.
    report = "".join(traceback.format_exception(told.value)) + repr(told.value)
    assert HIDDEN not in report
    assert HIDDEN not in caplog.text


@pytest.mark.parametrize("key", KEYS[:2])
def test_no_project_keeps_a_key(fake, monkeypatch, project, plan_runs, caplog, key) -> None:
    caplog.set_level(logging.DEBUG)
    fake(Fault.UNAUTHORISED)
    monkeypatch.setenv("GEMINI_API_KEY", key)
    plan_runs(project, images=["one"], editor=PRO, steps=1)
    executor = Executor(project, limits=Limits(first_delay=0.001))
    executor.start()
    assert executor.wait(60)
    executor.close()
    assert runs(project)[0].state is RunState.STOPPED
    project.close()
    for file in project.path.parent.rglob("*"):
        assert not file.is_file() or HIDDEN.encode() not in file.read_bytes(), file
    assert HIDDEN not in caplog.text


def test_tokens_of_accounts_are_taken_out_too() -> None:
    said = "Request had invalid credentials: Bearer ya29.abc-DEF_1.x and Bearer eyJh.b-c~d/e=="
    assert without_key(said, "") == "Request had invalid credentials: Bearer [token] and Bearer [token]"
