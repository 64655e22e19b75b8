"""COCO that other programs wrote: pictures found among steps, categories as failure modes."""

from __future__ import annotations

import json

import numpy as np
import pycocotools.mask
import pytest
import shapely
from scipy.ndimage import binary_dilation, binary_fill_holes
from skimage.filters import gaussian

from banana100_core.errors import ImportFilesError
from banana100_core.exchange.export_tags import Form, export_tags
from banana100_core.exchange.foreign_coco import import_foreign, is_foreign, read_foreign
from banana100_core.exchange.masks import outline_of
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import NewRun, NewStep, NewTag, Outcome, RegionKind
from banana100_core.project.regions import regions
from banana100_core.project.runs import add_run, add_steps
from banana100_core.project.tags import add_tag, tags

SIZE = (64, 48)


@pytest.fixture
def pictures(make_png):
    """Bytes of the pictures of steps 0 to 5."""
    return {number: make_png(*SIZE, seed=number) for number in range(6)}


@pytest.fixture
def run_id(project, pictures, tmp_path):
    """A run of received pictures, but for step 5, which is a file of the user's."""
    run_id = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=5))
    own = tmp_path / "pictures" / "last one.png"
    own.parent.mkdir()
    own.write_bytes(pictures[5])
    for number, data in pictures.items():
        step = NewStep(run_id, number, Outcome.DONE if number else Outcome.INITIAL)
        image = NewImage(inspect(data), file=own) if number == 5 else NewImage(inspect(data), data)
        add_steps(project, [(step, image)])
    return run_id


@pytest.fixture
def write(tmp_path):
    """Writes a COCO file: names of pictures by number, and annotations (picture, category, shape)."""

    def write(names, annotations, *, categories=("Green tint", "my-halo"), size=SIZE, folder=None):
        file = (folder or tmp_path) / "theirs.json"
        data = {
            "images": [
                {"id": number, "file_name": name, "width": size[0], "height": size[1]}
                for number, name in names.items()
            ],
            "categories": [{"id": 10 + place, "name": name} for place, name in enumerate(categories)],
            "annotations": [
                {"id": place, "image_id": image, "category_id": 10 + categories.index(category), **shape}
                for place, (image, category, shape) in enumerate(annotations)
            ],
        }
        file.write_text(json.dumps(data), "utf-8")
        return file

    return write


def box(x, y, width, height):
    return {"bbox": [x, y, width, height]}


def named(*numbers):
    """Names as our own exports have them."""
    return {number: f"images/run-0001/step-{number:03}.png" for number in numbers}


def test_what_export_writes_is_not_foreign(project, run_id, tmp_path, write):
    export_tags(project, tmp_path / "coco", Form.COCO)
    assert not is_foreign(tmp_path / "coco" / "annotations.json")
    assert is_foreign(write(named(1), []))
    assert not is_foreign(tmp_path / "tags.csv")


def test_categories_are_failure_modes_of_the_same_name(project, run_id, write):
    found = read_foreign(project, write(named(1, 2), [(1, "my-halo", box(1, 1, 5, 5))]))
    assert [(each.name, each.annotations, each.mode) for each in found.categories] == [
        ("Green tint", 0, "green_tint"),
        ("my-halo", 1, None),
    ]
    assert dict(found.places) == {1: (run_id, 1), 2: (run_id, 2)}


def test_annotations_in_a_row_are_one_tag(project, run_id, write):
    shapes = [(n, "Green tint", box(n, 2, 10, 10)) for n in (1, 2, 4)]
    found = read_foreign(project, write(named(1, 2, 3, 4), shapes))
    report = import_foreign(project, found, "CVAT", {"Green tint": "green_tint"})
    assert (report.added, report.left_out) == (2, [])
    assert [(tag.onset, tag.end_step, tag.annotator) for tag in tags(project)] == [
        (1, 2, "CVAT"),
        (4, 4, "CVAT"),
    ]
    assert next((there.step, there.points) for there in regions(project)) == (1, ((1, 2), (11, 12)))
    again = import_foreign(project, found, "CVAT", {"Green tint": "green_tint"})
    assert (again.added, again.changed, again.unchanged) == (0, 0, 2)


