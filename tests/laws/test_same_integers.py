"""The same integers: what is counted follows from the set of rows alone, for every kind of job.

Not from the order of rows, the number of threads, the engine, or whatever else decides a tie. The integers are captured
at the one seam (tests/seam.py), where a mechanism is handed them, and compared exactly. Planted bugs are found.
"""

from __future__ import annotations

import functools
import random
from dataclasses import replace
from typing import Any
from unittest import mock

import ibis
import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import discreet.data.copies
import discreet.data.files
import discreet.data.join
import discreet.data.parquet_file
import discreet.data.read
import discreet.data.source
import discreet.marginals.engine
import discreet.query.compile
import discreet.query.contribution
import discreet.synth.relations.codes
from discreet.core.unit import Unit
from discreet.data.source import Connection, source_of
from discreet.query.aggregate import (
    Aggregate,
)
from discreet.query.function import kinds
from neighbours import Recorder
from same_integers import ALL, integers, job_of, small
from servers import fresh_schema, spark
from world_jobs import KINDS, Job
from worlds import IDS, world

SIZE = 150_000  # more than one row group of DuckDB, which is what a thread takes
OPEN: list[Any] = []  # connections to servers


@pytest.fixture(scope="module", autouse=True)
def closed():
    yield
    for backend in OPEN:
        backend.disconnect()


def with_each(ids: list[str]) -> list[Any]:
    """Every kind of job with ids of one sort, by turns, and joins with all of them; the rest is the larger tier."""
    return [
        pytest.param(kind, sort, marks=() if kind == "joins" or (turn + place) % len(ids) == 0 else pytest.mark.large)
        for turn, kind in enumerate(ALL)
        for place, sort in enumerate(ids)
    ]


def shown(job: Job, tables: tuple[Any, Any]) -> Any:
    """The table as the job sees it."""
    return tables[0] if job.view is None else job.view(tables[0], {"beside": tables[1]})


