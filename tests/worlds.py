"""Small random tables, their neighbours, and random questions of every kind: what the laws of neighbours are tried on.

Values are those where bugs live: missing, NaN, two zeros, infinities, numbers beyond every bound, ids beyond 2**53,
text that differs in case, in spaces and in how an accent is written.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow

from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Curator, Offer, Question
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.join import Join
from discreet.data.schema import Schema
from discreet.data.view import Derived, Lookup
from discreet.ledger.budget import Allotment, Budget
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts, moved_by
from discreet.marginals.meter import Meter
from discreet.query.aggregate import correlation, count, covariance, distinct, mean, people, slope, std, total, variance
from discreet.query.ask import Ask, Checked
from discreet.query.batch import plan_batch
from discreet.query.key import bins, discover, key
from discreet.query.modes import mode
from discreet.query.price import Price
from discreet.query.quantile import median, quantile
from discreet.query.question import Query
from discreet.query.stream_step import StreamStep
from discreet.query.union import Union, UnionPart

NAN, INF = float("nan"), float("inf")
REALS = [None, NAN, 0.0, -0.0, INF, -INF, 1e300, -1e300, 5e-324, 0.25, 1.5, -1.75, 3.5, 2.0**53 + 2, -2.0, 250.0]
WHOLE = [None, 0, 1, -3, 5, 4, 2**63 - 1, -(2**63), 2]
WORDS = [None, "a", "A", "b", "\u00e9", "e\u0301", "", "a ", "zz"]
DAYS = [None, date(2020, 1, 1), date(2020, 2, 29), date(2020, 12, 31), date(1999, 1, 1), date(2020, 6, 30)]
CODES = ["11", "12", "21", "22", "31", None, "99"]

IDS: dict[str, tuple[list[Any], pyarrow.DataType]] = {
    "whole": ([0, 1, 2, 2**53, 2**53 + 1, 2**62, -(2**63), 7], pyarrow.int64()),
    "text": (["ann", "Ann", "ann ", "\u00e9", "e\u0301", "", "ANN"], pyarrow.string()),
    "float": ([0.0, 1.5, 2.0**53, 1e300, INF, -7.25, 3.0], pyarrow.float64()),
}
NOBODY: dict[str, list[Any]] = {"whole": [None], "text": [None], "float": [None, NAN]}

COLUMNS: dict[str, Any] = {
    "g": Category(["a", "b", "\u00e9"], nullable=True),
    "n": Integer(-3, 5, nullable=False),
    "x": Real(-2, 3.5, nullable=True),
    "y": Real(1, 100, nullable=False),
    "f": Boolean(nullable=True),
    "d": Date("2020-01-01", "2020-12-31", nullable=True),
    "t": Text(nullable=True),
    "h": Text(),
    "o": Category(["a", "b"], nullable=False),
    "e": Category(["a", "b", "zz"], nullable=False),
}
_POOLS: dict[str, tuple[list[Any], pyarrow.DataType]] = {
    "g": (WORDS, pyarrow.string()),
    "n": (WHOLE, pyarrow.int64()),
    "x": (REALS, pyarrow.float64()),
    "y": ([*REALS, 40.5, 99.0, 100.0], pyarrow.float64()),
    "f": ([True, False, None], pyarrow.bool_()),
    "d": (DAYS, pyarrow.date32()),
    "t": (WORDS, pyarrow.string()),
    "h": (CODES, pyarrow.string()),
    "o": (WORDS, pyarrow.string()),
    "e": (WORDS, pyarrow.string()),
}
_BESIDE: dict[str, tuple[list[Any], pyarrow.DataType]] = {
    "w": (REALS, pyarrow.float64()),
    "c": (WORDS, pyarrow.string()),
}
Row = dict[str, Any]


@dataclass(frozen=True)
class World:
    """Rows of the table and of the one that is joined to it; the person of a row is its value of `p`."""

    ids: str
    rows: tuple[Row, ...]
    beside: tuple[Row, ...] = ()

    def arrow(self) -> pyarrow.Table:
        return _arrow(self.rows, {"p": IDS[self.ids], **_POOLS})

    def other(self) -> pyarrow.Table:
        return _arrow(self.beside, {"p": IDS[self.ids], **_BESIDE})


def _arrow(rows: tuple[Row, ...], pools: dict[str, tuple[list[Any], pyarrow.DataType]]) -> pyarrow.Table:
    return pyarrow.table({name: pyarrow.array([row[name] for row in rows], kind) for name, (_, kind) in pools.items()})


def person_row(chance: random.Random, person: Any) -> Row:
    return {"p": person, **{name: chance.choice(pool) for name, (pool, _) in _POOLS.items()}}


def beside_row(chance: random.Random, person: Any) -> Row:
    return {"p": person, **{name: chance.choice(pool) for name, (pool, _) in _BESIDE.items()}}


def world(chance: random.Random, ids: str) -> World:
    """Up to seven persons with up to six rows each, some nearly alike, and rows of nobody."""
    rows: list[Row] = []
    beside: list[Row] = []
    for person in chance.sample(IDS[ids][0], chance.randint(1, 5)) + NOBODY[ids]:
        mine, theirs = _of_person(chance, person)
        rows += mine
        beside += theirs
    chance.shuffle(rows)
    chance.shuffle(beside)
    return World(ids, tuple(rows), tuple(beside))


def _of_person(chance: random.Random, person: Any) -> tuple[list[Row], list[Row]]:
    rows = [person_row(chance, person) for _ in range(chance.randint(1, 6))]
    if chance.random() < 0.5:  # many rows in one group
        same = chance.choice(["g", "h", "d", "n"])
        rows = [{**row, same: rows[0][same]} for row in rows]
    if chance.random() < 0.3:
        rows += rows[:2]
    spelt = [
        {**row, "p": -0.0} if person == 0.0 and isinstance(person, float) and i % 2 else row
        for i, row in enumerate(rows)
    ]
    return spelt, [beside_row(chance, person) for _ in range(chance.randint(0, 4))]


def neighbours(chance: random.Random, whole: World, unit: Unit) -> Iterator[World]:
    """Tables that differ from this one in one unit, rows in another order."""
    replaced = unit.neighbours is Neighbours.REPLACE
    if unit.promised:  # any so many rows are somebody's
        for _ in range(6):
            many = min(unit.rows, len(whole.rows))
            gone = set(chance.sample(range(len(whole.rows)), many))
            rest = [row for place, row in enumerate(whole.rows) if place not in gone]
            new = [person_row(chance, None) for _ in range(unit.rows)]
            same = chance.random() < 0.5  # all of them in one group
            new = [dict(new[0]) for _ in new] if same else new
            yield _shuffled(chance, whole.ids, rest + (new if replaced else []), list(whole.beside))
            if not replaced:
                yield _shuffled(chance, whole.ids, [*whole.rows, *new], list(whole.beside))
        return
    if unit.column is None:
        for place in range(len(whole.rows)):
            rest = [*whole.rows[:place], *whole.rows[place + 1 :]]
            new = [person_row(chance, whole.rows[place]["p"])] if replaced else []
            yield _shuffled(chance, whole.ids, rest + new, list(whole.beside))
        if not replaced:
            yield _shuffled(chance, whole.ids, [*whole.rows, person_row(chance, None)], list(whole.beside))
        return
    pool = IDS[whole.ids][0]
    for person in pool:
        there = any(_same(row["p"], person) for row in (*whole.rows, *whole.beside))
        if replaced and not there:
            continue
        rest = [row for row in whole.rows if not _same(row["p"], person)]
        others = [row for row in whole.beside if not _same(row["p"], person)]
        if replaced or not there:
            mine, theirs = _of_person(chance, person)
            rest, others = rest + mine, others + theirs
        yield _shuffled(chance, whole.ids, rest, others)


def _same(one: Any, other: Any) -> bool:
    return one is not None and other is not None and one == other


def _shuffled(chance: random.Random, ids: str, rows: list[Row], beside: list[Row]) -> World:
    chance.shuffle(rows)
    chance.shuffle(beside)
    return World(ids, tuple(rows), tuple(beside))


# --- questions -------------------------------------------------------------------------------------------------------

ALLOTMENTS = {"epsilon": Budget(epsilon=10**6).allotments[0], "rho": Budget(rho=10**6, delta="0.5").allotments[0]}


@dataclass(frozen=True)
class Desk:
    """As much of a desk as an ask needs to be planned."""

    schema: Schema
    part: Allotment

    def check(self, ask: Ask) -> Checked[Any]:
        return ask.checked(self.schema)

    def offer(self, ask: Ask, checked: Checked[Any] | None, price: Price | None, allotment: str | None) -> Offer[Any]:
        ready = self.check(ask)
        return Offer(self, ready.priced(self.part, price), ready.read)  # type: ignore[arg-type]

    def table(self) -> Question:
        return Curator(self).table()  # type: ignore[arg-type]


@dataclass(frozen=True)
class Job:
    """A priced job: what it costs, and how it is run."""

    schema: Schema
    allotment: Allotment
    cost: Loss
    run: Callable[[Any, Any], Any]
    plan: Any = None

    @property
    def view(self) -> Callable[[Any, Any], Any] | None:
        """What the job sees of the stored tables, where that is more than they hold."""
        return self.schema.view_with(getattr(self.plan, "columns", ()))


def unit_of(chance: random.Random, *, person: bool | None = None, promised: bool = True) -> Unit:
    if not (chance.random() < 0.7 if person is None else person):
        rows = chance.choice([1, 2, 3]) if promised else 1
        return Unit(neighbours=chance.choice(list(Neighbours)), rows=rows)
    return Unit("p", chance.choice(list(Neighbours)), chance.randint(1, 3), chance.randint(1, 3))


def schema_of(unit: Unit, *, joined: bool = False, limit: int = 1) -> Schema:
    columns = dict(COLUMNS)
    if not joined:
        return Schema("world", {**columns, **({} if unit.column is None else {"p": Text()})}, unit)
    beside = Join({"w": Real(-2, 3.5, nullable=True), "c": Category(["a", "b", "\u00e9"], nullable=True)}, limit)
    lookup = Lookup(
        "g", {"g": ["a", "b"], "side": ["left", "right"]}, {"side": Category(["left", "right"], nullable=True)}
    )
    made = {"z": Derived("w * 2 - y", Real(-50, 50, nullable=True))}
    return Schema("world", {**columns, "p": Text()}, unit, {"sides": lookup}, made, {"beside": beside})


def _price(chance: random.Random) -> tuple[Allotment, dict[str, Any]]:
    way = chance.choice(["epsilon", "rho"])
    return ALLOTMENTS[way], {way: chance.choice([1, "0.3", 4])}


def _planned(schema: Schema, plan: Any) -> Job:
    return Job(schema, plan.allotment, plan.cost, plan.measure, plan)


def _keys(chance: random.Random) -> list[Any]:
    choices = ["g", "n", "f", bins("x", [-1, 0, 2]), bins("d", every="month"), key("n", [0, 1]), key("g", ["b", None])]
    picked = chance.sample(choices, chance.choice([0, 1, 1, 2]))
    named = [one if isinstance(one, str) else one.column for one in picked]
    return picked if len(set(named)) == len(named) else picked[:1]


def _aggregate(chance: random.Random, schema: Schema) -> Any:
    numeric = [name for name, column in schema.columns.items() if isinstance(column, (Integer, Real))]
    name = chance.choice(numeric)
    options = [count(), count(name), total(name), mean(name), variance(name), std(name), total("y", bounds=(2, 30))]
    options += [distinct(name), distinct(chance.choice(["t", "g", "d", "f"]))]
    other = chance.choice([each for each in numeric if each != name])
    options += [covariance(name, other), correlation(name, other), slope(name, other)]
    if schema.unit.column is not None:
        options += [people(), total(name, person=chance.choice([(-1, 2), (0, 50), (1, 3), (40, 50), (-90, -70)]))]
    return chance.choice(options)


def _where(chance: random.Random, asked: Any) -> Any:
    condition = chance.choice([None, None, "x > 0", "g = 'a' or f", "n is null", "not (y >= 40.5)"])
    return asked if condition is None else asked.where(condition)


def _limits(chance: random.Random, asked: Any, unit: Unit, *, total: bool = True) -> Any:
    """The question with limits of its own, now and then."""
    if unit.column is None or chance.random() < 0.6:
        return asked
    limits = {"groups": chance.randint(1, 4), "rows": chance.randint(1, 4)}
    limits |= {"rows_total": chance.randint(1, 5)} if total else {}
    return asked.limits(**{name: limits[name] for name in chance.sample(list(limits), chance.randint(1, len(limits)))})


def sums(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    outputs = {f"o{i}": _aggregate(chance, schema) for i in range(chance.choice([1, 1, 2]))}
    table = _limits(chance, Desk(schema, part).table(), schema.unit)
    return _planned(schema, _where(chance, table.group_by(*_keys(chance))).agg(**outputs).plan(**price).plan)


def expressions(chance: random.Random) -> Job:
    """Expressions as keys, in conditions and in what is computed, of values of any kind."""
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    numbers = ["x * y", "n + x", "abs(n)", "coalesce(x, 1)", "case when f then y else n end", "round(y / 7, 1)"]
    numbers += ["least(x, n)", "y / (n + 10)", "month(d)", "cast(f as int)"]
    name = chance.choice(numbers)
    output = chance.choice([count(name), total(name), mean(name), variance(name), total("n + x", bounds=(-1, 2))])
    keys = [
        "floor(x)",
        "month(d)",
        "n >= 2",
        "upper(g)",
        "case when y > 50 then 'high' else 'low' end",
        "coalesce(g, 'b')",
    ]
    where = chance.choice([None, "n > x", "y / 2 > 20", "upper(g) = 'A' or f", "month(d) <> 2", "floor(x) = 0"])
    table = Desk(schema, part).table().group_by(*chance.sample(keys, chance.choice([0, 1, 1])))
    asked = table if where is None else table.where(where)
    return _planned(schema, asked.agg(o=output).plan(**price).plan)


def joins(chance: random.Random) -> Job:
    unit = Unit("p", chance.choice(list(Neighbours)), chance.randint(1, 2), chance.randint(1, 2))
    schema = schema_of(unit, joined=True, limit=chance.randint(1, 2))
    part, price = _price(chance)
    keys = chance.choice([[], ["c"], ["side"], ["g"]])
    output = chance.choice([total("w"), count("w"), total("z"), count(), mean("w"), people()])
    return _planned(schema, Desk(schema, part).table().group_by(*keys).agg(o=output).plan(**price).plan)


def quantiles(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    methods = ["auto", "tree", "flip" if part.kind == "pure" else "exponential"]
    how = {"grid": chance.choice([4, 16]), "method": chance.choice(methods), "interval": chance.random() < 0.5}
    name = chance.choice(["x", "y", "n", "d"])
    output = chance.choice([median(name, **how), quantile(name, "0.9", **how), quantile(name, "0.1", **how)])
    table = _limits(chance, Desk(schema, part).table(), schema.unit)
    table = _where(chance, table.group_by(*chance.choice([[], ["g"], ["f"]])))
    return _planned(schema, table.agg(q=output, **({"n": count()} if chance.random() < 0.2 else {})).plan(**price).plan)


def modes(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    name = chance.choice(["g", "n", "f", "d", "floor(x)", "case when y > 50 then 'high' end"])
    table = _limits(chance, Desk(schema, part).table(), schema.unit)
    table = _where(chance, table.group_by(*chance.choice([[], ["f"], [bins("x", [-1, 0, 2])]])))
    also = {"c": count()} if chance.random() < 0.2 else {}
    return _planned(schema, table.agg(m=mode(name), **also).plan(**price).plan)


def private_bounds(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    output = chance.choice([total("y", bounds="private"), mean("x", bounds="private")])
    table = _limits(chance, Desk(schema, part).table(), schema.unit)
    return _planned(schema, table.group_by(*chance.choice([[], ["g"]])).agg(o=output).plan(**price).plan)


def top(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    table = _limits(chance, Desk(schema, part).table(), schema.unit)
    asked = table.top(chance.choice(["g", "n"]), chance.randint(1, 3), counts=chance.random() < 0.5)
    return _planned(schema, asked.plan(**price).plan)


def batches(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    way = chance.choice(["epsilon", "rho"])
    asked = {
        "a": _limits(chance, Query(), schema.unit).group_by("g").agg(o=_aggregate(chance, schema)),
        "b": Query().agg(o=_aggregate(chance, schema), q=median("x", grid=8)),
    }
    return _planned(schema, plan_batch(asked, schema, ALLOTMENTS[way], Price.read(**{way: 2})))


def streams(chance: random.Random) -> Job:
    unit = Unit("p", groups=chance.randint(1, 2), rows=chance.randint(1, 2)) if chance.random() < 0.8 else Unit()
    schema = schema_of(unit)
    part, price = _price(chance)
    outputs = [count(), total("n"), *([people()] if unit.column else [])]
    table = _limits(chance, Desk(schema, part).table(), unit, total=False)
    asked = table.group_by(*chance.choice([[], ["g"]])).agg(o=chance.choice(outputs))
    plan = (
        asked.stream(bins("d", ["2020-01-01", "2020-03-01", "2020-07-01", "2020-12-31"]), limit=chance.randint(1, 2))
        .plan(**price)
        .plan
    )

    def run(data: Any, bits: Any) -> None:
        with TemporaryDirectory() as folder:  # what a stream remembers of persons
            for period in range(1, plan.periods + 1):
                StreamStep(plan, period, "stream", Path(folder)).measure(data, bits)

    return Job(schema, plan.allotment, plan.cost, run, plan)


GEOGRAPHY = {"state": ["1", "1", "2", "2"], "h": ["11", "12", "21", "22"]}


def trees(chance: random.Random) -> Job:
    sized = chance.random() < 0.3
    schema = schema_of(unit_of(chance, person=False, promised=False) if sized else unit_of(chance))
    part, price = _price(chance)
    how: dict[str, Any] = {"by": chance.choice([[], ["f"], ["o"]])}
    if sized:
        how = {"sizes": "t", "largest": 3, "cumulative": chance.random() < 0.5}
    asked = Curator(Desk(schema, part)).tree(["state", "h"], geography=GEOGRAPHY, **how)  # type: ignore[arg-type]
    plan = asked.plan(**price).plan
    # What is made of noisy counts is nobody's affair here.
    return Job(
        schema, plan.allotment, plan.cost, lambda data, bits: plan.noisy(plan.counted.count(data, bits), bits), plan
    )


def flows(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    zones = chance.choice([None, {"a": "in", "b": "out", "zz": "out"}])
    window = chance.choice([None, "f"])
    asked = Curator(Desk(schema, part)).mobility(origin="o", destination="e", window=window, zones=zones)  # type: ignore[arg-type]
    return _planned(schema, asked.plan(**price).plan)


def commuters(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    places = {"a": (0.0, 0.0), "b": (1.0, 0.0), "zz": (0.0, 3.0)}
    return _planned(
        schema, Curator(Desk(schema, part)).commute(origin="o", destination="e", coordinates=places).plan(**price).plan
    )  # type: ignore[arg-type]


def synthesis(chance: random.Random) -> Job:
    """Every way a method of synthesis has to private counts: marginals, codes put together, choices."""
    schema = schema_of(unit_of(chance))
    way = chance.choice(["epsilon", "rho"])
    domain = Domain.of(schema, ["g", "f", "o", "x"], 4)
    pairs: list[Columns] = [(0, 1), (1, 2), (0, 3), (2, 3)]

    def run(data: Any, bits: Any) -> None:
        moved = moved_by(schema.unit)
        meter = Meter(EngineCounts(domain, schema, data, bits), moved, way, Fraction(1), bits)  # type: ignore[arg-type]
        for columns in [(0,), *pairs]:
            meter.measure(columns, Fraction(1, 8))
        guess = {
            columns: [[0] * domain.sizes[columns[1]] for _ in range(domain.sizes[columns[0]])] for columns in pairs
        }
        meter.choose(pairs, lambda columns: guess[columns], Fraction(1, 4), k=2, weights=[1, 2, 1, 1.5])

    return Job(schema, ALLOTMENTS[way], Pure(1) if way == "epsilon" else ZCDP(1), run)


def discoveries(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance, promised=False))
    keys = chance.choice([[discover("t")], [discover("t"), key("g")], [discover("n")], [discover("d"), discover("f")]])
    table = _limits(chance, Desk(schema, ALLOTMENTS["rho"]).table(), schema.unit)
    if chance.random() < 0.2:  # what is found is sorted and cut
        plan = table.top(chance.choice(keys[0:1]), chance.randint(1, 3)).plan(rho=1, delta="0.001").plan
        return Job(schema, plan.allotment, plan.cost, plan.measure, plan.found)
    asked = table.group_by(*keys).agg(o=_aggregate(chance, schema))
    return _planned(schema, asked.plan(rho=1, delta="0.001").plan)


EACH = ["count(*)", "count(x)", "count(distinct g)", "count(distinct t)", "sum(y)", "sum(n)", "avg(x)", "min(n)"]
EACH += ["max(x)", "max(g)", "max(f)", "least(count(*), 2)", "max(case when x > 0 then 1 else 0 end)"]


def persons(chance: random.Random) -> Job:
    """A table with a row for each person, or for each of a person's groups, and questions about it."""
    schema = schema_of(unit_of(chance, person=True))
    part, price = _price(chance)
    inner = _where(chance, Desk(schema, part).table().group_by(*chance.choice([[], [], ["g"], ["t"], ["n", "f"]])))
    asked = inner.per_person(a=chance.choice(EACH), b="count(*)", c=chance.choice(["sum(n)", "avg(y)"]))
    output = chance.choice([count(), total("c"), mean("c"), people(), total("b"), median("c", grid=8)])
    by = chance.choice([[], ["b"], ["b"], *([["g"]] if inner.grouped.keys[:1] == (key("g"),) else [])])
    return _planned(schema, asked.group_by(*by).agg(o=output).plan(**price).plan)


