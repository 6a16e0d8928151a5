"""How much memory an engine may take, where nobody says and where somebody does."""

from contextlib import contextmanager

import duckdb
import pytest

from discreet.core.unit import Unit
from discreet.data import pool
from discreet.data.column import Integer
from discreet.data.memory import default_memory, stated_memory
from discreet.data.pool import Engine, fixed_settings
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.data.spill import spill_root
from discreet.errors import InputError
from discreet.query.aggregate import count, people
from discreet.query.compile import compile_query
from discreet.query.key import key
from discreet.query.question import Query


@pytest.mark.parametrize(
    ("own", "threads", "limit"),
    [
        ("18.8 GiB", 2, "1024MiB"),
        ("200.0 GiB", 64, "32768MiB"),
        ("18.8 GiB", 1, "1024MiB"),  # what a sort of many rows takes is not less with one thread
        ("400.5 MiB", 2, "400MiB"),  # a small container
        ("1.5 TiB", 8, "4096MiB"),
        ("0 bytes", 8, "1MiB"),
        ("unlimited", 2, "1024MiB"),
    ],
)
def test_the_default_is_half_a_gibibyte_for_each_thread_and_no_more_than_there_is(own, threads, limit):
    assert default_memory(own, threads) == limit


def test_every_engine_has_the_default(tmp_path):
    database = tmp_path / "t.duckdb"
    duckdb.connect(str(database)).execute("CREATE TABLE t AS SELECT 1 AS a").close()
    engine = Engine()
    try:
        pooled = engine._backend.raw_sql("SELECT current_setting('memory_limit')").fetchone()
    finally:
        engine.close()
    with source_of(database, "t").open() as connection:
        single = connection._backend.raw_sql("SELECT current_setting('memory_limit')").fetchone()
    asked = duckdb.connect().execute(f"SET memory_limit = {fixed_settings()['memory_limit']}")
    assert pooled == single == asked.execute("SELECT current_setting('memory_limit')").fetchone()


def test_what_does_not_fit_is_spilled_and_counted_alike(tmp_path, monkeypatch):
    """A question that needs several times its memory: the same integers, and nothing is left on the disk."""
    path = tmp_path / "visits.parquet"
    rows = "SELECT hash(i) % 100000 AS who, (i % 50)::INT AS n FROM range(500000) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    roomy = answer(path)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    tight = fixed_settings() | {"memory_limit": "'12MB'", "threads": "1"}
    with limited(monkeypatch, tight):
        assert answer(path) == roomy
    with limited(monkeypatch, tight | {"max_temp_directory_size": "'1KB'"}), pytest.raises(duckdb.OutOfMemoryException):
        answer(path)
    assert [path.name for path in spill_root().iterdir()] == ["all"]


@contextmanager
def limited(monkeypatch, settings):
    engines = pool.Pool()
    monkeypatch.setattr("discreet.data.source.engines", engines)
    monkeypatch.setattr(pool, "fixed_settings", lambda: settings)
    yield
    engines.drain()


def answer(path):
    schema = Schema("visits", {"n": Integer(0, 49, nullable=False)}, Unit("who", groups=2, rows=2))
    query = Query(None, (key("n"),), (("who", people()), ("rows", count()))).checked(schema)
    measures = [measure for _, output in query.outputs for measure in output.measures(schema)]
    with source_of(path).open() as connection:
        found = connection.integers(compile_query(query, schema, measures, connection.table, list(range(10))))
    return sorted(zip(*(column.tolist() for column in found.values()), strict=True))


def test_what_the_environment_says_goes_first(monkeypatch):
    monkeypatch.delenv("DISCREET_MEMORY", raising=False)
    assert stated_memory() is None
    monkeypatch.setenv("DISCREET_MEMORY", "4GB")
    assert stated_memory() == "4GB"
    monkeypatch.setenv("DISCREET_MEMORY", "all of it")
    with pytest.raises(InputError, match="such as 4GB"):
        stated_memory()
