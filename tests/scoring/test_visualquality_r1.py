"""VisualQuality-R1 on a tiny model of its true class, with random weights and a tokenizer built here."""

from __future__ import annotations

import functools
import hashlib
import json

import numpy as np
import pytest

from banana100_core.errors import MetricError, WeightsError
from banana100_core.processes import WorkerProcess
from banana100_core.project.images import ImageLocation
from banana100_core.scoring.methods import ADAPTER, State, ready_methods, statuses
from banana100_core.scoring.rating import ReplyError
from banana100_core.scoring.shelf import ModelShelf
from banana100_core.scoring.vision_language import lack, method_version
from banana100_core.scoring.vision_language.scorer import VisionLanguageScorer
from banana100_core.scoring.vision_language.visualquality_r1 import (
    Settings,
    VisualQualityR1,
    fitted_size,
    parse_reply,
    seed,
)
from banana100_core.scoring.weights import WeightsState, list_weights
from banana100_core.scoring.worker import Job, Scored, Setup, make_worker

pytest.importorskip("transformers")

QUESTION = (
    "You are doing the image quality assessment task. Here is the question: What is your overall rating on "
    "the quality of this picture? The rating should be a float between 1 and 5, rounded to two decimal "
    "places, with 1 representing very poor quality and 5 representing excellent quality."
)
SHORT = Settings(max_new_tokens=24)
CHAT_TEMPLATE = (
    "{% set pictures = namespace(value=0) %}{% for message in messages %}"
    "{% if loop.first and message['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n{% for content in message['content'] %}"
    "{% if content['type'] == 'image' %}{% set pictures.value = pictures.value + 1 %}"
    "{% if add_vision_id %}Picture {{ pictures.value }}: {% endif %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ content['text'] }}{% endif %}{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)


def build_model(folder, words):
    """Save a tiny model that can say the bytes and some words: random weights choose among them."""
    import torch
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2Tokenizer,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    letters = sorted(ByteLevel.alphabet())
    tokenizer = Qwen2Tokenizer(vocab={letter: number for number, letter in enumerate(letters)}, merges=[])
    tokenizer.add_special_tokens({"additional_special_tokens": list(SPECIAL)})
    tokenizer.eos_token = "<|im_end|>"
    tokenizer.add_tokens(list(words))
    number = tokenizer.convert_tokens_to_ids
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0},
            "eos_token_id": number("<|im_end|>"),
            "bos_token_id": number("<|endoftext|>"),
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 2,
            "out_hidden_size": 32,
            "fullatt_block_indexes": [1],
        },
        image_token_id=number("<|image_pad|>"),
        video_token_id=number("<|video_pad|>"),
        vision_start_token_id=number("<|vision_start|>"),
        vision_end_token_id=number("<|vision_end|>"),
    )
    torch.manual_seed(7)
    model = Qwen2_5_VLForConditionalGeneration(config)
    # As large as this, so that the picture moves what is said.
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.3)
    # Many words end a reply, so that it is short.
    model.generation_config.eos_token_id = [number("<|im_end|>"), *number((words or letters)[::10])]
    model.generation_config.pad_token_id = number("<|endoftext|>")
    model.to(torch.bfloat16).save_pretrained(folder)
    Qwen2_5_VLProcessor(
        Qwen2VLImageProcessor(), tokenizer, Qwen2VLVideoProcessor(), chat_template=CHAT_TEMPLATE
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def speaking(tmp_path_factory):
    """A model of which most words are answers."""
    answers = [f"<answer>{value / 100:.2f}</answer>" for value in range(20, 500, 2)]
    return build_model(tmp_path_factory.mktemp("speaking"), [*answers, *(f"{word} " for word in answers)])


@pytest.fixture(scope="module")
def mute(tmp_path_factory):
    """A model that knows no answer."""
    return build_model(tmp_path_factory.mktemp("mute"), [])


@pytest.fixture(scope="module")
def model(speaking):
    return VisualQualityR1(speaking, "cpu", SHORT)


def picture(number):
    pixels = np.random.default_rng(number).integers(0, 256, (60 + number, 90, 3), dtype=np.uint8)
    return pixels, hashlib.sha256(pixels.tobytes()).hexdigest()


def make_rater(folder, settings):
    model = VisualQualityR1(folder, "cpu", settings)
    return lambda numbers: [model.rate(*picture(number)) for number in numbers]


def test_the_question_is_the_authors():
    assert Settings().question == (
        f"{QUESTION} First output the thinking process in <think> </think> tags and then output the final "
        "answer with only one score in <answer> </answer> tags."
    )
    assert Settings(thinking=False).question == (
        f"{QUESTION} Please only output the final answer with only one score in <answer> </answer> tags."
    )
    assert Settings().generation == {
        "use_cache": True,
        "do_sample": True,
        "top_k": 50,
        "top_p": 1.0,
        "max_new_tokens": 2048,
    }


def test_the_prompt_is_what_the_authors_feed(model):
    inputs = model._inputs(np.zeros((56, 84, 3), np.uint8))
    prompt = model._processor.decode(inputs["input_ids"][0])
    pads = "<|image_pad|>" * (2 * 3)  # a token for 28 x 28 pixels
    assert prompt == (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n"
        f"Picture 1: <|vision_start|>{pads}<|vision_end|>{Settings().question}<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert model._processor.tokenizer.padding_side == "left"


def test_a_picture_has_one_score_in_any_order(model):
    import torch

    first = [model.rate(*picture(number)) for number in range(4)]
    torch.rand(3)
    again = [model.rate(*picture(number)) for number in reversed(range(4))]
    assert again[::-1] == first
    assert len({rating.score for rating in first}) > 1
    for rating in first:
        assert rating.score == parse_reply(rating.replies[0])


def test_sampling_leaves_torchs_generator_alone(model):
    import torch

    torch.manual_seed(5)
    expected = torch.rand(4)
    torch.manual_seed(5)
    model.rate(*picture(0))
    assert torch.equal(torch.rand(4), expected)


def test_another_process_gives_the_same_scores(model, speaking):
    import torch

    environment = {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    worker = WorkerProcess(functools.partial(make_rater, speaking, SHORT), "rater", environment=environment)
    try:
        there = worker.request([2, 0], timeout=600)
    finally:
        worker.stop()
    assert there == [model.rate(*picture(2)), model.rate(*picture(0))]


def test_a_score_is_the_mean_over_samples(model, speaking):
    three = VisualQualityR1(speaking, "cpu", Settings(max_new_tokens=24, samples=3)).rate(*picture(1))
    assert len(three.replies) == 3
    assert len(set(three.replies)) > 1
    assert three.score == pytest.approx(np.mean([parse_reply(reply) for reply in three.replies]))
    assert three.replies[0] == model.rate(*picture(1)).replies[0]


def test_a_reply_without_a_rating_is_a_failure_that_keeps_the_reply(mute):
    model = VisualQualityR1(mute, "cpu", Settings(max_new_tokens=8, samples=2))
    with pytest.raises(ReplyError, match="holds no <answer>") as caught:
        model.rate(*picture(0))
    assert len(caught.value.replies) == 2
    assert all(caught.value.replies)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("<think>blurred</think> <answer>3.21</answer>", 3.21),
        ("<answer>4.5</answer> No. <answer>2</answer>", 2.0),
        ("<answer>\n The score is 0.35 of 5\n</answer>", 0.35),
        ("<answer>-0.5</answer>", -0.5),
        ("<answer>.75</answer>", 0.75),
        ("<answer>7</answer>", 7.0),
    ],
)
def test_the_first_number_of_the_last_answer_counts(reply, score):
    assert parse_reply(reply) == score


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "3.5",
        "<think>about 3.5",
        "<answer>good</answer>",
        "<answer></answer>",
        "<answer>3.5</answer> or rather <answer>none</answer>",
        "<answer>3.5",
        f"<answer>{'9' * 400}</answer>",
    ],
)
def test_what_cannot_be_read_is_no_number(reply):
    with pytest.raises(ReplyError) as caught:
        parse_reply(reply)
    assert caught.value.replies == (reply,)


