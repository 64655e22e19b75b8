"""One thread writes, many read; changes are told after they are on disk."""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from banana100_core.errors import ProjectClosedError, ProjectError
from banana100_core.project import Project
from banana100_core.project.runs import add_run, runs

SETTING = "INSERT INTO project_setting (key, value) VALUES (?, ?)"


def settings(project: Project) -> dict[str, str]:
    with project.reading() as connection:
        rows = connection.execute("SELECT key, value FROM project_setting WHERE key LIKE 'test%'")
        return {row["key"]: row["value"] for row in rows}


def test_work_is_one_transaction(project):
    def work(database):
        database.execute(SETTING, ("test", "1"))
        raise ValueError("no further")

    with pytest.raises(ValueError, match="no further"):
        project.write(work)
    assert settings(project) == {}
    project.write(lambda database: database.execute(SETTING, ("test", "2")))
    assert settings(project) == {"test": "2"}


def test_a_failed_statement_undoes_its_work_and_raises_its_error(project):
    def work(database):
        database.execute(SETTING, ("test", "1"))
        database.execute(SETTING, ("test", "2"))

    with pytest.raises(sqlite3.IntegrityError):
        project.write(work)
    assert settings(project) == {}


def test_the_transaction_is_immediate(project):
    def work(database):
        other = sqlite3.connect(project.path, timeout=0)
        try:
            with pytest.raises(sqlite3.OperationalError, match="locked"):
                other.execute("BEGIN IMMEDIATE")
        finally:
            other.close()
        return "no statement was needed to take the lock"

    assert project.write(work).startswith("no statement")


def test_a_result_is_given_back(project):
    assert project.write(lambda database: database["run"].count) == 0
    assert project.submit(lambda database: database["run"].count).result(timeout=60) == 0


def test_all_writing_is_on_one_thread_in_order(project):
    names = [project.submit(lambda database: threading.current_thread().name) for _ in range(10)]
    assert len({name.result(timeout=60) for name in names}) == 1
    order: list[int] = []
    for number in range(50):
        last = project.submit(lambda database, number=number: order.append(number))
    last.result(timeout=60)
    assert order == list(range(50))


def test_changes_are_told_after_the_commit_on_the_writer_thread(project, new_run):
    told = []

    def listener(changes):
        told.append((changes, threading.current_thread().name, len(runs(project))))

    unsubscribe = project.subscribe(listener)
    add_run(project, new_run())
    writer = project.write(lambda database: threading.current_thread().name)
    assert told == [(frozenset({"run"}), writer, 1)]
    unsubscribe()
    unsubscribe()
    add_run(project, new_run())
    assert len(told) == 1


def test_failed_work_tells_nothing(project):
    told = []
    project.subscribe(told.append)
    with pytest.raises(ZeroDivisionError):
        project.write(lambda database: 1 / 0, changes={"run"})
    assert told == []


def test_a_listener_that_fails_harms_nobody(project, new_run, caplog):
    told = []

    def fails(changes):
        raise RuntimeError("a fault of the listener")

    project.subscribe(fails)
    project.subscribe(told.append)
    assert add_run(project, new_run()) == 1
    assert told == [frozenset({"run"})]
    assert "a fault of the listener" in caplog.text


def test_writing_from_the_writer_thread_is_refused_and_not_waited_for(project):
    with pytest.raises(RuntimeError, match="wait for itself"):
        project.write(lambda database: project.write(lambda database: None))


def test_close_finishes_what_was_queued(tmp_path):
    project = Project.create(tmp_path / "a.b100")
    begun, go_on = threading.Event(), threading.Event()

    def slow(database):
        begun.set()
        assert go_on.wait(30)

    project.submit(slow)
    assert begun.wait(30)
    queued = [
        project.submit(lambda database, number=number: database.execute(SETTING, (f"test{number}", "")))
        for number in range(20)
    ]
    closing = threading.Thread(target=project.close)
    closing.start()
    go_on.set()
    closing.join(30)
    assert all(future.done() for future in queued)
    with Project.open(tmp_path / "a.b100") as project:
        assert len(settings(project)) == 20


