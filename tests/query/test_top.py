"""The most common values: what the choice costs, that it follows its law, and what one unit can do to it."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chance import frequency_fits
from discreet.accounting import pure, zcdp
from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Boolean, Category, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import BudgetError, InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.mechanisms import Gaussian, Laplace, TopK
from discreet.noise.bits import SystemBits
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.key import bins, key
from discreet.query.price import Price
from discreet.query.top import Top, plan_top
from jobs import run_plan
from plan_text import explain

VALUES = ["flu", "cold", "gout", "mumps", "lupus"]
COLUMNS = {
    "dx": Category(VALUES, nullable=False),
    "ward": Category(["a", "b"], nullable=True),
    "age": Integer(0, 99, nullable=True),
    "new": Boolean(nullable=False),
    "pay": Real(0, 9, nullable=False),
    "note": Text(),
}
UNITS = [Unit(), Unit(neighbours="replace"), Unit("id", groups=3, rows=1), Unit("id", "replace", groups=2, rows=1)]
PURE = Allotment("questions", "pure", epsilon=100)
ZCDP = Allotment("questions", "zcdp", rho=5000)
ASKED = Top(key("dx"), 2)

amounts = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=10**6)


def plan(asked=ASKED, unit=UNITS[2], allotment=PURE, **price):
    return plan_top(asked, Schema("visits", COLUMNS, unit), allotment, Price.read(**price))


def run(made, table):
    """A run outside of the door."""
    with source_of(table).open() as connection:
        return run_plan(made, connection, SystemBits())


@settings(deadline=None, max_examples=40)
@given(amounts, st.integers(1, 5), st.sampled_from(UNITS), st.booleans())
def test_a_price_is_the_price_of_choice_and_counts_together(amount, k, unit, counts):
    asked = Top(key("dx"), k, counts)
    made = plan(asked, unit, epsilon=amount)
    assert pure(made.cost).epsilon == amount == made.charge.amount
    assert made.choice.epsilon == (amount / 2 if counts else amount)
    assert (made.noise is None) != counts
    paid = plan(asked, unit, ZCDP, rho=amount).charge
    assert amount * Fraction(999_999, 1_000_000) <= paid.amount <= amount
    assert paid.delta == 0
    dear = plan(asked, unit, ZCDP, epsilon=amount)
    assert dear.charge.amount == zcdp(dear.cost).rho


def test_the_noise_is_of_the_kind_that_is_paid_for():
    assert isinstance(plan(epsilon=1).noise, Laplace)
    assert isinstance(plan(allotment=ZCDP, rho=1).noise, Gaussian)
    assert plan(allotment=ZCDP, share="0.001").charge.amount <= 5


@pytest.mark.parametrize(("unit", "moved"), list(zip(UNITS, [1, 2, 3, 4], strict=True)), ids=str)
def test_counts_move_in_as_many_values_as_one_unit_has_and_no_more_than_are_shown(unit, moved):
    for k in range(1, 6):
        assert plan(Top(key("dx"), k), unit, epsilon=1).moved.outputs == min(moved, k)
    assert plan(unit=unit, epsilon=1).choice == TopK(2, Fraction(1, 2), 1, unit.neighbours == "add-remove")


# The law


class Counted:
    """A connection that has counted already."""

    table = pyarrow.table({"dx": ["flu"], "id": [1]})

    def __init__(self, counts):
        import ibis

        self.table = ibis.memtable(self.table)
        self._found = {GROUP: np.arange(len(counts)), measure_name(0): np.array(counts)}

    def integers(self, expression):
        return self._found

    def counted(self, shape, compiled, salt):
        return self.integers(compiled(self.table, salt))


def law(scores, k, rate):
    """The probability of every ordered list of k indices."""
    found = {}
    for order in itertools.permutations(range(len(scores)), k):
        chance, left = 1.0, list(range(len(scores)))
        for index in order:
            weights = {i: math.exp(float(rate) * scores[i]) for i in left}
            chance *= weights[index] / sum(weights.values())
            left.remove(index)
        found[order] = chance
    return found


def test_choices_follow_their_law_and_another_rate_is_caught():
    made, counts, runs = plan(Top(key("dx", VALUES[:3]), 2, counts=False), epsilon=4), [3, 2, 0], 1000
    assert made.choice.rate == 2
    connection, bits = Counted(counts), SystemBits()
    seen = [tuple(VALUES.index(v) for v in run_plan(made, connection, bits)["columns"]["dx"]) for _ in range(runs)]

    def fits(rate):
        return all(frequency_fits(seen.count(order), runs, p) for order, p in law(counts, 2, rate).items())

    assert fits(made.choice.rate)
    assert not fits(made.choice.rate / 2)


neighbours = st.lists(st.integers(0, 4), min_size=4, max_size=4)


def worst(scores, others, k, rate):
    """The largest log-ratio of the chances of any outcome."""
    one, two = law(scores, k, rate), law(others, k, rate)
    return max(abs(math.log(one[order] / two[order])) for order in one)


@settings(deadline=None, max_examples=60)
@given(neighbours, st.lists(st.booleans(), min_size=4, max_size=4), st.integers(1, 3))
def test_a_unit_that_comes_or_goes_moves_no_chance_by_more_than_epsilon(scores, has, k):
    made = plan(Top(key("dx"), k, counts=False), epsilon=1)
    more = [score + (1 if own else 0) for score, own in zip(scores, has, strict=True)]
    assert worst(scores, more, k, made.choice.rate) <= 1 + 1e-9


@settings(deadline=None, max_examples=60)
@given(neighbours, st.lists(st.integers(-1, 1), min_size=4, max_size=4), st.integers(1, 3))
def test_a_unit_that_is_replaced_moves_no_chance_by_more_than_epsilon(scores, change, k):
    made = plan(Top(key("dx"), k, counts=False), UNITS[3], epsilon=1)
    other = [max(0, score + step) for score, step in zip(scores, change, strict=True)]
    assert worst(scores, other, k, made.choice.rate) <= 1 + 1e-9


def test_the_rate_for_comings_and_goings_would_be_too_high_for_replacements():
    loose = plan(Top(key("dx"), 1, counts=False), UNITS[2], epsilon=1).choice.rate
    assert worst([3, 8, 8, 8], [4, 7, 7, 7], 1, loose) > 1.5


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(VALUES)), max_size=14),
    st.lists(st.sampled_from(VALUES), max_size=8),
    st.integers(1, 3),
    st.booleans(),
)
def test_one_person_moves_scores_by_at_most_one_and_in_one_direction(rows, mine, groups, by_row):
    unit = Unit() if by_row else Unit("id", groups=groups, rows=1)
    mine = mine[:1] if by_row else mine
    made = plan(unit=unit, epsilon=1)

    def scores(entries):
        table = pyarrow.table(
            {
                "id": pyarrow.array([p for p, _ in entries], "int64"),
                "dx": pyarrow.array([v for _, v in entries], "string"),
            }
        )
        counts = np.zeros(len(VALUES), dtype=int)
        with source_of(table).open() as connection:
            asked = compile_query(made._counted, made.schema, made.measures, connection.table, list(range(8)))
            found = connection.integers(asked)
        counts[found[GROUP]] = found[measure_name(0)]
        return counts

    moved = scores([*rows, *((99, value) for value in mine)]) - scores(rows)
    assert set(moved.tolist()) <= {0, 1}
    assert moved.sum() == min(1 if by_row else groups, len(set(mine)))


# What comes out


def crowd(counts, rows=1, **others):
    """Values with so many persons each, each in several rows."""
    pairs = [(f"{value}{i}", value) for value, size in counts.items() for i in range(size) for _ in range(rows)]
    table = {"id": [p for p, _ in pairs], "dx": [v for _, v in pairs]}
    return pyarrow.table({**table, **{name: [value] * len(pairs) for name, value in others.items()}})


SIZES = {"gout": 90, "flu": 50, "lupus": 70, "mumps": 3, "none of these": 400}


def test_the_most_common_come_first_with_their_counts():
    table = crowd(SIZES)
    answer = run(plan(Top(key("dx"), 3), Unit("id", groups=1, rows=1), epsilon=200), table)
    assert answer["columns"]["dx"] == ["gout", "lupus", "flu"]
    assert answer["columns"]["count"] == [90, 70, 50]
    assert answer["keys"] == ["dx"]
    names = run(plan(Top(key("dx"), 3, counts=False), Unit("id", groups=1, rows=1), epsilon=200), table)
    assert names["columns"] == {"dx": ["gout", "lupus", "flu"]}
    assert names["outputs"] == []


@pytest.mark.parametrize("how", ["values", "listed"])
def test_counts_stand_beside_their_values_also_where_a_condition_rules_some_out(how):
    """Which groups a table leaves out must not shift the values that are chosen from."""
    schema = Schema("t", {"n": Integer(0, 9, nullable=False), "g": Category(["a", "b", "c"], nullable=False)})
    table = pyarrow.table({"n": [0] * 50 + [7] * 30 + [8] * 20 + [9], "g": ["a"] * 50 + ["b"] * 30 + ["c"] * 21})
    price = Price.read(epsilon=10**6)
    found = []
    for column, text, values in (("n", "n > 6", range(10)), ("g", "g <> 'a'", "abc")):
        asked = Top(key(column, list(values)) if how == "listed" else key(column), 2).where(text)
        with source_of(table).open() as connection:
            columns = run_plan(plan_top(asked, schema, PURE, price), connection, SystemBits())["columns"]
        found.append(dict(zip(columns[column], columns["count"], strict=True)))
    assert found == [{7: 30, 8: 20}, {"b": 30, "c": 21}]


def test_persons_are_counted_where_persons_are_protected_and_rows_where_rows_are():
    table = pyarrow.concat_tables([crowd({"gout": 30}), crowd({"flu": 10}, rows=9)])
    assert run(plan(Top(key("dx"), 1), Unit("id", groups=1, rows=1), epsilon=200), table)["columns"]["dx"] == ["gout"]
    assert run(plan(Top(key("dx"), 1), Unit(), epsilon=200), table)["columns"]["count"] == [90]


def test_what_is_missing_is_no_value_unless_it_is_listed():
    wards = ["a"] * 10 + ["b"] * 5 + [None] * 50
    table = pyarrow.table({"id": list(range(65)), "ward": wards})
    assert run(plan(Top(key("ward"), 2), Unit("id", groups=1, rows=1), epsilon=200), table)["columns"]["ward"] == [
        "a",
        "b",
    ]
    listed = Top(key("ward", ["b", None]), 2)
    assert run(plan(listed, Unit("id", groups=1, rows=1), epsilon=200), table)["columns"]["ward"] == [None, "b"]
    with pytest.raises(InputError, match="at most the number of values of ward, 2"):
        plan(Top(key("ward"), 3), epsilon=1)


def test_a_person_s_missing_value_takes_no_place_from_a_real_one():
    table = pyarrow.table({"id": [i // 2 for i in range(100)], "ward": ["a", None] * 50})
    assert run(plan(Top(key("ward"), 1), Unit("id", groups=1, rows=1), epsilon=200), table)["columns"]["count"] == [50]


def test_bins_whole_numbers_and_truth_have_common_values_too():
    table = pyarrow.table({"age": [5] * 30 + [50] * 20 + [None] * 40, "new": [True] * 60 + [False] * 30})
    found = run(plan(Top(bins("age", [0, 10, 99]), 2), Unit(), epsilon=200), table)["columns"]
    assert found["age"] == ["0..10", "10..99"]
    assert run(plan(Top(key("age"), 2), Unit(), epsilon=200), table)["columns"]["age"] == [5, 50]
    assert run(plan(Top(key("new"), 1), Unit(), epsilon=200), table)["columns"]["new"] == [True]


def test_the_plan_says_how_far_a_choice_may_be_behind():
    made = plan(epsilon=1)
    behind, counted = made.expected()
    assert behind.of == "choice"
    assert behind.half_width == float(made.choice.error(0.95, 5))
    assert counted.output == "count"
    text = explain(made)
    assert "Releases 2 of the 5 values of dx, the most common first" in text
    assert f"each at most {math.ceil(behind.half_width)} behind" in text
    assert "at most 3 groups" in text
    assert "count" not in explain(plan(Top(key("dx"), 2, counts=False), epsilon=1)).split("\n")[-2]


def test_it_travels_as_json_and_has_a_digest_of_its_own():
    schema = Schema("visits", COLUMNS, UNITS[2])
    asked = Top(key("dx", VALUES[:4]), 2, False).where("age >= 18").checked(schema)
    entry = json.loads(json.dumps(asked.to_dict()))
    assert Top.from_dict(entry, schema) == asked
    plans = [
        plan(epsilon=1),
        plan(epsilon=2),
        plan(Top(key("dx"), 3), epsilon=1),
        plan(Top(key("dx"), 2, False), epsilon=1),
        plan(ASKED.where("age > 3"), epsilon=1),
        plan(unit=UNITS[3], epsilon=1),
        plan(epsilon=1, confidence=0.9),
    ]
    assert len({one.digest for one in plans}) == len(plans)


@pytest.mark.parametrize(
    ("asked", "price", "field"),
    [
        (Top(key("dx"), 0), {"epsilon": 1}, "k"),
        (Top(key("dx"), 6), {"epsilon": 1}, "k"),
        (Top(key("dx"), True), {"epsilon": 1}, "k"),
        (Top(key("dx"), "2"), {"epsilon": 1}, "k"),
        (Top(key("dx"), 2, "yes"), {"epsilon": 1}, "counts"),
        (Top("dx", 2), {"epsilon": 1}, "top"),
        (Top(key("note"), 2), {"epsilon": 1}, "group_by"),
        (Top(key("pay"), 2), {"epsilon": 1}, "group_by"),
        (Top(key("nothing"), 2), {"epsilon": 1}, "group_by"),
        (replace(ASKED, condition="x"), {"epsilon": 1}, "where"),
        (ASKED, {"within": 3}, "within"),
        (ASKED, {"rho": 1}, "rho"),
        (ASKED, {}, "price"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(asked, price, field):
    with pytest.raises(InputError) as caught:
        plan(asked, **price)
    assert caught.value.field == field


def test_a_column_called_count_is_told_apart():
    schema = Schema("t", {"count": Category(["a", "b"], nullable=False)})
    with pytest.raises(InputError, match="another name"):
        plan_top(Top(key("count"), 1), schema, PURE, Price.read(epsilon=1))
    assert plan_top(Top(key("count"), 1, False), schema, PURE, Price.read(epsilon=1)).groups == 1


@pytest.mark.parametrize(
    "entry",
    [
        {"top": {"key": "dx"}},
        {"top": {"key": "dx", "k": 2, "more": 1}},
        {"top": {"key": "dx", "k": 2}, "outputs": {}},
        {"top": ["dx"]},
        {"top": {"key": {"column": "pay", "discover": True}, "k": 1}},
        '{"top": 3}',
    ],
)
def test_json_that_is_no_question_is_refused(entry, tmp_path):
    curator = open_curator(
        crowd(SIZES, note="x", ward="a", age=1, new=True, pay=1.0),
        Schema("visits", COLUMNS, Unit("id", groups=1, rows=1)),
        ledger=Ledger.open(tmp_path / "books.db", create=True),
        budget=Budget(1),
        create=True,
    )
    with pytest.raises(InputError):
        curator.question(entry)


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_through_the_door(tmp_path):
    books = Ledger.open(tmp_path / "books.db", create=True)
    curator = open_curator(
        crowd(SIZES),
        Schema("visits", {"dx": Category(VALUES, nullable=False)}, Unit("id", groups=1, rows=1)),
        ledger=books,
        budget=Budget(300),
        create=True,
    )
    offer = curator.table().top("dx", k=3).plan(epsilon=200)
    answer = offer.release(release="top")
    assert answer["dx"] == ["gout", "lupus", "flu"]
    assert answer["count_lower"] <= answer["count"] <= answer["count_upper"]
    (standing,) = books.standing("visits")
    assert standing.spent.amount == 200
    assert curator.release("top").columns == answer.columns
    again = curator.question(json.dumps(offer.plan.query)).plan(epsilon=200)
    assert again.plan.digest == offer.plan.digest
    assert again.release(release="top").columns == answer.columns
    names = curator.table().where("dx <> 'gout'").top("dx", 2, counts=False).plan(epsilon=50).release()
    assert set(names["dx"]) <= set(VALUES)
    assert "dx" in repr(names)
    with pytest.raises(BudgetError):
        curator.table().top("dx", 1).plan(epsilon=200).release()
    for wrong in (
        lambda: curator.table().group_by("dx").top("dx"),
        lambda: curator.table().top("dx").group_by("dx"),
        lambda: curator.batch(a=curator.table().top("dx", 1)).plan(epsilon=1),
    ):
        with pytest.raises(InputError, match="question of its own"):
            wrong()
