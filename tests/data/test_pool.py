"""An engine that is used again knows nothing of the questions before, and is lent to one at a time."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from discreet.data import pool as module
from discreet.data import source as sources
from discreet.data.pool import IDLE, Engine, Pool, fixed_settings, interrupted
from discreet.data.source import Source, source_of
from discreet.errors import InputError


@pytest.fixture
def pool(monkeypatch):
    """A pool of this test's own, that files and tables in memory are read by."""
    found = Pool()
    monkeypatch.setattr(sources, "engines", found)
    yield found
    found.drain()


def values(source: Source) -> list:
    with source.open() as connection:
        found = connection.values(connection.table)
        return sorted(map(int, found["a"]))


def setting(backend, name: str):
    return backend.raw_sql(f"SELECT current_setting('{name}')").fetchone()[0]


# Nothing is left.
MADE = {
    "CREATE TEMP TABLE t AS SELECT 1": "SELECT * FROM t",
    "CREATE TEMP VIEW v AS SELECT 1": "SELECT * FROM v",
    "CREATE TEMP MACRO f(x) AS x": "SELECT f(1)",
    "PREPARE p AS SELECT 1": "EXECUTE p",
    "SET VARIABLE w = 1": "SELECT 1 WHERE getvariable('w') IS NOT NULL",
}


def left_by_a_question(pool: Pool) -> set[str]:
    """What one question made that the next one on the same engine finds."""
    with pool.lent() as backend:
        for made in MADE:
            backend.raw_sql(made)
        backend.con.register("shown", pyarrow.table({"a": [1]}))
        backend.con.create_function("called", lambda x: x, ["BIGINT"], "BIGINT")
        assert backend.raw_sql("SELECT called(a) FROM shown").fetchall() == [(1,)]
    (engine,) = pool._idle
    found = set()
    for made, asked in {**MADE, "shown": "SELECT * FROM shown", "called": "SELECT called(1)"}.items():
        with suppress(duckdb.Error), engine.session() as backend:
            if backend.raw_sql(asked).fetchall():
                found.add(made)
    return found


def test_nothing_of_one_question_is_left_for_the_next(pool):
    assert left_by_a_question(pool) == set()


def test_a_connection_that_is_used_again_is_caught(pool, monkeypatch):
    @contextmanager
    def session(self):
        yield self._backend

    monkeypatch.setattr(Engine, "session", session)
    monkeypatch.setattr(Engine, "clean", True)
    assert left_by_a_question(pool) == {*MADE, "shown", "called"}


def test_a_question_writes_to_nothing_that_outlives_it(pool):
    for statement in ("TABLE x AS SELECT 1", "VIEW x AS SELECT 1", "SCHEMA x", "MACRO x() AS 1", "SEQUENCE x"):
        with pytest.raises(duckdb.Error, match="read-only"), pool.lent() as backend:
            backend.raw_sql(f"CREATE {statement}")
    assert pool._idle == []


@pytest.mark.parametrize(
    "statement",
    ["COMMIT; CREATE TABLE x AS SELECT 1", "COMMIT; CREATE VIEW x AS SELECT 1", "ATTACH ':memory:' AS x; COMMIT"],
)
def test_an_engine_with_something_left_in_it_is_not_used_again(pool, monkeypatch, statement):
    """No question can do this; if one could, the engine would be ended."""
    with pool.lent() as backend:
        backend.raw_sql(statement)
    assert pool._idle == []
    monkeypatch.setattr(Engine, "clean", True)  # without looking, it would be
    with pool.lent() as backend:
        backend.raw_sql(statement)
    assert len(pool._idle) == 1


def test_an_engine_whose_folder_was_removed_answers_and_is_not_used_again(pool):
    with pool.lent() as backend:
        (folder,) = backend.raw_sql("SELECT current_setting('temp_directory')").fetchone()
        Path(folder).rmdir()
        assert backend.raw_sql("SELECT 1").fetchone() == (1,)
    assert pool._idle == []


