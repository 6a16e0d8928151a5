"""Values of another type than is declared: categories that are numbers or truth values, fractions in whole numbers."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import ibis
import numpy as np
import pandas
import pytest

from discreet import Budget
from discreet.curator import open_curator
from discreet.data.column import Category, Date, Integer, Real, Text
from discreet.data.read import problem
from discreet.data.schema import Schema
from discreet.query.aggregate import count, mean, total
from discreet.query.key import bins

EXACT = 10**6  # at this epsilon nothing here has noise
WAYS = ["frame", "csv", "parquet"]


def stored(frame, way, tmp_path):
    if way == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
    elif way == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
    return frame if way == "frame" else tmp_path / f"t.{way}"


def curator_of(values, column, way, tmp_path):
    place = stored(pandas.DataFrame({"c": values}), way, tmp_path)
    ledger = tmp_path / "books.db"
    return open_curator(place, Schema("t", {"c": column}), ledger=ledger, budget=Budget(10**9), create=True)


def counts(values, column, way, tmp_path, key="c"):
    question = curator_of(values, column, way, tmp_path).table().group_by(key).agg(n=count())
    return question.plan(epsilon=EXACT).release()["n"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("values", "declared", "expected"),
    [
        ([1.5, 0.1, 0.1, 2.0, 7.0], ["1.5", "0.1", "2"], [1, 2, 1, 1]),
        ([1.5, 0.1, 0.1, 2.0, 7.0], ["1.5", "0.1", "2.0"], [1, 2, 1, 1]),
        (np.array([1.5, 0.1, 2.0], dtype=np.float32), ["1.5", "0.1", "2"], [1, 1, 1, 0]),
        ([1.0, 2.0, None, 2.0], ["1", "2"], [1, 2, 1]),
        ([True, False, True], ["True", "False"], [2, 1, 0]),
        ([True, False, True], ["true", "false"], [2, 1, 0]),
        ([True, False, True], ["TRUE"], [2, 1]),
        ([1, 2, 2, 10], ["1", "2", "10"], [1, 2, 1, 0]),
        ([-1.5, 0.0], ["-1.5", "0"], [1, 1, 0]),
        (["v1.0", "v1", "01.0", "1.0", "1"], ["v1", "01", "1"], [1, 0, 2, 2]),
    ],
)
def test_a_category_is_the_same_however_it_is_stored(tmp_path, way, values, declared, expected):
    """In 0.1 a float had to be whole, a boolean had to be declared in small letters, and CSV files differed."""
    assert counts(values, Category(declared), way, tmp_path) == expected


@pytest.mark.parametrize("way", ["frame", "parquet"])
def test_decimals_are_compared_as_numbers(tmp_path, way):
    values = [Decimal("1.50"), Decimal("0.10"), Decimal("2.00"), Decimal("0.15")]
    assert counts(values, Category(["1.5", "0.1", "2"]), way, tmp_path) == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        (["1", "1.0"], "int64"),
        (["1.5", "1.50"], "float64"),
        (["1.5", "1.50"], "decimal(3, 2)"),
        (["True", "true"], "boolean"),
    ],
)
def test_two_names_for_one_number_are_refused_where_numbers_are_stored(declared, kind):
    assert "two values declared are one" in problem(Category(declared), ibis.dtype(kind), tries=True)
    assert problem(Category(declared), ibis.dtype("string"), tries=True) is None
    assert problem(Category(["1", "01", "1.5", "true", "a"]), ibis.dtype(kind), tries=True) is None


@pytest.mark.parametrize("way", WAYS)
def test_fractions_of_an_integer_column_are_rounded_and_that_is_said(tmp_path, way):
    """In 0.1 nothing said so, beside an interval without width."""
    curator = curator_of([1.5, 2.5, 3.5, 4.2], Integer(0, 10), way, tmp_path)
    offer = curator.table().agg(t=total("c"), m=mean("c")).plan(epsilon=EXACT)
    said = "Values of c outside 0..10 are clipped to the nearer bound; fractions are rounded to whole numbers."
    assert said in str(offer)
    release = offer.release()
    assert (release["t"], release["m"]) == ([13], [3.25])
    assert said in [note.text for note in release.notes]


def test_a_moment_with_a_time_zone_is_its_day_in_utc_in_a_column_of_any_values(tmp_path):
    moments = [pandas.Timestamp("2024-01-31 23:30", tz="America/New_York"), pandas.Timestamp("2024-02-01 03:00")]
    days = Date("2024-01-01", "2024-12-31")
    for values in (pandas.Series(moments, dtype=object), pandas.Series(moments[:1])):
        assert counts(values, days, "frame", tmp_path, bins("c", every="month"))[1] == len(values)
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))  # which has no day in UTC
    assert counts(pandas.Series([last], dtype=object), days, "frame", tmp_path, bins("c", every="month"))[1] == 0


@pytest.mark.parametrize(
    ("column", "kinds"),
    [
        (Integer(0, 1, nullable=False), ["date", "timestamp", "array<int64>", "json", "binary", "time"]),
        (Category(["a"], nullable=False), ["timestamp", "array<string>", "json", "binary", "struct<a: int64>"]),
        (Date("2020-01-01", "2021-01-01", nullable=False), ["int64", "float64", "boolean", "array<date>"]),
        (Text(), ["array<string>", "json", "decimal", "decimal(10, 2)"]),
    ],
)
def test_stored_types_that_cannot_be_read_are_known_beforehand(column, kinds):
    for kind in kinds:
        assert problem(column, ibis.dtype(kind), tries=True)
    assert problem(column, ibis.dtype("string"), tries=True) is None


def test_only_an_engine_that_can_try_reads_text_as_numbers_or_dates():
    for column in (
        Integer(0, 1, nullable=False),
        Real(0, 1, nullable=False),
        Date(date(2020, 1, 1), date(2021, 1, 1), nullable=False),
    ):
        assert problem(column, ibis.dtype("string"), tries=False)
    assert problem(Category(["a"], nullable=False), ibis.dtype("string"), tries=False) is None
