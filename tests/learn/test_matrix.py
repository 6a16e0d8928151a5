"""Examples of a table: the same on every engine and in any order, one row of each person."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import functools
import math
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow
import pyarrow.parquet
from train_people import PERSONS, SCHEMA, read, table

from discreet import Boolean, Category, Date, Integer, Real, Schema, Unit
from discreet.data.source import source_of
from discreet.learn.encoding import Encoding
from discreet.learn.matrix import examples_of
from discreet.noise.replay import Replay
from discreet.query.parse import parse_condition
from servers import fresh_schema

WORDS = ["", "%", "Ä", "Zoë", "null", "a", "A", "aa", "b", "ß", "10", "9", "--", ";"]
COLUMNS = {
    "short": Category(["a", "it's", "é"], nullable=False),
    "long": Category(WORDS, nullable=True),
    "flag": Boolean(nullable=True),
    "n": Integer(-3, 5, nullable=False),
    "m": Integer(0, 1000, nullable=True),
    "x": Real(-10.5, 20.25, nullable=False),
    "y": Real(0, 1e6, nullable=True),
    "d": Date("2020-02-27", "2021-03-02", nullable=True),
}
FLOATS = [0.0, -0.0, 0.5, -2.5, 19.99, 20.25, 1e300, -1e300, math.inf, -math.inf, 123.456, 1e6, 5e-324, 999_999.5]
POOLS = {
    "p": [None, 1, 2, 3, 4, 5, 6, -1, 2**62, -(2**63)],
    "short": ["a", "a", "it's", "é", None, "A", "unknown"],
    "long": [*WORDS, None, "ÿ", "aaa"],
    "flag": [True, False, None],
    "n": [None, -(2**63), 2**63 - 1, 0, 1, -3, -4, 5, 6],
    "m": [None, math.nan, 0.0, 15.49, 15.5, 16.0, 999.6, 1000.0, 1e9, -1.0, 512.0],
    "x": [None, math.nan, *FLOATS, *FLOATS],
    "y": [None, math.nan, *FLOATS],
    "d": [None, date(2020, 2, 27), date(2020, 2, 29), date(2021, 3, 2), date(2021, 3, 3), date(1, 1, 1), date.max],
}
KINDS = {"p": "int8", "short": "text", "long": "text", "flag": "bool", "n": "int8", "m": "float8", "x": "float8"}
KINDS |= {"y": "float8", "d": "date"}


@functools.cache
def rows() -> list[dict]:
    chance = np.random.default_rng(7)
    return [{name: pool[chance.integers(len(pool))] for name, pool in POOLS.items()} for _ in range(400)]


def on_arrow():
    types = {"text": "string", "int8": "int64", "float8": "float64", "bool": "bool_", "date": "date32"}
    return source_of(
        pyarrow.table(
            {
                name: pyarrow.array([row[name] for row in rows()], getattr(pyarrow, types[kind])())
                for name, kind in KINDS.items()
            }
        )
    )


@functools.cache
def on_postgres():
    import psycopg

    address = fresh_schema()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(f'{name} {kind}' for name, kind in KINDS.items())})")
        with connection.cursor().copy(f"COPY visits ({', '.join(KINDS)}) FROM STDIN") as copy:
            for row in rows():
                copy.write_row([row[name] for name in KINDS])
    return source_of(f"{address}&table=visits")


@pytest.mark.parametrize("engine", [on_arrow, on_postgres])
@pytest.mark.parametrize("target", ["short", "flag", "y"])
def test_every_row_is_read_by_the_same_rule(engine, target):
    schema = Schema("visits", COLUMNS)
    encoding = Encoding.of(schema, target)
    with engine().open() as data:
        x, y = examples_of(encoding, schema, data, Replay(b"k"))
    codes = {part.name: part.codes([row[part.name] for row in rows()]) for part in encoding.parts}
    known = codes[target] >= 0
    codes = {name: column[known] for name, column in codes.items()}
    order = np.lexsort([codes[part.name] for part in encoding.parts])
    codes = {name: column[order] for name, column in codes.items()}
    assert np.array_equal(x, encoding.inputs(codes))
    assert np.array_equal(y, encoding.outputs(codes))
    assert np.abs(x).max() <= 1
    assert np.isfinite(x).all()


@pytest.mark.parametrize("engine", [on_arrow, on_postgres])
def test_an_expression_is_computed_alike_by_engines_and_of_values_in_hand(engine):
    schema = Schema("visits", COLUMNS)
    texts = ["n * m", "x + y / 7", "UPPER(short)", "YEAR(d)", "flag AND n > 0", "CASE WHEN m > 10 THEN d END", "y"]
    texts += ["NULLIF(flag, FALSE)", "NULLIF(flag, TRUE)", "m >= 0"]  # true or missing, false or missing
    encoding = Encoding.of(schema, "n >= 2", texts)
    assert Encoding.from_dict(encoding.to_dict()) == encoding
    source = engine()
    with replace(source, view=schema.view_with(part.name for part in encoding.parts if part.read)).open() as data:
        x, _ = examples_of(encoding, schema, data, Replay(b"k"))
    table = {name: [row[name] for row in rows()] for name in COLUMNS}
    expected = encoding.rows(table)[[value is not None for value in encoding.target.values(table)]]
    assert sorted(map(tuple, x)) == sorted(map(tuple, expected))
    assert np.abs(x).max() <= 1


@pytest.mark.parametrize("engine", [on_arrow, on_postgres])
def test_a_person_has_one_row_everywhere(engine):
    schema = Schema(
        "visits", {**COLUMNS, "p": Integer(-(2**50), 2**50, nullable=False)}, unit=Unit("p", groups=2, rows=4)
    )
    encoding = Encoding.of(schema, "short")
    with engine().open() as data:
        x, _ = examples_of(encoding, schema, data, Replay(b"k"))
    persons = {row["p"] for row in rows() if row["p"] is not None and row["short"] in ("a", "it's", "é")}
    assert len(x) == len(persons)


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


def test_the_order_of_rows_does_not_matter():
    rows = table(200)
    turned = rows.take(np.random.default_rng(4).permutation(200))
    for one, two in zip(read(rows), read(turned), strict=True):
        assert np.array_equal(one, two)


def test_a_condition_leaves_rows_out():
    x, _ = read(table(), condition=parse_condition("age >= 50"))
    assert (x[:, 0] >= 0).all()
    assert 50 < len(x) < 300


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


@pytest.mark.parametrize("engine", [on_arrow, on_postgres])
def test_a_person_has_up_to_so_many_rows_everywhere(engine):
    schema = Schema(
        "visits", {**COLUMNS, "p": Integer(-(2**50), 2**50, nullable=False)}, unit=Unit("p", groups=2, rows=400)
    )
    encoding = Encoding.of(schema, "short")
    with engine().open() as data:
        (x, y), weights = examples_of(encoding, schema, data, Replay(b"k"), rows=400)
    known = [row for row in rows() if row["p"] is not None and row["short"] in ("a", "it's", "é")]
    persons = sorted({row["p"] for row in known})
    own = encoding.rows({name: [row[name] for row in known] for name in COLUMNS})
    expected = sorted(sorted(map(tuple, own[[row["p"] == one for row in known]])) for one in persons)
    found = sorted(sorted(map(tuple, seen[weight > 0])) for seen, weight in zip(x, weights, strict=True))
    assert found == expected
    assert np.allclose(weights.sum(axis=1), 400)
    assert y.shape == weights.shape


def examples_by_person(rows, most=2, key=b"k"):
    with source_of(rows).open() as data:
        (x, y), weights = examples_of(Encoding.of(PERSONS, "rich"), PERSONS, data, Replay(key), rows=most)
    return [(a.tobytes(), b.tobytes(), c.tobytes()) for a, b, c in zip(x, y, weights, strict=True)]


def test_several_rows_of_a_person_are_one_example_whatever_others_hold():
    whole = examples_by_person(rows := table(300))
    persons = rows["person"].to_pylist()
    for gone in ("p0", "p7", "p50"):
        left = list(whole)
        for example in examples_by_person(rows.take([i for i, person in enumerate(persons) if person != gone])):
            left.remove(example)
        assert len(left) == 1
    turned = rows.take(np.random.default_rng(4).permutation(300))
    assert examples_by_person(turned) == whole
    assert sorted(examples_by_person(rows, key=b"other")) != sorted(whole)
    assert len(set(examples_by_person(rows, most=9))) == len(whole)
