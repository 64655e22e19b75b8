"""A picture of 17 megapixels is edited in little memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PIL import Image

EDIT = """
import sys
from io import BytesIO
from pathlib import Path
from PIL import Image
from banana100_core.generation.editor import EditSettings
from banana100_core.generation.providers import editor

result = editor(sys.argv[1], sys.argv[2]).edit(Path(sys.argv[3]).read_bytes(), "any", EditSettings(1))
# Not getrusage: what it gives begins with the peak of the process that started this one.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
print(*Image.open(BytesIO(result.data)).size, peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory is read as on Linux")
@pytest.mark.parametrize(
    ("provider", "model", "size"),
    [
        ("restoration_loop", "realesr-animevideov3-x2", [5504, 3073]),
        ("codec_loss", "jpeg-webp", [5504, 3072]),
    ],
)
def test_17_megapixels_take_less_than_1_5_gb(tmp_path, make_png, provider, model, size) -> None:
    file = tmp_path / "large.jpg"
    (tmp_path / "small.png").write_bytes(make_png(688, 439))
    with Image.open(tmp_path / "small.png") as small:
        large = Image.new("RGB", (5504, 3073))
        for left in range(0, 5504, 688):
            for top in range(0, 3073, 439):
                large.paste(small, (left, top))
    large.save(file, quality=95)
    told = subprocess.run(
        [sys.executable, "-c", EDIT, provider, model, str(file)], capture_output=True, text=True, check=True
    )
    *edited, kilobytes = map(int, told.stdout.split())
    assert edited == size
    assert kilobytes < 1_500_000
