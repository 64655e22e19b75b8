"""The scoring pool on real projects with real worker processes."""

from __future__ import annotations

import hashlib
import io
import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from banana100_core.catalog.metrics import metric
from banana100_core.errors import MetricError
from banana100_core.imaging.decode import inspect
from banana100_core.project.images import NewImage
from banana100_core.project.records import Image, NewRun, NewScore, NewStep, Outcome
from banana100_core.project.runs import add_run, add_step, add_steps
from banana100_core.project.scores import add_scores, step_scores
from banana100_core.scoring.methods import ready_methods
from banana100_core.scoring.native import score as native_score
from banana100_core.scoring.pool import Priority, ScoringPool

SECONDS = 60
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders there")


@pytest.fixture
def add_pictures(project, make_png):
    """Add a run with `count` pictures; gives their hashes in order."""

    def add(
        count: int, width: int = 40, height: int = 32, seed: int = 0, run_id: int | None = None
    ) -> list[str]:
        run = run_id or add_run(
            project, NewRun("Dongpo", "codec_loss", "jpeg", "replicate", steps_planned=count)
        )
        hashes, steps = [], []
        for number in range(count):
            data = make_png(width, height, seed=seed * 1000 + number)
            image = inspect(data)
            hashes.append(image.sha256)
            outcome = Outcome.DONE if number else Outcome.INITIAL
            steps.append((NewStep(run, number, outcome), NewImage(image, data=data)))
        add_steps(project, steps)
        return hashes

    return add


@contextmanager
def running(project, **options):
    pool = ScoringPool(project, **options)
    try:
        pool.start()
        yield pool
    finally:
        pool.close()


@contextmanager
def events(pool):
    """Progress as it is told, and a way to wait for one that has some property."""
    condition, seen = threading.Condition(), []

    def hear(progress) -> None:
        with condition:
            seen.append(progress)
            condition.notify_all()

    def wait_for(holds) -> None:
        with condition:
            assert condition.wait_for(lambda: any(holds(each) for each in seen), SECONDS)

    unsubscribe = pool.subscribe(hear)
    try:
        yield wait_for
    finally:
        unsubscribe()


@pytest.fixture
def held_picture(project, make_png, tmp_path):
    """A picture that a worker is in the middle of reading until something is written into its pipe."""
    file, data = tmp_path / "held.png", make_png(120, 100, seed=5)
    image = inspect(data)
    run = add_run(project, NewRun("Held", "imported", "x", "replicate"))
    add_step(project, NewStep(run, 0, Outcome.INITIAL), NewImage(image, file=file))
    os.mkfifo(file)
    return image.sha256, file, data


def rows(project, query: str, *values) -> list[tuple]:
    with project.reading() as connection:
        return [tuple(row) for row in connection.execute(query, values)]


def test_scores_equal_those_computed_here(project, add_pictures, make_png):
    hashes = add_pictures(3, 120, 100)
    with running(project) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
        progress = pool.progress()
    assert (progress.done, progress.total, progress.failed) == (9, 9, 0)
    assert progress.per_metric == {"brisque": (3, 3), "niqe": (3, 3), "piqe": (3, 3)}
    assert progress.rate > 0
    pixels = np.asarray(Pillow.open(io.BytesIO(make_png(120, 100, seed=1))))
    expected = native_score(pixels, ["brisque", "niqe", "piqe"])
    stored = {row.metric: row for row in step_scores(project) if row.image_sha256 == hashes[1]}
    assert {key: row.score for key, row in stored.items()} == expected
    assert {key: row.method_version for key, row in stored.items()} == ready_methods(list(expected))
    assert stored["piqe"].normalised == pytest.approx(metric("piqe").normalise(expected["piqe"]))


def test_what_can_not_be_scored_is_a_row_with_the_reason(project, add_pictures, tmp_path):
    add_pictures(1, 40, 32)  # too small for NIQE
    gone = tmp_path / "gone.png"
    gone.write_bytes(Path(__file__).read_bytes())  # not a picture at all
    run = add_run(project, NewRun("Fog", "imported", "x", "replicate"))
    data = gone.read_bytes()
    image = Image(hashlib.sha256(data).hexdigest(), 8, 8, "image/png", len(data))
    add_step(project, NewStep(run, 0, Outcome.INITIAL), NewImage(image, file=gone))
    with running(project) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
        assert pool.progress().failed == 1 + 3
    errors = {(row.run_id, row.metric): row.error for row in step_scores(project) if row.score is None}
    assert "niqe needs at least 96 pixels a side; this picture is 40 x 32" in errors[1, "niqe"]
    assert "gone.png" in errors[2, "piqe"]
    assert len(errors) == 4


def test_only_what_is_missing_is_scored_and_equal_pictures_once(project, add_pictures):
    first = add_pictures(3)
    assert add_pictures(3) == first  # another run with the same pictures
    version = ready_methods(["piqe"])["piqe"]
    add_scores(project, [NewScore(first[0], "piqe", version, 12.5)])
    with running(project, metrics=["piqe"]) as pool:
        pool.request_missing()
        pool.request(first)
        pool.request(first, Priority.SELECTION)
        assert pool.wait(SECONDS)
        assert pool.progress().total == 2
    scores = [row.score for row in step_scores(project) if row.image_sha256 == first[0]]
    assert scores == [12.5, 12.5]


