"""The examples a model is trained on: laid out by the schema alone, one for each person."""

from __future__ import annotations

from datetime import date

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

pytest.importorskip("jax")


from train_people import COLUMNS, SCHEMA, table

from discreet import Integer, Real, Schema, Text, Unit
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.learn.encoding import Encoding
from discreet.learn.matrix import examples_of
from discreet.noise.replay import Replay
from discreet.query.parse import parse_condition


def read(rows, schema=SCHEMA, target="rich", key=b"k", condition=None):
    """The examples of a table, by the one door's own means."""
    with source_of(rows).open() as data:
        return examples_of(Encoding.of(schema, target), schema, data, Replay(key), condition)


def test_examples_are_laid_out_by_the_schema_alone():
    rows = pyarrow.table(
        {
            "age": [25, 200, -7, 50],
            "sex": ["m", None, "?", "f"],
            "pay": [50_000.0, float("nan"), 1e9, 0.0],
            "works": [True, False, True, False],
            "since": [date(2000, 1, 1), date(2020, 12, 31), date(2030, 1, 1), date(1990, 1, 1)],
            "rich": ["yes", "no", "yes", None],
        }
    )
    encoding = Encoding.of(SCHEMA, "rich")
    assert encoding.labels == ("age", "sex=f", "sex=m", "sex missing", "pay", "pay missing", "works", "since")
    x, y = read(rows)
    found = {tuple(np.round(row, 4).tolist()): int(label) for row, label in zip(x, y, strict=True)}
    assert found == {
        (-0.5, 0, 1, 0, 0, 0, 1, -1): 1,
        (1, 0, 0, 1, 0, 1, -1, 1): 0,
        (-1, 0, 0, 1, 1, 0, 1, 1): 1,
    }


def test_values_in_hand_are_read_as_the_engine_reads_them():
    rows = table(300)
    encoding = Encoding.of(SCHEMA, "rich")
    known = [place for place, label in enumerate(rows["rich"].to_pylist()) if label is not None]
    ours = encoding.rows(rows.take(known))
    x, _ = read(rows)
    assert np.array_equal(x[np.lexsort(x.T)], ours[np.lexsort(ours.T)])


def test_the_order_of_rows_does_not_matter():
    rows = table(200)
    turned = rows.take(np.random.default_rng(4).permutation(200))
    for one, two in zip(read(rows), read(turned), strict=True):
        assert np.array_equal(one, two)


def test_a_condition_leaves_rows_out():
    x, _ = read(table(), condition=parse_condition("age >= 50"))
    assert (x[:, 0] >= 0).all()
    assert 50 < len(x) < 300


def test_a_number_can_be_the_target():
    schema = Schema("people", {"age": Integer(0, 100, nullable=False), "pay": Real(0, 100, nullable=False)})
    encoding = Encoding.of(schema, "pay")
    assert encoding.classes == ()
    _, y = read(pyarrow.table({"age": [1, 2, 3], "pay": [0.0, 50.0, 100.0]}), schema, "pay")
    assert sorted(y) == [-1, 0, 1]
    assert list(encoding.number(np.array([-1.0, 0.5, 7.0]))) == [0, 75, 100]


PERSONS = Schema("people", {"person": Text(), **COLUMNS}, unit=Unit("person", groups=5, rows=9))


def test_a_person_is_one_example_whatever_they_hold():
    rows = table(300)
    whole, _ = read(rows, PERSONS)
    persons = rows["person"].to_pylist()
    labelled = {person for person, label in zip(persons, rows["rich"].to_pylist(), strict=True) if label is not None}
    assert len(whole) == len(labelled)
    for gone in ("p0", "p7", "p50"):
        kept = [place for place, person in enumerate(persons) if person != gone]
        without, _ = read(rows.take(kept), PERSONS)
        left = [tuple(row) for row in whole]
        for row in without:
            left.remove(tuple(row))  # every other person's example is what it was
        assert len(left) == (gone in labelled)


def test_another_key_picks_other_rows():
    rows = table(300)
    one, _ = read(rows, PERSONS, key=b"one")
    two, _ = read(rows, PERSONS, key=b"two")
    assert one.shape == two.shape
    assert not np.array_equal(one, two)


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
