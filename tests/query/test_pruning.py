"""Groups that a condition rules out by what is declared are not published, and no group that a row can be in is."""

from __future__ import annotations

import itertools
import random

import pytest

from discreet.data.column import Boolean, Category, Date, Integer, Real
from discreet.data.expression import Domain, col, domain_of
from discreet.data.expression.domain import listed_domain, value_of
from discreet.data.expression.resolve import resolve
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.query import pruning
from discreet.query.aggregate import count
from discreet.query.key import bins, key
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked, expression_in
from discreet.query.question import Query

SCHEMA = Schema(
    "t",
    {
        "sex": Category(["f", "m", "x"]),
        "age": Integer(0, 9, nullable=False),
        "flag": Boolean(),
        "pay": Real(0, 100),
        "day": Date("2024-01-01", "2024-03-31", nullable=False),
    },
)
LABELS = {
    "sex": ["f", "m", "x", None],
    "age": list(range(10)),
    "flag": [False, True, None],
    "age // 3": [0, 1, 2, 3],
    "MONTH(day)": [1, 2, 3],
}
CONDITIONS = {
    ("sex", "sex = 'f'"): ["f"],
    ("sex", "sex <> 'f'"): ["m", "x"],
    ("sex", "sex in ('f', 'x') and pay > 3"): ["f", "x"],
    ("sex", "sex is null"): [None],
    ("sex", "sex is not null"): ["f", "m", "x"],
    ("sex", "sex = 'f' or pay > 3"): ["f", "m", "x", None],
    ("sex", "not (sex = 'f' or sex = 'm')"): ["x"],
    ("sex", "upper(sex) = 'F'"): ["f"],
    ("sex", "sex like 'f%' or sex is null"): ["f", None],
    ("sex", "pay > 200"): ["f", "m", "x", None],
    ("age", "age between 2 and 4"): [2, 3, 4],
    ("age", "age % 2 = 0 and age < 5"): [0, 2, 4],
    ("age", "age > pay"): list(range(10)),
    ("flag", "flag"): [True],
    ("flag", "not flag"): [False],
    ("flag", "flag is null or sex = 'f'"): [False, True, None],
    ("age // 3", "age >= 6"): [2, 3],
    ("age // 3", "age % 4 = 0"): [0, 1, 2],
    ("MONTH(day)", "day < '2024-03-01'"): [1, 2],
    ("MONTH(day)", "day >= '2024-03-01' and age > 3"): [3],
}


@pytest.mark.parametrize(("column", "condition"), CONDITIONS, ids=str)
def test_only_groups_that_can_have_rows_are_published(column, condition):
    query = Query().where(condition).group_by(column).agg(n=count()).checked(SCHEMA)
    assert query.keys[0].labels(SCHEMA) == CONDITIONS[column, condition]
    assert Query.from_json(query.to_json(), SCHEMA) == query


def test_a_condition_that_nothing_meets_leaves_every_group():
    query = Query().where("age > 3 and age < 2").group_by("age").agg(n=count()).checked(SCHEMA)
    assert query.groups(SCHEMA) == 10


def test_bins_listed_values_and_other_keys_stay_as_they_are():
    query = Query().where(col("age") > 5).group_by(bins("age", [0, 3, 9]), key("sex", ["f"])).agg(n=count())
    assert query.checked(SCHEMA).groups(SCHEMA) == 2


def lost() -> list[str]:
    """Conditions under which a row meets the condition and has no group, by brute force over small rows."""
    values = {
        "sex": ["f", "m", "x", None],
        "age": range(10),
        "flag": [True, False, None],
        "pay": [0.0, 3.5, 100.0, None],
    }
    rows = [dict(zip(values, row, strict=True)) for row in itertools.product(*values.values())]
    found = []
    for column, condition in CONDITIONS:
        if "day" in column or "day" in condition:
            continue
        query = Query().where(condition).group_by(column).agg(n=count()).checked(SCHEMA)
        tested = resolve(
            expression_in(checked(parse_condition(condition), SCHEMA), SCHEMA.expression), dict(SCHEMA.columns), "where"
        )
        labels = set(query.keys[0].labels(SCHEMA))
        key_of = SCHEMA.expression(column)
        if not {value_of(key_of, row) for row in rows if value_of(tested, row) is True} <= labels:
            found.append(condition)
    return found


def test_every_row_that_meets_a_condition_finds_its_group():
    assert lost() == []


POSSIBLE, ORIGINS = pruning._possible, pruning._origins


def nothing_else_is_true(tested, row):
    """What other columns decide is taken for false."""
    never = dict.fromkeys(tested.open, Domain("boolean", values=(False,), missing=True))
    try:
        return True in (domain_of(tested.expression, {**row, **never}).values or ())
    except InputError:
        return True


