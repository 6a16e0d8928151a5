"""Whatever type a table stores: read by a stated rule, or refused before anything is spent."""

import datetime as dt
import decimal
import warnings

import pyarrow
import pyarrow.parquet
import pytest

from discreet.curator import open_curator
from discreet.data.column import Category, Date, Integer
from discreet.data.copies import Copies, readable_cells
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError, RunError
from discreet.ledger.budget import Budget
from discreet.ledger.ledger import Ledger
from discreet.query.aggregate import count, total
from discreet.query.key import bins

LATE = dt.datetime(2024, 1, 1, 23, 30)  # in UTC; the second of January in Berlin
DAYS = Date(dt.date(2023, 12, 31), dt.date(2024, 1, 3), nullable=False)
SOURCES = ["parquet", "arrow", "pandas", "polars"]


def source_as(kind, table, folder):
    if kind == "parquet":
        pyarrow.parquet.write_table(table, folder / "t.parquet")
        return folder / "t.parquet"
    if kind == "polars":
        return pytest.importorskip("polars").from_arrow(table)
    return table.to_pandas() if kind == "pandas" else table


def asked(source, column, folder):
    ledger = Ledger.open(folder / "books.db", create=True)
    curator = open_curator(source, Schema("t", {"x": column}), ledger=ledger, budget=Budget(1000), create=True)
    question = curator.table()
    if isinstance(column, Date):
        return question.group_by(bins("x", every="day")).agg(n=count()).plan(epsilon=500).release()["n"]
    return question.agg(n=total("x")).plan(epsilon=500).release()["n"]


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "+02:00"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_day_of_a_moment_is_its_day_in_utc(tmp_path, kind, zone, unit):
    table = pyarrow.table({"x": pyarrow.array([LATE, LATE], pyarrow.timestamp(unit, zone))})
    assert asked(source_as(kind, table, tmp_path), DAYS, tmp_path) == [0, 2, 0, 0]


ODD = {
    "float16": pyarrow.array([1.0, 2.0], pyarrow.float16()),
    "decimal": pyarrow.array([decimal.Decimal(1), decimal.Decimal(2)], pyarrow.decimal128(10, 2)),
    "decimal256": pyarrow.array([decimal.Decimal(1), decimal.Decimal(2)], pyarrow.decimal256(50, 2)),
    "uint64": pyarrow.array([1, 2], pyarrow.uint64()),
    "dictionary": pyarrow.array([1, 2]).dictionary_encode(),
    "text": pyarrow.array(["1", "2"], pyarrow.large_string()),
}
OTHERS = {
    "time": pyarrow.array([1, 2], pyarrow.time64("ns")),
    "list": pyarrow.array([[1], [2]]),
    "struct": pyarrow.array([{"a": 1}] * 2),
    "binary": pyarrow.array([b"a", b"b"]),
    "fixed": pyarrow.array([b"ab", b"cd"], pyarrow.binary(2)),
    "duration": pyarrow.array([1, 2], pyarrow.duration("ns")),
    "moment": pyarrow.array([LATE] * 2, pyarrow.timestamp("ns", "UTC")),
    "map": pyarrow.array([[("a", 1)], []], pyarrow.map_(pyarrow.string(), pyarrow.int64())),
    "null": pyarrow.nulls(2),
}


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ODD)
def test_numbers_are_numbers_however_they_are_stored(tmp_path, kind, name):
    table = pyarrow.table({"x": ODD[name]})
    assert asked(source_as(kind, table, tmp_path), Integer(0, 10, nullable=False), tmp_path) == [3]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("name", OTHERS)
def test_columns_that_are_not_declared_may_be_of_any_type(tmp_path, kind, name):
    table = pyarrow.table({"x": [1, 2], "other": OTHERS[name]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert asked(source_as(kind, table, tmp_path), Integer(0, 10, nullable=False), tmp_path) == [3]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ["time", "list", "struct", "binary", "fixed", "map", "moment"])
def test_what_is_no_number_is_refused_before_anything_is_spent(tmp_path, kind, name):
    with pytest.raises(InputError, match=r"columns\.x"):
        asked(source_as(kind, pyarrow.table({"x": OTHERS[name]}), tmp_path), Integer(0, 10, nullable=False), tmp_path)


# Values that an engine fails on while it reads them


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
    import duckdb

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
