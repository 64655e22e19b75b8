"""The demo study tagged in the window, killed, reopened, merged with another's copy, and exported."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from pycocotools.coco import COCO

from banana100_core import demo
from banana100_core.imaging.decode import Purpose, decode
from banana100_core.project import Project
from banana100_core.project.images import image_bytes
from banana100_core.project.records import NewRegion, NewTag, RegionKind, ReviewState
from banana100_core.project.regions import add_regions, regions
from banana100_core.project.reviews import reviews
from banana100_core.project.runs import runs, steps
from banana100_core.project.tags import add_tag, edits, tags

SCRIPT = Path(__file__).with_name("annotator.py")
ROOT = Path(__file__).parents[2]
RUNS, STEPS, SIDE = 30, 3, 144
OTHERWISE = 7  # the run in which the second annotator sees something else
TRIANGLE = ((100, 20), (130, 30), (110, 70))


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The demo study as its builder makes it, but of 30 short runs of small pictures."""
    photograph = demo._photograph

    def small(file: str) -> bytes:
        picture = Pillow.open(io.BytesIO(photograph(file))).convert("RGB")
        picture.thumbnail((SIDE, SIDE))
        stream = io.BytesIO()
        picture.save(stream, "PNG")
        return stream.getvalue()

    path = tmp_path_factory.mktemp("study") / "demo.b100"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "_photograph", small)
        patch.setattr(demo, "_LARGE_SIZE", (SIDE + 32, SIDE))
        patch.setattr(demo, "STEPS", STEPS)
        patch.setattr(demo, "REPEATS", RUNS // 5)
        demo.build_demo(path)
    return path


@pytest.fixture
def start(tmp_path):
    """Starts the window at a stage; ended at the end, whatever became of it."""
    started: list[subprocess.Popen[str]] = []

    def start(stage: str, *more: object) -> subprocess.Popen[str]:
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "QT_QPA_PLATFORM": "offscreen",
            "XDG_DATA_HOME": str(tmp_path / "data"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        }
        command = [sys.executable, str(SCRIPT), stage, *map(str, more)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def onset_of(number: int) -> int:
    return 1 + number % 3


def mode_of(number: int) -> str:
    return "counting_failure" if onset_of(number) == 3 else "persistent_noise"


def box_of(number: int) -> tuple[tuple[int, int], tuple[int, int]]:
    right = number % 4
    return ((20 + right, 17), (84 + right, 65))


def end_of(number: int) -> int | None:
    return onset_of(number) if number % 6 == 0 else None


def second_annotator(copy: Path, visited: list[int]) -> None:
    """Tags the copy: some onsets a step later, one run otherwise, counting failures further to the left."""
    with Project.open(copy) as project:
        for number, run_id in enumerate(visited):
            mode = "green_tint" if number == OTHERWISE else mode_of(number)
            later = number % 3 == 0 and number != OTHERWISE
            onset = onset_of(number) + later
            left = 16 if mode == "counting_failure" else 0
            points = tuple((x - left, y) for x, y in box_of(number))
            added = add_tag(project, "ben", NewTag(run_id, mode, onset))
            add_regions(project, "ben", added.uuid, [NewRegion(onset, RegionKind.BOX, points)])


def of_ana(project: Project, visited: list[int]) -> list[tuple]:
    """Mode, onset and regions of her tags, run after run."""
    of_tag: dict[str, list] = {}
    for region in regions(project):
        of_tag.setdefault(region.tag_uuid, []).append(region)
    found = {
        tag.run_id: (tag.failure_mode, tag.onset, of_tag.get(tag.uuid, []))
        for tag in tags(project)
        if tag.annotator == "ana"
    }
    return [found[run_id] for run_id in visited]


@pytest.mark.slow
def test_an_annotator_loses_nothing_and_the_export_holds_what_was_outlined(study, start, tmp_path):
    copy = tmp_path / "ben.b100"
    shutil.copy(study, copy)
    tagging = start("tag", study)
    did = json.loads(tagging.stdout.readline())
    os.kill(tagging.pid, signal.SIGKILL)
    tagging.wait()
    visited = did["runs"]
    assert len(set(visited)) == RUNS
    assert [text.split(":")[0] for text in did["said"][-4:]] == ["Undone"] * 3 + ["Redone"]

    with Project.open(study, read_only=True) as project:
        (box,) = of_ana(project, visited)[-1][2]
        assert box.points == ((20, 16), (84, 64))  # moving it was undone, drawing it redone
        assert len(reviews(project)) == RUNS - 1
        before = len(edits(project))

    second_annotator(copy, visited)
    out, screen = tmp_path / "coco", tmp_path / "screen.png"
    going_on = start("finish", study, copy, out, screen)
    told = json.loads(going_on.stdout.readline())
    assert going_on.wait(timeout=60) == 0
    assert (told["last"], told["done"]) == (visited[-1], [RUNS, RUNS])
    assert told["merge"][0].startswith(f"{RUNS} tags to add, 0 to change, 0 to remove")
    assert told["merge"][1].startswith(f"{RUNS} tags added, 0 changed, 0 removed")
    assert told["export"] == f"{2 * RUNS} tags, 65 regions, {RUNS * (STEPS + 1)} pictures exported to {out}"
    check_agreement(told["agreement"], told["disputed"], visited)

    with Project.open(study) as project:
        assert len(edits(project)) == before + 2 + 2 * RUNS  # what was redone, and what came with the copy
        assert {each.state for each in reviews(project)} == {ReviewState.DONE}
        for number, (mode, onset, (box, *rest)) in enumerate(of_ana(project, visited)):
            assert (mode, onset) == (mode_of(number), onset_of(number))
            assert (box.step, box.points, box.end_step) == (onset, box_of(number), end_of(number))
            assert [region.points for region in rest] == [TRIANGLE] * (number % 6 == 1)
        check_export(project, out, screen, visited)


def check_agreement(shown: dict[str, list[list[str]]], disputed: int, visited: list[int]) -> None:
    """The tables say what the sums done by hand say."""
    figures = {row[0]: row[1:] for row in shown["figures"]}
    noise, counting = figures["Persistent noise"], figures["Counting failure"]
    # Noise: seen by ana in 20 runs, by ben in 19 of them, in 10 a step later. Both have regions at two steps
    # of each, but for 5 runs where hers ended before his began; in 4 runs she has a triangle beside the box.
    assert (noise[0], noise[4], noise[5]) == ("20", "0.5", "1")
    box, triangle = 64 * 48, 700
    assert noise[7] == f"{(20 + 8 * box / (box + triangle)) / 28:.2f}"
    # Counting failures: boxes of 64 pixels width, a quarter of it apart.
    assert (counting[0], counting[2], counting[4], counting[7]) == ("10", "1.00", "0.0", "0.60")
    assert len(shown["runs"]) == RUNS
    assert shown["runs"][0][1] == "1.00"
    assert disputed == visited[OTHERWISE]  # a click on it went there
    confusion = {row[0]: row[1:] for row in shown["confusion"]}
    assert "1" in confusion["Persistent noise"]


def check_export(project: Project, out: Path, screen: Path, visited: list[int]) -> None:
    """A box cut out of its exported picture holds the pixels that it outlines; the last those on screen."""
    coco = COCO(str(out / "annotations.json"))
    received = {
        (run.uuid, step.number): decode(image_bytes(project, step.image.sha256), Purpose.DISPLAY).pixels
        for run in runs(project)
        for step in steps(project, run.id)
    }
    cuts = {}
    for annotation in coco.loadAnns(coco.getAnnIds()):
        if annotation["attributes"]["kind"] != "box":
            continue
        (image,) = coco.loadImgs([annotation["image_id"]])
        left, top, width, height = map(round, annotation["bbox"])
        assert annotation["bbox"] == [left, top, width, height]
        whole = decode((out / image["file_name"]).read_bytes(), Purpose.DISPLAY).pixels
        cut = whole[top : top + height, left : left + width]
        expected = received[image["run_uuid"], image["step"]][top : top + height, left : left + width]
        np.testing.assert_array_equal(cut, expected)
        cuts[image["run_uuid"], image["step"], annotation["attributes"]["annotator"]] = cut
    uuids = {run.id: run.uuid for run in runs(project)}
    by_ana = {(uuid, step) for uuid, step, annotator in cuts if annotator == "ana"}
    assert by_ana == {
        (uuids[run_id], step)
        for number, run_id in enumerate(visited)
        for step in range(onset_of(number), (end_of(number) or STEPS) + 1)
    }
    shown = np.asarray(Pillow.open(screen).convert("RGB"))
    np.testing.assert_array_equal(shown, cuts[uuids[visited[-1]], onset_of(RUNS - 1), "ana"])
