from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from banana100_core.errors import ProjectReadOnlyError
from banana100_core.exchange import importing
from banana100_core.exchange.folder import import_folder, preview_folder
from banana100_core.imaging.decode import sha256
from banana100_core.project import ImageStorage, Project
from banana100_core.project.check import check
from banana100_core.project.images import image_bytes, image_location
from banana100_core.project.records import Outcome, RunState
from banana100_core.project.runs import runs, steps

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def pictures(tmp_path: Path, make_png: Callable[..., bytes]) -> Path:
    """Two runs of an initial image and five steps."""
    seeds = itertools.count()
    root = tmp_path / "set"
    for repeat in (1, 2):
        folder = root / "Fog" / "replicate" / f"r{repeat}"
        folder.mkdir(parents=True)
        for step in range(6):
            (folder / f"{step}.png").write_bytes(make_png(12, 10, next(seeds)))
    return root


def state(project: Project) -> list[object]:
    """All that an import writes, without ids and times."""
    return [
        (
            run.source,
            run.initial_image,
            run.repeat,
            run.state,
            [
                (step.number, step.outcome, step.reason, step.image, step.prompt, step.settings)
                for step in steps(project, run.id)
            ],
        )
        for run in runs(project)
    ]


def test_runs_and_steps_arrive(project: Project, pictures: Path) -> None:
    (pictures / "prompts.csv").write_text("file,prompt,reasoning\nr1/2.png,Replicate.,I looked.\n")
    report = import_folder(project, preview_folder(pictures))
    assert (report.runs_added, report.steps_added, report.failed, report.stopped) == (2, 12, (), False)
    first, second = runs(project)
    assert (first.initial_image, first.protocol, first.provider, first.repeat) == (
        "Fog",
        "replicate",
        "imported",
        1,
    )
    assert (first.state, first.steps_done, first.steps_failed, first.steps_planned) == (
        RunState.DONE,
        5,
        0,
        5,
    )
    assert second.repeat == 2
    found = steps(project, first.id)
    assert [(step.number, step.outcome) for step in found] == [
        (0, Outcome.INITIAL),
        *((number, Outcome.DONE) for number in range(1, 6)),
    ]
    file = pictures / "Fog/replicate/r1/2.png"
    image = found[2].image
    assert image is not None
    assert (image.sha256, image.width, image.height) == (sha256(file.read_bytes()), 12, 10)
    assert (found[2].prompt, found[2].reasoning) == ("Replicate.", "I looked.")
    assert found[2].settings == {"source_path": str(file)}
    assert first.initial_sha256 == sha256((pictures / "Fog/replicate/r1/0.png").read_bytes())


def test_the_same_again_adds_nothing(project: Project, pictures: Path) -> None:
    import_folder(project, preview_folder(pictures))
    before = state(project)
    report = import_folder(project, preview_folder(pictures))
    assert (report.runs_added, report.runs_completed, report.runs_unchanged, report.steps_added) == (
        0,
        0,
        2,
        0,
    )
    assert state(project) == before


def test_steps_that_came_later_are_added(project: Project, pictures: Path, make_png: Callable) -> None:
    import_folder(project, preview_folder(pictures))
    (pictures / "Fog/replicate/r2/6.png").write_bytes(make_png(12, 10, 99))
    report = import_folder(project, preview_folder(pictures))
    assert (report.runs_added, report.runs_completed, report.runs_unchanged, report.steps_added) == (
        0,
        1,
        1,
        1,
    )
    assert [run.steps_done for run in runs(project)] == [5, 6]


def test_pictures_are_referenced_where_they_lie(project: Project, pictures: Path) -> None:
    import_folder(project, preview_folder(pictures))
    image = steps(project, runs(project)[0].id)[1].image
    assert image is not None
    file = image_location(project, image.sha256).file
    assert file is not None
    assert file.resolve() == pictures / "Fog/replicate/r1/1.png"


@pytest.mark.parametrize("storage", list(ImageStorage))
def test_copied_pictures_outlive_their_files(tmp_path: Path, pictures: Path, storage: ImageStorage) -> None:
    data = (pictures / "Fog/replicate/r1/1.png").read_bytes()
    with Project.create(tmp_path / "p.b100", images=storage) as project:
        import_folder(project, preview_folder(pictures), copy=True)
        shutil.rmtree(pictures)
        assert image_bytes(project, sha256(data)) == data


