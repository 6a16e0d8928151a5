"""Values in hand are encoded as the engine reads them; columns that do not fit are refused."""

from __future__ import annotations

import re
from datetime import datetime

import pytest

pytest.importorskip("jax")

import numpy as np
import pyarrow
import pyarrow.parquet
from train_people import PERSONS, SCHEMA, read, table

from discreet import Boolean, Category, Date, Integer, Real, Schema, Timestamp
from discreet.errors import InputError
from discreet.learn.encoding import STEPS, Encoding, Part


def test_values_in_hand_are_read_as_the_engine_reads_them():
    rows = table(300)
    encoding = Encoding.of(SCHEMA, "rich")
    known = [place for place, label in enumerate(rows["rich"].to_pylist()) if label is not None]
    ours = encoding.rows(rows.take(known))
    x, _ = read(rows)
    assert np.array_equal(x[np.lexsort(x.T)], ours[np.lexsort(ours.T)])


@pytest.mark.parametrize(
    ("column", "values", "gap"),
    [
        (Boolean(), [0, 1, 1], None),
        (Category(["0", "1"]), [0, 1, 1], None),
        (Category(["0", str(2**53)]), [2**53 + 1, 2**53, 0], None),
        (Integer(0, 9), [3, 10**15, 0], None),
        (Real(0, 1), [0, 1, 1], None),
        (Date("2020-01-01", "2020-12-31"), [datetime(2020, 2, day) for day in (1, 2, 3)], None),
        (Boolean(), [True, False, True], float("nan")),
    ],
)
def test_a_row_without_a_value_does_not_change_how_others_are_read(column, values, gap):
    """Tables hold whole numbers as floats, and moments with a mark of their own, as soon as one row lacks a value."""
    pandas = pytest.importorskip("pandas")
    part = Part("c", column)
    alone = [int(part.codes([value])[0]) for value in values]
    for held in (pandas.Series, np.array, list):
        assert part.codes(part.values({"c": held(values)})).tolist() == alone
        assert part.codes(part.values({"c": held([*values, gap])})).tolist() == [*alone, -1]


def test_a_whole_number_beyond_all_floats_is_moved_into_the_bounds():
    assert Part("c", Real(0, 1)).codes([10**400, -(10**400)]).tolist() == [STEPS, 0]
    assert Part("c", Category(["a"])).codes([10**5000]).tolist() == [-1]


def test_a_number_can_be_the_target():
    schema = Schema("people", {"age": Integer(0, 100, nullable=False), "pay": Real(0, 100, nullable=False)})
    encoding = Encoding.of(schema, "pay")
    assert encoding.classes == ()
    _, y = read(pyarrow.table({"age": [1, 2, 3], "pay": [0.0, 50.0, 100.0]}), schema, "pay")
    assert sorted(y) == [-1, 0, 1]
    assert list(encoding.number(np.array([-1.0, 0.5, 7.0]))) == [0, 75, 100]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": "nothing"}, "declared column"),
        ({"target": "since"}, "a category, a boolean or a number"),
        ({"target": "rich", "features": ["rich", "age"]}, "other than the target"),
        ({"target": "rich", "features": ["age", "age"]}, "each column once"),
        ({"target": "rich", "features": []}, "at least one"),
        ({"target": "rich", "features": "age"}, "a list of columns"),
        ({"target": "rich", "features": ["person"]}, "declared values"),
    ],
)
def test_columns_that_do_not_fit_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        Encoding.of(PERSONS, **given)


def test_a_timestamp_is_refused_with_parts_of_it_that_are_not():
    schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-03-31", "Europe/Vienna"), "g": Category(["a", "b"])})

    def read(column):
        return Encoding.of(schema, "g", [column])

    with pytest.raises(InputError) as caught:
        read("at")
    offered = re.findall(r"[A-Z_]+\([^)]*\)", caught.value.hint)
    assert len(offered) == 3
    for column in offered:
        assert read(column)