def test_what_was_opened_is_closed_for_good(pool, tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with source_of(tmp_path / "t.csv").open() as connection:
        pass
    with pytest.raises(duckdb.Error, match="closed"):
        connection.values(connection.table)
    assert len(pool._idle) == 1


# Settings.
SETTINGS = {
    "TimeZone": ("UTC", "America/New_York"),
    "disabled_optimizers": (fixed_settings()["disabled_optimizers"].strip("'"), ""),
    "python_enable_replacements": (False, "true"),
    "enable_external_file_cache": (False, "true"),
    "parquet_metadata_cache": (False, "true"),
    "lock_configuration": (True, "false"),
}
MORE = {"threads": "1", "memory_limit": "1GB", "temp_directory": "elsewhere", "default_null_order": "nulls_first"}


def changed(pool: Pool) -> set[str]:
    """Settings that a question can change."""
    found = set()
    for name, value in {**{name: other for name, (_, other) in SETTINGS.items()}, **MORE}.items():
        for scope in ("", "GLOBAL", "SESSION"):
            with suppress(duckdb.Error), pool.lent() as backend:
                backend.raw_sql(f"SET {scope} {name} = '{value}'")
                found.add(name)
    return found


def test_settings_hold_for_every_question_and_cannot_be_changed_by_one(pool):
    assert changed(pool) == set()
    for _ in range(2):
        with pool.lent() as backend:
            assert {name: setting(backend, name) for name in SETTINGS} == {
                name: kept for name, (kept, _) in SETTINGS.items()
            }


def test_settings_that_are_not_locked_are_caught(pool, monkeypatch):
    monkeypatch.delitem(module._KEPT, "lock_configuration")
    assert changed(pool) >= {"TimeZone", "threads", "memory_limit", "enable_external_file_cache"}


# Files.
def rewritten(path: Path, numbers: list[int]) -> None:
    """Another content of the same length, with the same time of change: nothing but the bytes tells."""
    before = path.stat() if path.exists() else None
    if path.suffix == ".csv":
        path.write_text("a\n" + "".join(f"{number}\n" for number in numbers))
    else:
        table = pyarrow.table({"a": pyarrow.array(numbers, "int64")})
        pyarrow.parquet.write_table(table, path, use_dictionary=False, compression="none")
    if before:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_changed_is_read_anew(pool, tmp_path, name):
    path = tmp_path / name
    rewritten(path, [1, 2, 3])
    size = path.stat().st_size
    source = source_of(path)
    assert values(source) == [1, 2, 3]
    rewritten(path, [7, 8, 9])
    assert path.stat().st_size == size
    assert values(source) == [7, 8, 9]
    rewritten(path, [4] * 500)
    assert values(source) == [4] * 500
    path.unlink()
    with pytest.raises(InputError, match="nothing is there now"):
        values(source)
    assert pool._idle == []


def test_columns_that_changed_are_seen(pool, tmp_path):
    path = tmp_path / "t.parquet"
    for table in (pyarrow.table({"a": [1]}), pyarrow.table({"b": ["x"], "a": [2.5]})):
        pyarrow.parquet.write_table(table, path)
        assert list(source_of(path).columns()) == table.column_names
    assert source_of(path).columns() == {"b": "string", "a": "float64"}
    assert len(pool._idle) == 1


def test_names_and_types_are_all_that_is_asked_for_before_the_charge(pool, tmp_path, monkeypatch):
    """The engine is told which Parquet file, and asked for the columns: no statement asks for a row. Of a CSV file the
    names are all there is, and no engine is started."""
    seen: list[tuple[str, str]] = []

    class Spy:
        def __init__(self, connection) -> None:
            self._connection = connection

        def __getattr__(self, name: str):
            method = getattr(self._connection, name)
            return lambda *words, **more: (seen.append((name, str(words[:1]))), method(*words, **more))[1]

    real = Engine.session

    @contextmanager
    def session(self):
        with real(self) as backend:
            backend.con = Spy(backend.con)
            yield backend

    monkeypatch.setattr(Engine, "session", session)
    for name in ("t.csv", "t.parquet"):
        rewritten(tmp_path / name, [1, 2, 3])
    source_of(tmp_path / "t.csv").columns()
    assert seen == []
    source_of(tmp_path / "t.parquet").columns()
    (first, shown), *asked, (last, _) = seen
    assert (first, last) == ("execute", "close")
    assert "CREATE OR REPLACE TEMPORARY VIEW" in shown
    assert asked
    assert all("DESCRIBE" in text for _, text in asked), asked


def test_tables_are_joined_by_an_engine_that_is_used_again(pool, tmp_path):
    (tmp_path / "many.csv").write_text("a\n1\n2\n3\n")
    (tmp_path / "few.csv").write_text("a\n2\n3\n")
    pyarrow.parquet.write_table(pyarrow.table({"a": ["3", "4"]}), tmp_path / "few.parquet")
    many = source_of(tmp_path / "many.csv")

    def joined(name: str) -> Source:
        beside = many.beside({"few": source_of(tmp_path / name)})
        return Source(
            many.kind, many.place, view=lambda table, by: table.semi_join(by["few"], "a"), others=beside.others
        )

    for _ in range(2):
        assert values(joined("few.csv")) == [2, 3]
        assert values(joined("few.parquet")) == [3]
        assert values(many) == [1, 2, 3]
    assert len(pool._idle) == 1


def seen_by_the_next(pool: Pool) -> bool:
    """Whether an engine that a table in memory was shown to, and that is used again, can still find its rows."""
    table = pyarrow.table({"a": [1, 2]})
    with source_of(table).open() as connection:
        assert connection.values(connection.table) == {"a": [1, 2]}
        name = connection.table.op().name
    (engine,) = pool._idle
    with suppress(duckdb.Error), engine.session() as backend:
        return len(backend.raw_sql(f'SELECT * FROM "{name}"').fetchall()) == 2
    return False


def test_tables_in_memory_are_shown_to_one_question_only(pool):
    for rows in ([1], [2, 3], [1]):
        assert values(source_of(pyarrow.table({"a": rows}))) == rows
    assert len(pool._idle) == 1
    assert not seen_by_the_next(pool)


def test_a_table_in_memory_that_is_left_with_the_engine_is_caught(pool, monkeypatch):
    """Planted: all questions share a connection."""

    @contextmanager
    def shared(self):
        self._backend._record_batch_readers_consumed = {}
        yield self._backend

    monkeypatch.setattr(Engine, "session", shared)
    monkeypatch.setattr(Engine, "clean", True)
    assert seen_by_the_next(pool)


def test_an_idle_engine_does_not_hold_on_to_a_table_in_memory(pool):
    table = pyarrow.table({"a": list(range(100_000))})
    before = pyarrow.total_allocated_bytes()
    assert len(values(source_of(table))) == 100_000
    del table
    gc.collect()
    assert len(pool._idle) == 1
    assert pyarrow.total_allocated_bytes() < before


def test_limits_of_memory_have_engines_of_their_own(pool, tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("a\n1\n")
    source = source_of(tmp_path / "t.csv")
    monkeypatch.setenv("DISCREET_MEMORY", "300MB")
    with source.open() as connection:
        assert setting(connection._backend, "memory_limit").startswith("286.")  # in MiB
    assert pool._idle == []
    monkeypatch.delenv("DISCREET_MEMORY")
    assert values(source) == [1]
    assert len(pool._idle) == 1


# Memory and disk.
def test_what_does_not_fit_in_memory_goes_to_a_private_folder_that_is_empty_after(pool, monkeypatch):
    monkeypatch.setattr(module, "_KEPT", {"memory_limit": "'40MB'", "threads": "1", **module._KEPT})
    with pool.lent() as backend:
        folder = Path(setting(backend, "temp_directory"))
        assert folder.stat().st_mode & 0o077 == 0
        many = "SELECT range::VARCHAR || repeat('x', 100) AS s FROM range(600000) ORDER BY hash(range)"
        assert backend.raw_sql(many).fetchone()  # and the rest is still there to be fetched
        assert list(folder.iterdir())
    assert not folder.exists() or not list(folder.iterdir())


def test_a_folder_with_something_in_it_goes_with_its_engine(pool):
    with pool.lent() as backend:
        folder = Path(setting(backend, "temp_directory"))
        (folder / "left").write_text("1")
    assert pool._idle == []
    assert not folder.exists()


def test_an_idle_engine_holds_no_data(pool):
    with pool.lent() as backend:
        assert (
            len(backend.raw_sql("SELECT range % 200000, count(*) FROM range(400000) GROUP BY ALL").fetchall()) == 200000
        )
    (engine,) = pool._idle
    (held,) = engine._backend.raw_sql("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchone()
    assert held < 2**20


# Lending.
def most_at_once(pool: Pool, threads: int) -> tuple[int, int]:
    """With everyone inside at the same time: how many engines there were, and how many are idle afterwards."""
    inside, seen, failed = threading.Barrier(threads), [], []

    def ask() -> None:
        try:
            with pool.lent() as backend:
                seen.append(setting(backend, "temp_directory"))
                inside.wait(60)
        except BaseException as problem:
            failed.append(problem)

    workers = [threading.Thread(target=ask) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failed
    return len(set(seen)), len(pool._idle)


def test_engines_are_not_shared_and_few_stay(pool):
    assert most_at_once(pool, IDLE + 3) == (IDLE + 3, IDLE)
    kept = set(map(id, pool._idle))
    assert most_at_once(pool, IDLE) == (IDLE, IDLE)
    assert set(map(id, pool._idle)) == kept


def shared(pool: Pool) -> bool:
    with pool.lent() as one, pool.lent() as other:
        return setting(one, "temp_directory") == setting(other, "temp_directory")


def test_a_pool_that_lends_twice_is_caught(pool):
    class Lender(list):
        def pop(self):
            return self[-1]

    assert not shared(pool)
    (kept, *others) = pool._idle
    pool._idle = Lender([kept])
    assert shared(pool)
    pool._idle = [kept, *others]


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_engine_is_ended_after_any_error(pool, problem):
    folders = []

    def ask() -> None:
        with pool.lent() as backend:
            folders.append(Path(setting(backend, "temp_directory")))
            raise problem

    with pytest.raises(problem):
        ask()
    assert pool._idle == []
    assert not folders[0].exists()


def test_an_engine_is_ended_after_a_run_that_was_interrupted(pool):
    def ask() -> None:
        with pool.lent() as backend:
            asking.append(backend.con)
            backend.raw_sql("SELECT sum(hash(a.range + b.range)) FROM range(1000000) a, range(1000000) b").fetchall()

    def interrupt() -> None:
        while not over.wait(0.1):  # again and again: one that comes before the run began does nothing
            for connection in asking:
                with suppress(duckdb.ConnectionException):  # closed by now
                    connection.interrupt()

    asking, over = [], threading.Event()
    other = threading.Thread(target=interrupt)
    other.start()
    try:
        with pytest.raises((duckdb.InterruptException, RuntimeError)):
            ask()
    finally:
        over.set()
        other.join()
    assert pool._idle == []


FORKED = """
import os, sys, threading
from discreet.data.pool import engines
from discreet.data.source import source_of

def values():
    with source_of(sys.argv[1]).open() as connection:
        return connection.values(connection.table)["a"]

assert values() == ["1"] and len(engines._idle) == 1
stop, go = threading.Event(), threading.Event()

def busy():  # another thread in the middle of its question, and of giving an engine back
    with engines.lent():
        go.set()
        stop.wait()

worker = threading.Thread(target=busy)
worker.start()
go.wait()
child = os.fork()
if child == 0:
    fine = engines._idle == [] and values() == ["1"] and len(engines._idle) == 1
    engines.drain()
    os._exit(0 if fine else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
stop.set()
worker.join()
assert values() == ["1"] and len(engines._idle) == 1
print("idle at the end:", len(engines._idle))
"""


def test_forks_and_the_end(tmp_path):
    """A child starts its own engines; when a process ends, so do its engines, and no folder stays."""
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "spilled").mkdir()
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED, str(tmp_path / "t.csv")],
        env={**os.environ, "DISCREET_STATE": str(tmp_path / "spilled")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "idle at the end: 1\n", "")
    assert [path.name for path in (tmp_path / "spilled" / "spill").iterdir()] == ["all"]


def test_a_copy_of_an_engine_is_not_kept(pool, monkeypatch):
    """As a child gives back what its parent was lent."""
    with pool.lent():
        monkeypatch.setattr(os, "getpid", lambda: -1)
    assert pool._idle == []


def test_an_engine_that_stored_codes_is_not_kept(pool):
    for stores in (False, True):
        with source_of(pyarrow.table({"c0": [0, 1, 1]})).open() as connection:
            if stores:
                connection.store(connection.table)
        assert len(pool._idle) == (0 if stores else 1)


def test_an_engine_is_ended_after_so_many_questions(pool, monkeypatch):
    monkeypatch.setattr(module, "QUESTIONS", 3)
    used = []
    for _ in range(6):
        with pool.lent():
            pass
        used.append(list(pool._idle))
    first, second = used[0][0], used[3][0]
    assert used == [[first], [first], [], [second], [second], []]
    assert first is not second


ENDLESS = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE (a.range * b.range) % 7 = 3"


def test_an_engine_that_was_stopped_says_so(pool):
    with suppress(StopIteration), pool.lent() as session:
        done = threading.Event()

        def stop() -> None:
            while not done.wait(0.1):  # what comes before the engine has begun is lost
                session.con.interrupt()

        thread = threading.Thread(target=stop)
        thread.start()
        with pytest.raises(duckdb.InterruptException) as caught:
            session.con.execute(ENDLESS).fetchall()
        done.set()
        thread.join()
        assert interrupted(caught.value)
        raise StopIteration  # such an engine is not used again
    assert interrupted(RuntimeError("Query interrupted"))  # what it says after a signal
    assert not interrupted(RuntimeError("another"))
    assert not interrupted(duckdb.BinderException("a column that is called interrupted"))


def test_an_engine_that_came_back_counts_as_lent_until_the_next_tick():
    pool = Pool(1)
    before = time.time() - 1
    assert pool.lent_at(before) == 0
    with pool.lent():
        assert pool.lent_at(time.time()) == 1
    assert pool.lent_at(before) == 1
    assert pool.lent_at(time.time() + 1) == 0
    pool.drain()
