"""How many different values: in SQL, under limits, and never more than were declared."""

from __future__ import annotations

import duckdb
import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.noise.bits import SystemBits
from discreet.query.aggregate import count, distinct, mean, people
from discreet.query.composite_plan import plan_question
from discreet.query.key import bins
from discreet.query.measure import Distinct, People
from discreet.query.modes import mode
from discreet.query.price import Price
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.sql import parse_sql
from discreet.query.stream import plan_stream
from jobs import run_plan

COLUMNS = {
    "age": Integer(0, 120),
    "share": Real(0, 1),
    "ward": Category(["a", "b", "c"]),
    "sick": Boolean(),
    "day": Date("2024-01-01", "2024-01-10"),
    "drug": Text(nullable=True),
    "id": Text(),
}
PURE = Allotment("q", "pure", epsilon=10**9)
PERSON = Unit("id", groups=1, rows=2)


def table() -> pyarrow.Table:
    rows = range(600)
    return pyarrow.table(
        {
            "age": [n % 97 for n in rows],
            "share": [[0.0, -0.0, 0.5, float("nan"), n / 600][n % 5] for n in rows],
            "ward": ["abx"[n % 3] for n in rows],
            "sick": [[True, False, None][n % 3] for n in rows],
            "day": pyarrow.array([19723 + n % 7 for n in rows], pyarrow.date32()),
            "drug": [[f"drug {n % 50}", "ä", "Ä", "", None][n % 5] for n in rows],
            "id": [f"person {n % 200}" for n in rows],
        }
    )


def released(question, epsilon=10**6) -> dict:
    plan = plan_question(question, Schema("t", COLUMNS), PURE, Price.read(epsilon=epsilon))
    with source_of(table()).open() as data:
        return run_plan(plan, data, SystemBits())


def test_the_answer_is_that_of_the_table():
    answer = released(Query().group_by("ward").agg(**{name: distinct(name) for name in COLUMNS if name != "ward"}))
    given = table()
    for place, ward in enumerate("ab"):
        of = f"FROM given WHERE ward = '{ward}'"
        plain = f"count(DISTINCT age), count(DISTINCT share) FILTER (NOT isnan(share)), count(DISTINCT sick) {of}"
        text = f"SELECT count(DISTINCT day), count(DISTINCT drug), count(DISTINCT id), {plain}"
        assert given.num_rows
        (found,) = duckdb.sql(text).fetchall()
        names = ("day", "drug", "id", "age", "share", "sick")
        assert tuple(answer["columns"][name][place] for name in names) == found
    assert answer["columns"]["age"][2] == 0


def test_values_that_are_not_declared_are_none_and_numbers_beyond_count_as_the_end():
    answer = released(Query().agg(wards=distinct("ward")))
    assert answer["columns"]["wards"] == [2]
    assert any("not declared" in note["text"] for note in answer["notes"])


def test_of_a_person_so_many_values_count_as_rows_do():
    one = pyarrow.table({"id": ["x"] * 50, "age": list(range(50))})
    for rows in (1, 3, 50):
        schema = Schema("t", {"id": Text(), "age": COLUMNS["age"]}, Unit("id", groups=1, rows=rows))
        plan = plan_question(Query().agg(n=distinct("age")), schema, PURE, Price.read(epsilon=10**6))
        with source_of(one).open() as data:
            answer = run_plan(plan, data, SystemBits())
        assert answer["columns"]["n"] == [rows]
        assert [note["kind"] for note in answer["notes"]].count("rows") == 1
        assert plan.moved[0].each == rows


def test_of_the_person_it_counts_persons():
    assert distinct("id").measures(Schema("t", COLUMNS, PERSON)) == (People(),)
    assert distinct("id").measures(Schema("t", COLUMNS)) == (Distinct("id"),)


def test_what_is_published_lies_within_what_is_declared():
    answer = released(Query().group_by("age").agg(n=distinct("ward"), d=distinct("day")), epsilon="0.1")
    for name, most in (("n", 3), ("d", 10)):
        ends = (answer["columns"][name + end] for end in ("_lower", "", "_upper"))
        assert all(0 <= low <= value <= high <= most for low, value, high in zip(*ends, strict=True))


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("COUNT(DISTINCT drug)", distinct("drug")),
        ("APPROX_COUNT_DISTINCT(age)", distinct("age")),
        ("COUNT(DISTINCT age / 10)", distinct("age / 10")),
        ("COUNT(DISTINCT id)", people()),
        ("APPROX_COUNT_DISTINCT(id)", people()),
        ("COUNT(DISTINCT drug) FILTER (WHERE age > 60)", distinct("CASE WHEN age > 60 THEN drug END")),
    ],
)
def test_in_sql_it_is_a_count_of_distinct_values(text, output):
    schema = Schema("t", COLUMNS, PERSON)
    statement = parse_sql(f"SELECT {text} AS n FROM t", schema)
    assert statement.query == Query().agg(n=output).checked(schema)


def test_moments_are_told_apart_by_the_second():
    schema = Schema("t", {"at": Timestamp("2024-01-01", "2024-01-31", "UTC")})
    moments = ["2024-01-02 03:04:05", "2024-01-02 03:04:05", "2024-01-02 03:04:06", None, "1999-01-01 00:00:00"]
    plan = plan_question(Query().agg(n=distinct("at")), schema, PURE, Price.read(epsilon=10**6))
    with source_of(pyarrow.table({"at": moments})).open() as data:
        answer = run_plan(plan, data, SystemBits())
    assert answer["columns"]["n"] == [3]
    assert any("nearer bound" in note["text"] for note in answer["notes"])


def test_several_columns_at_once_are_refused_if_one_has_values_nobody_listed():
    with pytest.raises(InputError, match="to be counted with others"):
        parse_sql("SELECT COUNT(DISTINCT age, drug) FROM t", Schema("t", COLUMNS, PERSON))


def test_a_stream_refuses_it_for_numbers_of_periods_do_not_add_up():
    schema, price = Schema("t", COLUMNS), Price.read(epsilon=1)
    for output in (distinct("drug"), mean("age"), mode("age"), median("age")):
        with pytest.raises(InputError, match=r"count\(\), people\(\) or total\(\) in a stream"):
            plan_stream(Query().agg(n=output), schema, PURE, price, bins("day", every="day"))
    assert plan_stream(Query().agg(n=count()), schema, PURE, price, bins("day", every="day"))
