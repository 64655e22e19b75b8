"""The Gemini editor: the real client against a local server that speaks the service's protocol."""

from __future__ import annotations

import base64
import sys

import pytest

from banana100_core.catalog.faults import Fault
from banana100_core.errors import ProviderError
from banana100_core.generation.editor import EditSettings, NoAnswerError, Trouble
from banana100_core.generation.fake_gemini import MODEL_VERSION
from banana100_core.generation.keys import key_place, store_key
from banana100_core.generation.providers import capabilities, editor
from banana100_core.imaging.decode import inspect, sniff_media_type

PRO = ("gemini", "gemini-3-pro-image")
PROMPT = "Produce an exact replica of the provided image, with no alterations."


@pytest.fixture
def gemini():
    """An editor whose connections are closed in the end."""
    made = editor(*PRO)
    yield made
    made.close()


def asked(gemini, image, **settings):
    return gemini.edit(image, PROMPT, EditSettings(**settings))


def test_bytes_go_out_and_come_back_untouched_with_all_that_was_said(fake, gemini, make_png) -> None:
    server = fake()
    server.keep_bodies = True
    image = make_png(48, 32)
    result = asked(gemini, image, seed=7, temperature=0.0, resolution="2K", aspect_ratio="3:2")
    [body] = server.bodies
    inline, prompt = body["contents"][0]["parts"]
    [sent] = [value for name, value in inline.items() if "nline" in name]
    assert base64.urlsafe_b64decode(sent["data"]) == image
    assert prompt == {"text": PROMPT}
    config = str(body["generationConfig"]).lower().replace("_", "")
    for expected in (
        "'seed': 7",
        "'temperature': 0.0",
        "'imagesize': '2k'",
        "'aspectratio': '3:2'",
        "thoughts",
    ):
        assert expected in config
    assert result.data == server.edited(image, seed=7)[0]
    assert result.declared_media_type == sniff_media_type(result.data) == "image/jpeg"
    assert (inspect(result.data).width, inspect(result.data).height) == (48, 32)
    assert (result.model_version, result.finish_reason) == (MODEL_VERSION, "STOP")
    assert (result.input_tokens, result.output_tokens) == (1305, 1395)
    assert result.cost_usd == pytest.approx((1305 * 2 + 275 * 12 + 1120 * 120) / 1e6)
    assert result.reasoning.startswith("**Analyzing the Image**")
    assert "**Assessing Quality**" in result.reasoning
    assert result.evaluates_from == 1  # the model looked at a draft before it wrote the second section
    assert "google-genai" in result.notes[0]


def test_a_jpeg_is_sent_as_what_it_is_whatever_it_was_called(fake, gemini, make_png) -> None:
    fake(Fault.MISLABELLED)
    first = asked(gemini, make_png(48, 32), seed=3)
    assert (first.declared_media_type, sniff_media_type(first.data)) == ("image/png", "image/jpeg")
    assert asked(gemini, first.data).data  # the server refuses what is not of the type that it is called


@pytest.mark.parametrize(
    ("fault", "trouble", "words"),
    [
        (Fault.OVERLOADED, Trouble.BUSY, "503 UNAVAILABLE: The model is overloaded"),
        (Fault.RATE_LIMITED, Trouble.BUSY, "429 RESOURCE_EXHAUSTED"),
        (Fault.CUT, Trouble.BUSY, "connection to Gemini failed"),
        (Fault.NO_IMAGE, Trouble.NO_IMAGE, "gave no image (NO_IMAGE)"),
        (Fault.SAFETY, Trouble.NO_IMAGE, "gave no image (IMAGE_SAFETY)"),
        (Fault.BLOCKED, Trouble.NO_IMAGE, "blocked the prompt (PROHIBITED_CONTENT)"),
        (Fault.UNAUTHORISED, Trouble.FINAL, "401 UNAUTHENTICATED"),
        (Fault.RETIRED, Trouble.FINAL, "resume PROJECT --run RUN --model MODEL"),
    ],
)
def test_each_fault_is_told_with_what_is_to_be_done(fake, gemini, make_png, fault, trouble, words) -> None:
    server = fake(fault)
    with pytest.raises(NoAnswerError) as told:
        asked(gemini, make_png(48, 32))
    assert told.value.trouble is trouble
    assert words in str(told.value)
    assert told.value.retry_after == (0.05 if fault is Fault.RATE_LIMITED else None)
    # Nothing is asked for twice behind the executor's back.
    assert server.accepted == server.struck[fault] == 1


def test_what_an_answer_without_image_used_is_known(fake, gemini, make_png) -> None:
    fake(Fault.NO_IMAGE)
    with pytest.raises(NoAnswerError) as told:
        asked(gemini, make_png(48, 32))
    assert told.value.result.input_tokens == 1305
    assert told.value.result.cost_usd == pytest.approx(0.00261)
    assert told.value.result.finish_reason == "NO_IMAGE"