def _several(chance: random.Random) -> str:
    """A condition on several columns, of which one alone may tell parts of a union apart."""
    pieces = ["f", "not f", "f is null", "g = 'a'", "g <> 'a'", "g is null", "n > 0", "not (x > 0)", "y > 40.5"]
    return " and ".join(chance.sample(pieces, 3))


ATOMS = ["f", "g = 'a'", "g is null", "g in ('a', 'b')", "o <> 'b'", "f is null", "n > 0", "x > 0", "g = 'a' or f"]
ATOMS += ["o in ('a', 'b')", "y >= 40.5"]


def _any_condition(chance: random.Random) -> str:
    """A condition some of whose parts say nothing of a category, and would contradict each other if taken for one."""
    parts = [f"{chance.choice(['', 'not '])}({chance.choice(ATOMS)})" for _ in range(chance.randint(1, 3))]
    return chance.choice([" and ", " or "]).join(parts)


def unions(chance: random.Random) -> Job:
    """Levels of groups, and parts that no row is in twice, as one table."""
    schema = schema_of(unit_of(chance, person=chance.random() < 0.5))
    part, price = _price(chance)
    output = chance.choice([count(), total("n"), mean("x"), median("y", grid=4)])
    levels = [Query().group_by("g", "f"), Query().group_by("g"), Query()]
    apart = [Query().where("f"), Query().where("not f"), Query().where("f is null")]
    some = [Query().where(_any_condition(chance)) for _ in range(2)]
    parts = chance.choice([levels, apart, some, [Query().where(_several(chance)) for _ in range(3)]])
    asked = Union(tuple(UnionPart(each.agg(o=output), (("part", place),)) for place, each in enumerate(parts)))
    return _planned(schema, Question(Desk(schema, part), asked).plan(**price).plan)


KINDS: dict[str, Callable[[random.Random], Job]] = {
    "sums": sums,
    "expressions": expressions,
    "unions": unions,
    "persons": persons,
    "joins": joins,
    "quantiles": quantiles,
    "modes": modes,
    "private bounds": private_bounds,
    "top": top,
    "batches": batches,
    "streams": streams,
    "trees": trees,
    "flows": flows,
    "commuters": commuters,
    "synthesis": synthesis,
    "discoveries": discoveries,
}
