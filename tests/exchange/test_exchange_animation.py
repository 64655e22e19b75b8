"""A run as an animated WebP or GIF, or as a video."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image as Pillow

from banana100_core.errors import ImageError, ProjectError
from banana100_core.exchange.animation import animation
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, Outcome
from banana100_core.project.runs import add_run, add_steps

COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30)]


def flat(colour: tuple[int, int, int], size: tuple[int, int] = (320, 200)) -> NewImage:
    stream = io.BytesIO()
    Pillow.new("RGB", size, colour).save(stream, "PNG")
    return NewImage(inspect(stream.getvalue()), data=stream.getvalue())


@pytest.fixture
def run_id(project):
    """Four steps of one colour each, the last one of another aspect, and a failed one between."""
    run_id = add_run(project, NewRun("cup", "codec_loss", "jpeg", "replicate"))
    add_steps(
        project,
        [
            (NewStep(run_id, 0, Outcome.INITIAL), flat(COLOURS[0])),
            (NewStep(run_id, 1, Outcome.DONE), flat(COLOURS[1])),
            (NewStep(run_id, 2, Outcome.FAILED, reason="no image came"), None),
            (NewStep(run_id, 3, Outcome.DONE), flat(COLOURS[2])),
            (NewStep(run_id, 4, Outcome.DONE), flat(COLOURS[3], (100, 200))),
        ],
    )
    return run_id


@pytest.mark.parametrize("ending", [".webp", ".gif"])
def test_each_step_is_a_frame_with_its_number(project, run_id, tmp_path, ending):
    out = tmp_path / f"run{ending}"
    told: list[tuple[int, int, str]] = []
    assert animation(project, run_id, out, per_second=5, progress=lambda *said: told.append(said))
    with Pillow.open(out) as opened:
        assert opened.n_frames == len(COLOURS)
        assert opened.size == (320, 200)
        for place, colour in enumerate(COLOURS):
            opened.seek(place)
            opened.load()
            assert opened.info["duration"] == 200
            frame = np.asarray(opened.convert("RGB")).astype(int)
            assert abs(frame[120, 160] - colour).max() < 12
            assert abs(frame[8:20, 8:60] - colour).max() > 100  # the label
            if place == 3:
                assert abs(frame[120, 20] - 128).max() < 12
    assert told == [(1, 4, "step 0"), (2, 4, "step 1"), (3, 4, "step 3"), (4, 4, "step 4")]
    assert [path.name for path in tmp_path.glob("*run*")] == [out.name]


def test_each_step_is_shown_in_turn_in_a_video(project, run_id, tmp_path):
    av = pytest.importorskip("av")
    out = tmp_path / "run.mp4"
    told: list[tuple[int, int, str]] = []
    assert animation(project, run_id, out, per_second=5, progress=lambda *said: told.append(said))
    with av.open(str(out)) as opened:
        frames = [
            (frame.time, frame.to_ndarray(format="rgb24").astype(int)) for frame in opened.decode(video=0)
        ]
    assert frames[0][1].shape == (200, 320, 3)
    assert len(frames) == 6 * len(COLOURS)
    assert frames[-1][0] == pytest.approx(len(COLOURS) / 5 - 1 / 30, abs=0.001)
    for time, frame in frames:
        colour = COLOURS[int(time * 5 + 0.01)]
        assert abs(frame[120, 160] - colour).max() < 12
        assert abs(frame[8:20, 8:60] - colour).max() > 100  # the label
    assert [done for done, _total, _what in told] == [1, 2, 3, 4]
    assert [path.name for path in tmp_path.glob("*run*")] == [out.name]


def test_stopping_a_video_leaves_nothing_but_what_was_there(project, run_id, tmp_path):
    pytest.importorskip("av")
    out = tmp_path / "run.mp4"
    out.write_bytes(b"before")
    asked: list[int] = []
    assert not animation(project, run_id, out, stop=lambda: len(asked) >= 2 or asked.append(1) is not None)
    assert out.read_bytes() == b"before"
    assert [path.name for path in tmp_path.glob("*run*")] == [out.name]
    with pytest.raises(ProjectError, match="Choose another place"):
        animation(project, run_id, tmp_path / "nowhere" / "run.mp4")


def test_without_its_encoder_a_video_is_refused_with_the_way_out(tmp_path):
    script = (
        "import sys; sys.modules['av'] = None\n"
        "from pathlib import Path\n"
        "from banana100_core.exchange.video import need_encoder\n"
        "need_encoder(Path('run.mp4'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "ImageError" in done.stderr
    assert "banana100-inspector[video]" in done.stderr


def test_large_pictures_are_reduced(project, tmp_path):
    run_id = add_run(project, NewRun("cup", "codec_loss", "jpeg", "replicate"))
    add_steps(project, [(NewStep(run_id, 0, Outcome.INITIAL), flat(COLOURS[0], (2000, 1001)))])
    animation(project, run_id, tmp_path / "run.webp", longest_side=500)
    with Pillow.open(tmp_path / "run.webp") as opened:
        assert opened.size == (500, 250)


def test_stopping_writes_nothing_and_keeps_what_was_there(project, run_id, tmp_path):
    out = tmp_path / "run.webp"
    out.write_bytes(b"before")
    asked: list[int] = []
    assert not animation(project, run_id, out, stop=lambda: len(asked) >= 2 or asked.append(1) is not None)
    assert out.read_bytes() == b"before"


def test_what_cannot_be_written_is_told(project, run_id, tmp_path):
    with pytest.raises(ImageError, match=r"\.webp, \.gif or \.mp4"):
        animation(project, run_id, tmp_path / "run.avi")
    with pytest.raises(ProjectError, match="Choose another place"):
        animation(project, run_id, tmp_path / "nowhere" / "run.gif")
    empty = add_run(project, NewRun("none", "codec_loss", "jpeg", "replicate"))
    with pytest.raises(ProjectError, match="no pictures"):
        animation(project, empty, tmp_path / "run.gif")