def test_an_image_of_the_reasoning_is_taken_and_noted(fake, gemini, make_png) -> None:
    fake(Fault.THOUGHT_ONLY)
    assert "reasoning only" in asked(gemini, make_png(48, 32)).notes[1]


@pytest.mark.filterwarnings("error")
def test_a_finish_reason_that_nobody_knows_is_kept(fake, gemini, make_png) -> None:
    fake(Fault.UNKNOWN_FINISH)
    assert asked(gemini, make_png(48, 32)).finish_reason == "IMAGE_QUALITY_LIMIT"


def test_an_answer_of_30_mb_is_taken_whole_and_slow_ones_are_waited_for(fake, gemini, make_png) -> None:
    fake(Fault.SLOW, Fault.LARGE)
    large = asked(gemini, make_png(48, 32))
    assert len(large.data) > 30 * 2**20
    assert inspect(large.data).width == 48
    assert asked(gemini, large.data).data


def test_a_key_that_the_service_quotes_is_taken_out(fake, gemini, make_png, caplog, secret) -> None:
    caplog.set_level(0)
    fake(Fault.UNAUTHORISED)
    with pytest.raises(NoAnswerError) as told:
        asked(gemini, make_png(48, 32))
    assert "[API key]" in str(told.value)
    assert told.value.__cause__ is None
    assert told.value.__suppress_context__
    assert secret not in str(told.value) + caplog.text


def test_without_a_key_it_says_where_one_goes(fake, gemini, make_png, monkeypatch) -> None:
    server = fake()
    monkeypatch.delenv("GEMINI_API_KEY")
    with pytest.raises(
        ProviderError, match=r"GOOGLE_API_KEY or GEMINI_API_KEY.*keyring set banana100 gemini"
    ):
        asked(gemini, make_png(48, 32))
    assert server.accepted == 0


def test_the_key_comes_from_the_systems_keyring_too(fake, gemini, make_png, monkeypatch, secret) -> None:
    keyring = pytest.importorskip("keyring")
    before = keyring.get_keyring()  # which would else choose among the classes there are, the next one too

    class Memory(keyring.backend.KeyringBackend):
        priority = 1

        def get_password(self, service, username):
            return secret if (service, username) == ("banana100", "gemini") else None

        def set_password(self, service, username, password): ...

        def delete_password(self, service, username): ...

    fake()
    monkeypatch.delenv("GEMINI_API_KEY")
    keyring.set_keyring(Memory())
    try:
        assert asked(gemini, make_png(48, 32)).data
    finally:
        keyring.set_keyring(before)


def test_an_image_of_no_known_type_is_not_sent(fake, gemini) -> None:
    server = fake()
    with pytest.raises(Exception, match="not sent"):
        asked(gemini, b"nothing")
    assert server.accepted == 0


def test_a_model_that_the_catalog_lacks_is_priced_as_the_dearest() -> None:
    unknown = capabilities("gemini", "gemini-9-image")
    assert unknown.usd_per_image == capabilities(*PRO).usd_per_image
    assert unknown.usd_per_image[0] == pytest.approx(0.134)
    with pytest.raises(ProviderError, match="gemini-3-pro-image"):
        capabilities("gemini", "another")


def test_the_reasoning_admits_noise_late(fake, gemini, make_png) -> None:
    fake()
    image, admitted = make_png(48, 32), []
    for step in range(1, 15):
        result = asked(gemini, image, seed=step)
        admitted.append("noise" in result.reasoning)
        image = result.data
    assert admitted == [False] * 11 + [True] * 3


def test_the_editor_is_known_before_the_client_is_imported() -> None:
    import subprocess

    code = (
        "import sys; from banana100_core.generation.providers import capabilities, editor\n"
        "editor('gemini', 'gemini-3-pro-image'); print('google.genai' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_a_key_goes_into_the_keyring_and_its_place_is_told(
    fake, gemini, make_png, monkeypatch, secret
) -> None:
    keyring = pytest.importorskip("keyring")
    before = keyring.get_keyring()  # which would else choose among the classes there are, the next one too

    class Memory(keyring.backend.KeyringBackend):
        priority = 1
        locked = False

        def __init__(self):
            super().__init__()
            self.kept = {}

        def get_password(self, service, username):
            return self.kept.get((service, username))

        def set_password(self, service, username, password):
            if self.locked:
                raise RuntimeError(f"locked, and no place for {password}.")
            self.kept[service, username] = password

        def delete_password(self, service, username): ...

    fake()
    assert key_place("gemini") == "the environment variable GEMINI_API_KEY"
    monkeypatch.delenv("GEMINI_API_KEY")
    memory = Memory()
    keyring.set_keyring(memory)
    try:
        assert key_place("gemini") == ""
        store_key("gemini", f" {secret}\n")
        assert key_place("gemini") == "the system's keyring"
        assert asked(gemini, make_png(48, 32)).data
        Memory.locked = True
        with pytest.raises(ProviderError) as told:
            store_key("gemini", secret)
    finally:
        keyring.set_keyring(before)
    assert "locked, and no place for [API key]" in str(told.value)
    assert secret not in str(told.value)