def gaps_are_empty(tested, row):
    """No row is taken to have a missing value."""
    return row[tested.value].kind != "nothing" and POSSIBLE(tested, row)


def first_value_alone(base, labels):
    """A group is tried on one of the values that it stands for."""
    origins = ORIGINS(base, labels)
    for rows in (origins or {}).values():
        first = listed_domain(rows[0][base.value].kind, rows[0][base.value].listed()[:1], rows[0][base.value].missing)
        rows[0] = {base.value: first, base.stored: first}
    return origins


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        ("_possible", nothing_else_is_true),
        ("_possible", gaps_are_empty),
        ("_origins", first_value_alone),
    ],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_a_pruning_that_drops_a_group_with_rows_is_caught(name, planted, monkeypatch):
    monkeypatch.setattr(pruning, name, planted)
    assert lost()


# --- conditions of any form -------------------------------------------------------------------------------------------

ATOMS = [
    *("sex = 'f'", "sex <> 'f'", "sex in ('f', 'm')", "sex is null", "upper(sex) = 'F'", "coalesce(sex, 'f') = 'f'"),
    *("flag", "not flag", "flag is null", "coalesce(flag, true)", "case when flag is null then 1 else 2 end = 1"),
    *("pay > 3", "not (pay > 3)", "pay is null", "age > 5", "not (age > 5)", "age is null", "(sex = 'f') = flag"),
    *(
        "case when sex = 'f' then flag else age > 5 end",
        "nullif(sex, 'f') is null",
        "case when flag then age else 0 end > 5",
    ),
]
SMALL = {"sex": ["f", "m", "x", None], "flag": [True, False, None], "pay": [0.0, 100.0, None], "age": [0, 9, None]}
EVERY = [dict(zip(SMALL, row, strict=True)) for row in itertools.product(*SMALL.values())]


def condition(chance: random.Random, depth: int) -> str:
    if depth == 0:
        return chance.choice(ATOMS)
    joint = chance.choice(["and", "and", "or", "not"])
    if joint == "not":
        return f"not ({condition(chance, depth - 1)})"
    return f"({condition(chance, depth - 1)}) {joint} ({condition(chance, depth - 1)})"


def mistaken(tries: int) -> list[str]:
    """Conditions that a row meets with a value that it is said never to have, by brute force over every small row."""
    chance, found = random.Random(5), []
    for _ in range(tries):
        text = condition(chance, chance.choice([1, 2, 2]))
        asked = checked(parse_condition(text), SCHEMA)
        tested = resolve(expression_in(asked, SCHEMA.expression), dict(SCHEMA.columns), "where")
        met = [row for row in EVERY if value_of(tested, row) is True]
        for column in ("sex", "flag"):
            labels = pruning.pruned(key(column).checked(SCHEMA), asked, SCHEMA).labels(SCHEMA)
            if not {row[column] for row in met} <= set(labels):
                found.append(text)
    return found


def test_no_value_is_ruled_out_that_a_row_can_have_which_meets_the_condition():
    assert mistaken(150) == []


def test_pieces_left_open_under_one_name_are_caught(monkeypatch):
    """Two that stand for different columns would always be true together, and their contradiction never."""
    monkeypatch.setattr(pruning, "_fresh", lambda number, schema: "open")
    assert mistaken(150)


def test_a_group_of_missing_values_is_there_where_only_other_columns_decide():
    asked = Query().where("age > 0 and not (pay > 0) and (sex is null or sex = 'f')").group_by("sex").agg(n=count())
    assert asked.checked(SCHEMA).keys[0].labels(SCHEMA) == ["f", None]


@pytest.mark.parametrize("text", ["MONTH(day) <> 2", "MONTH(day) <> 2 and pay > 3", "YEAR(day) = 2024 or day is null"])
def test_a_condition_that_has_no_domain_of_a_missing_value_is_tried_on_it(text):
    columns = {**SCHEMA.columns, "day": Date("2024-01-01", "2024-03-31")}
    declared = Schema("t", columns)
    labels = Query().where(text).group_by("MONTH(day)").agg(n=count()).checked(declared).keys[0].labels(declared)
    assert labels == ([1, 3] if "<>" in text else [1, 2, 3, None])


def test_columns_may_be_called_as_pieces_are():
    declared = Schema("t", {"open 0": Category(["a", "b"]), "x": Integer(0, 9)})
    asked = Query().where("\"open 0\" = 'a' and x > 3").group_by("open 0").agg(n=count()).checked(declared)
    assert asked.keys[0].labels(declared) == ["a"]
