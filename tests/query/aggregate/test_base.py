"""What every aggregate is: to and from JSON and SQL by its fields, within the declared bounds, private ones apart."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sqlglot
from sql_schema import scope_of

from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query.aggregate import (
    PRIVATE,
    Aggregate,
    Share,
    aggregate_from,
    count,
    mean,
    settled,
    std,
    total,
    variance,
)
from discreet.query.aggregate.base import read_limits, rows_of
from discreet.query.aggregate.pairs import Paired
from discreet.query.aggregate.vector_means import VectorMean
from discreet.query.function import kinds
from discreet.query.measure import Rows

SCHEMA = Schema("t", {"pay": Real(0, 1000, nullable=True), "age": Integer(0, 120, nullable=False)})
SCOPE = scope_of(SCHEMA)
WRITTEN = [
    (count(), {"of": "count"}),
    (count("pay"), {"of": "count", "column": "pay"}),
    (total("pay", (1, "1/2", 3)[::2]), {"of": "sum", "column": "pay", "bounds": ["1", "3"]}),
    (mean("pay", PRIVATE), {"of": "mean", "column": "pay", "bounds": "private"}),
    (variance("age", sample=True), {"of": "variance", "column": "age", "sample": True}),
    (std("age"), {"of": "std", "column": "age"}),
]


@pytest.mark.parametrize(("aggregate", "entry"), WRITTEN)
def test_it_is_written_by_its_fields_and_what_is_as_usual_is_left_out(aggregate, entry):
    assert aggregate.to_dict() == entry
    assert aggregate_from(entry) == aggregate


@pytest.mark.parametrize(
    "entry",
    [
        5,
        {},
        {"of": "sum"},
        {"of": "geomean", "column": "pay"},
        {"of": "sum", "column": "pay", "more": 1},
        {"of": "count", "column": 5},
        {"of": "sum", "column": "pay", "bounds": [1]},
    ],
)
def test_json_that_is_no_aggregate_is_refused(entry):
    with pytest.raises(InputError):
        aggregate_from(entry)


@pytest.mark.parametrize(
    ("given", "read"),
    [(None, None), ("private", "private"), ((0, "1/3"), (0, Fraction(1, 3))), ([0.1, 2], (Fraction(1, 10), 2))],
)
def test_bounds_are_read_as_they_are_written(given, read):
    assert read_limits(given) == read


@pytest.mark.parametrize("given", ["ab", 5, (1,), (2, 2), (3, 1), (1, float("nan"))])
def test_bounds_that_are_none_are_refused(given):
    with pytest.raises(InputError) as caught:
        read_limits(given)
    assert caught.value.field == "bounds"


def test_bounds_are_the_declared_ones_or_lie_within_them():
    assert mean("pay").limits(SCHEMA) == (0, 1000)
    assert mean("pay", (5, 10)).limits(SCHEMA) == (5, 10)
    for wrong in ((-1, 10), (5, 2000)):
        with pytest.raises(InputError, match="within the declared"):
            mean("pay", wrong).limits(SCHEMA)
    with pytest.raises(InputError, match="suggest_bounds"):  # never the declared ones in silence
        mean("pay", PRIVATE).limits(SCHEMA)


def test_only_private_bounds_are_settled_by_a_search():
    found = (Fraction(0), Fraction(50))
    assert settled(mean("pay", PRIVATE), found) == mean("pay", found)
    assert settled(mean("pay", PRIVATE), None) == mean("pay")
    for other in (mean("pay", (5, 10)), mean("pay"), count()):
        assert settled(other, found) is other


def test_a_complete_column_shares_the_count_of_rows():
    assert rows_of(SCHEMA, "age") == rows_of(SCHEMA, None) == Rows(None)
    assert rows_of(SCHEMA, "pay") == Rows("pay")


@pytest.mark.parametrize("kind", [kind for kind in kinds() if issubclass(kind, Aggregate)], ids=lambda k: k.__name__)
def test_every_name_in_sql_is_read_by_its_own_class_alone(kind):
    for name, fields in kind.functions[0].sql.items():
        columns = ["pay", "age"] if issubclass(kind, Paired) else ["pay > 1"] if kind is Share else ["pay"]
        written = ", ".join(columns)
        if kind is VectorMean:  # a length and the other columns beside the coordinate
            written, fields = "pay, 2, pay, age", {"vector": ("pay", "age"), "norm": Fraction(2)}
        node = sqlglot.parse_one(f"SELECT {name}({written})", read="duckdb").expressions[0]
        assert kind.read_sql(node, SCOPE) == kind(*columns, **fields).canonical(SCOPE.schema)
        others = [other for other in kinds() if issubclass(other, Aggregate) and other is not kind]
        assert [other.read_sql(node, SCOPE) for other in others] == [None] * len(others)
