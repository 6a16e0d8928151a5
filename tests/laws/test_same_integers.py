"""The same integers: what is counted follows from the set of rows alone, for every kind of job.

Not from the order of rows, the number of threads, the engine, or whatever else decides a tie. The integers are captured
at the one seam (tests/seam.py), where a mechanism is handed them, and compared exactly. Planted bugs are found.
"""

from __future__ import annotations

import contextlib
import functools
import random
import tempfile
from dataclasses import replace
from pathlib import Path
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
from discreet.data.column import Category
from discreet.data.dialect import named_types
from discreet.data.parquet_file import ParquetTable
from discreet.data.schema import Schema
from discreet.data.source import Connection, source_of
from discreet.errors import InputError
from discreet.learn.encoding import Encoding
from discreet.learn.matrix import examples_of
from discreet.noise.bits import words
from discreet.query.aggregate import (
    Aggregate,
    correlation,
    count,
    covariance,
    distinct,
    intercept,
    mean,
    people,
    slope,
    std,
    total,
    variance,
)
from discreet.query.compatibility import check_columns
from discreet.query.discovery import compile_discovery
from discreet.query.function import kinds
from discreet.query.quantile import median
from layouts import LAYOUTS, drifting, several, write
from neighbours import Recorder
from seam import Tape, captured
from servers import fresh_schema, spark
from world_jobs import ALLOTMENTS, KINDS, Desk, Job, schema_of
from worlds import IDS, World, world

SIZE = 150_000  # more than one row group of DuckDB, which is what a thread takes
FEW = Unit("p", groups=2, rows=2)
OPEN: list[Any] = []  # connections to servers


@pytest.fixture(scope="module", autouse=True)
def closed():
    yield
    for backend in OPEN:
        backend.disconnect()


def every_aggregate(_: random.Random) -> Job:
    asked = {"a": count(), "b": count("x"), "c": total("y"), "d": mean("x"), "e": variance("n"), "f": std("y")}
    pairs = {"v": covariance("x", "y"), "c": correlation("n", "x"), "s": slope("y", "n"), "i": intercept("x", "n")}
    differ = {f"two_{name}": output for name, output in pairs.items()}
    differ |= {f"different_{name}": distinct(name) for name in ("n", "x", "f", "d", "s", "l", "t", "o")}
    schema = schema_of(FEW)
    plan = (
        Desk(schema, ALLOTMENTS["epsilon"])
        .table()
        .group_by("n")
        .agg(**asked, g=people(), **differ)
        .plan(epsilon=1)
        .plan
    )
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def times(_: random.Random) -> Job:
    """Instants and local times as keys, in conditions and in what is computed."""
    schema = schema_of(FEW)
    asked = Desk(schema, ALLOTMENTS["epsilon"]).table().where("hour(s) < 20 or s is null").group_by("hour(l)")
    outputs = {"a": count("s"), "b": total("minute(s)"), "c": mean("epoch(l) - epoch(s)"), "d": people(where="l < s")}
    plan = asked.agg(**outputs, e=median("l")).plan(epsilon=1).plan
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def drawn_rows(_: random.Random) -> Job:
    """A few rows of each person over all groups."""
    asked = {"a": count(), "b": total("y"), "c": mean("x"), "d": people(), "e": median("n")}
    schema = schema_of(FEW)
    table = Desk(schema, ALLOTMENTS["epsilon"]).table().limits(groups=3, rows=2, rows_total=4)
    plan = table.group_by("g").agg(**asked).plan(epsilon=1).plan
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def discoveries(chance: random.Random) -> Job:
    """What is counted of every key there is: which of them are shown is up to coins, in no order of the keys."""
    job = KINDS["discoveries"](chance)
    plan = job.plan

    def run(data: Connection, bits: Any) -> Any:
        salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
        found = data.values(compile_discovery(plan.question, plan.schema, plan.measures, data.table, salt))
        return sorted(zip(*found.values(), strict=True), key=repr)

    return Job(job.schema, job.allotment, job.cost, run, plan)


