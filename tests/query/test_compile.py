"""What the engine counts is what the rules say, on any table, however dirty."""

from __future__ import annotations

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dirty import COLUMNS, KEYS, SALT, arrow, engine, queries, schema_for, some_rows, tables, units
from discreet.core.unit import Unit
from discreet.data.column import Integer, Real
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.query.aggregate import count, people, total, variance
from discreet.query.question import Query
from reference import measures_of, of_each_person, of_persons, of_rows

SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(tables, queries(persons=False))
def test_rows_are_counted_by_the_rules(rows, query):
    schema = schema_for()
    checked = query.checked(schema)
    expected = of_rows(checked, schema, measures_of(checked, schema), rows)
    assert engine(source_of(arrow(rows)), query, schema) == expected


@SLOW
@given(tables, queries(persons=True), units, st.lists(st.integers(0, 2**31 - 1), min_size=8, max_size=8))
def test_persons_are_bounded_by_the_rules(rows, query, unit, salt):
    schema = schema_for(unit, Integer(0, 9, nullable=False))  # its bounds do not matter: it names persons
    checked = query.checked(schema)
    expected = of_persons(checked, schema, measures_of(checked, schema), rows, salt)
    assert engine(source_of(arrow(rows)), query, schema, salt) == expected


@pytest.mark.parametrize("index", range(len(KEYS)))
def test_every_key_on_a_larger_table(index):
    rows = some_rows(400)
    query = Query(None, (KEYS[index],), (("rows", count()), ("sum", total("y")), ("sum2", total("big"))))
    for schema in (schema_for(), schema_for(Unit("p", groups=2, rows=2), Integer(0, 9, nullable=False))):
        checked = query.checked(schema)
        measures = measures_of(checked, schema)
        if schema.unit.column is None:
            expected = of_rows(checked, schema, measures, rows)
        else:
            expected = of_persons(checked, schema, measures, rows, SALT)
        assert engine(source_of(arrow(rows)), query, schema) == expected


@pytest.mark.parametrize("kind", ["string", "double", "uint64", "decimal128(20, 0)"])
@pytest.mark.parametrize("limit", [1, 2, 6])
def test_whatever_names_persons_the_limits_hold(kind, limit):
    import pyarrow

    rows = [{**row, "p": None if row["p"] is None else abs(row["p"]) % 8} for row in some_rows(300)]
    names = pyarrow.array([row["p"] for row in rows], pyarrow.int64())
    wanted = pyarrow.decimal128(20, 0) if kind.startswith("decimal") else pyarrow.type_for_alias(kind)
    names = names.cast(pyarrow.decimal128(38, 0)).cast(wanted) if kind.startswith("decimal") else names.cast(wanted)
    table = arrow(rows).set_column(0, "p", names)
    unit = Unit("p", groups=limit, rows=2)
    schema = schema_for(unit)
    query = Query(None, (KEYS[0],), (("who", people()), ("n", count()), ("t", total("n"))))
    checked = query.checked(schema)
    measures = measures_of(checked, schema)
    each = of_each_person(checked, schema, measures, rows)
    found = engine(source_of(table), query, schema)
    # How many groups count is known; which ones is up to the hash.
    assert sum(values[0] for values in found.values()) == sum(min(limit, len(places)) for places in each.values())
    for place in range(checked.groups(schema)):
        sure = [places for places in each.values() if place in places and len(places) <= limit]
        maybe = [places for places in each.values() if place in places and len(places) > limit]
        for index in range(len(measures)):
            fixed = sum(places[place][index] for places in sure)
            low = fixed + sum(min(0, places[place][index]) for places in maybe)
            high = fixed + sum(max(0, places[place][index]) for places in maybe)
            assert low <= found.get(place, [0] * len(measures))[index] <= high


def test_a_name_that_a_database_takes_for_another_is_one_person(tmp_path):
    import duckdb

    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (p VARCHAR COLLATE NOCASE, g INTEGER, v INTEGER)")
        connection.executemany("INSERT INTO t VALUES (?, ?, 1)", [(n, g) for n in "aA" for g in (0, 1, 2)] * 3)
    from discreet.data.schema import Schema

    for groups in (1, 2, 3):
        schema = Schema(
            "t",
            {"g": Integer(0, 3, nullable=False), "v": Integer(0, 1, nullable=False)},
            Unit("p", groups=groups, rows=2),
        )
        query = Query().group_by("g").agg(who=people(), n=count(), t=total("v"))
        for shift in range(8):
            found = engine(source_of(path, "t"), query, schema, [word + shift for word in SALT])
            assert 1 <= len(found) <= groups
            assert all(values == [1, 2, 2] for values in found.values())


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "float32", "float64"])
@pytest.mark.parametrize("most", [100, 1000, 10**5, 10**9])
def test_however_whole_numbers_are_stored_their_sums_are_the_same(kind, most):
    """Of 16 bits, they once were multiplied as decimals that overflow: a single value decided whether a run failed."""
    schema = Schema("t", {"x": Real(0, most), "n": Integer(0, most)})
    stored = pyarrow.array([0, 1, 29, 30, 99, 127, None]).cast(kind)
    asked = Query().agg(x=total("x"), n=total("n"), v=variance("x"))
    (found,) = engine(source_of(pyarrow.table({"x": stored, "n": stored})), asked, schema).values()
    wide = stored.cast("float64")
    assert [found] == [*engine(source_of(pyarrow.table({"x": wide, "n": wide})), asked, schema).values()]


def test_an_empty_table_has_no_groups():
    assert engine(source_of(arrow([])), Query().agg(n=count()), schema_for()) == {}


def test_columns_may_be_called_like_our_own():
    import pyarrow

    from discreet.data.schema import Schema

    names = ["group", "person", "m0", "place", "place_of_group"]
    table = pyarrow.table({name: [1, 2, 3] for name in names})
    schema = Schema("t", {name: Integer(0, 3, nullable=False) for name in names}, Unit("person", groups=1, rows=1))
    query = Query().where("place <= 2").group_by("group").agg(m1=total("m0"))
    assert engine(source_of(table), query, schema) == {1: [1], 2: [2]}


def test_all_columns_of_the_dirty_table_are_used():
    assert {k.column for k in KEYS} <= set(COLUMNS)
