"""Several questions as one table: what it costs, what is published, and what is refused."""

from fractions import Fraction

import duckdb
import numpy as np
import pytest

from discreet.accounting.convert import basic
from discreet.core.packing import pack
from discreet.core.unit import Neighbours, Unit
from discreet.data.column import Boolean, Category, Integer, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Budget
from discreet.query.aggregate import count, total
from discreet.query.compile import compile_query
from discreet.query.key import discover, key
from discreet.query.measure import Rows
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.question_ask import plan_any, read_query
from discreet.query.union import Union, UnionPart, plan_union

COLUMNS = {"sex": Category(["f", "m"]), "old": Boolean(nullable=False), "n": Integer(0, 5), "t": Text()}
ROWS, PERSONS = Schema("t", COLUMNS), Schema("t", COLUMNS, Unit("p", groups=1, rows=2))
PURE = Budget(epsilon=10).allotments[0]


def of(*conditions, keys=()):
    return Union(tuple(UnionPart(Query().where(each).group_by(*keys).agg(n=count())) for each in conditions))


def planned(union, schema=ROWS):
    return plan_union(union, schema, PURE, Price.read(epsilon=1))


def test_parts_that_exclude_each_other_cost_as_much_as_one():
    plan = planned(of("sex = 'f'", "sex = 'm' and n > 3", "sex is null"))
    assert plan.disjoint
    assert basic(plan.cost).epsilon == 1
    assert all(basic(part.cost).epsilon == 1 for part in plan.parts)
    assert "no unit is in two of them" in plan.explained().shape[0]


def test_a_row_that_is_replaced_may_leave_one_part_for_another():
    plan = planned(of("old", "not old", "old is null"), Schema("t", COLUMNS, Unit(neighbours=Neighbours.REPLACE)))
    assert plan.disjoint
    assert basic(plan.cost).epsilon == 1
    assert all(basic(part.cost).epsilon == Fraction(1, 2) for part in plan.parts)


@pytest.mark.parametrize(
    ("union", "schema"),
    [
        (of("sex = 'f'", "sex = 'm'"), PERSONS),
        (of("sex = 'f'", "sex = 'm'"), Schema("t", COLUMNS, Unit(rows=2))),  # any two rows are one unit
        (of("sex = 'f'", "old"), ROWS),
        (of("sex = 'f'", "sex <> 'm'"), ROWS),
        (of("sex is null", "sex is null"), ROWS),
        (of("n < 3", "n >= 3"), ROWS),  # stored numbers may lie beyond what is declared
        (of("n > 9", "n > 8"), ROWS),
        (of(*["n > 0 and not (t = 'x') and sex is null"] * 2), ROWS),  # what other columns decide may be so
        (of(*["(sex = 'f') = old and not n > 2"] * 2), ROWS),
        (Union((UnionPart(Query().agg(n=count())), UnionPart(Query().where("old").agg(n=count())))), ROWS),
    ],
)
def test_where_a_unit_may_be_in_two_parts_all_are_charged(union, schema):
    plan = planned(union, schema)
    assert not plan.disjoint
    assert basic(plan.cost).epsilon == 1
    assert all(basic(part.cost).epsilon == Fraction(1, 2) for part in plan.parts)


def test_persons_may_be_spelt_in_two_ways_and_so_be_in_two_parts():
    parts = [Query().per_person(s="max(sex)").where(f"s = '{sex}'").agg(n=count()) for sex in "fm"]
    assert not planned(Union(tuple(map(UnionPart, parts))), PERSONS).disjoint


def test_a_rule_of_a_column_by_which_two_values_are_one_puts_no_row_into_two_parts(tmp_path):
    path = tmp_path / "t.duckdb"
    with duckdb.connect(path) as database:
        database.execute("CREATE TABLE t (g VARCHAR COLLATE NOCASE)")
        database.execute("INSERT INTO t VALUES ('a'), ('a'), ('A'), ('b'), ('B'), (NULL)")
    schema = Schema("t", {"g": Category(["a", "A", "b"])})
    conditions = ["g = 'a'", "g = 'A'", "g in ('b')", "g is null"]
    union = of(*conditions, "not g in ('a', 'A', 'b')")
    assert planned(union, schema).disjoint
    with source_of(f"{path}", "t").open() as data:
        found = [
            data.integers(compile_query(part.query.checked(schema), schema, (Rows(),), data.table, []))
            for part in union.parts
        ]
    assert [sum(each["m0"]) for each in found] == [2, 1, 1, 2, 0]