class TestBadFiles:
    @pytest.fixture
    def bad(self, pictures: Path) -> Path:
        folder = pictures / "Fog/replicate/r1"
        (folder / "2.png").write_bytes(b"")
        (folder / "3.png").write_bytes(b"this is no picture")
        whole = (folder / "4.png").read_bytes()
        (folder / "4.png").write_bytes(whole[: len(whole) // 2])
        (folder / "0.png").write_bytes(b"GIF89a")
        return pictures

    def test_become_failed_steps_with_their_reason(self, project: Project, bad: Path) -> None:
        report = import_folder(project, preview_folder(bad))
        found = steps(project, runs(project)[0].id)
        failed = {step.number: step.reason for step in found if step.outcome is Outcome.FAILED}
        assert failed.keys() == {0, 2, 3, 4}
        assert failed[2].startswith("the file is empty (0 bytes)")
        assert failed[3].startswith("not a picture this program reads")
        assert failed[4].startswith("the picture is damaged or cut short")
        assert [remark.path.name for remark in report.failed] == ["0.png", "2.png", "3.png", "4.png"]
        assert [run.steps_done for run in runs(project)] == [2, 5]

    def test_are_tried_again_and_replaced_once_they_are_good(
        self, project: Project, bad: Path, make_png: Callable
    ) -> None:
        import_folder(project, preview_folder(bad))
        before = state(project)
        again = import_folder(project, preview_folder(bad))
        assert again.steps_added == 0
        assert len(again.failed) == 4
        assert state(project) == before
        (bad / "Fog/replicate/r1/2.png").write_bytes(make_png(12, 10, 77))
        report = import_folder(project, preview_folder(bad))
        assert (report.runs_completed, report.steps_added, len(report.failed)) == (1, 1, 3)
        assert steps(project, runs(project)[0].id)[2].outcome is Outcome.DONE

    def test_that_vanish_after_the_preview_are_failed_steps(self, project: Project, pictures: Path) -> None:
        preview = preview_folder(pictures)
        (pictures / "Fog/replicate/r2/5.png").unlink()
        report = import_folder(project, preview)
        assert [remark.reason for remark in report.failed] == ["No such file or directory"]
        assert steps(project, runs(project)[1].id)[5].outcome is Outcome.FAILED

    def test_that_are_larger_than_the_limit_are_never_read(self, project: Project, pictures: Path) -> None:
        with (pictures / "Fog/replicate/r2/5.png").open("r+b") as stream:
            stream.truncate(importing.MAX_FILE_BYTES + 1)
        report = import_folder(project, preview_folder(pictures))
        assert [remark.reason for remark in report.failed] == ["the file has 1.0 GB, above the limit of 1 GB"]


def test_odd_names_survive_the_project_file(project: Project, tmp_path: Path, make_png: Callable) -> None:
    names = ['it\'s "quoted"', "new\nline", "🍌 東坡", "<b>bold<br>", "; DROP TABLE run"]
    for seed, name in enumerate(names):
        folder = tmp_path / "odd" / name
        folder.mkdir(parents=True)
        (folder / "1.png").write_bytes(make_png(8, 8, seed))
    import_folder(project, preview_folder(tmp_path / "odd"))
    found = runs(project)
    assert {run.initial_image for run in found} == set(names)
    for run in found:
        image = steps(project, run.id)[0].image
        assert image is not None
        assert sha256(image_bytes(project, image.sha256)) == image.sha256
    assert import_folder(project, preview_folder(tmp_path / "odd")).steps_added == 0


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="file names are text there")
def test_names_that_are_no_text_survive_the_project_file(
    project: Project, tmp_path: Path, make_png: Callable
) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd/F\xff"))
    folder.mkdir(parents=True)
    (folder / "1.png").write_bytes(make_png())
    import_folder(project, preview_folder(tmp_path / "odd"))
    image = steps(project, runs(project)[0].id)[0].image
    assert image is not None
    assert image_bytes(project, image.sha256) == make_png()
    assert import_folder(project, preview_folder(tmp_path / "odd")).steps_added == 0


def test_equal_pictures_are_one_image(project: Project, tmp_path: Path, make_png: Callable) -> None:
    for number in (1, 2, 3):
        path = tmp_path / "same" / f"{number}.png"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(make_png())
    import_folder(project, preview_folder(tmp_path / "same"))
    assert len({step.image.sha256 for step in steps(project, runs(project)[0].id) if step.image}) == 1


def test_a_project_open_for_reading_only_is_left_alone(tmp_path: Path, pictures: Path) -> None:
    Project.create(tmp_path / "p.b100").close()
    with (
        Project.open(tmp_path / "p.b100", read_only=True) as project,
        pytest.raises(ProjectReadOnlyError),
    ):
        import_folder(project, preview_folder(pictures))


def test_progress_ends_at_the_total(project: Project, pictures: Path) -> None:
    told: list[tuple[int, int, str]] = []
    import_folder(project, preview_folder(pictures), progress=lambda *state: told.append(state))
    assert told[-1][:2] == (12, 12)
    assert told == sorted(told)


class TestInterrupted:
    @pytest.fixture
    def small_batches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(importing, "_BATCH_STEPS", 2)

    @pytest.mark.usefixtures("small_batches")
    @pytest.mark.parametrize("batches", [0, 1, 2, 5])
    def test_by_request_keeps_what_is_done_and_goes_on_later(
        self, tmp_path: Path, pictures: Path, batches: int
    ) -> None:
        preview = preview_folder(pictures)
        with Project.create(tmp_path / "whole.b100") as project:
            import_folder(project, preview)
            whole = state(project)
        asked = itertools.count()
        with Project.create(tmp_path / "p.b100") as project:
            report = import_folder(project, preview, stop=lambda: next(asked) >= batches)
            assert report.stopped
            assert report.steps_added == 2 * batches
            rest = import_folder(project, preview)
            assert not rest.stopped
            assert rest.steps_added == 12 - 2 * batches
            assert state(project) == whole

    def test_by_an_error_in_the_progress_leaves_no_thread(self, project: Project, pictures: Path) -> None:
        def give_up(*_: object) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            import_folder(project, preview_folder(pictures), progress=give_up)
        import_folder(project, preview_folder(pictures))
        assert [run.steps_done for run in runs(project)] == [5, 5]

    @pytest.mark.slow
    @pytest.mark.parametrize("copy", [False, True])
    def test_by_a_kill_loses_and_doubles_nothing(
        self, tmp_path: Path, make_png: Callable, copy: bool
    ) -> None:
        root = tmp_path / "set"
        for seed, (run, step) in enumerate(itertools.product(range(1, 41), range(1, 11))):
            path = root / f"Fog/replicate/r{run}/{step}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(make_png(6, 6, seed))
        with Project.create(tmp_path / "whole.b100") as project:
            import_folder(project, preview_folder(root), copy=copy)
            whole = state(project)
        path = tmp_path / "p.b100"
        Project.create(path).close()
        code = (
            "import sys; from pathlib import Path; from threading import Semaphore\n"
            "from banana100_core.exchange import importing\n"
            "from banana100_core.exchange.folder import import_folder, preview_folder\n"
            "from banana100_core.project import Project\n"
            "importing._BATCH_STEPS = 3\n"
            "batches = Semaphore(20)\n"  # then it is held, so that it can't be done before it is killed
            "def tell(*_): print('batch', flush=True); batches.acquire()\n"
            "with Project.open(Path(sys.argv[1])) as project:\n"
            "    print('go', flush=True)\n"
            "    preview = preview_folder(Path(sys.argv[2]))\n"
            "    import_folder(project, preview, copy=sys.argv[3] == 'True', progress=tell)\n"
        )
        moments = random.Random(0)
        for _ in range(5):
            child = subprocess.Popen(
                [sys.executable, "-c", code, str(path), str(root), str(copy)], stdout=subprocess.PIPE
            )
            assert child.stdout is not None
            assert child.stdout.readline() == b"go\n"
            for _ in range(moments.randint(0, 15)):
                assert child.stdout.readline() == b"batch\n"
            child.send_signal(signal.SIGKILL)
            assert child.wait() == -signal.SIGKILL
            child.stdout.close()
            assert [finding for finding in check(path) if finding.severity == "error"] == []
        with Project.open(path) as project:
            import_folder(project, preview_folder(root), copy=copy)
            assert sorted(map(repr, state(project))) == sorted(map(repr, whole))


def test_28_000_steps_need_little_memory_beside_the_files(pictures: Path) -> None:
    preview = preview_folder(pictures)
    jobs = [importing._Job(run, step, None) for run in preview.runs for step in run.steps] * 3000
    sizes = [len(batch) for batch in importing._batches(jobs, copy=False)]
    assert max(sizes) == 256
    assert sum(sizes) == len(jobs)
    large = [importing._Job(job.run, _with_size(job.step, 100 * 2**20), None) for job in jobs[:10]]
    assert [len(batch) for batch in importing._batches(large, copy=True)] == [1] * 10


def _with_size(step: importing.FoundStep, size: int) -> importing.FoundStep:
    from dataclasses import replace

    return replace(step, byte_size=size)
