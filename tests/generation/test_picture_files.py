"""Initial images from files: added under free names, and the paper's found by name and size."""

from __future__ import annotations

import pytest
from PIL import Image

from banana100_core.generation.picture_files import add_files, find_paper_images, paper_matches
from banana100_core.project import Project
from banana100_core.project.images import initial_images


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "study.b100") as project:
        yield project


def flat(file, size):
    file.parent.mkdir(exist_ok=True)
    Image.new("RGB", size, (200, 180, 90)).save(file)
    return file


def test_the_papers_images_are_found_by_name_and_size(project, tmp_path) -> None:
    kokoro = flat(tmp_path / "pictures" / "kokoro.png", (1664, 2432))
    flat(tmp_path / "pictures" / "Yuiman.png", (300, 300))
    flat(tmp_path / "pictures" / "holiday.png", (30, 30))
    files, others = find_paper_images(tmp_path)
    assert files == [kokoro]
    assert others == ["Yuiman.png is 300 × 300, not of the paper's size."]
    add_files(project, files)
    matches = paper_matches(initial_images(project))
    assert len(matches) == 13
    assert [(each.paper.name, each.name) for each in matches if each.name] == [("Kokoro", "kokoro")]
    assert matches[0].paper.challenge.startswith("Preservation of highly-regular grid patterns")


def test_a_file_cut_short_is_refused_when_it_is_added(project, tmp_path, make_png) -> None:
    cut = tmp_path / "cut.png"
    cut.write_bytes(make_png(64, 64, 1)[:-600])
    names, problems = add_files(project, [cut])
    assert names == []
    assert "cut.png" in problems[0]
    assert initial_images(project) == []
