"""Two private tables about the same persons: joined by id, limited, and bounded like one."""

from dataclasses import replace

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Integer, Real, Schema, Text, Unit, count, mean, people
from discreet.errors import InputError
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.join import Join
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query
from discreet.query.source import source_of

VISITS = {"p": [1, 1, 2, 3, 3, 3, None, 5], "cost": [10.0, 20.0, 30.0, 40.0, 50.0, float("nan"), 7.0, 9.0]}
PATIENTS = {"p": [1, 2, 2, 3, 4, None], "sex": ["f", "m", "f", "x", "m", "m"], "age": [30, 40, 41, 50, 60, 70]}


def schema(rows=1, unit=None):
    joined = Join({"sex": Category(["f", "m"], nullable=True), "age": Integer(0, 99, nullable=True)}, rows)
    return Schema("visits", {"cost": Real(0, 100)}, unit or Unit("p", groups=3, rows=4), joins={"patients": joined})


def opened(tmp_path, declared, patients=None, visits=None):
    return discreet.open(
        pyarrow.table(visits or VISITS),
        declared,
        joins={"patients": pyarrow.table(patients or PATIENTS)},
        ledger=tmp_path / "l.db",
        budget=Budget(epsilon=10**6),
        who="t",
    )


def test_attributes_of_the_other_table_group_and_filter(tmp_path):
    curator = opened(tmp_path, schema())
    answer = curator.table().group_by("sex").agg(n=count(), who=people()).plan(epsilon=10**4).release()
    assert answer["sex"] == ["f", "m", None]
    # Person 2 has two rows there: the first by value (f) counts. Person 3 is undeclared, person 5 is not there.
    assert answer["n"] == [3, 0, 4]
    assert answer["who"] == [2, 0, 2]
    old = curator.table().where("age >= 35").agg(n=count(), m=mean("age")).plan(epsilon=10**4).release()
    assert old["n"] == [4]
    assert old["m"][0] == pytest.approx((41 + 50 * 3) / 4, abs=0.1)


def test_a_limit_of_two_repeats_a_row_once_for_each(tmp_path):
    curator = opened(tmp_path, schema(rows=2))
    answer = curator.table().group_by("sex").agg(n=count()).plan(epsilon=10**4).release()
    assert answer["n"] == [3, 1, 4]


@pytest.mark.parametrize("rows", [1, 3])
def test_without_one_person_only_that_person_is_missing(rows):
    """Both tables lose the person: every measure moves within what one table would allow."""
    declared = schema(rows, Unit("p", groups=1, rows=2))
    rng = np.random.default_rng(5)
    visits = {"p": rng.integers(0, 6, 60).tolist(), "cost": rng.integers(0, 100, 60).astype(float).tolist()}
    patients = {
        "p": rng.integers(0, 6, 25).tolist(),
        "sex": rng.choice(["f", "m"], 25).tolist(),
        "age": rng.integers(0, 99, 25).tolist(),
    }
    query = Query().group_by("sex").agg(n=count(), a=mean("age"))
    plan = plan_query(query, declared, Budget(epsilon=1).allotments[0], Price.read(epsilon=1))

    def measured(gone):
        tables = []
        for one in (visits, patients):
            keep = [i for i, person in enumerate(one["p"]) if person != gone]
            tables.append(pyarrow.table({name: [values[i] for i in keep] for name, values in one.items()}))
        source = replace(source_of(tables[0]).beside({"patients": source_of(tables[1])}), view=declared.view)
        out = np.zeros((len(plan.measures), plan.groups), dtype=np.int64)
        with source.open() as connection:
            found = connection.integers(
                compile_query(plan.question, declared, plan.measures, connection.table, [7] * 8)
            )
        for index in range(len(plan.measures)):
            out[index, found[GROUP]] = found[measure_name(index)]
        return out

    whole = measured(gone=None)
    for person in range(6):
        change = np.abs(whole - measured(person))
        for index, moved in enumerate(plan.moved):
            assert (change[index] > 0).sum() <= moved.outputs
            assert change[index].max() <= moved.each


def test_names_that_differ_in_case_are_different_persons(tmp_path):
    declared = Schema(
        "visits",
        {"cost": Real(0, 100), "p": Text()},
        Unit("p"),
        joins={"patients": Join({"sex": Category(["f", "m"], nullable=True)})},
    )
    curator = opened(
        tmp_path, declared, {"p": ["a", "A"], "sex": ["f", "m"]}, {"p": ["a", "A", "b"], "cost": [1.0, 2.0, 3.0]}
    )
    assert curator.table().group_by("sex").agg(n=count()).plan(epsilon=10**4).release()["n"] == [1, 1, 1]


def test_files_join_frames_and_the_schema_round_trips(tmp_path):
    (tmp_path / "patients.csv").write_text("p,sex,age\n1,f,30\n2,m,x\n")
    declared = schema(unit=Unit("p"))
    assert Schema.from_dict(declared.to_dict()) == declared
    (tmp_path / "visits.csv").write_text("p,cost\n1,5\n2,6\n2,7\n")
    curator = discreet.open(
        tmp_path / "visits.csv",
        declared,
        joins={"patients": tmp_path / "patients.csv"},
        budget=Budget(epsilon=10**6),
        who="t",
    )
    answer = curator.table().group_by("sex").agg(n=count()).plan(epsilon=10**4).release()
    assert answer["n"] == [1, 1, 0]


def test_bad_joins_are_refused_before_anything_is_spent(tmp_path):
    with pytest.raises(InputError, match="unit is a row"):
        schema(unit=Unit())
    with pytest.raises(InputError, match=r"joins.*patients"):
        discreet.open(pyarrow.table(VISITS), schema(), ledger=tmp_path / "a.db", budget=Budget(epsilon=1), who="t")
    with pytest.raises(InputError, match="a column the joined table has"):
        opened(tmp_path, schema(), {"p": [1], "sex": ["f"]})
    with pytest.raises(InputError, match="stored alike"):
        opened(tmp_path, schema(), {"p": ["1"], "sex": ["f"], "age": [1]})
    with pytest.raises(InputError, match="not declared yet"):
        Schema("v", {"sex": Category(["f"])}, Unit("p"), joins={"o": Join({"sex": Category(["f"])})})
    for rows in (0, True, 1.5):
        with pytest.raises(InputError, match=r"join\.rows"):
            Join({"sex": Category(["f"])}, rows)
    elsewhere = source_of("postgresql://host/db", "t")
    with pytest.raises(InputError, match="within reach"):
        source_of(pyarrow.table(VISITS)).beside({"patients": elsewhere})


def test_the_noise_is_that_of_one_table():
    """Joining costs nothing by itself: the price is set by the unit's limits."""
    declared = schema(unit=Unit("p", groups=1, rows=2))
    plain = Schema(
        "visits", {"cost": Real(0, 100), "sex": Category(["f", "m"], nullable=True)}, Unit("p", groups=1, rows=2)
    )
    allotment = Budget(epsilon=1).allotments[0]
    one, two = (
        plan_query(Query().group_by("sex").agg(n=count()), each, allotment, Price.read(epsilon=1))
        for each in (declared, plain)
    )
    assert one.noises == two.noises