def test_a_new_method_version_makes_new_scores_and_keeps_the_old(project, add_pictures):
    hashes = add_pictures(2)
    add_scores(project, [NewScore(sha256, "piqe", "native-0;weights=none;float64", 1.0) for sha256 in hashes])
    with running(project, metrics=["piqe"]) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
    versions = rows(project, "SELECT method_version, count(*) FROM score GROUP BY 1 ORDER BY 1")
    assert versions == [("native-0;weights=none;float64", 2), (ready_methods()["piqe"], 2)]


def test_the_picture_on_screen_comes_first_then_its_run_then_the_rest(project, add_pictures):
    backlog, run, selection = add_pictures(4), add_pictures(5, seed=1), add_pictures(2, seed=2)
    expected = [*(run[place] for place in (3, 2, 4, 1, 0)), *selection, *backlog]
    snapshots: list[set[str]] = []

    def look(tables: frozenset[str]) -> None:
        if "score" in tables:
            snapshots.append({row[0] for row in rows(project, "SELECT image_sha256 FROM score")})

    with running(project, metrics=["piqe"], threads=1) as pool:
        pool.pause()
        pool.request(backlog)
        pool.request(selection, Priority.SELECTION)
        pool.request(run)
        pool.prefer(run[3], run)
        unsubscribe = project.subscribe(look)
        pool.resume()
        assert pool.wait(SECONDS)
        unsubscribe()
    assert snapshots[-1] == set(expected)
    for snapshot in snapshots:
        assert snapshot == set(expected[: len(snapshot)])


def test_new_steps_are_scored_as_they_arrive(project, add_pictures, make_png):
    old = add_pictures(2)
    with running(project, metrics=["piqe"]) as pool:
        run = add_run(project, NewRun("Rice", "codec_loss", "jpeg", "replicate"))
        for number in range(4):
            data = make_png(40, 32, seed=77 + number)
            add_step(
                project,
                NewStep(run, number, Outcome.DONE if number else Outcome.INITIAL),
                NewImage(inspect(data), data=data),
            )
        assert pool.wait(SECONDS)
        scored = {sha256 for (sha256,) in rows(project, "SELECT image_sha256 FROM score")}
        assert len(scored) == 4
        assert not scored & set(old)


def test_without_following_new_steps_wait_to_be_asked_for(project, add_pictures):
    with running(project, metrics=["piqe"], follow=False) as pool:
        add_pictures(2)
        assert pool.wait(SECONDS)
        assert pool.progress().total == 0


def test_pause_holds_resume_goes_on_cancel_forgets(project, add_pictures):
    hashes = add_pictures(30, 64, 64)
    with running(project, metrics=["piqe"]) as pool, events(pool) as wait_for:
        pool.pause()
        pool.request(hashes)
        wait_for(lambda progress: progress.total == 30)
        assert not pool.wait(0.05)
        assert pool.progress().done == 0
        assert pool.progress().seconds_left is None
        pool.resume()
        wait_for(lambda progress: progress.done > 0)
        pool.cancel()
        assert pool.wait(SECONDS)
        progress = pool.progress()
        assert progress.done == progress.total
        pool.request(hashes)  # cancelled is not refused for good
        assert pool.wait(SECONDS)
        assert pool.progress().done == 30


def test_failures_are_tried_again_on_demand(project, add_pictures):
    (sha256,) = add_pictures(1)
    version = ready_methods(["piqe"])["piqe"]
    add_scores(project, [NewScore(sha256, "piqe", version, None, "the disk was asleep")])
    with running(project, metrics=["piqe"]) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
        assert pool.progress().total == 0
        pool.retry_failed("piqe")
        assert pool.wait(SECONDS)
    assert [row.error for row in step_scores(project)] == [None]


def test_a_failure_that_stays_one_is_counted_once(project, add_pictures):
    add_pictures(2, 80, 80)
    with running(project, metrics=["piqe", "niqe"]) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
        for _ in range(2):
            progress = pool.progress()
            assert (progress.done, progress.total, progress.failed) == (4, 4, 2)
            pool.retry_failed()
            assert pool.wait(SECONDS)


def test_a_picture_that_kills_its_worker_twice_is_a_failure(project, add_pictures):
    """A pyiqa metric on a picture that takes long: the worker is killed each time it begins."""
    (sha256,) = add_pictures(1, 3000, 2400)
    victims: set[int] = set()
    with running(project, metrics=["niqe", "piqe"], backends={"niqe": "pyiqa"}) as pool:
        pool.request([sha256])
        while not pool.wait(0.01):
            for pid in set(pool.worker_pids()) - victims:
                if _imports_torch(pid):
                    victims.add(pid)
                    os.kill(pid, signal.SIGKILL)
    assert len(victims) == 2
    stored = {row.metric: row for row in step_scores(project)}
    assert stored["piqe"].score is not None
    assert "The worker died 2 times" in stored["niqe"].error
    assert "SIGKILL" in stored["niqe"].error


