"""The two embedded editors: what they give, and that seeds alone make it differ."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from banana100_core.errors import ImageError, ProviderError
from banana100_core.generation.editor import EditSettings
from banana100_core.generation.providers import capabilities, editor, offered, providers
from banana100_core.generation.providers.restoration_loop import OVERLAP, Network
from banana100_core.imaging.decode import sniff_media_type

EMBEDDED = [("restoration_loop", "realesr-animevideov3-x2"), ("codec_loss", "jpeg-webp")]


def picture(width: int, height: int, mode: str = "RGB") -> Image.Image:
    """Smooth shapes with edges and a little noise, as photographs have."""
    down, right = np.mgrid[:height, :width] / max(width, height)
    planes = [
        np.sin(9 * right) * np.cos(7 * down),
        right - down,
        (np.hypot(right - 0.5, down - 0.3) < 0.2) * 1.0,
    ]
    noise = np.random.default_rng(7).normal(0, 6, (height, width, 3))
    return Image.fromarray(np.uint8(np.clip(np.stack(planes, -1) * 80 + 128 + noise, 0, 255))).convert(mode)


def encoded(image: Image.Image, file_format: str = "PNG") -> bytes:
    out = BytesIO()
    image.save(out, file_format)
    return out.getvalue()


def pixels(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(data)).convert("RGB"))


@pytest.fixture(scope="module", params=EMBEDDED, ids=lambda pair: pair[0])
def embedded(request: pytest.FixtureRequest) -> object:
    return editor(*request.param)


@pytest.mark.parametrize(("provider", "model"), EMBEDDED)
def test_an_editor_says_what_it_is(provider: str, model: str) -> None:
    what = capabilities(provider, model)
    assert (what.provider, what.model) == (provider, model)
    assert what.title
    assert "reads no prompt" in what.note
    assert what.deterministic
    assert what.in_worker
    assert not what.needs_key


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(embedded) -> None:
    data = encoded(picture(80, 48))
    first, again, other = (embedded.edit(data, "any", EditSettings(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first.data != other.data
    assert embedded.edit(data, "any", EditSettings()).data == embedded.edit(data, "any", EditSettings()).data


def test_the_declared_media_type_is_the_true_one(embedded) -> None:
    data = encoded(picture(64, 48))
    for seed in range(8):
        result = embedded.edit(data, "any", EditSettings(seed))
        assert result.declared_media_type == sniff_media_type(result.data)
        assert result.declared_media_type in embedded.capabilities.media_types


def test_a_step_changes_the_picture_a_little_only(embedded) -> None:
    before = picture(160, 96)
    after = pixels(embedded.edit(encoded(before), "any", EditSettings(3)).data)
    difference = np.abs(after.astype(int) - np.asarray(before)).mean()
    assert 0.2 < difference < 12


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGBA", "LA", "CMYK", "I;16"])
def test_every_kind_of_picture_is_taken(embedded, mode: str) -> None:
    if mode == "I;16":
        image = Image.fromarray((np.asarray(picture(48, 32, "L")).astype(np.uint16)) * 257)
    else:
        image = picture(48, 32, mode)
    data = encoded(image, "TIFF" if mode == "CMYK" else "PNG")
    assert pixels(embedded.edit(data, "any", EditSettings(1)).data).shape == (32, 48, 3)


def test_a_picture_that_lies_on_its_side_is_edited_upright(embedded) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    out = BytesIO()
    picture(48, 32).save(out, "JPEG", exif=exif)
    assert pixels(embedded.edit(out.getvalue(), "any", EditSettings(1)).data).shape == (48, 32, 3)


@pytest.mark.parametrize("data", [b"", b"no picture", encoded(picture(48, 32))[:900]])
def test_a_bad_picture_is_an_image_error(embedded, data: bytes) -> None:
    with pytest.raises(ImageError):
        embedded.edit(data, "any", EditSettings(1))


@pytest.mark.parametrize("size", [(63, 41), (64, 41), (63, 40), (1, 1), (1, 9), (3, 2)])
def test_the_restoration_loop_keeps_odd_sizes(size: tuple[int, int]) -> None:
    result = editor(*EMBEDDED[0]).edit(encoded(picture(*size)), "any", EditSettings(1))
    assert Image.open(BytesIO(result.data)).size == size


def test_codec_loss_crops_to_multiples_of_16_once_and_says_so() -> None:
    codec_loss = editor(*EMBEDDED[1])
    first = codec_loss.edit(encoded(picture(75, 53)), "any", EditSettings(1))
    assert Image.open(BytesIO(first.data)).size == (64, 48)
    assert "cropped from 75x53 to 64x48" in first.notes
    second = codec_loss.edit(first.data, "any", EditSettings(2))
    assert Image.open(BytesIO(second.data)).size == (64, 48)
    assert not any("cropped" in note for note in second.notes)


def test_codec_loss_leaves_a_side_under_16_as_it_is() -> None:
    result = editor(*EMBEDDED[1]).edit(encoded(picture(40, 9)), "any", EditSettings(1))
    assert Image.open(BytesIO(result.data)).size == (32, 9)


def test_tiles_show_no_seams() -> None:
    network = Network(EMBEDDED[0][1], threads=1)
    whole = np.asarray(picture(150, 110))
    untiled = network.enlarge(whole, tile=1000).astype(int)
    for tile in (37, 64):
        assert np.abs(network.enlarge(whole, tile=tile) - untiled).max() <= 1
    assert OVERLAP < 37


def test_the_number_of_threads_changes_nothing() -> None:
    whole = np.asarray(picture(90, 70))
    assert np.array_equal(*(Network(EMBEDDED[0][1], threads).enlarge(whole) for threads in (1, 2)))


def test_the_picture_fades_over_steps_but_keeps_its_place() -> None:
    """Grids move to and fro: after some steps the picture must not have wandered off."""
    restoration_loop, data = editor(*EMBEDDED[0]), encoded(picture(96, 64))
    start = pixels(data).astype(float)
    for step in range(6):
        data = restoration_loop.edit(data, "any", EditSettings(step)).data
    end = pixels(data).astype(float)
    rows = [np.abs(np.roll(end, by, axis=1) - start)[8:-8, 8:-8].mean() for by in range(-4, 5)]
    assert abs(int(np.argmin(rows)) - 4) <= 2


def test_unknown_editors_and_models_are_refused_with_those_there_are() -> None:
    with pytest.raises(ProviderError, match="restoration_loop, codec_loss"):
        editor("nonsense", "x")
    with pytest.raises(ProviderError, match="realesr-animevideov3-x2"):
        editor("restoration_loop", "x")


def test_installed_packages_add_editors(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    package = tmp_path / "greyer_editor-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: greyer-editor\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(
        "[banana100.editors]\ngreyer = greyer_editor:provider\nbroken = greyer_editor.missing\n"
    )
    (tmp_path / "greyer_editor.py").write_text(
        "from banana100_core.generation.editor import Capabilities, EditResult\n"
        "GREYER = Capabilities('greyer', 'g1', 'Greyer', 'Gives back.', ('image/png',), deterministic=True)\n"
        "class Same:\n"
        "    capabilities = GREYER\n"
        "    def edit(self, image, prompt, settings):\n"
        "        return EditResult(image, 'image/png', reasoning=prompt)\n"
        "class provider:\n"
        "    capabilities = staticmethod(lambda: [GREYER])\n"
        "    editor = staticmethod(lambda chosen: Same())\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert providers()[:2] == ["restoration_loop", "codec_loss"]
    assert set(providers()[2:]) >= {"greyer", "broken"}
    assert editor("greyer", "g1").edit(b"x", "hello", EditSettings()).reasoning == "hello"
    with pytest.raises(ProviderError, match=r"broken.*greyer_editor.missing"):
        editor("broken", "g1")
    found, problems = offered()
    assert {one.provider for one in found} >= {"restoration_loop", "codec_loss", "gemini", "greyer"}
    assert any("broken" in problem for problem in problems)


def test_editors_say_which_settings_they_honour() -> None:
    pro = capabilities("gemini", "gemini-3-pro-image")
    assert pro.honours == {"seed", "temperature", "resolution", "aspect_ratio"}
    assert pro.sizes == ("1K", "2K", "4K")
    assert capabilities("gemini", "gemini-2.5-flash-image").sizes == ("1K",)
    loop = capabilities("restoration_loop", "realesr-animevideov3-x2")
    assert loop.honours == {"seed"}
    assert not loop.reads_prompt