@functools.cache
def crowd(ids: str) -> tuple[pyarrow.Table, pyarrow.Table]:
    """A large table whose rows are those of small worlds, with many persons: each has several rows and groups."""
    chance = random.Random(5)
    tables = [world(chance, ids) for _ in range(40)]
    made = []
    for side in ("arrow", "other"):
        table = pyarrow.concat_tables([getattr(one, side)() for one in tables])
        wide = table.take(np.random.default_rng(3).integers(0, len(table), SIZE))
        person = np.random.default_rng(4).integers(0, SIZE // 5, SIZE).tolist()
        names = pyarrow.array(person if ids == "whole" else [f"Person {i}" for i in person])
        made.append(wide.set_column(0, "p", names))
    return made[0], made[1]


@functools.cache
def shuffled(ids: str) -> list[tuple[Any, tuple[Any, Any]]]:
    """The same rows three times: each time in another order, for another number of threads."""
    found = []
    for threads in (1, 2, 8):
        backend = ibis.duckdb.connect()
        backend.raw_sql(f"SET threads = {threads}")
        for name, table in zip(("rows", "beside"), crowd(ids), strict=True):
            backend.con.register("given", table.take(np.random.default_rng(threads).permutation(SIZE)))
            backend.raw_sql(f"CREATE TABLE {name} AS SELECT * FROM given")
            backend.con.unregister("given")
        found.append((backend, (backend.table("rows"), backend.table("beside"))))
    return found


def in_every_order(job: Job, ids: str) -> list[list[Any]]:
    """The integers of each order; what is sent to the engine is compiled once."""
    found, statements = [], None
    for backend, tables in shuffled(ids):
        data = Recorder(backend, shown(job, tables), statements)
        found.append(integers(data, job))
        statements = data.statements
    return found


@pytest.mark.parametrize(("kind", "ids"), with_each(["whole", "text"]))
def test_order_and_threads_change_no_integer(kind, ids):
    first, *others = in_every_order(job_of(kind), ids)
    assert first
    assert all(other == first for other in others)


def test_every_kind_of_job_and_aggregate_is_tried():
    assert set(KINDS) < set(ALL)
    tried = [job_of(kind).plan.question.outputs for kind in ("every aggregate", "vectors")]
    asked = {type(aggregate) for outputs in tried for _, aggregate in outputs}
    assert asked == {kind for kind in kinds() if issubclass(kind, Aggregate)}


@functools.cache
def in_duckdb(ids: str) -> tuple[Any, tuple[Any, Any]]:
    backend = ibis.duckdb.connect()
    for name, table in (("rows_", small(ids).arrow()), ("beside_", small(ids).other())):
        backend.con.register("given", table)
        backend.raw_sql(f"CREATE TABLE {name} AS SELECT * FROM given")
    return backend, (backend.table("rows_"), backend.table("beside_"))


@functools.cache
def in_postgres(ids: str) -> tuple[Any, tuple[Any, Any]]:
    address = fresh_schema()
    import psycopg

    kinds = {"int64": "bigint", "string": "text", "double": "float8", "bool": "boolean", "date32[day]": "date"}
    kinds |= {"timestamp[us, tz=UTC]": "timestamptz", "timestamp[us]": "timestamp"}
    with psycopg.connect(address, autocommit=True) as connection:
        for name, table in (("rows_", small(ids).arrow()), ("beside_", small(ids).other())):
            columns = ", ".join(f'"{field.name}" {kinds[str(field.type)]}' for field in table.schema)
            connection.execute(f"CREATE TABLE {name} ({columns})")
            with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for row in table.to_pylist():
                    copy.write_row(list(row.values()))
    backend = ibis.connect(address)
    OPEN.append(backend)
    return backend, (backend.table("rows_"), backend.table("beside_"))


@functools.cache
def in_spark(ids: str, folder: str) -> Any:
    """A frame, which is opened as a curator opens it: with the settings that make sessions alike."""
    pyarrow.parquet.write_table(small(ids).arrow(), f"{folder}/{ids}.parquet")
    return spark().read.parquet(f"{folder}/{ids}.parquet")


def on(place: tuple[Any, tuple[Any, Any]], job: Job) -> list[Any]:
    backend, tables = place
    return integers(Connection(backend, shown(job, tables)), job)


@pytest.mark.parametrize(("kind", "ids"), with_each(list(IDS)))
def test_postgres_counts_the_same_integers(kind, ids):
    job = job_of(kind, list(IDS).index(ids))
    assert on(in_postgres(ids), job) == on(in_duckdb(ids), job)


@pytest.mark.spark
@pytest.mark.parametrize("kind", [kind for kind in ALL if kind != "joins"])  # two private tables are not joined there
def test_spark_counts_the_same_integers(kind, tmp_path_factory):
    turn = list(ALL).index(kind)
    ids, job = list(IDS)[turn % len(IDS)], job_of(kind, turn)
    source = replace(source_of(in_spark(ids, str(tmp_path_factory.getbasetemp()))), view=job.view)
    with source.open() as data:
        assert integers(data, job) == on(in_duckdb(ids), job)


def by_row_number(rows: Any, sums: Any, kept: int, width: int, salt: Any, whole: bool = False) -> Any:
    """Of a person's groups those that the engine happens to read first."""
    numbered = rows.mutate(at=ibis.row_number().over(ibis.window(order_by=ibis.null("int64"))))
    numbered = numbered.mutate(first=numbered["at"].min().over(ibis.window(group_by=["person", "group"])))
    ranked = numbered.mutate(place=ibis.dense_rank().over(ibis.window(group_by="person", order_by="first")))
    return ranked.filter(ranked["place"] < kept).select("person", "group", *sums)


def float_sum(column: Any, engine: str) -> Any:
    """Thirds in floats, added in whatever order they come."""
    return ((column.cast("float64") / 3).sum() * 3).floor().cast("int64")


def cells_by_row_number(rows: Any, names: Any, unit: Unit, salt: Any) -> Any:
    numbered = rows.mutate(at=ibis.row_number().over(ibis.window(order_by=ibis.null("int64"))))
    cells = numbered.group_by(["person", *names]).aggregate(many=numbered.count(), order=numbered["at"].min())
    cells = cells.mutate(place=ibis.row_number().over(ibis.window(group_by="person", order_by="order")))
    kept = cells.filter(cells["place"] < unit.groups)
    return kept.select(*names, many=ibis.least(kept["many"], unit.rows).cast("int32"))


def text_or_nothing(raw: Any) -> Any:
    return ibis.desc(discreet.data.read.as_text(raw), nulls_first=True)


def own_hash(text: Any, engine: str) -> Any:
    """A hash that is another one on each engine."""
    return text.hash()


ORDERED = {
    "groups picked by row number": ("every aggregate", discreet.query.contribution, "_picked", by_row_number),
    "a float sum": ("every aggregate", discreet.query.compile, "added", float_sum),
    "cells picked by row number": ("synthesis", discreet.marginals.engine, "_limited", cells_by_row_number),
    "child rows in no order": ("relations", discreet.synth.relations.codes, "_ordered", lambda levels, below: []),
    "a join in no order": ("joins", discreet.data.join, "sort_key", text_or_nothing),
}


@pytest.mark.parametrize("bug", ORDERED)
def test_a_planted_bug_is_found_by_order(bug):
    kind, place, name, by = ORDERED[bug]
    with mock.patch.object(place, name, by):
        first, *others = in_every_order(job_of(kind), "whole")
    assert any(other != first for other in others)


def test_a_hash_of_the_engine_is_found_by_another_engine():
    job = job_of("every aggregate")
    with mock.patch.object(discreet.query.contribution, "hashed", own_hash):
        assert on(in_postgres("text"), job) != on(in_duckdb("text"), job)
