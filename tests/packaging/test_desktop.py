from __future__ import annotations

import configparser
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]
DESKTOP = ROOT / "resources" / "desktop"


@pytest.fixture(scope="module")
def icons(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("icons")
    subprocess.run([sys.executable, ROOT / "packaging" / "icons.py", out], check=True, timeout=60)
    return out


def test_the_icon_is_drawn_in_each_size(icons):
    sides = {int(file.stem) for file in icons.glob("*.png")}
    assert {16, 24, 32, 48, 64, 128, 256, 512} <= sides
    for side in sides:
        with Image.open(icons / f"{side}.png") as picture:
            assert picture.size == (side, side)
            assert picture.getextrema()[3] == (0, 255)  # transparent around, opaque inside
    with Image.open(icons / "banana100.ico") as container:
        assert {16, 32, 48, 256} <= {side for side, _height in container.info["sizes"]}
    with Image.open(icons / "banana100.icns") as container:
        assert container.size[0] >= 512


def test_entry_and_type_name_each_other():
    entry = configparser.ConfigParser(interpolation=None)
    entry.optionxform = str
    entry.read(DESKTOP / "banana100.desktop")
    kind = ET.parse(DESKTOP / "banana100.xml").getroot()[0]
    assert entry["Desktop Entry"]["MimeType"] == f"{kind.get('type')};"
    assert kind.find("{*}glob").get("pattern") == "*.b100"
    assert entry["Desktop Entry"]["Icon"] == kind.find("{*}icon").get("name") == "banana100"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_installing_and_removing_the_entry(tmp_path, icons):
    program = tmp_path / '100% mine & "yours" $HOME'
    for place in ("share/applications", "share/mime/packages", "share/icons/hicolor/16x16/apps"):
        (program / place).mkdir(parents=True)
    (program / "share/applications/banana100.desktop").write_bytes(
        (DESKTOP / "banana100.desktop").read_bytes()
    )
    (program / "share/mime/packages/banana100.xml").write_bytes((DESKTOP / "banana100.xml").read_bytes())
    (program / "share/icons/hicolor/16x16/apps/banana100.png").write_bytes((icons / "16.png").read_bytes())
    (program / "install.sh").write_bytes((DESKTOP / "install.sh").read_bytes())
    share = tmp_path / "home"
    environment = {**os.environ, "XDG_DATA_HOME": str(share)}
    subprocess.run(["sh", program / "install.sh"], env=environment, check=True)
    (line,) = [
        line
        for line in (share / "applications/banana100.desktop").read_text().splitlines()
        if line.startswith("Exec=")
    ]
    escaped = str(program / "banana100").replace('"', '\\\\"').replace("$", "\\\\$").replace("%", "%%")
    assert line == f'Exec="{escaped}" open %f'
    assert (share / "icons/hicolor/16x16/apps/banana100.png").is_file()
    subprocess.run(["sh", program / "install.sh", "--remove"], env=environment, check=True)
    left = [file.name for file in share.rglob("*") if file.is_file()]
    assert not [name for name in left if name.startswith("banana100")]
