"""`initial-images`: the paper's, and files that may be they."""

from __future__ import annotations

import json

from PIL import Image

from banana100_core.imaging.decode import inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, add_initial_image


def test_it_lists_them_and_says_which_a_file_may_be(banana100, empty, picture, tmp_path) -> None:
    listed = banana100("initial-images").stdout
    assert len(listed.splitlines()) == 14
    assert "Building   3392x5056  Preservation of highly-regular grid patterns" in listed
    folder = tmp_path / "pictures"
    folder.mkdir()
    Image.new("RGB", (3000, 3000)).save(folder / "grid.png")
    (folder / "broken.png").write_bytes(b"nothing")
    with Project.open(empty) as project:
        add_initial_image(project, "Mine", NewImage(inspect(picture.read_bytes()), file=picture))
    options = ("initial-images", folder, picture, "--project", empty)
    told = banana100(*options, code=1)
    assert f"{folder / 'grid.png'}: Yuiman by size" in told.stdout
    assert "Dongpo by name; in the project as Mine" in told.stdout
    assert told.stderr.startswith(f"banana100: {folder / 'broken.png'}: not a picture")
    files = json.loads(banana100(*options, "--json", code=1).stdout)["files"]
    assert [bool(each["problem"]) for each in files] == [True, False, False]
    assert files[1] == {
        "file": str(folder / "grid.png"),
        "size": [3000, 3000],
        "suggestions": [{"name": "Yuiman", "by": "size"}],
        "in_project": [],
        "problem": "",
    }
