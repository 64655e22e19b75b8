"""The paper's initial images among files."""

from __future__ import annotations

import pytest

from banana100_core.catalog.initial_images import Likeness, matching, paper_images, suggested


def test_there_are_13_with_a_challenge_each() -> None:
    images = paper_images()
    assert len(images) == 13
    assert all(image.challenge and image.width and image.height for image in images.values())
    assert matching("fog", 5504, 3072) == images["Fog"]
    assert matching("fog", 100, 100) is None


@pytest.mark.parametrize(
    ("name", "size", "found"),
    [
        ("Fog", (5504, 3072), [("Fog", Likeness.NAME_AND_SIZE)]),
        ("run_3-dongpo.0", (5504, 3072), [("Dongpo", Likeness.NAME_AND_SIZE)]),
        ("kokoro", (832, 1216), [("Kokoro", Likeness.NAME)]),
        ("IMG_1", (4800, 3584), [("Moss", Likeness.SIZE), ("Peacock", Likeness.SIZE)]),
        ("moss", (3000, 3000), [("Moss", Likeness.NAME), ("Yuiman", Likeness.SIZE)]),
        ("thousand", (100, 100), []),
    ],
)
def test_files_are_known_by_name_and_size(name, size, found) -> None:
    assert [(image.name, likeness) for image, likeness in suggested(name, *size)] == found
