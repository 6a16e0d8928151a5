"""Two private tables about the same persons: joined by id, limited, and bounded like one."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow
import pytest

import discreet
from discreet import Budget, Category, Date, Integer, Real, Schema, Text, Unit, count, mean, people, total
from discreet.data.join import Join
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.plan import plan_query
from discreet.query.price import Price
from discreet.query.question import Query

VISITS = {"p": [1, 1, 2, 3, 3, 3, None, 5], "cost": [10.0, 20.0, 30.0, 40.0, 50.0, float("nan"), 7.0, 9.0]}
PATIENTS = {"p": [1, 2, 2, 3, 4, None], "sex": ["f", "m", "f", "x", "m", "m"], "age": [30, 40, 41, 50, 60, 70]}


def schema(rows=1, unit=None):
    joined = Join({"sex": Category(["f", "m"], nullable=True), "age": Integer(0, 99, nullable=True)}, rows)
    return Schema(
        "visits",
        {"cost": Real(0, 100, nullable=False)},
        unit or Unit("p", groups=3, rows=4),
        joins={"patients": joined},
    )


def opened(tmp_path, declared, patients=None, visits=None):
    return discreet.open(
        pyarrow.table(visits or VISITS),
        declared,
        joins={"patients": pyarrow.table(patients or PATIENTS)},
        ledger=tmp_path / "l.db",
        budget=Budget(epsilon=10**6),
        who="t",
        create=True,
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
        {"cost": Real(0, 100, nullable=False), "p": Text()},
        Unit("p", groups=1, rows=1),
        joins={"patients": Join({"sex": Category(["f", "m"], nullable=True)})},
    )
    curator = opened(
        tmp_path, declared, {"p": ["a", "A"], "sex": ["f", "m"]}, {"p": ["a", "A", "b"], "cost": [1.0, 2.0, 3.0]}
    )
    assert curator.table().group_by("sex").agg(n=count()).plan(epsilon=10**4).release()["n"] == [1, 1, 1]


def test_files_join_frames_and_the_schema_round_trips(tmp_path):
    (tmp_path / "patients.csv").write_text("p,sex,age\n1,f,30\n2,m,x\n")
    declared = schema(unit=Unit("p", groups=1, rows=1))
    assert Schema.from_dict(declared.to_dict()) == declared
    (tmp_path / "visits.csv").write_text("p,cost\n1,5\n2,6\n2,7\n")
    curator = discreet.open(
        tmp_path / "visits.csv",
        declared,
        joins={"patients": tmp_path / "patients.csv"},
        ledger=tmp_path / "ledger.db",
        budget=Budget(epsilon=10**6),
        who="t",
        create=True,
    )
    answer = curator.table().group_by("sex").agg(n=count()).plan(epsilon=10**4).release()
    assert answer["n"] == [1, 1, 0]


def test_bad_joins_are_refused_before_anything_is_spent(tmp_path):
    with pytest.raises(InputError, match="whose unit is a person"):
        schema(unit=Unit())
    with pytest.raises(InputError, match=r"joins.*patients"):
        discreet.open(
            pyarrow.table(VISITS), schema(), ledger=tmp_path / "a.db", budget=Budget(epsilon=1), who="t", create=True
        )
    with pytest.raises(InputError, match="a column the joined table has"):
        opened(tmp_path, schema(), {"p": [1], "sex": ["f"]})
    with pytest.raises(InputError, match="stored as in the first table"):
        opened(tmp_path, schema(), {"p": ["1"], "sex": ["f"], "age": [1]})
    with pytest.raises(InputError, match="not declared yet"):
        Schema(
            "v",
            {"sex": Category(["f"], nullable=False)},
            Unit("p", groups=1, rows=1),
            joins={"o": Join({"sex": Category(["f"], nullable=False)})},
        )
    for rows in (0, True, 1.5):
        with pytest.raises(InputError, match=r"join\.rows"):
            Join({"sex": Category(["f"], nullable=False)}, rows)
    elsewhere = source_of("postgresql://host/db", "t")
    with pytest.raises(InputError, match="within reach"):
        source_of(pyarrow.table(VISITS)).beside({"patients": elsewhere})


def test_the_noise_is_that_of_one_table():
    """Joining costs nothing by itself: the price is set by the unit's limits."""
    declared = schema(unit=Unit("p", groups=1, rows=2))
    plain = Schema(
        "visits",
        {"cost": Real(0, 100, nullable=False), "sex": Category(["f", "m"], nullable=True)},
        Unit("p", groups=1, rows=2),
    )
    allotment = Budget(epsilon=1).allotments[0]
    one, two = (
        plan_query(Query().group_by("sex").agg(n=count()), each, allotment, Price.read(epsilon=1))
        for each in (declared, plain)
    )
    assert one.noises == two.noises


