"""Gemini through Vertex: the real client and the real log-in of an account, against the local server."""

from __future__ import annotations

import json
import logging

import pytest

from banana100_core.catalog.faults import Fault
from banana100_core.catalog.judge import judge_model, judge_prompt
from banana100_core.generation.editor import EditSettings, NoAnswerError, Trouble
from banana100_core.generation.executor import Executor
from banana100_core.generation.fake_gemini import ACCOUNT, LOG_IN
from banana100_core.generation.judge import Judge
from banana100_core.generation.limits import Limits
from banana100_core.generation.providers import editor
from banana100_core.project.records import RunState
from banana100_core.project.runs import runs

PRO = ("gemini", "gemini-3-pro-image")


@pytest.fixture
def private_key():
    """A key that an account signs with, in PEM."""
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    from cryptography.hazmat.primitives import serialization

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


@pytest.fixture
def vertex(fake, monkeypatch, tmp_path, private_key):
    """Starts the server and lets the client reach it as Vertex, with a service account's key file."""

    def start(*faults):
        server = fake(*faults)
        account = {
            "type": "service_account",
            "client_email": "study@example.iam.gserviceaccount.com",
            "private_key": private_key,
            "token_uri": server.url + LOG_IN,
        }
        file = tmp_path / "elsewhere" / "account.json"
        file.parent.mkdir()
        file.write_text(json.dumps(account))
        for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "study")
        monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.url)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        return server

    return start


def work_off(project):
    executor = Executor(project, limits=Limits(first_delay=0.01))
    executor.start()
    assert executor.wait(60)
    executor.close()


def test_runs_and_the_judge_go_through_vertex_and_keep_no_credentials(
    vertex, project, plan_runs, private_key, caplog
) -> None:
    caplog.set_level(logging.DEBUG)
    server = vertex()
    plan_runs(project, images=["one"], editor=PRO, steps=2)
    work_off(project)
    assert runs(project)[0].state is RunState.DONE
    judge = Judge(judge_model(), judge_prompt(), Limits(first_delay=0.01))
    try:
        assert judge.admits("I notice noise")[0] is True
    finally:
        judge.close()
    assert server.accepted == 3
    server.faults = (Fault.UNAUTHORISED,)
    plan_runs(project, images=["one"], editor=PRO, steps=2)
    work_off(project)
    reason = runs(project)[1].state_reason
    assert "Check the API key" in reason
    assert "[token]" in reason
    project.close()
    secrets = [ACCOUNT, private_key.splitlines()[1]]
    for file in project.path.parent.glob("*.b100*"):
        assert not any(secret.encode() in file.read_bytes() for secret in secrets), file
    assert not any(secret in caplog.text for secret in secrets)


def test_a_key_of_vertex_is_taken_out_of_what_the_service_says(vertex, monkeypatch, secret, make_png) -> None:
    vertex(Fault.UNAUTHORISED)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT")
    monkeypatch.delenv("GOOGLE_CLOUD_LOCATION")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS")
    monkeypatch.setenv("GOOGLE_API_KEY", secret)
    gemini = editor(*PRO)
    with pytest.raises(NoAnswerError) as told:
        gemini.edit(make_png(48, 32), "any", EditSettings())
    gemini.close()
    assert secret not in str(told.value)
    assert "[API key]" in str(told.value)


def test_an_account_that_can_not_log_in_stops_the_run_with_the_way_out(vertex, monkeypatch, make_png) -> None:
    server = vertex()
    monkeypatch.setattr("banana100_core.generation.fake_gemini.LOG_IN", "/nowhere")
    gemini = editor(*PRO)
    with pytest.raises(NoAnswerError, match="did not accept the account of Vertex") as told:
        gemini.edit(make_png(48, 32), "any", EditSettings())
    gemini.close()
    assert told.value.trouble is Trouble.FINAL
    assert server.accepted == 0


def test_a_retired_preview_names_the_model_that_took_its_place(fake, make_png, monkeypatch) -> None:
    server = fake(Fault.RETIRED)
    monkeypatch.setattr("banana100_core.generation.fake_gemini.RETIRED_MODEL", f"{PRO[1]}-preview")
    gemini = editor(PRO[0], f"{PRO[1]}-preview")
    with pytest.raises(NoAnswerError, match=f"resume PROJECT --run RUN --model {PRO[1]}"):
        gemini.edit(make_png(48, 32), "any", EditSettings())
    gemini.close()
    assert server.accepted == 1