def training(_: random.Random) -> Job:
    """The matrix that a model sees: integers that no mechanism is handed as they are."""
    schema = schema_of(FEW)
    encoding = Encoding.of(schema, "g", ["n", "x", "y", "f", "d", "o"])

    def run(data: Connection, bits: Any) -> Any:
        return [one.tolist() for one in examples_of(encoding, schema, data, bits)]

    part = ALLOTMENTS["epsilon"]
    return Job(schema, part, None, run)  # type: ignore[arg-type]


ALL = {
    **KINDS,
    "every aggregate": every_aggregate,
    "drawn rows": drawn_rows,
    "times": times,
    "discoveries": discoveries,
    "training": training,
}


@functools.cache
def job_of(kind: str, turn: int = 0) -> Job:
    """A job of a kind that protects persons, of whom not everything counts."""
    found = (ALL[kind](random.Random(f"same {kind} {turn} {again}")) for again in range(100))
    return next(job for job in found if job.schema.unit.column is not None)


def with_each(ids: list[str]) -> list[Any]:
    """Every kind of job with ids of one sort, by turns, and joins with all of them; the rest is the larger tier."""
    return [
        pytest.param(kind, sort, marks=() if kind == "joins" or (turn + place) % len(ids) == 0 else pytest.mark.large)
        for turn, kind in enumerate(ALL)
        for place, sort in enumerate(ids)
    ]


def integers(data: Connection, job: Job) -> list[Any]:
    """What the mechanisms are handed in one run. The noise is the same each time: adaptive jobs stay together."""
    bits = Tape("salt")
    with captured(bits) as steps:
        answer = job.run(data, bits)
    return [*steps] or [answer]


def shown(job: Job, tables: tuple[Any, Any]) -> Any:
    """The table as the job sees it."""
    return tables[0] if job.view is None else job.view(tables[0], {"beside": tables[1]})


# --- rows in any order, any number of threads ------------------------------------------------------------------------


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
    asked = {type(aggregate) for _, aggregate in job_of("every aggregate").plan.question.outputs}
    assert asked == {kind for kind in kinds() if issubclass(kind, Aggregate)}


# --- engines ---------------------------------------------------------------------------------------------------------


@functools.cache
def small(ids: str) -> World:
    chance = random.Random(11)
    several = [world(chance, ids) for _ in range(6)]
    rows, beside = (tuple(row for one in several for row in getattr(one, side)) for side in ("rows", "beside"))
    return World(ids, rows, beside)


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


# --- files -----------------------------------------------------------------------------------------------------------


def in_files(place: Path, job: Job) -> list[Any]:
    """The integers of files, opened as a curator opens them."""
    source = replace(source_of(place), view=job.view)
    check_columns(source, job.schema, job.schema.columns)
    with source.open() as data:
        return integers(data, job)


@functools.cache
def in_one_file(kind: str, turn: int, ids: str) -> list[Any]:
    """What every layout is compared with."""
    with tempfile.TemporaryDirectory() as folder:
        write(small(ids).arrow(), Path(folder) / "all.parquet")
        return in_files(Path(folder) / "all.parquet", job_of(kind, turn))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", ["every aggregate", "sums", "discoveries"])
def test_the_layout_of_files_changes_no_integer(kind, layout, tmp_path):
    ids = "whole" if "ids" in layout else ["whole", "text"][len(layout) % 2]
    turn, table = len(layout) % 2, small(ids).arrow()
    assert in_files(LAYOUTS[layout](tmp_path / "all", table), job_of(kind, turn)) == in_one_file(kind, turn, ids)


@pytest.mark.parametrize("kind", ["every aggregate", "sums"])
def test_the_names_of_csv_files_change_no_integer(kind, tmp_path):
    job, table = job_of(kind), small("text").arrow()
    one = in_files(several(["a"], "csv")(tmp_path / "one", table), job)
    for names in (["x*", "x[a]", "xa"], ["v.csv/a", "v.csv/b"], ["n=1/a", "n=2/b", "o=zz/n=3/c"]):
        many = several(names, "csv")(tmp_path / names[0], table)
        assert in_files(many, job) == one


