from __future__ import annotations

import os
import subprocess
import sys
from io import BytesIO

import pytest
from PIL import Image

from app import self_test
from banana100_core.imaging.decode import Purpose, decode


def test_the_pictures_are_of_the_kinds_that_they_are_named_after(tmp_path):
    kinds = self_test._write_pictures(tmp_path)
    files = sorted((tmp_path / "Self-test pictures").iterdir())
    assert len(files) == len(kinds) == len(set(kinds))
    opened = {kind: Image.open(BytesIO(file.read_bytes())) for kind, file in zip(kinds, files, strict=True)}
    assert {kind: picture.mode for kind, picture in opened.items()} | {"PNG": "RGB"} == {
        **dict.fromkeys(("PNG", "JPEG turned by EXIF", "WebP", "TIFF", "BMP"), "RGB"),
        "GIF": "P",
        "16 bit": "I;16",
        "grey": "L",
        "alpha": "RGBA",
        "CMYK": "CMYK",
    }
    turned = decode(files[1].read_bytes(), Purpose.DISPLAY).pixels
    assert turned.shape[:2] == (self_test.SIZE[0], self_test.SIZE[1])


@pytest.mark.slow
def test_every_part_is_tried_and_nothing_is_left(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "banana100_core.cli", "--self-test"],
        env={**os.environ, "TMPDIR": str(tmp_path), "HOME": str(tmp_path / "home")},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[:2] for line in lines[:-1]] == [
        ["ok", part]
        for part in (
            *("versions", "import", "window", "steps", "compare", "tags"),
            *("scores", "pyiqa", "generate", "export", "quit"),
        )
    ]
    assert lines[-1] == "everything works"
    assert not list(tmp_path.glob("banana100-self-test-*"))


BROKEN = """
import sys
from app import self_test, tagging
from app.tagging import panel
from app.tagging.board import TagBoard
def undo(self):
    self_test.PATIENCE_SECONDS = 5.0  # for this part alone: others may take long beside other programs
TagBoard.undo = undo
sys.exit(self_test.run_self_test())
"""


@pytest.mark.slow
def test_a_part_that_does_not_work_is_named_and_ends_the_test():
    done = subprocess.run(
        [sys.executable, "-c", BROKEN], capture_output=True, encoding="utf-8", timeout=300, check=False
    )
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[-3].startswith("FAILED  tags      undoing a tag: nothing came in 5 s")
    assert lines[-2].startswith("ok      quit")
    assert lines[-1] == "NOT everything works"
