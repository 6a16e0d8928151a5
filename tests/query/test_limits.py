"""Limits of a question instead of the schema's: how much of each person counts, never who is protected."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import ibis
import pyarrow
import pytest
from question_schema import SCHEMA
from scipy import stats

from chance import LEVEL
from discreet.core.lattice import Lattice
from discreet.core.loss import ZCDP, Pure
from discreet.core.unit import Unit
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import SystemBits
from discreet.query.aggregate import count, mean, people, total
from discreet.query.batch import plan_batch
from discreet.query.contribution import contributions, fresh_salt
from discreet.query.key import bins, discover, key
from discreet.query.limits import PersonLimits
from discreet.query.measure import People, Rows, Total, sensitivity
from discreet.query.price import Price
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.question_ask import plan_any, read_query
from discreet.query.stream import plan_stream
from discreet.query.top import Top
from world_jobs import ALLOTMENTS

PRICE = Price.read(rho=1)
WIDE = Schema(SCHEMA.name, SCHEMA.stored, Unit("id", groups=5, rows=7))
ASKED = {
    "sums": Query().group_by("county").agg(n=count(), p=people(), t=total("pay"), m=mean("age")),
    "quantiles": Query().group_by("county").agg(m=median("age")),
    "both": Query().group_by("county").agg(n=count(), m=median("age")),
    "private bounds": Query().group_by("county").agg(t=total("pay", bounds="private")),
    "discovered keys": Query().group_by(discover("zip code")).agg(n=count()),
    "top": Top(key("county"), 1),
}


def planned(asked, schema):
    return plan_any(
        asked, schema, ALLOTMENTS["rho"], PRICE, "1e-6" if isinstance(asked, Query) and asked.discovered else None
    )


@pytest.mark.parametrize("name", ASKED)
def test_a_limited_question_is_planned_as_under_a_schema_of_these_limits(name):
    asked = ASKED[name]
    limited, other = planned(asked.limits(groups=5, rows=7), SCHEMA), planned(asked, WIDE)
    assert str(limited.unit) == str(SCHEMA.unit)
    assert limited.schema == other.schema
    assert limited.cost == other.cost
    assert limited.expected() == other.expected()
    assert limited.explained().notes == other.explained().notes
    assert limited.digest not in (other.digest, planned(asked, SCHEMA).digest)


@pytest.mark.parametrize("name", ASKED)
def test_limits_survive_json_and_are_left_out_where_there_are_none(name):
    asked = ASKED[name]
    assert "limits" not in asked.to_dict()
    written = asked.limits(rows=7).to_dict()
    assert written["limits"] == {"rows": 7}
    assert planned(read_query(json.dumps(written), SCHEMA), SCHEMA).schema.unit.rows == 7


def test_a_member_of_a_batch_and_a_stream_keep_their_own():
    asked = {"a": Query().limits(groups=5).agg(n=count()), "b": Query().agg(n=count())}
    plan = plan_batch(asked, SCHEMA, ALLOTMENTS["rho"], PRICE)
    assert [part.schema.unit.groups for _, part in plan.parts] == [5, SCHEMA.unit.groups]
    month = bins("day", every="month")
    stream = plan_stream(Query().limits(rows=9).agg(n=count()), SCHEMA, ALLOTMENTS["rho"], PRICE, month)
    assert stream.schema.unit.rows == 9


def test_a_later_limit_takes_the_place_of_an_earlier_one():
    asked = Query().limits(groups=5, rows=2).limits(rows=3)
    assert asked.person_limits == PersonLimits(5, 3)


@pytest.mark.parametrize("given", [{}, {"groups": 0}, {"rows": True}, {"rows": 1.5}, {"groups": 2**20 + 1}])
def test_limits_are_whole_numbers(given):
    with pytest.raises(InputError, match="limits"):
        Query().limits(**given)


@pytest.mark.parametrize("entry", [[], {"people": 3}, {"rows": "many"}, 5])
def test_strange_json_is_refused(entry):
    with pytest.raises(InputError, match="limits"):
        Query.from_dict({"outputs": {"n": {"of": "count"}}, "limits": entry}, SCHEMA)


def test_a_row_has_no_limits():
    rows = Schema(SCHEMA.name, {name: column for name, column in SCHEMA.stored.items() if name != "id"})
    with pytest.raises(InputError, match="the unit of this schema is a row"):
        Query().limits(rows=3).agg(n=count()).checked(rows)


@pytest.mark.parametrize(
    ("groups", "rows", "total"), [(1, 1, 1), (3, 2, 4), (3, 2, 5), (4, 3, 2), (2, 5, 7), (3, 3, 9)]
)
@pytest.mark.parametrize("published", [1, 2, 4])
def test_norms_of_a_total_are_the_worst_of_all_ways_to_share_it(groups, rows, total, published):
    """Every vector of counts that the limits allow, one by one."""
    unit = Unit("id", groups=groups, rows=rows, rows_total=total)
    allowed = [
        counts
        for counts in itertools.product(range(rows + 1), repeat=published)
        if sum(counts) <= total and sum(1 for many in counts if many) <= groups
    ]
    moved = sensitivity(Rows(), unit, published)
    assert moved.l1 == max(map(sum, allowed))
    assert moved.l2_squared == max(sum(many * many for many in counts) for counts in allowed)
    assert moved.each == max(map(max, allowed))


def test_a_total_in_force_is_charged_by_its_norms_and_another_as_before():
    free, tight = Unit("id", groups=2, rows=3), Unit("id", groups=2, rows=3, rows_total=4)
    for noise in (Laplace(10), Gaussian(10)):
        assert noise.loss(sensitivity(Rows(), replace(free, rows_total=6), 5)) == noise.loss(
            sensitivity(Rows(), free, 5)
        )
    assert Laplace(10).loss(sensitivity(Rows(), tight, 5)) == Pure(Fraction(4, 10))
    assert Gaussian(10).loss(sensitivity(Rows(), tight, 5)) == ZCDP(Fraction(9 + 1, 200))


@pytest.mark.parametrize("way", ["epsilon", "rho"])
@pytest.mark.parametrize("method", ["tree", "auto"])
def test_quantiles_cost_what_was_asked_for_where_rows_are_shared(way, method):
    asked = Query().group_by("county", "zip code").agg(m=median("age", method=method)).limits(4, 3, 4)
    plan = plan_any(asked, SCHEMA, ALLOTMENTS[way], Price.read(**{way: 1}))
    assert plan.charge.amount <= 1
    assert plan.charge.amount > Fraction(99, 100)
    wide = plan_any(asked.limits(rows_total=12), SCHEMA, ALLOTMENTS[way], Price.read(**{way: 1}))
    assert plan.expected()[0].half_width < wide.expected()[0].half_width


def test_private_bounds_with_a_total_are_charged_as_if_one_group_took_all():
    asked = Query().group_by("county").agg(t=total("pay", bounds="private")).limits(2, 2, 3)
    plan = plan_any(asked, SCHEMA, ALLOTMENTS["epsilon"], Price.read(epsilon=1))
    assert plan.each == Pure(Fraction(3, 4))
    assert plan.charge.amount == 1


def test_rows_over_all_groups_are_drawn_evenly_and_within_every_limit():
    """1,000 persons of 6 rows in each of 4 groups: 5 rows each, at most 2 in a group, in 3 groups."""
    size = 1000
    table = ibis.memtable(
        pyarrow.table(
            {
                "person": [f"p{i}" for i in range(size) for _ in range(24)],
                "group": pyarrow.array([g for _ in range(size) for g in range(4) for _ in range(6)], pyarrow.int32()),
                "m1": pyarrow.array(list(range(6)) * 4 * size, pyarrow.int32()),
            }
        )
    )
    unit = Unit("id", groups=3, rows=2, rows_total=5)
    measures = {"m0": Rows(), "m1": Total("x", Lattice(Fraction(0), Fraction(5), 0)), "m2": People()}
    found = contributions(table, measures, unit, 4, fresh_salt(SystemBits()), named=True).to_pyarrow().to_pylist()
    each = Counter()
    for part in found:
        each[part["person"]] += part["m0"]
        assert part["m0"] in (1, 2)
        assert part["m2"] == 1
    assert set(each.values()) == {5}
    assert max(Counter(part["person"] for part in found).values()) == 3
    # Values 0..5 evenly: the mean of 5,000 draws of 2.5, whose standard deviation is 1.71.
    off = sum(part["m1"] for part in found) / (5 * size) - 2.5
    assert abs(off) < stats.norm.isf(LEVEL / 2) * 1.71 / (5 * size) ** 0.5


def test_a_stream_has_no_total():
    with pytest.raises(InputError, match="rows_total"):
        plan_stream(
            Query().limits(rows_total=3).agg(n=count()), SCHEMA, ALLOTMENTS["rho"], PRICE, bins("day", every="month")
        )


@pytest.mark.parametrize("person", [(3000, 5000), (-5000, -3000)])
def test_bounds_that_raise_a_persons_sum_are_charged_in_full_however_few_rows_count(person):
    """One row of at most 1,000 becomes 3,000."""
    schema = SCHEMA
    plan = plan_any(
        Query().group_by("county").limits(2, 1, 1).agg(s=total("pay", person=person)), schema, ALLOTMENTS["rho"], PRICE
    )
    (moved,), (measure,) = plan.moved, plan.measures
    assert moved.l1 >= max(abs(end) for end in measure.person)
    assert moved.l2_squared >= max(abs(end) for end in measure.person) ** 2
