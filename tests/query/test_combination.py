"""Listed combinations of keys are the only groups: in their order, with the rows that have them, at the same price."""

from __future__ import annotations

import collections
import random

import pyarrow
import pytest

from discreet.core.unit import Unit
from discreet.data.column import Boolean, Category, Date, Integer
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.noise.bits import SystemBits
from discreet.query import combination
from discreet.query.aggregate import count, total
from discreet.query.composite_plan import plan_question
from discreet.query.key import bins, discover, key
from discreet.query.price import Price
from discreet.query.quantile import median
from discreet.query.question import Query
from discreet.query.stream import plan_stream
from jobs import run_plan

COLUMNS = {
    "county": Category(["Ash", "Elm", "Oak"], nullable=True),
    "adult": Boolean(nullable=False),
    "age": Integer(0, 120, nullable=False),
    "day": Date("2024-01-01", "2024-12-31"),
}
SCHEMA = Schema("people", COLUMNS)
PERSONS = Schema("people", COLUMNS, Unit("id", groups=2, rows=3))
LARGE = Allotment("questions", "pure", epsilon=10**9)
CHOSEN = [("Oak", True), (None, False), ("Ash", True)]
QUERY = Query().group_by("county", "adult").only_groups(CHOSEN).agg(n=count(), years=total("age"))


def rows(many: int = 300) -> list[dict]:
    chance = random.Random(3)
    return [
        {
            "id": chance.randrange(60),
            "county": chance.choice(["Ash", "Elm", "Oak", None, "elsewhere"]),
            "adult": chance.random() < 0.5,
            "age": chance.randrange(100),
            "day": None,
        }
        for _ in range(many)
    ]


def released(query: Query, schema: Schema = SCHEMA, epsilon: int = 10**8) -> dict:
    plan = plan_question(query, schema, LARGE, Price.read(epsilon=epsilon))
    table = pyarrow.Table.from_pylist(rows()).set_column(4, "day", pyarrow.nulls(300, pyarrow.date32()))
    with source_of(table).open() as data:
        return run_plan(plan, data, SystemBits())["columns"]


def wrong() -> bool:
    """Whether a published count differs from the rows of its combination."""
    declared = lambda row: row["county"] if row["county"] != "elsewhere" else None  # noqa: E731
    truth = collections.Counter((declared(row), row["adult"]) for row in rows())
    found = released(QUERY)
    groups = list(zip(found["county"], found["adult"], strict=True))
    return found["n"] != [truth[each] for each in CHOSEN] or groups != CHOSEN


def test_each_combination_has_its_rows_in_the_order_given():
    assert not wrong()


def test_combinations_taken_in_another_order_are_caught(monkeypatch):
    other = lambda *parts: sorted(combination.combination_numbers(*parts))  # noqa: E731
    monkeypatch.setattr("discreet.query.question.combination_numbers", other)
    assert wrong()


def test_the_price_is_that_of_as_many_groups_and_a_person_counts_in_some_of_these_only():
    price = Price.read(epsilon=1)
    few = plan_question(QUERY, PERSONS, LARGE, price)
    alike = plan_question(Query().group_by(key("county", ["Ash", "Elm", "Oak"])).agg(n=count()), PERSONS, LARGE, price)
    assert few.groups == alike.groups == 3
    only = plan_question(QUERY.group_by(key("age", [5])).only_groups([("Oak", True, 5)]), PERSONS, LARGE, price)
    assert only.groups == 1
    assert sum(released(QUERY, PERSONS)["n"]) <= 60 * 2 * 3


def test_quantiles_have_the_same_groups():
    found = released(Query().group_by("county", "adult").only_groups(CHOSEN).agg(n=count(), typical=median("age")))
    assert found["county"] == ["Oak", None, "Ash"]
    assert len(found["typical"]) == 3


def test_combinations_come_back_from_json_and_other_questions_have_none_there():
    query = QUERY.checked(SCHEMA)
    assert query.to_dict()["groups"] == [["Oak", True], [None, False], ["Ash", True]]
    assert Query.from_json(query.to_json(), SCHEMA) == query
    assert "groups" not in Query().group_by("county").agg(n=count()).to_dict()
    days = Query().group_by(bins("day", every="month"), "adult").agg(n=count())
    month = bins("day", every="month").checked(SCHEMA).labels(SCHEMA)[2]
    assert days.only_groups([(month, True)]).checked(SCHEMA).combinations == (("2024-03-01..2024-04-01", True),)


@pytest.mark.parametrize(
    "given",
    [
        *([], "ab", 5, None, ["ab"], [("Oak",)], [("Oak", True, 1)], [("Pine", True)], [("Oak", 1)], [("Oak", [1])]),
        *([("Oak", True), ("Oak", True)], [({}, True)], [("Oak", 1.0)], {"a": 1}),
    ],
    ids=str,
)
def test_what_is_no_combination_is_refused(given):
    with pytest.raises(InputError) as caught:
        Query().group_by("county", "adult").only_groups(given).agg(n=count()).checked(SCHEMA)
    assert caught.value.field == "groups"


def test_combinations_are_of_public_keys_and_of_one_table():
    with pytest.raises(InputError, match="public"):
        Query().group_by(discover("county")).only_groups([("Oak",)]).agg(n=count()).checked(SCHEMA)
    with pytest.raises(InputError, match="public"):
        Query().only_groups([()]).agg(n=count()).checked(SCHEMA)
    with pytest.raises(InputError, match="stream"):
        plan_stream(QUERY, PERSONS, LARGE, Price.read(epsilon=1), bins("day", every="month"))
    private = total("age", bounds="private")
    with pytest.raises(InputError, match="private"):
        Query().group_by("county", "adult").only_groups(CHOSEN).agg(s=private).checked(SCHEMA)
    with pytest.raises(InputError, match="once"):
        Query().group_by("county").only_groups([("Oak",)]).per_person(n="count(*)")


def test_a_key_of_missing_values_alone_has_one_group():
    found = released(Query().where("county is null").group_by("county").agg(n=count()))
    assert found["county"] == [None]
    assert found["n"] == [sum(row["county"] in (None, "elsewhere") for row in rows())]


def test_combinations_are_typed_as_they_are_published():
    keys = Query().group_by("county", "adult").keys
    typed = ["Oak, true", "(missing),False", ["Ash", True]]
    assert combination.parse_combinations(typed, keys, SCHEMA) == [["Oak", True], [None, False], ["Ash", True]]
    words = Schema("t", {"town": Category(["Oak, Ash", "Elm"], nullable=True)})
    assert combination.parse_combinations(['"Oak, Ash"', ""], [key("town")], words) == [["Oak, Ash"], []]
