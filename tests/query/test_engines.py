"""One question, one answer: DuckDB, PostgreSQL and Spark count the same integers on the dirtiest of tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from engine_cases import (
    ENGINES,
    EVERY_KEY,
    KINDS,
    MORE,
    TIME_KEYS,
    Case,
    answers,
    of_conditions,
    of_long_conditions,
    of_times,
    on_duckdb,
    on_spark,
    rows,
    schema,
)

from dirty import COLUMNS, LONG, SALT, SHORT
from discreet.core.unit import Unit
from discreet.data.column import Category, Real, Text
from discreet.data.dialect import added, engine_of
from discreet.data.schema import Schema
from discreet.data.source import Source
from discreet.data.view import Derived, Lookup
from discreet.mechanisms.inputs import ROOM
from discreet.query.aggregate import count, people, total
from discreet.query.compile import GROUP
from discreet.query.grid import grid_for
from discreet.query.key import bins, key
from discreet.query.quantile import BINS
from discreet.query.question import Query
from discreet.query.tally import compile_tally
from reference import declared, of_each_person, of_rows
from servers import compiling


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree_with_the_rules(engine, kind):
    cases = KINDS[kind]()
    for case, found in zip(cases, answers(engine(), cases), strict=True):
        assert found == case.expected(), case.query


@pytest.mark.spark
def test_plans_that_spark_compiles_give_the_same():
    """A few the way that Spark has it unless told otherwise; to compile the others would take longer than all do."""
    cases = [of_conditions()[-1], of_times()[0]]
    with compiling():
        found = answers(on_spark(), cases)
    assert found == [case.expected() for case in cases]


@pytest.mark.parametrize("engine", ENGINES[:2])  # Spark compares with each, as with few
def test_long_lists_of_values_are_the_same_in_conditions(engine):
    cases = of_long_conditions()
    for case, found in zip(cases, answers(engine(), cases), strict=True):
        assert found == case.expected(), case.query


@pytest.mark.parametrize("engine", ENGINES)
def test_persons_named_by_text_are_limited(engine):
    # Which groups count is up to a hash; how many, and what they may add, is not.
    limits = [1, 2, 3]
    outputs = (("who", people()), ("n", count()), ("t", total("n")))
    cases = [Case(Query(None, (key("short"),), outputs), schema(Unit("who", groups=k, rows=2))) for k in limits]
    for limit, case, found in zip(limits, cases, answers(engine(), cases), strict=True):
        each = of_each_person(case.checked, case.schema, case.measures, rows())
        assert sum(values[0] for values in found.values()) == sum(min(limit, len(p)) for p in each.values())
        for place, values in found.items():
            there = [places[place] for places in each.values() if place in places]
            for index, value in enumerate(values):
                assert sum(min(0, p[index]) for p in there) <= value <= sum(max(0, p[index]) for p in there)


def tallies(source: Source) -> set[tuple[int, ...]]:
    """Rows by group and bin, for several columns and grids."""
    import ibis

    asked = [
        (Query(), schema(), "x", BINS),
        (Query(None, (key("short"),)), schema(Unit("p", groups=2, rows=2)), "m", 64),
        (Query(None, (key("flag"),)), schema(Unit("p", groups=1, rows=3)), "y", "decades"),
        (Query(None, (bins("d", every="year"),)), schema(), "price", 100),
        (Query(None, (key("few"),)), schema(Unit("who", groups=9, rows=1000)), "big", 1000),
        (Query(None, (key("flag"),)), schema(), "d", 100),
    ]
    with source.open() as connection:
        parts = []
        for place, (query, asked_of, column, grid) in enumerate(asked):
            keyed = Query(query.condition, tuple(k.checked(asked_of) for k in query.keys))
            bins_of = grid_for(asked_of.columns[column], grid)
            part = compile_tally(keyed, asked_of, column, bins_of, connection.table, [*SALT, *SALT])
            part = part.mutate(case=ibis.literal(place, "int64"))
            parts.append(part.select("case", group=part[GROUP].cast("int64"), bin=part["bin"].cast("int64"), n="rows"))
        found = connection.integers(ibis.union(*parts))
    return set(zip(*(found[name].tolist() for name in ("case", "group", "bin", "n")), strict=True))


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_what_quantiles_are_made_of_is_the_same(engine):
    # DuckDB's own is held to a reference in tests/query/test_tally.py.
    wanted = tallies(on_duckdb())
    assert len({row[0] for row in wanted}) == 6
    assert tallies(engine()) == wanted


@pytest.mark.parametrize("engine", ENGINES)
def test_looked_up_and_derived_columns_are_the_same(engine):
    words = [word for word in SHORT if word != "B"]
    lookup = Lookup(
        "short",
        {"short": [*words, "A", ""], "region": [*(["north", "south"] * 9)[: len(words)], "south", None]},
        {"region": Category(["north", "south"], nullable=True)},
    )
    made = Derived("n * 2 - m / 4", Real(-20, 20, nullable=True))
    whole = Schema("t", {**COLUMNS, "short": Text()}, Unit(), {"regions": lookup}, {"made": made})
    source = replace(engine(), view=whole.view)
    query = Query(None, (key("region"),), (("n", count()), ("t", total("made")), ("c", count("made"))))
    table = dict(zip(lookup.table["short"], lookup.table["region"], strict=True))
    wide = []
    for row in rows():
        n, m = declared(row["n"], COLUMNS["n"]), declared(row["m"], COLUMNS["m"])
        value = None if n is None or m is None else n * 2 - m * 0.25
        wide.append({**row, "region": table.get(row["short"]), "made": value})
    case = Case(query, whole)
    assert answers(source, [case]) == [of_rows(case.checked, whole, case.measures, wide)]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_product_of_a_row_fails(engine):
    # Some engines refuse what is too large or too small for a float.
    far = Real(-(2**50), 2**50, nullable=True)
    made = {f"d{i}": Derived(text, far) for i, text in enumerate(["x * y", "x * x * x", "x / 1e300", "y * 1e200 * y"])}
    whole = Schema("t", dict(COLUMNS), Unit(), {}, made)
    case = Case(Query(None, (), tuple((f"t{i}", count(f"d{i}")) for i in range(len(made)))), whole)
    x, y = ([declared(row[name], COLUMNS[name]) for row in rows()] for name in ("x", "y"))
    both = sum(a is not None and b is not None for a, b in zip(x, y, strict=True))
    known = sum(a is not None for a in x)
    wanted = [both, known, known, sum(b is not None for b in y)]
    assert answers(replace(engine(), view=whole.view), [case]) == [{0: wanted}]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_sum_wraps_or_fails(engine):
    with engine().open() as connection:
        whole, name = connection.table, engine_of(connection.table)
        huge = whole.mutate(top=(2**63 - 1) * (whole.p == whole.p).ifelse(1, 1).cast("int64"))
        huge = huge.mutate(bottom=-huge.top)
        found = connection.integers(
            huge.aggregate(
                top=added(huge.top, name),
                bottom=added(huge.bottom, name),
                both=added(huge.top, name) + added(huge.bottom, name),
                exact=added(huge.big.fill_null(0) >> 20, name),
            )
        )
    exact = sum((row["big"] or 0) >> 20 for row in rows())
    assert [int(found[column][0]) for column in ("top", "bottom", "both", "exact")] == [ROOM, -ROOM, 0, exact]


@pytest.mark.spark
def test_a_plain_sum_would_wrap_on_spark():
    with on_spark().open() as connection:
        whole = connection.table
        plain = whole.aggregate(top=(whole.big.fill_null(0) * 0 + 2**62).sum())
        assert int(connection.integers(plain)["top"][0]) == (len(rows()) * 2**62 + 2**63) % 2**64 - 2**63


def test_every_engine_is_asked_every_kind_of_thing():
    assert {k.column for k in (*EVERY_KEY, *TIME_KEYS)} >= {*COLUMNS, *MORE} - {"big", "short_float"}
    assert set(SHORT) <= set(COLUMNS["short"].values)
    assert set(LONG) <= set(COLUMNS["long"].values)