# --- planted bugs ----------------------------------------------------------------------------------------------------


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


def as_listed_once(place: str) -> list[str]:
    """The files of 0.1: folders among them, and every link."""
    return sorted(str(file) for file in Path(place).rglob("*") if file.suffix == ".parquet")


def widest_types(backend: Any, files: Any, copies: Any) -> ParquetTable:
    """All files at once, as 0.1 read them: the engine unites types, and guesses those of folders."""
    paths = list(map(discreet.data.files.as_pattern, files.paths()))
    return ParquetTable(named_types(backend.read_parquet(paths, union_by_name=True)), {})


MISREAD = {
    "ids as floats": drifting("p", pyarrow.float64(), 2**53),
    "patterns": several(["x*", "x[a]", "xa"], "csv"),
}
TYPES = (discreet.data.source, "read_parquet", widest_types)
LISTED = (discreet.data.files, "_paths", as_listed_once)
FILES = {
    "names taken for patterns": ("patterns", (discreet.data.copies, "as_pattern", discreet.data.files.absolute)),
    "a folder read as a file": ("folders named like files", LISTED, TYPES),
    "links counted again": ("links", LISTED),
    "numbers as the widest type": ("ids as floats", TYPES),
}


@pytest.mark.parametrize("bug", FILES)
def test_a_planted_bug_is_found_by_the_layout(bug, tmp_path):
    layout, *planted = FILES[bug]
    ids = "text" if layout == "patterns" else "whole"
    files = (LAYOUTS | MISREAD)[layout](tmp_path / "all", small(ids).arrow())
    right = in_one_file("every aggregate", 0, ids)
    with contextlib.ExitStack() as stack:
        for patch in planted:
            stack.enter_context(mock.patch.object(*patch))
        assert in_files(files, job_of("every aggregate")) != right


def test_a_folder_read_as_a_file_is_refused_where_it_is_listed(tmp_path):
    """The second line: what the engine opened is compared with what was to be read."""
    place = LAYOUTS["folders named like files"](tmp_path, small("whole").arrow())
    with mock.patch.object(*LISTED), pytest.raises(InputError, match="finds under their names"):
        in_files(place, job_of("every aggregate"))


def test_ids_of_several_types_are_refused_from_their_types(tmp_path):
    """The one layout that cannot be counted alike: the planted bug above counts it, and merges persons beyond 2**53."""
    job, table = job_of("every aggregate"), small("whole").arrow()
    for kind in (pyarrow.float64(), pyarrow.decimal128(20, 1)):
        place = drifting("p", kind, 2**53)(tmp_path / str(kind), table)
        with pytest.raises(InputError, match=r"columns.p. must be stored alike in all files"):
            in_files(place, job)


def test_a_folder_of_one_person_changes_nothing_about_the_folders_of_others(tmp_path):
    """Names that all read as dates, and then one that does not: 0.1 took them for dates, and then for text."""
    desk = Desk(Schema("t", {"o": Category(["2024-1-5", "2024-1-6"])}), ALLOTMENTS["epsilon"])
    plan = desk.table().group_by("o").agg(n=count()).plan(epsilon=1).plan
    job = Job(plan.schema, plan.allotment, plan.cost, plan.measure, plan)
    for day, rows in (("2024-1-5", 500), ("2024-1-6", 300)):
        write(pyarrow.table({"v": [1] * rows}), tmp_path / f"o={day}" / "a.parquet")

    def counts() -> tuple[int, ...]:
        (step,) = in_files(tmp_path, job)
        return step.values

    before = counts()
    with mock.patch.object(discreet.data.source, "read_parquet", widest_types):
        planted = counts()
    write(pyarrow.table({"v": [1]}), tmp_path / "o=soon" / "a.parquet")
    assert (before, counts()) == ((500, 300, 0), (500, 300, 1))
    with mock.patch.object(discreet.data.source, "read_parquet", widest_types):
        assert sum(abs(one - other) for one, other in zip(planted, counts(), strict=True)) == 500 + 300 + 799