def test_steps_that_the_file_lacks_do_not_end_a_tag(project, run_id, write):
    shapes = [(n, "Green tint", box(1, 2, 10, 10)) for n in (1, 4)]
    found = read_foreign(project, write(named(1, 4), shapes))
    import_foreign(project, found, "CVAT", {"Green tint": "green_tint"})
    assert [(tag.onset, tag.end_step) for tag in tags(project)] == [(1, 4)]


def test_shapes_are_boxes_and_polygons_in_the_projects_pixels(project, run_id, write):
    shapes = [
        (1, "Green tint", {"segmentation": [[2, 2, 22, 2, 22, 12, 2, 12]], **box(2, 2, 20, 10)}),
        (2, "Green tint", {"segmentation": [[2, 2, 22, 2, 12, 12]], **box(2, 2, 20, 10)}),
        (3, "Green tint", {"segmentation": {"counts": [1], "size": [96, 128]}, **box(0, 0, 200, 20)}),
        (4, "Green tint", {"segmentation": [], "bbox": "nothing"}),
    ]
    found = read_foreign(project, write(named(1, 2, 3, 4), shapes, size=(128, 96)))
    import_foreign(project, found, "CVAT", {"Green tint": "green_tint"})
    assert [(there.step, there.kind, there.points) for there in regions(project)] == [
        (1, RegionKind.BOX, ((1, 1), (11, 6))),
        (2, RegionKind.POLYGON, ((1, 1), (11, 1), (6, 6))),
        (3, RegionKind.BOX, ((0, 0), (64, 10))),
    ]
    assert tags(project)[0].end_step == 4


def test_masks_come_as_outlines_in_the_projects_pixels_and_this_is_said(project, run_id, write):
    mask = np.zeros((96, 128), np.uint8)
    mask[20:60, 30:90] = 1
    ring = mask.copy()
    ring[30:40, 40:50] = 0
    packed = pycocotools.mask.encode(np.asfortranarray(ring))
    shapes = [
        (1, "Green tint", {"segmentation": {"counts": counts_of(mask), "size": [96, 128]}}),
        (2, "Green tint", {"segmentation": {"counts": packed["counts"].decode(), "size": [96, 128]}}),
        (3, "Green tint", {"segmentation": {"counts": "[x", "size": [96, 128]}, **box(2, 2, 20, 10)}),
    ]
    found = read_foreign(project, write(named(1, 2, 3), shapes, size=(128, 96)))
    assert found.notes == (
        "2 masks come as outlines, to within a pixel; holes in 1 of them are filled",
        "1 mask comes as its box: its runs can't be read",
    )
    import_foreign(project, found, "CVAT", {"Green tint": "green_tint"})
    assert [(there.step, there.kind, there.points) for there in regions(project)] == [
        (1, RegionKind.BOX, ((15, 10), (45, 30))),
        (2, RegionKind.BOX, ((15, 10), (45, 30))),
        (3, RegionKind.BOX, ((1, 1), (11, 6))),
    ]