def _imports_torch(pid: int) -> bool:
    try:
        return "libtorch" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def test_a_worker_that_can_not_start_halts_the_pool_and_says_why(project, add_pictures, monkeypatch):
    add_pictures(2)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with running(project, metrics=["piqe"]) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
        progress = pool.progress()
        assert "Scoring on cpu doesn't work" in progress.problem
        assert progress.done == progress.total == 0
        pool.request_missing()
        assert pool.wait(SECONDS)
        assert pool.progress().problem
    assert rows(project, "SELECT count(*) FROM score") == [(0,)]


def test_a_killed_worker_starts_again_and_nothing_is_missing(project, add_pictures):
    hashes = add_pictures(60, 200, 200)
    with running(project, threads=2) as pool, events(pool) as wait_for:
        pool.request(hashes)
        wait_for(lambda progress: progress.done > 0)
        killed = pool.worker_pids()
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        assert pool.wait(SECONDS)
        assert not set(killed) & set(pool.worker_pids())
        assert (pool.progress().done, pool.progress().failed) == (180, 0)
    assert rows(project, "SELECT count(*), count(score) FROM score") == [(180, 180)]


def test_workers_side_by_side_give_the_scores_of_one(project, add_pictures):
    """Sizes at which threads would be used, and several pictures in work at a time."""
    hashes = add_pictures(6, 1100, 960)
    scores = []
    for threads in (1, 2):
        with running(project, threads=threads) as pool:
            pool.request(hashes)
            assert pool.wait(SECONDS)
        scores.append(rows(project, "SELECT image_sha256, metric, score FROM score ORDER BY 1, 2"))
        project.write(lambda connection: connection.execute("DELETE FROM score"))
    assert len(scores[0]) == 18
    assert scores[0] == scores[1]


@needs_pipes
def test_a_picture_that_takes_long_does_not_hold_up_the_others(project, add_pictures, held_picture):
    hashes = add_pictures(5)
    held, file, data = held_picture
    with running(project, metrics=["piqe"], threads=2) as pool, events(pool) as wait_for:
        pool.request([held])
        pool.request(hashes)
        wait_for(lambda progress: progress.done == 5)
        assert len(pool.worker_pids()) == 2
        assert rows(project, "SELECT count(*) FROM score WHERE image_sha256 = ?", held) == [(0,)]
        file.write_bytes(data)
        assert pool.wait(SECONDS)
        assert (pool.progress().done, pool.progress().failed) == (6, 0)


@needs_pipes
def test_close_ends_in_the_middle_of_a_picture_and_keeps_what_is_finished(
    project, add_pictures, held_picture
):
    hashes = add_pictures(5)
    pool = ScoringPool(project, threads=1)
    pool.start()
    with events(pool) as wait_for:
        pool.request([*hashes, held_picture[0]])
        wait_for(lambda progress: progress.done == 15)
        pool.close()
    assert pool.progress().done == 15
    assert rows(project, "SELECT count(*) FROM score") == [(15,)]
    pool.close()


def test_a_pool_that_never_started_closes(project):
    ScoringPool(project).close()


def test_memory_that_is_not_allowed_is_a_failure_that_says_so(project, add_pictures):
    add_pictures(1)
    with running(project, metrics=["piqe"], max_memory=1_000_000) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
    (row,) = step_scores(project)
    assert row.score is None
    assert "would need about 0.2 GB" in row.error


def test_unknown_metrics_and_backends_are_refused_at_once(project):
    with pytest.raises(MetricError, match="no metric 'brisk'"):
        ScoringPool(project, metrics=["brisk"])
    with pytest.raises(MetricError, match="no backend 'gpu'"):
        ScoringPool(project, backends={"piqe": "gpu"})


def test_what_is_no_device_is_refused_at_once_and_one_that_is_not_here_before_any_work(project, add_pictures):
    with pytest.raises(MetricError, match=r"no device 'cuda'\. A device is cpu, cuda:0"):
        ScoringPool(project, devices=["cpu", "cuda"])
    add_pictures(1)
    with running(project, metrics=["piqe"], devices=["cpu", "cuda:77"]) as pool:
        pool.request_missing()
        assert pool.wait(SECONDS)
        assert pool.progress().problem.startswith("There is no device 'cuda:77' here. There are: cpu")
        assert pool.worker_pids() == []
    assert rows(project, "SELECT count(*) FROM score") == [(0,)]


def test_a_listener_that_fails_does_not_stop_the_pool(project, add_pictures):
    hashes = add_pictures(2)
    with running(project, metrics=["piqe"]) as pool:

        def fail(_progress) -> None:
            raise RuntimeError("a listener's own fault")

        pool.subscribe(fail)
        pool.request(hashes)
        assert pool.wait(SECONDS)
        assert pool.progress().done == 2