# Sizes that process_vision_info of qwen-vl-utils 0.0.14 gives.
@pytest.mark.parametrize(
    ("size", "fitted"),
    [
        ((1408, 752), (1400, 756)),
        ((2816, 1504), (2828, 1512)),
        ((5504, 3072), (4788, 2660)),
        ((10, 10), (56, 56)),
        ((1, 150), (28, 140)),
        ((3000, 20), (2996, 28)),
        ((42, 42), (56, 56)),
    ],
)
def test_pictures_are_fitted_as_by_qwen_vl_utils(size, fitted):
    assert fitted_size(*size) == fitted


def test_too_long_pictures_are_refused():
    with pytest.raises(MetricError, match="201 x 1"):
        fitted_size(201, 1)


def test_seeds_differ_by_picture_and_sample():
    seeds = {seed(sha256, sample) for sha256 in ("a" * 64, "b" * 64) for sample in range(3)}
    assert len(seeds) == 6
    assert all(0 <= each < 2**63 for each in seeds)


def test_settings_come_from_the_environment():
    assert Settings.from_environment({}) == Settings()
    named = {"BANANA100_VISUALQUALITY_R1_SAMPLES": "5", "BANANA100_VISUALQUALITY_R1_THINKING": "0"}
    assert Settings.from_environment(named) == Settings(thinking=False, samples=5)
    with pytest.raises(MetricError, match="SAMPLES"):
        Settings.from_environment({"BANANA100_VISUALQUALITY_R1_SAMPLES": "0"})