@pytest.mark.parametrize(
    ("first", "second", "disjoint"),
    [
        ("old and n > 0 and not (n > 2)", "not old", True),
        ("n > 0 and not (n > 2) and sex is null", "n > 0 and not (n > 2) and sex is null", False),
        ("(sex = 'f' or n > 0) and old", "not old or sex is null", False),
        ("sex = 'f' or sex = 'm'", "sex is null", True),
        ("not (sex = 'f')", "sex = 'f' or sex is null", True),
        ("upper(sex) = 'F'", "sex = 'm'", False),  # true, and not proved
    ],
)
def test_conditions_exclude_each_other_by_what_is_declared(first, second, disjoint):
    assert planned(of(first, second)).disjoint is disjoint


def test_tables_stand_one_below_the_other():
    levels = [Query().group_by("sex", "old"), Query().group_by(key("sex", ["f", "m"])), Query()]
    union = Union(tuple(UnionPart(each.agg(n=count(), s=total("n")), (("level", i),)) for i, each in enumerate(levels)))
    plan = plan_any(union, ROWS, PURE, Price.read(epsilon=1))
    parts = [{"noisy": None} for _ in plan.parts]
    for part, each in zip(plan.parts, parts, strict=True):
        each["noisy"] = pack(np.arange(2 * part.groups).reshape(2, part.groups))
    table = plan.publish({"parts": parts})
    assert table["keys"] == ["level", "sex", "old"]
    assert table["outputs"] == ["n", "s"]
    assert table["columns"]["level"] == [0] * 6 + [1] * 2 + [2]
    assert table["columns"]["sex"] == ["f", "f", "m", "m", None, None, "f", "m", None]
    assert table["columns"]["old"][-3:] == [None] * 3
    assert plan.groups == 9
    assert [each.output for each in plan.expected()] == ["n", "s"]
    assert table["absent"] == {"old": [6, 7, 8], "sex": [8]}  # totals over all values, not missing ones


def test_a_part_may_have_outputs_of_its_own():
    union = Union((UnionPart(Query().group_by("old").agg(n=count())), UnionPart(Query().agg(m=count()))))
    plan = plan_any(union, ROWS, PURE, Price.read(epsilon=1))
    parts = [{"noisy": pack(np.arange(part.groups).reshape(1, part.groups))} for part in plan.parts]
    table = plan.publish({"parts": parts})
    assert table["outputs"] == ["n", "m"]
    assert table["columns"]["m"] == [None, None, 0]
    assert table["absent"] == {"m": [0, 1], "old": [2], "n": [2]}


def test_a_union_is_read_again_from_its_json():
    union = of("old", "not old", keys=["sex"]).checked(ROWS)
    assert read_query(union.to_dict(), ROWS) == union
    assert union.where("n > 1").limits(rows=1).parts[0].query.person_limits.rows == 1


@pytest.mark.parametrize(
    "union",
    [
        Union(()),
        Union((UnionPart(Query().group_by("sex").agg(n=count())), UnionPart(Query().agg(sex=count())))),
        Union((UnionPart(Query().group_by(discover("t")).agg(n=count())),)),
        Union((UnionPart(Query().agg(n=count()), (("n", 1),)),)),
        Union((UnionPart(Query().agg(n=count()), (("k", []),)),)),
    ],
)
def test_what_makes_no_table_is_refused(union):
    with pytest.raises(InputError):
        union.checked(ROWS)


@pytest.mark.parametrize(
    "entry", [{"union": []}, {"union": 3}, {"union": [3]}, {"union": [{"query": 1}]}, {"union": [{}]}]
)
def test_strange_json_is_refused(entry):
    with pytest.raises(InputError):
        read_query(entry, ROWS)
