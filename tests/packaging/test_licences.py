from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click
import pytest

PACKAGING = Path(__file__).parents[2] / "packaging"


@pytest.fixture
def licences(monkeypatch):
    spec = importlib.util.spec_from_file_location("licences", PACKAGING / "licences.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_texts_of_what_is_bundled_are_gathered_and_of_nothing_else(licences, tmp_path):
    import PySide6

    out = tmp_path / "LICENSES"
    licences.gather([click.__file__, PySide6.__file__, "", sys.executable], out)
    folders = {folder.name for folder in out.iterdir() if folder.is_dir()}
    assert {"click", "PySide6_Essentials", "Python"} <= folders
    assert "pytest" not in folders
    lesser = (out / "PySide6_Essentials" / "LGPL-3.0.txt").read_text()
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in lesser
    said = (out / "README.txt").read_text()
    assert "click " in said
    assert "you may replace them" in said


def test_the_libraries_within_a_bundled_library_are_named(licences, tmp_path):
    import _libvips

    out = tmp_path / "LICENSES"
    licences.gather([_libvips.__file__], out)
    texts = {text.name for text in (out / "pyvips-binary").iterdir()}
    assert {"LICENSE", "LGPL-3.0.txt", "NOTICE.txt"} <= texts


def test_what_has_no_text_is_named(licences, tmp_path):
    stranger = tmp_path / "libstranger.so.1"
    stranger.touch()
    with pytest.raises(licences.MissingTextError, match=r"libstranger\.so\.1"):
        licences.gather([str(stranger)], tmp_path / "out")