def test_the_method_version_follows_weights_and_settings(speaking, mute, monkeypatch):
    versions = set()
    for folder in (speaking, mute):
        monkeypatch.setenv("BANANA100_VISUALQUALITY_R1", str(folder))
        for samples in ("1", "4"):
            monkeypatch.setenv("BANANA100_VISUALQUALITY_R1_SAMPLES", samples)
            versions.add(method_version("visualquality_r1"))
    assert len(versions) == 4
    assert all("transformers-" in version and "torch-" in version for version in versions)
    assert all(version.endswith("bfloat16") for version in versions)


def test_a_worker_keeps_what_was_said(speaking, mute, tmp_path, make_png, monkeypatch):
    data = make_png(70, 60)
    (tmp_path / "fog.png").write_bytes(data)
    sha256 = hashlib.sha256(data).hexdigest()
    location = ImageLocation(sha256, tmp_path / "study.b100", tmp_path / "fog.png")
    setup = Setup("cpu", 1, {"visualquality_r1": ADAPTER})
    heard = {}
    for name, folder in (("speaking", speaking), ("mute", mute)):
        environment = {"BANANA100_VISUALQUALITY_R1": str(folder), "BANANA100_VISUALQUALITY_R1_SAMPLES": "2"}
        worker = WorkerProcess(functools.partial(make_worker, setup), name, environment=environment)
        events = []
        try:
            worker.request(Job((location,), ("visualquality_r1",)), timeout=600, on_event=events.append)
        finally:
            worker.stop()
        (heard[name],) = [event for event in events if isinstance(event, Scored)]
    said = heard["speaking"]
    assert said.error is None
    assert len(said.replies) == 2
    assert said.score == pytest.approx(np.mean([parse_reply(reply) for reply in said.replies]))
    assert heard["mute"].score is None
    assert "holds no <answer>" in heard["mute"].error
    assert len(heard["mute"].replies) == 2


def test_the_status_is_ready_where_the_model_is(speaking, monkeypatch):
    monkeypatch.setenv("BANANA100_VISUALQUALITY_R1", str(speaking))
    assert ready_methods(["visualquality_r1"]) == {"visualquality_r1": method_version("visualquality_r1")}
    (found,) = [each for each in list_weights() if each.file.name == "TianheWu/VisualQuality-R1-7B"]
    assert (found.state, found.path.parent) == (WeightsState.UNVERIFIED, speaking)
    monkeypatch.setenv("BANANA100_VISUALQUALITY_R1", str(speaking / "nowhere"))
    status = statuses()["visualquality_r1"]
    assert (status.state, status.method_version) == (State.WEIGHTS_MISSING, None)
    assert "weights fetch visualquality_r1" in status.way_out


def test_the_scorer_finds_the_folder_in_the_hugging_face_cache(speaking, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    assert "There is no model" in lack("visualquality_r1").reason
    repository = tmp_path / "models--TianheWu--VisualQuality-R1-7B"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("1234")
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / "1234").symlink_to(speaking)
    assert lack("visualquality_r1") is None
    assert lack("rali") is not None


def test_the_scorer_keeps_within_its_memory(speaking, monkeypatch):
    monkeypatch.setenv("BANANA100_VISUALQUALITY_R1", str(speaking))
    with pytest.raises(MetricError, match="would need about"):
        VisionLanguageScorer(ModelShelf(max_memory=1_000_000), 1).score("visualquality_r1", *picture(0))


def test_a_folder_that_is_not_whole_is_told(speaking, tmp_path, monkeypatch):
    monkeypatch.setenv("BANANA100_VISUALQUALITY_R1", str(tmp_path))
    for file in speaking.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert lack("visualquality_r1") is None
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert lack("visualquality_r1").wrong
    with pytest.raises(WeightsError, match="not whole"):
        VisionLanguageScorer(ModelShelf(), 1).score("visualquality_r1", *picture(0))
    weights.unlink()
    assert "model.safetensors" in lack("visualquality_r1").reason
    index = {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "model-00002-of-00002.safetensors" in lack("visualquality_r1").reason


def test_weights_that_are_missing_are_not_drawn_at_random(speaking, tmp_path):
    from safetensors.torch import load_file, save_file

    for file in speaking.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, tmp_path / "model.safetensors", {"format": "pt"})
    with pytest.raises(WeightsError, match="lm_head"):
        VisualQualityR1(tmp_path, "cpu")
