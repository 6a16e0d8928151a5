"""Means of clipped vectors in SQL: the formula that any engine computes is one vector, with one price."""

from __future__ import annotations

import pyarrow
import pytest

import discreet
from discreet.data.column import Category, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import Mean, VectorMean, mean
from discreet.query.question import Query
from discreet.query.sql import parse_sql
from discreet.query.sql_vector import clipped_mean
from discreet.query.sql_writing import write_sql

POINTS = {"x": Real(-5, 5), "y": Real(-5, 5), "at noon": Real(0, 9), "side": Category(["a", "b"])}
SCHEMA = Schema("t", POINTS)
X, Y = (clipped_mean(one, ["x", "y"], "2") for one in "xy")


def outputs(*items, rest=""):
    return dict(parse_sql(f"SELECT {', '.join(items)} FROM t{rest}", SCHEMA).query.outputs)


ALIKE = [
    (X, Y),
    ("VECTOR_MEAN(x, 2, x, y)", "vector_mean(y, 2.0, x, y)"),
    ("AVG(x / GREATEST(1, SQRT(x * x + y * y) / 2.0))", "AVG((y) / GREATEST(SQRT((POWER(x, 2)) + y ^ 2) / 2, 1.0))"),
    ("MEAN(x / GREATEST(1, SQRT(x * x + y * y) / 2))", "AVG(y / GREATEST(1, (SQRT(x * x + y * y) / 2)))"),
]


@pytest.mark.parametrize("pair", ALIKE, ids=lambda pair: pair[1])
def test_all_spellings_are_the_vector_that_python_asks_for(pair):
    assert outputs(*pair) == mean(["x", "y"], norm=2)


def test_rows_of_a_filter_and_names_that_are_quoted():
    where = " FILTER (WHERE side = 'a')"
    found = outputs(f"{X}{where} AS a", f"{Y}{where} AS b")
    inside = [f"CASE WHEN side = 'a' THEN {one} END" for one in "xy"]
    assert found == dict(zip("ab", mean(inside, norm=2).values(), strict=True))
    quoted = [clipped_mean(one, ["x", '"at noon"'], "0.5") for one in ("x", '"at noon"')]
    assert outputs(f"{quoted[0]} AS a", f"{quoted[1]} AS b") == dict(
        zip("ab", mean(["x", "at noon"], norm="0.5").values(), strict=True)
    )


APART = [
    (X,),  # one coordinate: nobody asked for the vector
    (X, clipped_mean("y", ["x", "y"], "3")),  # of another length
    (X, f"{Y} FILTER (WHERE side = 'a')"),  # of other rows
    (X, clipped_mean("y", ["y", "x"], "2")),  # another order: another vector
    tuple(clipped_mean(one, ["x", "y", "y"], "2") for one in "xy"),  # y counts twice in the length
    ("AVG(x / GREATEST(2, SQRT(x * x + y * y) / 2))", "AVG(y / GREATEST(2, SQRT(x * x + y * y) / 2))"),
    ("AVG(x / GREATEST(1, SQRT(x * x + y + 5) / 2))", "AVG(y / GREATEST(1, SQRT(x * x + y + 5) / 2))"),
]


@pytest.mark.parametrize("items", APART, ids=str)
def test_what_is_no_whole_vector_stays_a_mean_of_numbers(items):
    found = outputs(*(f"{item} AS n{place}" for place, item in enumerate(items)))
    assert {type(one) for one in found.values()} == {Mean}


def test_the_statement_is_priced_and_answered_as_the_vector(tmp_path):
    """(3, 4) is cut to (1.2, 1.6); (0, 0) and (0.6, 0.8) are not cut. Noise at this price is below one hundredth."""
    rows = pyarrow.table({"x": [3.0, 0.0, 0.6], "y": [4.0, 0.0, 0.8], "at noon": [1.0, 1.0, 1.0], "side": ["a"] * 3})
    curator = discreet.open(rows, SCHEMA, ledger=tmp_path / "books.db", budget=Budget(rho=10**8), create=True)
    plain = curator.table().agg(**mean(["x", "y"], norm=2)).plan(rho=10**7)
    asked = curator.sql(f"SELECT {X} AS mean_x, {Y} AS mean_y FROM t").plan(rho=10**7)
    assert (asked.plan.cost, asked.plan.noises) == (plain.plan.cost, plain.plan.noises)
    assert asked.plan.digest == plain.plan.digest
    answer = asked.release()
    assert [answer["mean_x"][0], answer["mean_y"][0]] == pytest.approx([0.6, 0.8], abs=0.01)


@pytest.mark.parametrize("norm", ["2", "0.1", "12.5"])
def test_it_is_written_as_the_formula_and_read_back(norm):
    asked = Query().group_by("side").agg(**mean(["x", "at noon"], norm=norm))
    text = write_sql(asked, SCHEMA)
    assert text is not None
    assert f'SQRT(x * x + "at noon" * "at noon") / {float(norm)!r}' in text
    found = parse_sql(text, SCHEMA).query
    assert {type(one) for one in dict(found.outputs).values()} == {VectorMean}
    one = Query().agg(mean_x=mean(["x", "y"], norm=norm)["mean_x"])
    assert write_sql(one, SCHEMA) is None  # SQL says it of whole vectors only


WRONG = [
    ("VECTOR_MEAN(x, y)", "VECTOR_MEAN of a coordinate, a length"),
    ("VECTOR_MEAN(x, 0, x, y)", "more than zero"),
    ("VECTOR_MEAN(x, y, x, y)", "a length"),
    ("VECTOR_MEAN(side, 2, x, y)", "different columns, side among them"),
    ("VECTOR_MEAN(x, 2, x, x)", "different columns"),
    ("AVG([x, y])", r"VECTOR_MEAN\(x, 2, x, y\)"),
    ("MEAN([x, y], 2)", r"VECTOR_MEAN\(x, 2, x, y\)"),
    ("AVG(x / GREATEST('one', SQRT(x * x + y * y) / 2))", "sql"),  # text is no number of the formula
    ("AVG(x / GREATEST(1, SQRT(POWER(x, 'two') + y * y) / 2))", "sql"),
    ("VECTOR_MAEN(x, 2, x, y)", "Did you mean `VECTOR_MEAN`"),
]


@pytest.mark.parametrize(("item", "said"), WRONG)
def test_a_wrong_spelling_is_refused_with_the_right_one(item, said):
    with pytest.raises(InputError, match=said):
        outputs(item)
