"""Keys nobody listed, end to end: what it costs, how likely a key appears, and what never leaves."""

from __future__ import annotations

import json
import random
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_crowd import CANARY, many

from chance import at_most, frequency_fits
from discreet.accounting import zcdp
from discreet.accounting.compose import compose
from discreet.accounting.convert import basic
from discreet.core.loss import Approx
from discreet.core.unit import Unit
from discreet.curator import open_curator
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.ledger.ledger import Ledger
from discreet.mechanisms import Gaussian, Laplace, PartitionSelection
from discreet.noise.bits import SystemBits
from discreet.query import discovery_plan
from discreet.query.aggregate import count, mean, people, std, total
from discreet.query.discovery import PEOPLE, compile_discovery
from discreet.query.discovery_plan import plan_discovery
from discreet.query.key import bins, discover, key
from discreet.query.price import Price
from discreet.query.quantile import median
from discreet.query.question import Query
from jobs import run_plan
from plan_text import explain

COLUMNS = {
    "zip": Text(),
    "sex": Category(["f", "m"], nullable=False),
    "age": Integer(0, 120, nullable=False),
    "pay": Real(0, 1000, nullable=True),
    "day": Date("2024-01-01", "2024-12-31", nullable=False),
    "flag": Boolean(nullable=True),
}

UNITS = [Unit(), Unit(neighbours="replace"), Unit("id", groups=3, rows=4), Unit("id", "replace", groups=2, rows=1)]

ZCDP = Allotment("questions", "zcdp", rho=5, delta="1e-3")

QUERY = Query().group_by(discover("zip"), "sex").agg(n=count(), pay=mean("pay"))

DELTA = Fraction(1, 10**7)

aggregates = st.sampled_from([count(), count("pay"), total("age"), mean("age"), mean("pay"), std("age")])

outputs = st.lists(aggregates, min_size=1, max_size=4).map(lambda a: {f"o{i}": one for i, one in enumerate(a)})

amounts = st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=10**6)

units = st.sampled_from(UNITS)


def plan(query=QUERY, unit=UNITS[2], allotment=ZCDP, delta=DELTA, **price):
    return plan_discovery(query, Schema("people", COLUMNS, unit), allotment, Price.read(**price), delta)


def run(made, table):
    """A run outside of the door, for tests of its law."""
    with source_of(table).open() as connection:
        return run_plan(made, connection, SystemBits())


@settings(deadline=None, max_examples=50)
@given(outputs, amounts, units)
def test_an_epsilon_is_the_price_of_selection_and_measures_together(chosen, epsilon, unit):
    made = plan(Query().group_by(discover("zip")).agg(**chosen), unit, epsilon=epsilon)
    assert basic(made.cost) == Approx(epsilon, DELTA)
    assert made.selection.epsilon == epsilon / (len(made.measures) + 1)
    assert made.charge.amount == zcdp(made.cost).rho
    assert made.charge.delta == DELTA
    assert all(isinstance(noise, Laplace) for noise in made.noises)


@settings(deadline=None, max_examples=50)
@given(outputs, amounts, units)
def test_a_rho_is_never_exceeded_and_hardly_missed(chosen, rho, unit):
    made = plan(Query().group_by(discover("zip")).agg(**chosen), unit, rho=rho)
    assert rho * Fraction(999_999, 1_000_000) <= made.charge.amount <= rho
    assert made.charge.delta == DELTA
    part = rho / (len(made.measures) + 1)
    assert part * Fraction(999_999, 1_000_000) <= zcdp(made.selected).rho <= part
    assert all(isinstance(noise, Gaussian) for noise in made.noises)


@pytest.mark.parametrize("unit", UNITS)
def test_groups_alone_cost_their_selection(unit):
    schema = Schema("t", COLUMNS, unit)
    asked = Query().group_by(discover("zip"), "sex").list_groups()
    plan = plan_discovery(asked, schema, ZCDP, Price.read(rho="0.1"), DELTA)
    assert plan.cost == compose([plan.selected])
    assert zcdp(plan.cost).rho <= Fraction(1, 10)
    assert zcdp(plan.cost).rho > Fraction(99, 1000)
    assert plan.expected() == []
    assert Query.from_json(plan.question.to_json(), schema) == plan.question