def counts_of(mask):
    """Lengths of its runs down the columns, of zeros first."""
    flat = mask.flatten(order="F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    runs = np.diff([0, *edges, flat.size]).tolist()
    return [0, *runs] if flat[0] else runs


def drawn(rings, size):
    """The pixels whose centres outlines enclose."""
    y, x = np.mgrid[: size[1], : size[0]] + 0.5
    inside = np.zeros(x.shape, bool)
    for ring in rings:
        inside |= shapely.contains_xy(shapely.Polygon(ring), x, y)
    return inside


@pytest.mark.parametrize("seed", range(4))
def test_an_outline_encloses_the_pixels_of_its_mask(seed):
    blobs = gaussian(np.random.default_rng(seed).random((90, 120)), 8)
    mask = (blobs > np.quantile(blobs, 0.7)).astype(np.uint8)
    filled = binary_fill_holes(mask)
    packed = pycocotools.mask.encode(np.asfortranarray(mask))
    for counts in (counts_of(mask), packed["counts"].decode()):
        outline = outline_of({"counts": counts, "size": [90, 120]})
        inside = drawn(outline.rings, outline.size)
        assert (inside & filled).sum() > 0.97 * (inside | filled).sum()
        assert (inside & ~binary_dilation(filled)).sum() == 0


@pytest.mark.parametrize(
    ("segmentation", "said"),
    [
        ({}, "no size"),
        ({"size": [0, 4], "counts": []}, "no size"),
        ({"size": [4, 4], "counts": "\u20ac"}, "can't be read"),
        ({"size": [4, 4], "counts": {}}, "no runs"),
        ({"size": [4, 4], "counts": [17]}, "don't fill"),
        ({"size": [4, 4], "counts": [20, -4]}, "don't fill"),
        ({"size": [4, 4], "counts": [16]}, "encloses nothing"),
        ({"size": [1, 400], "counts": [1, 1] * 200}, "200 parts"),
        ({"size": [10**6, 10**6], "counts": [10**12]}, "no size"),
    ],
)
def test_masks_that_cannot_be_traced_say_why(segmentation, said):
    with pytest.raises(ImportFilesError, match=said):
        outline_of(segmentation)


def test_pictures_are_found_by_name_content_or_sha256(project, run_id, write, pictures, tmp_path):
    (tmp_path / "renamed.png").write_bytes(pictures[2])
    file = write(
        {1: "pictures/last one.png", 2: "renamed.png", 3: "unknown.png", 4: "run-0001_step-003.png"}, []
    )
    data = json.loads(file.read_text("utf-8"))
    data["images"].append({"id": 5, "file_name": "x", "sha256": inspect(pictures[4]).sha256})
    file.write_text(json.dumps(data), "utf-8")
    found = read_foreign(project, file)
    assert dict(found.places) == {1: (run_id, 5), 2: (run_id, 2), 4: (run_id, 3), 5: (run_id, 4)}
    assert found.unmatched == (("unknown.png", "no step has this picture"),)


def test_pictures_that_cannot_be_told_are_left_out_with_the_reason(
    project, run_id, write, pictures, tmp_path
):
    other = add_run(project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", 2, steps_planned=5))
    add_steps(project, [(NewStep(other, 1, Outcome.DONE), NewImage(inspect(pictures[1]), pictures[1]))])
    (tmp_path / "twice.png").write_bytes(pictures[1])
    found = read_foreign(project, write({1: "twice.png", 2: "run-0001/step-000.png"}, []))
    assert dict(found.places) == {}
    assert [reason.split(":")[0] for _name, reason in found.unmatched] == [
        "it is the picture of 2 steps",
        "it is an initial image, which has no failure",
    ]
    lying = read_foreign(project, write(named(2), [], size=(48, 64)))
    assert "48x64 there and 64x48 here" in lying.unmatched[0][1]


def test_a_file_never_leads_out_of_its_folder(project, run_id, write, pictures, tmp_path):
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "outside.png").write_bytes(pictures[1])
    found = read_foreign(project, write({1: "../outside.png"}, [], folder=folder))
    assert found.unmatched == (("../outside.png", "no step has this picture"),)


def test_a_dry_run_changes_nothing_and_others_tags_stay(project, run_id, write):
    own = add_tag(project, "Ann", NewTag(run_id, "green_tint", 1))
    found = read_foreign(project, write(named(1), [(1, "Green tint", box(1, 1, 5, 5))]))
    report = import_foreign(project, found, "CVAT", {"Green tint": "green_tint"}, dry_run=True)
    assert report.added == 1
    assert tags(project) == [own]
    import_foreign(project, found, "CVAT", {"Green tint": "green_tint", "my-halo": None})
    assert own in tags(project)


@pytest.mark.parametrize("text", ["[]", "{}", '{"images": [], "categories": []}', "no json"])
def test_what_is_no_coco_is_refused(project, tmp_path, text):
    file = tmp_path / "x.json"
    file.write_text(text, "utf-8")
    with pytest.raises(ImportFilesError, match=r"no COCO|no JSON"):
        read_foreign(project, file)