def test_close_gives_up_nothing_when_the_writer_takes_too_long(tmp_path):
    project = Project.create(tmp_path / "a.b100")
    go_on = threading.Event()
    slow = project.submit(lambda database: go_on.wait(30) and database.execute(SETTING, ("test", "1")))
    with pytest.raises(ProjectError, match="still being written"):
        project.close(timeout=0.01)
    with pytest.raises(ProjectClosedError):
        project.submit(lambda database: None)
    go_on.set()
    slow.result(timeout=30)
    project.close()
    with Project.open(tmp_path / "a.b100") as project:
        assert settings(project) == {"test": "1"}


def test_every_thread_reads_by_a_connection_of_its_own(project):
    start = threading.Barrier(4)

    def mine() -> int:
        start.wait(30)
        with project.reading() as first, project.reading() as second:
            assert first is second
            start.wait(30)
            return id(first)

    with ThreadPoolExecutor(4) as pool:
        assert len({pool.submit(mine) for _ in range(4)}) == 4
        assert len({future.result() for future in [pool.submit(mine) for _ in range(4)]}) == 4


def test_a_thread_that_ends_takes_its_connection_with_it(project):
    connections = []

    def read():
        with project.reading() as connection:
            connections.append(connection)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connections[0].execute("SELECT 1")


def test_readers_dont_wait_for_the_writer(project, new_run):
    if project.journal_mode != "wal":
        pytest.skip("only a write-ahead log allows it")
    add_run(project, new_run())
    inside, go_on = threading.Event(), threading.Event()

    def work(database):
        database.execute("UPDATE run SET model = 'other'")
        inside.set()
        assert go_on.wait(30)

    writing = project.submit(work)
    assert inside.wait(30)
    assert runs(project)[0].model == "jpeg"
    go_on.set()
    writing.result(timeout=30)
    assert runs(project)[0].model == "other"


def test_closing_ends_a_query_that_runs(tmp_path):
    project = Project.create(tmp_path / "a.b100")
    begun = threading.Event()

    def endless():
        with project.reading() as connection:
            begun.set()
            connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
            ).fetchone()

    with ThreadPoolExecutor(1) as pool:
        query = pool.submit(endless)
        assert begun.wait(30)
        project.close()
        assert isinstance(query.exception(timeout=30), ProjectClosedError)


def _readable(project: Project) -> bool:
    try:
        runs(project)
    except ProjectClosedError:
        return False
    return True


def test_closing_ends_queries_that_begin_meanwhile(tmp_path):
    project = Project.create(tmp_path / "a.b100")
    lent, go_on = threading.Event(), threading.Event()
    interrupted = []

    def endless():
        with project.reading() as connection:
            lent.set()
            go_on.wait(30)
            for _ in range(3):
                with pytest.raises(sqlite3.OperationalError, match="interrupted"):
                    connection.execute(
                        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
                    ).fetchone()
                interrupted.append(True)

    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(endless)
        assert lent.wait(30)
        closing = pool.submit(project.close)
        while _readable(project):
            assert not closing.done()
        go_on.set()
        reading.result(30)
        closing.result(30)
    assert len(interrupted) == 3


def test_every_connection_is_set_as_it_should_be(project):
    def of(connection) -> dict[str, int]:
        names = ("foreign_keys", "trusted_schema", "cell_size_check")
        return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    expected = {"foreign_keys": 1, "trusted_schema": 0, "cell_size_check": 1}
    with project.reading() as connection:
        assert of(connection) == expected
        assert connection.execute("PRAGMA query_only").fetchone()[0] == 1
    assert project.write(lambda database: of(database.conn)) == expected
    assert project.write(lambda database: database.execute("PRAGMA synchronous").fetchone()[0]) == 2  # full


def test_a_view_made_by_a_stranger_cant_do_anything(project):
    """Nor can one that was slipped into the file: functions with side effects are not for the schema."""
    project.write(lambda database: database.execute("CREATE VIEW trap AS SELECT load_extension('x') AS x"))
    with project.reading() as connection, pytest.raises(sqlite3.OperationalError, match="unsafe use"):
        connection.execute("SELECT * FROM trap")