def test_groups_alone_are_published_without_numbers():
    data = pyarrow.table({"zip": ["a"] * 500 + ["b"] * 500 + ["c"], "sex": ["f"] * 1001})
    schema = Schema("t", {"zip": Text(), "sex": COLUMNS["sex"]})
    asked = Query().group_by(discover("zip")).list_groups()
    plan = plan_discovery(asked, schema, ZCDP, Price.read(rho=1), DELTA)
    with source_of(data).open() as opened:
        result = run_plan(plan, opened, SystemBits())
    assert result["columns"] == {"zip": ["a", "b"]}
    assert (result["keys"], result["outputs"]) == (["zip"], [])


@pytest.mark.parametrize("query", [Query().group_by("sex"), Query(), Query().group_by(discover("zip")).agg(n=count())])
def test_declared_groups_are_public_and_not_sold(query):
    with pytest.raises(InputError):
        query.list_groups().checked(Schema("t", COLUMNS))


def test_a_share_is_that_share():
    assert Fraction("0.4999") < plan(share="0.1").charge.amount <= Fraction("0.5")


@pytest.mark.parametrize(("unit", "keys"), list(zip(UNITS, [1, 2, 3, 4], strict=True)), ids=str)
def test_the_selection_is_made_for_all_keys_one_unit_can_move(unit, keys):
    made = plan(unit=unit, epsilon=1)
    assert made.selection == PartitionSelection(Fraction(1, 4), DELTA, keys)  # three measures and the selection
    assert [moved.outputs for moved in made.moved] == [keys] * 3
    # Counted as the independent coins it is; as one mechanism it would be dearer.
    assert zcdp(made.selected).rho <= zcdp(made.selection.loss()).rho
    if keys > 1:
        assert zcdp(made.selected).rho < zcdp(made.selection.loss()).rho * Fraction(2, 3)


def test_the_plan_says_how_keys_come_to_appear():
    made = plan(epsilon=3)
    text = explain(made)
    assert "How many there are is private" in text
    assert "delta = 1e-7" in text
    assert "1/4 of the price" in text
    assert f"always from {made.selection.certain_at:,} on" in text
    for crowd, chance in made.chances:
        assert chance == made.selection.chance(crowd)
        assert crowd >= made.selection.certain_at or f" at {crowd:,}" in text
    assert [crowd for crowd, _ in made.chances] == [1, 5, 10, 20, 50]
    assert "more than 200 characters" in text
    assert "at most 3 groups" in text
    assert "enough rows share" in explain(plan(unit=Unit(), epsilon=3))
    assert made.groups is None


def test_the_digest_follows_all_that_decides_the_result():
    made = [
        plan(epsilon=1),
        plan(epsilon=2),
        plan(epsilon=1, delta=DELTA / 2),
        plan(epsilon=1, confidence=0.9),
        plan(rho=1),
        plan(QUERY.where("age > 5"), epsilon=1),
        plan(unit=UNITS[0], epsilon=1),
        plan(Query().group_by("sex", discover("zip")).agg(n=count(), pay=mean("pay")), epsilon=1),
    ]
    assert len({one.digest for one in made}) == len(made)
    assert plan(epsilon=1).digest == made[0].digest
    assert "partition selection, epsilon 0.25, delta 1e-07 over 3 keys; discrete Laplace" in made[0].mechanism


def test_a_question_travels_as_json():
    schema = Schema("people", COLUMNS, UNITS[2])
    text = QUERY.to_json()
    assert json.loads(text)["group_by"] == [{"column": "zip", "discover": True}, {"column": "sex"}]
    assert Query.from_json(text, schema) == QUERY.checked(schema)
    for wrong in [{"column": "zip", "discover": False}, {"column": "zip", "discover": True, "values": ["a"]}]:
        with pytest.raises(InputError, match="discover"):
            Query.from_dict({"group_by": [wrong], "outputs": {"n": {"of": "count"}}}, schema)


