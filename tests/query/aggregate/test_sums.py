"""Sums of a column: large ones do not wrap, and what one person adds may have bounds."""

from __future__ import annotations

from fractions import Fraction

import ibis
import numpy as np
import pyarrow
import pytest
from interval_coverage import PURE

from discreet.core.unit import Unit
from discreet.data.column import Category, Integer, Text
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.query.aggregate import covariances, total, vector_sum
from discreet.query.compile import compile_query
from discreet.query.discovery import compile_discovery
from discreet.query.key import discover
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query, output_from


def test_large_sums_do_not_wrap():
    schema = Schema("t", {"big": Integer(0, 2**52, nullable=False)})
    made = plan_query(Query().agg(s=total("big")), schema, PURE, Price.read(epsilon=1))
    (step,) = {float(m.lattice.step) for m in made.measures}
    result = made.table([np.array([2**61])])["columns"]
    assert result["s"] == [float(2**61) * step]
    assert result["s_lower"][0] < result["s"][0] < result["s_upper"][0]


PEOPLE = Schema(
    "t", {"cost": Integer(-100, 100, nullable=False), "ward": Category(["a", "b"])}, Unit("id", groups=1, rows=9)
)
ROWS = {
    "id": [1, 1, 1, 2, 3, 4, 4, 5],
    "ward": list("aaaababb"),
    "cost": [90, 90, -100, 100, 7, -80, -90, 30],
}


def planned(schema=PEOPLE, **how):
    return plan_query(Query().group_by("ward").agg(s=total("cost", **how)), schema, PURE, Price.read(epsilon=1))


def test_a_person_adds_what_the_bounds_on_their_sum_allow_and_no_single_row_more():
    """Person 2 has one row, beyond the bounds: it is cut though no limit on rows would cut it."""
    plan = planned(person=(-50, 85))
    (measure,) = plan.measures
    assert measure.person == (-50, 85)
    assert plan.moved[0].l1 == 85
    table = ibis.memtable(pyarrow.table({**ROWS, "id": pyarrow.array(ROWS["id"], pyarrow.int64())}))
    salt = list(range(1000, 1010))
    found = compile_query(plan.question, plan.schema, plan.measures, table, salt).to_pyarrow().to_pydict()
    sums = dict(zip(found["group"], found["m0"], strict=True))
    assert sums in ({0: 80 + 85 - 50, 1: 7 + 30}, {0: 80 + 85, 1: 7 + 30 - 50})  # person 4 counts in one ward


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("unit", [Unit("id", groups=2, rows=9), Unit("id", groups=2, rows=9, rows_total=18)])
@pytest.mark.parametrize("person", [(20, 85), (-85, -20), (0, 85)])
def test_who_has_no_value_is_not_moved_into_bounds_that_leave_out_zero(person, unit, text):
    """As in SQL, the sum of missing values is missing, and adds nothing to the sum over persons."""
    columns = {"cost": Integer(-100, 100), "ward": Text() if text else Category(["a", "b"])}
    schema = Schema("t", columns, unit)
    rows = {"id": [1, 1, 2, 3, 4, 4], "ward": list("aaaaba"), "cost": [50, None, None, -90, None, 200]}
    table = ibis.memtable(pyarrow.table({**rows, "id": pyarrow.array(rows["id"], pyarrow.int64())}))
    query = Query().group_by(discover("ward") if text else "ward").agg(s=total("cost", person=person)).checked(schema)
    measures = dict(query.outputs)["s"].measures(schema)
    made = compile_discovery if text else compile_query
    found = made(query, schema, measures, table, list(range(1000, 1010))).to_pyarrow().to_pydict()
    low, high = person
    first = sum(min(max(value, low), high) for value in (50, -90, 100))
    assert found["m0"][found["people"].index(4) if text else found["group"].index(0)] == first
    assert sum(found["m0"]) == first  # in the other ward nobody has a value


@pytest.mark.parametrize(
    ("person", "neighbours", "each"),
    [
        ((0, 500), "add-remove", 500),
        ((-20, 500), "replace", 520),
        ((10, 20), "replace", 20),
        ((-9, -3), "add-remove", 9),
    ],
)
def test_noise_is_for_the_bounds_of_a_person_not_for_rows(person, neighbours, each):
    schema = Schema("t", dict(PEOPLE.stored), Unit("id", neighbours, groups=1, rows=1000))
    assert planned(schema, person=person).moved[0].each == each


def test_what_is_cut_is_said_beside_the_sum_and_survives_json():
    plan = planned(person=(0, 500))
    (note,) = [note for note in plan.notes({"s": [0]}) if note.kind == "clipped"]
    assert "clipped to 0..500" in note.text
    again = Query.from_json(plan.question.to_json(), PEOPLE)
    assert again == plan.question
    drawn = plan_query(plan.question.limits(rows_total=4), PEOPLE, PURE, Price.read(epsilon=1))
    assert {"rows", "clipped"} <= {note.kind for note in drawn.notes({"s": [0]})}


@pytest.mark.parametrize("person", [5, "private", (3,), (5, 5), (9, 2), (0, "x"), (-0.5, 0.5), (0, 2**60)])
def test_strange_bounds_of_a_person_are_refused(person):
    with pytest.raises(InputError, match="person"):
        planned(person=person)


def test_bounds_of_a_person_need_a_person_and_known_bounds_of_values():
    with pytest.raises(InputError, match="is a row"):
        planned(Schema("t", {"cost": Integer(0, 9), "ward": Category(["a"])}), person=(0, 5))
    with pytest.raises(InputError, match="private"):
        total("cost", "private", person=(0, 5))
    with pytest.raises(InputError, match="private"):
        output_from({"of": "sum", "column": "cost", "bounds": "private", "person": [0, 5]})


def test_the_sums_of_a_vector_are_named_and_cost_what_their_joint_length_asks_for():
    schema = Schema("t", {"a": Integer(0, 10), "b": Integer(0, 10)})
    plan = plan_query(
        Query().agg(**vector_sum("a", "b")), schema, Allotment("q", "zcdp", rho=10), Price.read(rho="0.5")
    )
    assert plan.question.names == ("sum_a", "sum_b")
    joint = sum(moved.l2_squared for moved in plan.moved)
    assert all(abs(float(noise.sigma) ** 2 / float(joint / (2 * Fraction("0.5"))) - 1) < 1e-6 for noise in plan.noises)
    with pytest.raises(InputError, match="different columns"):
        vector_sum("a", "a")


@pytest.mark.parametrize("several", [vector_sum, covariances])
def test_two_columns_whose_outputs_would_have_one_name_are_refused(several):
    with pytest.raises(InputError, match="different in letters and digits: both are 'a_b'"):
        several("a b", "a_b")
    assert len(several("a b", "a_c")) >= 2