def integers(declared, query, visits, patients, salt=(7,) * 8):
    """The measures of a question about two tables, before noise: an array (measures, groups)."""
    plan = plan_query(query, declared, Budget(epsilon=1).allotments[0], Price.read(epsilon=1))
    source = replace(source_of(visits).beside({"patients": source_of(patients)}), view=declared.view)
    out = np.zeros((len(plan.measures), plan.groups), dtype=np.int64)
    with source.open() as connection:
        found = connection.integers(compile_query(plan.question, declared, plan.measures, connection.table, salt))
    for index in range(len(plan.measures)):
        out[index, found[GROUP]] = found[measure_name(index)]
    return plan, out


def beside(column, limit=1):
    """A schema whose second table has one column `x`."""
    return Schema(
        "visits",
        {"v": Integer(0, 9, nullable=False)},
        Unit("p", groups=1, rows=1),
        joins={"patients": Join({"x": column}, limit)},
    )


SIZE = 150_000  # more than one row group of DuckDB, so that several threads take part
REALS = np.random.default_rng(1).random(3 * SIZE) * 100
KINDS = {
    "reals": (Real(0, 100, nullable=False), pyarrow.array(REALS)),
    "decimals": (
        Real(0, 100, nullable=False),
        pyarrow.array(np.round(REALS, 3)).cast(pyarrow.decimal128(12, 3), safe=False),
    ),
    "words": (
        Category(["a", "A", "\u00e9", "e\u0301"], nullable=True),
        pyarrow.array(np.array(["a", "A", "\u00e9", "e\u0301", "x"])[(REALS * 7).astype(int) % 5]),
    ),
    "days": (
        Date("2020-01-01", "2020-12-31", nullable=False),
        pyarrow.array((18262 + REALS * 3).astype(np.int32)).cast(pyarrow.date32()),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_join_is_the_same_in_any_order_of_its_rows(kind):
    """Which of a person's rows are kept follows from their values: not from rows around them, nor from threads."""
    column, values = KINDS[kind]
    declared = beside(column)
    query = (
        Query().agg(t=total("x"))
        if isinstance(column, Real)
        else Query().where("x > '2020-06-01'" if kind == "days" else "x = 'a'").agg(n=count())
    )
    persons = np.arange(3 * SIZE) % SIZE
    visits = pyarrow.table({"p": np.arange(SIZE), "v": np.zeros(SIZE, dtype=np.int64)})
    patients = pyarrow.table({"p": persons, "x": values})
    found = [integers(declared, query, visits, patients)[1].tolist()]
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(3 * SIZE)
        found.append(integers(declared, query, visits, patients.take(order))[1].tolist())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", ["reals", "decimals"])
def test_one_person_less_moves_a_large_join_within_the_charge(kind):
    column, values = KINDS[kind]
    query = Query().agg(t=total("x"))
    persons = np.arange(3 * SIZE) % SIZE
    visits = pyarrow.table({"p": np.arange(SIZE), "v": np.zeros(SIZE, dtype=np.int64)})
    patients = pyarrow.table({"p": persons, "x": values})
    plan, whole = integers(beside(column), query, visits, patients)
    _, without = integers(
        beside(column), query, visits.filter(np.arange(SIZE) != 5), patients.filter(pyarrow.array(persons != 5))
    )
    assert abs(whole - without).max() <= plan.moved[0].each


def test_whole_numbers_and_floats_meet_exactly():
    """2**53 and 2**53 + 1 are one float and two persons."""
    big = 2**53
    visits = pyarrow.table({"p": [1, 2, big, big + 1, -big - 1, 2**60, 2**60 + 1], "v": [1] * 7})
    names = [1.0, 2.5, float(big), float(-big), float(2**60), float("nan"), float("inf"), 1e300]
    patients = pyarrow.table({"p": pyarrow.array(names), "x": [9] * 8})
    declared = beside(Integer(0, 9, nullable=True))
    query = Query().agg(n=count("x"))
    assert integers(declared, query, visits, patients)[1].tolist() == [[1]]  # 1 alone: the others are no float for sure
    back = beside(Integer(0, 9, nullable=True))
    other = pyarrow.table({"p": pyarrow.array(names), "v": [1] * 8})
    mine = pyarrow.table({"p": [1, 2, big, big + 1, -big - 1, 2**60, 2**60 + 1], "x": [9] * 7})
    assert integers(back, query, other, mine)[1].tolist() == [[1]]


@pytest.mark.parametrize(
    ("mine", "theirs", "first"),
    [
        (pyarrow.int64(), pyarrow.float64(), 2**60),
        (pyarrow.int64(), pyarrow.float32(), 2**30),
        (pyarrow.float64(), pyarrow.float32(), 2**30),
        (pyarrow.float32(), pyarrow.int64(), 2**24),
    ],
    ids=str,
)
def test_one_person_beyond_what_floats_tell_apart_moves_no_other(mine, theirs, first):
    """Of 40 persons that are one float, one leaves. The rows of each used to meet those of all."""
    ids = [first + i for i in range(40)]
    named = [pyarrow.array(np.array(ids).astype(kind.to_pandas_dtype()), kind) for kind in (mine, theirs)]
    visits = pyarrow.table({"p": named[0], "v": [1] * 40})
    patients = pyarrow.table({"p": named[1], "x": [9] * 39 + [-9]})
    declared, query = beside(Integer(-9, 9, nullable=True)), Query().agg(t=total("x"))
    plan, whole = integers(declared, query, visits, patients)
    _, without = integers(declared, query, visits.slice(0, 39), patients.slice(0, 39))
    assert abs(whole - without).max() <= plan.moved[0].each


def test_floats_of_two_widths_meet_where_both_are_one_whole_number():
    ids = [1, 2**24 - 1, 2**24, 2**24 + 1]
    visits = pyarrow.table({"p": pyarrow.array(map(float, ids)), "v": [1] * 4})
    patients = pyarrow.table({"p": pyarrow.array(np.array(ids, dtype=np.float32)), "x": [9] * 4})
    query = Query().agg(n=count("x"))
    assert integers(beside(Integer(0, 9, nullable=True)), query, visits, patients)[1].tolist() == [[2]]


@pytest.mark.parametrize(
    "stored",
    [
        pyarrow.array(["1"]),
        pyarrow.array([Decimal("1.0")]),
        pyarrow.array([True]),
        pyarrow.array([1], pyarrow.date32()),
    ],
    ids=lambda array: str(array.type),
)
def test_persons_of_different_types_are_refused(tmp_path, stored):
    with pytest.raises(InputError, match="stored as in the first table"):
        discreet.open(
            pyarrow.table(VISITS),
            schema(),
            joins={"patients": pyarrow.table({"p": stored, "sex": ["f"], "age": [1]})},
            ledger=tmp_path / "l.db",
            budget=Budget(epsilon=1),
            who="t",
            create=True,
        )