@pytest.mark.parametrize(
    ("query", "options", "field"),
    [
        (QUERY, {"delta": None, "epsilon": 1}, "delta"),
        (QUERY, {"delta": 0, "epsilon": 1}, "delta"),
        (QUERY, {"delta": 1, "epsilon": 1}, "delta"),
        (QUERY, {"delta": -1, "epsilon": 1}, "delta"),
        (QUERY, {"delta": "often", "epsilon": 1}, "delta"),
        (QUERY, {"delta": "1e-400", "epsilon": 1}, "delta"),
        (QUERY, {"within": 5}, "within"),
        (QUERY, {"epsilon": "1e-30"}, "epsilon"),
        (QUERY, {"epsilon": 10**30}, "epsilon"),
        (QUERY, {"rho": "1e-40"}, "rho"),
        (QUERY, {"epsilon": 1, "allotment": Allotment("a", "pure", epsilon=1)}, "allotment"),
        (QUERY, {"epsilon": 1, "allotment": Allotment("a", "plan", epsilon=1, delta="1e-3")}, "allotment"),
        (QUERY, {"epsilon": 1, "allotment": Allotment("a", "zcdp", rho=1)}, "delta"),
        (Query().group_by(discover("id")).agg(n=count()), {"epsilon": 1}, "group_by"),
        (Query().group_by(discover("pay")).agg(n=count()), {"epsilon": 1}, "group_by"),
        (Query().group_by(discover("nothing")).agg(n=count()), {"epsilon": 1}, "group_by"),
        (Query().group_by(discover(3)).agg(n=count()), {"epsilon": 1}, "group_by"),
        (Query().group_by(replace(discover("zip"), values=("a",))).agg(n=count()), {"epsilon": 1}, "group_by"),
        (Query().group_by(discover("zip"), discover("zip")).agg(n=count()), {"epsilon": 1}, "outputs"),
        (Query().group_by(discover("zip")).agg(m=median("age")), {"epsilon": 1}, "outputs"),
        (Query().group_by(discover("zip")), {"epsilon": 1}, "outputs"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(query, options, field):
    with pytest.raises(InputError) as caught:
        plan(query, **options)
    assert caught.value.field == field


def crowds(made, copies, rows=3):
    """For every count below certainty, `copies` keys that so many people have, in several rows each."""
    entries, person = [], 0
    for crowd in range(1, made.selection.certain_at + 1):
        for copy in range(copies):
            for _ in range(crowd):
                entries += [(person, f"{crowd}/{copy}")] * rows
                person += 1
    random.Random(1).shuffle(entries)
    return pyarrow.table({"id": [p for p, _ in entries], "zip": [z for _, z in entries]})


COPIES = 1500

LOUD = {"unit": Unit("id", groups=1, rows=9), "delta": Fraction(1, 20)}  # a delta that can be seen


def lawful(made, answer):
    """Whether keys appear as often as they are said to; those that certainly do are all there."""
    kept = [int(name.partition("/")[0]) for name in answer["columns"]["zip"]]
    fair = all(
        frequency_fits(kept.count(crowd), COPIES, float(made.selection._rule.between(crowd)[0]))
        for crowd in range(1, made.selection.certain_at)
    )
    return fair and kept.count(made.selection.certain_at) == COPIES


@pytest.fixture(scope="module")
def loud():
    made = plan(Query().group_by(discover("zip")).agg(n=count()), epsilon=2, **LOUD)
    assert made.selection.certain_at < 8
    return made, crowds(made, COPIES)


def test_keys_appear_as_often_as_the_plan_says(loud, tmp_path):
    made, table = loud
    books = Ledger.open(tmp_path / "books.db", create=True)
    budget = Budget(rho=5, delta="0.1")
    curator = open_curator(
        table, Schema("people", {"zip": Text()}, made.schema.unit), ledger=books, budget=budget, create=True
    )
    offer = (
        curator.table().group_by(discover("zip")).agg(n=count()).plan(epsilon=2, noise="laplace", delta=LOUD["delta"])
    )
    assert offer.plan.selection == made.selection
    release = offer.release()
    assert lawful(made, {"columns": release.columns})
    lonely = sum(name.startswith("1/") for name in release["zip"])
    assert at_most(lonely, COPIES, made.chances[0][1])
    assert release["zip"] == sorted(release["zip"])


def test_a_selection_that_counts_rows_is_caught(loud, monkeypatch):
    made, table = loud

    def by_rows(query, schema, measures, table, salt):
        found = compile_discovery(query, schema, measures, table, salt)
        return found.mutate(**{PEOPLE: found["m0"]})

    monkeypatch.setattr(discovery_plan, "compile_discovery", by_rows)
    assert not lawful(made, run(made, table))


@pytest.mark.parametrize("wrong", [{"epsilon": Fraction(3, 2)}, {"delta": Fraction(1, 12)}])
def test_a_selection_at_another_price_is_caught(loud, wrong):
    made, table = loud
    other = {"epsilon": made.selection.epsilon, "delta": made.selection.delta, **wrong}
    mutant = replace(made, selection=PartitionSelection(**other))
    assert lawful(made, run(made, table))
    assert not lawful(made, run(mutant, table))


@pytest.mark.parametrize("groups", [1, 3])
def test_one_person_brings_at_most_so_many_keys(groups, monkeypatch):
    mine = pyarrow.table({"id": [1] * 4000, "zip": [f"{CANARY}/{i}" for i in range(4000)]})
    query = Query().group_by(discover("zip")).agg(n=count())
    made = plan(query, Unit("id", groups=groups, rows=1), delta=Fraction(groups, 4), allotment=ZCDP_LOOSE, epsilon=1)

    def shown():
        return max(len(run(made, mine)["columns"]["zip"]) for _ in range(4))

    assert shown() <= groups
    monkeypatch.setattr(
        discovery_plan,
        "compile_discovery",
        lambda q, schema, *rest: compile_discovery(q, replace(schema, unit=Unit("id", groups=2**20, rows=1)), *rest),
    )
    assert shown() > groups  # the mutant: nobody is bounded


ZCDP_LOOSE = Allotment("loose", "zcdp", rho=50, delta="0.9")

WORDS = [
    "",
    " ",
    "a",
    "A",
    "é",
    "e\u0301",
    "it's",
    'say "x"',
    "=1+1",
    "a\nb",
    "\x1b[31mred",
    "\u202egnp",
    "😀",
    "x" * 200,
    "-",
]


def test_what_people_typed_comes_out_as_they_typed_it_and_harmless(tmp_path):
    schema = Schema(
        "people", {"zip": Text(), "sex": Category(["m", "f"], nullable=False)}, Unit("id", groups=1, rows=1)
    )
    books = Ledger.open(tmp_path / "books.db", create=True)
    curator = open_curator(
        many([*WORDS, "x" * 201]), schema, ledger=books, budget=Budget(rho=500, delta="0.01"), create=True
    )
    offer = curator.table().group_by("sex", discover("zip")).agg(n=people(), m=count()).plan(epsilon=150, delta="1e-3")
    answer = offer.release(release="all")
    assert answer["zip"] == sorted(WORDS)
    assert answer["sex"] == ["f"] * len(WORDS)
    assert answer["n"] == [60] * len(WORDS) == answer["m"]  # at this price noise is zero
    assert "'=1+1" in answer.to_csv()
    assert "\x1b" not in repr(answer)
    assert "\u202e" not in repr(answer)
    assert curator.release("all").columns == answer.columns
    assert books.verify().ok


def test_missing_is_a_key_of_its_own_where_it_may_be_and_comes_last():
    table = many(["b", None, "a", "x" * 300])
    for nullable, keys in [(False, ["a", "b"]), (True, ["a", "b", None])]:
        schema = Schema("people", {"zip": Text(nullable=nullable)}, Unit("id", groups=1, rows=1))
        query = Query().group_by(discover("zip")).agg(n=count())
        made = plan_discovery(query, schema, ZCDP_LOOSE, Price.read(epsilon=90), "1e-3")
        assert run(made, table)["columns"]["zip"] == keys


def test_other_kinds_of_keys_and_their_order():
    persons = [(10, "2024-02-01", True, "m"), (9, "2024-12-31", None, "f")]
    persons += [(200, "2031-01-01", False, "m"), (-5, "2024-02-01", True, "m")]
    rows = [
        {"id": f"{i}{j}", "age": age, "day": day, "flag": flag, "sex": sex, "pay": 500.0}
        for i, (age, day, flag, sex) in enumerate(persons)
        for j in range(40)
    ]
    table = pyarrow.Table.from_pylist(rows)
    schema = Schema("people", COLUMNS, Unit("id", groups=1, rows=1))

    def found(*keys):
        query = Query().group_by(*keys).agg(n=count(), pay=mean("pay"))
        made = plan_discovery(query, schema, ZCDP_LOOSE, Price.read(epsilon=300), "1e-3")
        columns = run(made, table)["columns"]
        return list(zip(*(columns[k.column] for k in query.keys), columns["n"], strict=True))

    assert found(discover("age")) == [(0, 40), (9, 40), (10, 40), (120, 40)]
    assert found(discover("day")) == [("2024-02-01", 80), ("2024-12-31", 80)]
    assert found(discover("flag")) == [(False, 40), (True, 80), (None, 40)]
    assert found(discover("sex")) == [("f", 40), ("m", 120)]
    assert found("sex", discover("age")) == [("f", 9, 40), ("m", 0, 40), ("m", 10, 40), ("m", 120, 40)]
    assert found(discover("flag"), bins("age", [0, 10, 120]), key("sex", ["m", "f"])) == [
        (True, "10..120", "m", 40),  # ages of -5 and 200 are in no bin
        (None, "0..10", "f", 40),
    ]


class Told:
    """A connection that answers in an order of its own."""

    def __init__(self, connection, shuffle):
        self.table, self._connection, self._shuffle = connection.table, connection, shuffle

    def values(self, expression):
        found = self._connection.values(expression)
        order = list(range(len(found[PEOPLE])))
        self._shuffle(order)
        return {name: [column[i] for i in order] for name, column in found.items()}


def test_the_order_of_rows_tells_nothing_about_the_data():
    schema = Schema("people", {"zip": Text()}, Unit("id", groups=1, rows=1))
    query = Query().group_by(discover("zip")).agg(n=count())
    made = plan_discovery(query, schema, ZCDP_LOOSE, Price.read(epsilon=90), "1e-3")
    seen = set()
    for shuffle in (list.reverse, list.sort, random.Random(5).shuffle):
        with source_of(many(WORDS)).open() as connection:
            seen.add(tuple(run_plan(made, Told(connection, shuffle), SystemBits())["columns"]["zip"]))
    assert seen == {tuple(sorted(WORDS))}


def test_nothing_is_a_result_too():
    kinds = {"id": "int64", "zip": "string", "sex": "string", "pay": "float64"}
    empty = pyarrow.table({name: pyarrow.array([], kind) for name, kind in kinds.items()})
    answer = run(plan(epsilon=1), empty)
    assert answer["keys"] == ["zip", "sex"]
    assert answer["outputs"] == ["n", "pay"]
    assert all(column == [] for column in answer["columns"].values())
    assert list(answer["columns"])[:2] == ["zip", "sex"]


@contextmanager
def tapped(source, heard):
    """A source that lets a test hear what comes back from the engine."""
    with source.open() as connection:
        real = connection.values
        connection.values = lambda expression: heard.append(real(expression)) or heard[-1]
        yield connection


def test_selection_and_measures_see_the_same_rows():
    """With noise that is zero, what is published are the measures of the very table the selection was made on."""
    rows = [{"id": p, "zip": f"k{(p * 7 + j) % 9}", "sex": "f", "pay": 1.0} for p in range(400) for j in range(5)]
    query = Query().group_by(discover("zip")).agg(n=count(), who=people(), pay=total("pay"))
    made = plan(query, Unit("id", groups=2, rows=1), ZCDP_LOOSE, delta="1e-3", epsilon=400)
    heard = []
    with tapped(source_of(pyarrow.Table.from_pylist(rows)), heard) as connection:
        answer = run_plan(made, connection, SystemBits())["columns"]
    (found,) = heard  # one pass
    exact = {k.decode(): (n, n) for k, n in zip(found["k0"], found[PEOPLE], strict=True)}
    assert dict(zip(answer["zip"], zip(answer["n"], answer["who"], strict=True), strict=True)) == exact
    assert sum(answer["who"]) == 2 * 400
