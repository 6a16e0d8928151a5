"""Copies of what an engine cannot read: private, gone afterwards, made only where needed, cell by cell."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakSet

import duckdb
import pyarrow
import pyarrow.parquet
import pytest

from discreet.curator import open_curator
from discreet.data.column import Category, Integer
from discreet.data.copies import Copies, readable_cells
from discreet.data.pool import Pool
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import RunError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count
from stored_types import DAYS, LATE, asked, source_as


def test_copies_are_private_and_do_not_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.spill.state_folder", lambda: tmp_path)
    path = tmp_path / "t.csv"
    path.write_bytes(b"gr\xf6\xdfe\nM\xfcller\n")
    assert list(source_of(path).columns()) == ["größe"]
    assert not [*tmp_path.glob("spill/*/*")]  # names and types are read without a copy
    with source_of(path).open() as data:
        assert data.table.columns == ("größe",)  # files are shown to the engine when they are first needed
        (copy,) = tmp_path.glob("spill/*/*/*.csv")
        assert copy.read_text(encoding="utf-8") == "größe\nMüller\n"
        assert copy.parent.stat().st_mode & 0o77 == 0
    assert not [*tmp_path.glob("spill/*/*/*.csv")]


def unreadable(text=(b"a", b"b", b"caf\xe9", b"\xff\xfe")) -> pyarrow.Array:
    """A column of text some of which is not UTF-8."""
    return pyarrow.Array.from_buffers(pyarrow.string(), len(text), pyarrow.array(text, pyarrow.binary()).buffers())


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("encoded", [False, True])
def test_text_that_is_not_utf8_makes_no_run_fail_and_is_read_as_in_a_csv_file(tmp_path, kind, encoded):
    """One row with such a text made every question about its column fail: who was there could be told for sure."""
    column = unreadable()
    table = pyarrow.table({"x": column.dictionary_encode() if encoded else column, "y": range(4)})
    places = Category(["a", "b", "café"], nullable=True)
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    schema, source = Schema("t", {"x": places}), source_as(kind, table, tmp_path)
    curator = open_curator(source, schema, ledger=ledger, budget=Budget(1000), create=True)
    found = curator.table().group_by("x").agg(n=count()).plan(epsilon=500).release()
    assert found["n"] == [1, 1, 1, 1]


@pytest.mark.parametrize("kind", ["parquet", "arrow", "pandas"])
@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_moment_that_no_engine_can_hold_makes_no_run_fail(tmp_path, kind, zone, unit):
    if (kind, unit) == ("parquet", "s"):
        pytest.skip("Parquet has no seconds")
    far = pyarrow.array([0, 2**62, -(2**62)], pyarrow.int64()).view(pyarrow.timestamp(unit, zone))
    table = pyarrow.table({"x": pyarrow.chunked_array([pyarrow.array([LATE], pyarrow.timestamp(unit, zone)), far])})
    if kind == "pandas":
        pandas = pytest.importorskip("pandas")
        source = pandas.DataFrame({"x": pandas.array(table["x"], pandas.ArrowDtype(table["x"].type))})
    else:
        source = source_as(kind, table, tmp_path)
    assert asked(source, DAYS, tmp_path) == [0, 1, 0, 0]


def test_a_moment_that_no_date_can_hold_in_a_duckdb_file_makes_no_run_fail(tmp_path):

    far = pyarrow.table({"x": pyarrow.array([LATE, LATE], pyarrow.timestamp("ms"))})
    far = pyarrow.concat_tables([far, pyarrow.table({"x": pyarrow.array([2**62]).view(pyarrow.timestamp("ms"))})])
    with duckdb.connect(str(tmp_path / "t.duckdb")) as base:
        base.register("far", far)
        base.execute("CREATE TABLE t AS SELECT * FROM far")
    assert asked(source_of(tmp_path / "t.duckdb", "t"), DAYS, tmp_path) == [0, 2, 0, 0]


def test_only_files_that_cannot_be_read_are_copied_and_what_their_path_says_stays(tmp_path):
    for year, column in ((2023, pyarrow.array(["a", "b"])), (2024, unreadable())):
        (tmp_path / "data" / f"year={year}").mkdir(parents=True)
        table = pyarrow.table({"x": column})
        pyarrow.parquet.write_table(table, tmp_path / "data" / f"year={year}" / "t.parquet")
    schema = Schema("t", {"x": Category(["a", "b", "café"]), "year": Integer(2023, 2024)})
    ledger = Ledger.open(tmp_path / "books.db", create=True)
    curator = open_curator(tmp_path / "data", schema, ledger=ledger, budget=Budget(1000), create=True)
    found = curator.table().where("x = 'a'").group_by("year").agg(n=count()).plan(epsilon=500).release()
    assert found["n"][:2] == [1, 1]


def test_a_table_that_can_be_read_is_the_same_table():
    table = pyarrow.table({"x": pyarrow.array(["a", None]), "t": pyarrow.array([LATE, None], pyarrow.timestamp("ms"))})
    assert readable_cells(table) is table


def test_a_reader_that_gives_up_at_a_value_would_be_seen(tmp_path, monkeypatch):
    """The planted bug, which was there."""
    monkeypatch.setattr(Copies, "reread", lambda self, backend: False)
    source = source_as("parquet", pyarrow.table({"x": unreadable()}), tmp_path)
    with pytest.raises(RunError):
        asked(source, Integer(0, 3), tmp_path)


def joined_to_memory(tmp_path) -> list:
    """What is left of a Parquet file that cannot be read as it is, after a join to a table in memory."""
    pyarrow.parquet.write_table(pyarrow.table({"x": unreadable()}), tmp_path / "t.parquet")
    file, few = source_of(tmp_path / "t.parquet"), source_of(pyarrow.table({"x": ["a", "café"]}))
    beside = file.beside({"few": few})
    both = replace(beside, view=lambda table, by: table.semi_join(by["few"], "x").select(n=table.x.length()))
    with both.open() as connection:
        return sorted(connection.values(connection.table)["n"])


def test_a_file_is_read_again_beside_a_table_in_memory(tmp_path):
    assert joined_to_memory(tmp_path) == [1, 4]


def test_a_table_in_memory_that_is_forgotten_with_the_failure_would_be_seen(tmp_path, monkeypatch):
    """Planted: ibis believes the engine still knows the table."""
    engines = Pool()
    monkeypatch.setattr("discreet.data.source.engines", engines)
    monkeypatch.setattr("discreet.data.pool._forget", lambda session: vars(session).update(_shown(session)))
    with pytest.raises(duckdb.Error):
        joined_to_memory(tmp_path)


def _shown(session) -> dict:
    kept = {"_memtables": WeakSet(), "_record_batch_readers_consumed": {}}
    return {} if "_memtables" in vars(session) else kept
