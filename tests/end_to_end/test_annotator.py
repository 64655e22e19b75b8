"""A study tagged from the keyboard, killed, reopened, merged with a second annotator's copy, and exported."""

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

from banana100_core.analysis.agreement import agreement
from banana100_core.exchange.export_tags import Form, export_tags
from banana100_core.generation.editor import EditSettings
from banana100_core.generation.providers.codec_loss import capabilities, editor
from banana100_core.imaging.decode import Purpose, decode, inspect
from banana100_core.project import Project
from banana100_core.project.images import NewImage, add_initial_image, image_bytes
from banana100_core.project.merge import merge
from banana100_core.project.records import NewRegion, NewRun, NewStep, NewTag, Outcome, RegionKind, RunState
from banana100_core.project.regions import add_regions, regions
from banana100_core.project.runs import add_run, add_steps, runs, steps
from banana100_core.project.tags import add_tag, edits, tags

SCRIPT = Path(__file__).with_name("annotator.py")
ROOT = Path(__file__).parents[2]
RUNS, STEPS = 30, 4
SIZE = WIDTH, HEIGHT = 96, 64
OTHERWISE = 7  # the run in which the second annotator sees something else


def photograph(number: int) -> bytes:
    from skimage import data

    whole = (data.astronaut, data.coffee, data.chelsea)[number % 3]()
    top, left = 16 * number, 20 * number
    stream = io.BytesIO()
    Pillow.fromarray(whole[top : top + HEIGHT, left : left + WIDTH]).save(stream, "PNG")
    return stream.getvalue()


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A closed project: photographs through a few steps of the embedded editor `codec_loss`."""
    path = tmp_path_factory.mktemp("study") / "study.b100"
    (chosen, *_) = capabilities()
    codec_loss = editor(chosen)
    with Project.create(path) as project:
        for number in range(RUNS // 2):
            data = photograph(number)
            initial = NewImage(inspect(data), data=data)
            name = f"Photograph {number:02}"
            add_initial_image(project, name, initial)
            for repeat in (1, 2):
                new = NewRun(
                    name, "codec_loss", chosen.model, "replicate", repeat, STEPS, state=RunState.DONE
                )
                run_id = add_run(project, new)
                found = [(NewStep(run_id, 0, Outcome.INITIAL), initial)]
                made = data
                for step in range(1, STEPS + 1):
                    made = codec_loss.edit(made, "again", EditSettings(seed=100 * repeat + step)).data
                    found.append((NewStep(run_id, step, Outcome.DONE), NewImage(inspect(made), data=made)))
                add_steps(project, found)
    return path


def start(study: Path, stage: str, *more: object) -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, str(SCRIPT), str(study), stage, *map(str, more)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT)


def tagged_by(project: Project, annotator: str) -> dict[int, list]:
    found: dict[int, list] = {}
    for tag in tags(project):
        if tag.annotator == annotator:
            found.setdefault(tag.run_id, []).append(tag)
    return found


def second_annotator(copy: Path, first: dict[int, list], outlined: dict[str, list]) -> None:
    """Tags the copy: some onsets a step later, one run otherwise, counting failures elsewhere."""
    with Project.open(copy) as project:
        for number, (run_id, (tag,)) in enumerate(first.items()):
            mode = "green_tint" if number == OTHERWISE else tag.failure_mode
            onset = tag.onset + (1 if number % 3 == 0 else 0)
            added = add_tag(project, "ben", NewTag(run_id, mode, onset))
            left = WIDTH // 4 if mode == "counting_failure" else 0  # by half of the width of the box
            add_regions(
                project,
                "ben",
                added.uuid,
                [
                    NewRegion(onset, region.kind, tuple((x - left, y) for x, y in region.points))
                    for region in outlined[tag.uuid]
                ],
            )


@pytest.mark.slow
def test_an_annotator_loses_nothing_and_the_export_holds_what_was_outlined(study, tmp_path):
    copy = tmp_path / "ben.b100"
    shutil.copy(study, copy)
    tagging = start(study, "tag")
    try:
        left = json.loads(tagging.stdout.readline())
    finally:
        os.kill(tagging.pid, signal.SIGKILL)
        tagging.wait()
        tagging.stdout.close()
    assert [text.split(":")[0] for text in left["said"][-4:]] == ["Undone"] * 3 + ["Redone"]

    with Project.open(study) as project:
        first, outlined = tagged_by(project, "ana"), regions(project)
        assert len(first) == RUNS
        assert [region.points for region in outlined if region.tag_uuid == first[left["run"]][0].uuid] == [
            ((24, 16), (72, 48))  # nudging it was undone, drawing it redone
        ]
        before = len(edits(project))

    screen = tmp_path / "screen.png"
    going_on = start(study, "resume", screen)
    assert going_on.wait(timeout=240) == 0
    going_on.stdout.close()

    with Project.open(study) as project:
        assert len(edits(project)) == before + 2
        first = tagged_by(project, "ana")
        by_tag: dict[str, list] = {}
        for region in regions(project):
            by_tag.setdefault(region.tag_uuid, []).append(region)
        for number, (_run_id, (tag,)) in enumerate(first.items()):
            assert (tag.failure_mode, tag.onset) == (
                "counting_failure" if number % 3 == 2 else "persistent_noise",
                1 + number % 3,
            )
            right = number % 4
            box, *rest = by_tag[tag.uuid]
            assert (box.step, box.points) == (tag.onset, ((24 + right, 17), (72 + right, 49)))
            assert [region.kind for region in rest] == [RegionKind.POLYGON] * (number % 6 == 1)

        second_annotator(copy, first, by_tag)
        assert merge(project, [copy], dry_run=True).added == RUNS
        assert len(tags(project)) == RUNS
        assert merge(project, [copy]).added == RUNS
        assert merge(project, [copy]).added == 0

        found = agreement(project)
        assert (found.annotators, found.shared_runs) == (("ana", "ben"), RUNS)
        by_mode = {figures.name: figures for figures in found.modes}
        noise = next(each for key, each in by_mode.items() if "noise" in key.lower())
        counting = next(each for key, each in by_mode.items() if "counting" in key.lower())
        assert noise.onset.count == 19
        assert noise.onset.mean == pytest.approx(10 / 19)
        assert noise.onset.within[0] == pytest.approx(9 / 19)
        assert noise.overlap.mean == pytest.approx(1)
        assert (counting.onset.mean, counting.alpha_extent) == (0, pytest.approx(1))
        assert counting.overlap.mean == pytest.approx(1 / 3)
        assert found.by_run[0].run_id == list(first)[OTHERWISE]

        out = tmp_path / "coco"
        exported = export_tags(project, out, Form.COCO)
        assert (exported.tags, exported.pictures) == (2 * RUNS, RUNS * (STEPS + 1))
        check_export(project, out, screen)


def check_export(project: Project, out: Path, screen: Path) -> None:
    """A box cut out of its exported picture holds the pixels that it outlines; the first those on screen."""
    coco = json.loads((out / "annotations.json").read_text("utf-8"))
    images = {image["id"]: image for image in coco["images"]}
    received = {
        (run.uuid, step.number): decode(image_bytes(project, step.image.sha256), Purpose.DISPLAY).pixels
        for run in runs(project)
        for step in steps(project, run.id)
    }
    cuts = []
    for annotation in coco["annotations"]:
        if annotation["attributes"]["kind"] != "box":
            continue
        image = images[annotation["image_id"]]
        left, top, width, height = map(round, annotation["bbox"])
        assert annotation["bbox"] == [left, top, width, height]
        whole = decode((out / image["file_name"]).read_bytes(), Purpose.DISPLAY).pixels
        cut = whole[top : top + height, left : left + width]
        expected = received[image["run_uuid"], image["step"]][top : top + height, left : left + width]
        np.testing.assert_array_equal(cut, expected)
        cuts.append((image["run_uuid"], image["step"], annotation["attributes"]["annotator"], cut))
    assert len(cuts) > 2 * RUNS
    shown = np.asarray(Pillow.open(screen).convert("RGB"))
    first = runs(project)[0].uuid
    (cut,) = [cut for run, step, annotator, cut in cuts if (run, step, annotator) == (first, 1, "ana")]
    np.testing.assert_array_equal(shown, cut)
