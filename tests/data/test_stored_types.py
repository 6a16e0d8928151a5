"""Whatever type a table stores: read by a stated rule, or refused before anything is spent."""

import decimal
import warnings

import pyarrow
import pyarrow.parquet
import pytest

from discreet.data.column import Integer
from discreet.errors import InputError
from stored_types import DAYS, LATE, asked, source_as

SOURCES = ["parquet", "arrow", "pandas", "polars"]


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
