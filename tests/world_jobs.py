"""Random questions of every kind about the tables of `worlds`, priced: what the laws of neighbours try."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from discreet.core.loss import ZCDP, Loss, Pure
from discreet.core.unit import Neighbours, Unit
from discreet.curator import Curator, Offer, Question
from discreet.data.column import Category, Integer, Real, Text
from discreet.data.join import Join
from discreet.data.schema import Schema
from discreet.data.view import Derived, Lookup
from discreet.ledger.budget import Allotment, Budget
from discreet.marginals.counts import Columns
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts, moved_by
from discreet.marginals.meter import Meter
from discreet.noise.bits import words
from discreet.query.aggregate import (
    VectorMean,
    correlation,
    count,
    covariance,
    distinct,
    mean,
    people,
    share,
    slope,
    std,
    total,
    variance,
)
from discreet.query.ask import Ask, Checked
from discreet.query.batch import plan_batch
from discreet.query.key import bins, discover, key
from discreet.query.modes import mode
from discreet.query.price import Price
from discreet.query.quantile import median, quantile
from discreet.query.question import Query
from discreet.query.stream_step import StreamStep
from discreet.query.union import Union, UnionPart
from discreet.synth.relations.codes import encode_levels
from worlds import COLUMNS

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
        # Any number will do: what is divided by it has its noise already.
        known = 7 if unit.column is None and unit.neighbours is Neighbours.REPLACE else None
        return Schema("world", {**columns, **({} if unit.column is None else {"p": Text()})}, unit, row_count=known)
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
    choices += [bins("s", every="month"), bins("l", every="month")]
    picked = chance.sample(choices, chance.choice([0, 1, 1, 2]))
    named = [one if isinstance(one, str) else one.column for one in picked]
    return picked if len(set(named)) == len(named) else picked[:1]


def _some_groups(chance: random.Random, asked: Question) -> Question:
    """Now and then, a few combinations of the keys' values as the only groups."""
    if not asked.grouped.keys or chance.random() < 0.7:
        return asked
    labels = [each.checked(asked.desk.schema).labels(asked.desk.schema) for each in asked.grouped.keys]
    every = list(itertools.islice(itertools.product(*labels), 200))
    return asked.only_groups(chance.sample(every, chance.randint(1, min(4, len(every)))))


def _aggregate(chance: random.Random, schema: Schema) -> Any:
    numeric = [name for name, column in schema.columns.items() if isinstance(column, (Integer, Real))]
    name = chance.choice(numeric)
    options = [count(), count(name), total(name), mean(name), variance(name), std(name), total("y", bounds=(2, 30))]
    options += [distinct(name), distinct(chance.choice(["t", "g", "d", "f", "s"]))]
    other = chance.choice([each for each in numeric if each != name])
    options += [covariance(name, other), correlation(name, other), slope(name, other)]
    options += [share(chance.choice(["x > 0", "f", "n = 1 or y >= 40.5", "hour(s) < 9"]))]
    vector = chance.choice([("x", "y"), ("n", "x", "y"), ("y", "n + x")])
    options += [VectorMean(chance.choice(vector), vector, Fraction(chance.choice([1, 4, 200])))]
    if schema.unit.column is not None:
        options += [people(), people(where=chance.choice(["x > 0", "f", "hour(s) < 9 or n = 1"]))]
        options += [total(name, person=chance.choice([(-1, 2), (0, 50), (1, 3), (40, 50), (-90, -70)]))]
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
    table = _some_groups(chance, table.group_by(*_keys(chance)))
    return _planned(schema, _where(chance, table).agg(**outputs).plan(**price).plan)


def expressions(chance: random.Random) -> Job:
    """Expressions as keys, in conditions and in what is computed, of values of any kind."""
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    numbers = ["x * y", "n + x", "abs(n)", "coalesce(x, 1)", "case when f then y else n end", "round(y / 7, 1)"]
    numbers += [
        "least(x, n)",
        "y / (n + 10)",
        "month(d)",
        "cast(f as int)",
        "hour(l)",
        "minute(coalesce(s, l at time zone 'America/New_York'))",
        "epoch(s) / 60",
    ]
    name = chance.choice(numbers)
    output = chance.choice([count(name), total(name), mean(name), variance(name), total("n + x", bounds=(-1, 2))])
    keys = [
        "floor(x)",
        "month(d)",
        "n >= 2",
        "upper(g)",
        "case when y > 50 then 'high' else 'low' end",
        "coalesce(g, 'b')",
        "hour(s)",
        "dayofweek(l)",
        "date_trunc('month', l)",
    ]
    where = chance.choice(
        [None, "n > x", "y / 2 > 20", "upper(g) = 'A' or f", "month(d) <> 2", "floor(x) = 0", "hour(s) < 12", "l < s"]
    )
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
    name = chance.choice(["x", "y", "n", "d", "s"])
    output = chance.choice([median(name, **how), quantile(name, "0.9", **how), quantile(name, "0.1", **how)])
    table = _limits(chance, Desk(schema, part).table(), schema.unit)
    table = _where(chance, table.group_by(*chance.choice([[], ["g"], ["f"]])))
    return _planned(schema, table.agg(q=output, **({"n": count()} if chance.random() < 0.2 else {})).plan(**price).plan)


def choices(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    scores: list[tuple[Any, list[Any] | None]] = [
        ("g", None),
        ("f", None),
        ("n", [0, 1, 4]),
        ("CASE WHEN y >= option THEN option ELSE 0 END", [5, "40.5", 90]),
        ("x * option", [-1, 2]),
        (Query().where("x > 0 or f").group_by("o").agg(t=total("x")), None),
        (Query().group_by("g").agg(c=count("x")), ["a", "b"]),
    ]
    score, options = chance.choice(scores)
    how = {"bound": chance.choice([None, None, 2]), "where": chance.choice([None, "not (y >= 40.5)"])}
    method = chance.choice(["auto", "exponential", "permute-and-flip"])
    made = Curator(Desk(schema, part)).choose(options, score=score, **how)  # type: ignore[arg-type]
    return _planned(schema, made.plan(**price, method=method).plan)


def modes(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    name = chance.choice(["g", "n", "f", "d", "floor(x)", "case when y > 50 then 'high' end", "hour(s)"])
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


GEOGRAPHY = {"state": ["1", "1", "2", "3"], "h": ["11", "12", "21", "22"]}  # two regions have a single child


def trees(chance: random.Random) -> Job:
    sized = chance.random() < 0.3
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    how: dict[str, Any] = {"by": chance.choice([[], ["f"], ["o"], ["f", "o"]])}
    if len(how["by"]) > 1:
        how["queries"] = chance.choice([{"f": 1, "all": 2}, {"h": {"o": 1, "f": 1, "total": 1, "all": 1}}])
    if sized:
        groups = "t" if schema.unit.column is None else chance.choice(["t", "t", schema.unit.column])
        how = {"sizes": groups, "largest": 3, "cumulative": chance.random() < 0.5}
    return _tree(schema, part, price, how)


def magnitudes(chance: random.Random) -> Job:
    """Sums and weighted counts by region, of columns with values outside their bounds, missing ones and NaN."""
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    how: dict[str, Any] = {"by": chance.choice([[], ["f"], ["f", "o"]])}
    if len(how["by"]) > 1 and chance.random() < 0.5:
        how["queries"] = {"f": 1, "total": 1, "all": 2}
    how |= chance.choice([{"measure": "y"}, {"weight": "y"}, {"measure": "y", "bounds": (2, 30)}])
    how = chance.choice([how, {**how, "bounds": None, "measure": "y * 2", "weight": None}, how])
    if chance.random() < 0.3:
        how |= {"measure": chance.choice(["n", "x"]), "weight": None, "bounds": (0, chance.choice([1, 3]))}
    return _tree(schema, part, price, how)


def _tree(schema: Schema, part: Allotment, price: dict[str, Any], how: dict[str, Any]) -> Job:
    asked = Curator(Desk(schema, part)).tree(["state", "h"], geography=GEOGRAPHY, **how)  # type: ignore[arg-type]
    plan = asked.plan(**price).plan
    # What is made of noisy counts is nobody's affair here.
    return Job(
        schema, plan.allotment, plan.cost, lambda data, bits: plan.noisy(plan.counted.count(data, bits), bits), plan
    )


GROUPS = {"high": "n > 0", "east": "o = 'a'", "far": "e <> 'a' or f"}


def groups(chance: random.Random) -> Job:
    """Population groups that overlap, looked at twice."""
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    some = dict(chance.sample(list(GROUPS.items()), chance.randint(1, 3)))
    how: dict[str, Any] = {"groups": some, "overlap": chance.choice([None, 1])}
    how["details"] = chance.choice([{"f": ["f"]}, {"f": ["f"], "fo": ["f", "o"]}])
    asked = Curator(Desk(schema, part)).detail(["state", "h"], geography=GEOGRAPHY, **how)  # type: ignore[arg-type]
    plan = asked.plan(**price, thresholds={name: 2 * place for place, name in enumerate(how["details"])}).plan
    return Job(
        schema, plan.allotment, plan.cost, lambda data, bits: plan.noisy(plan.counted.count(data, bits), bits), plan
    )


def censuses(chance: random.Random) -> Job:
    """Persons and households in several tables, for every unit that a census takes."""
    schema = schema_of(unit_of(chance, promised=False))
    part, price = _price(chance)
    houses = "t" if schema.unit.column is None else chance.choice(["t", "t", schema.unit.column])
    tables: dict[str, Any] = {
        "a": {"counts": "persons", "by": chance.choice([[], ["f"]])},
        "b": {"counts": "households", "by": chance.choice([["f"], ["o"]])},
        "c": {"counts": "persons", "by": chance.choice([[], ["o"]]), "household": ["f"]},
        "d": {"counts": "sizes", "largest": 3},
    }
    picked = {name: tables[name] for name in chance.sample(sorted(tables), chance.randint(1, 3))}
    asked = Curator(Desk(schema, part)).census(  # type: ignore[arg-type]
        ["state", "h"],
        picked,
        household=houses,
        geography=GEOGRAPHY,
        head=chance.choice([None, "n > 0"]),
        most=chance.randint(1, 3),
    )
    return _planned(schema, asked.plan(**price).plan)


def flows(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    zones = chance.choice([None, {"a": "in", "b": "out", "zz": "out"}])
    window, every = chance.choice([(None, None), ("f", None), ("s", "12 hours"), ("l", "8 hours")])
    asked = Curator(Desk(schema, part)).mobility(  # type: ignore[arg-type]
        origin="o", destination="e", window=window, zones=zones, every=every
    )
    return _planned(schema, asked.plan(**price).plan)


def commuters(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance))
    part, price = _price(chance)
    places = {"a": (0.0, 0.0), "b": (1.0, 0.0), "zz": (0.0, 3.0)}
    profile = chance.choice([[], ["g"], ["f", bins("n", width=2)]])
    asked = Curator(Desk(schema, part)).commute(  # type: ignore[arg-type]
        origin="o", destination="e", coordinates=places, profile=profile
    )
    return _planned(schema, asked.plan(**price).plan)


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
            meter.measure(columns, Fraction(1, 12))
        coarse = meter.merged([np.arange(size) // 2 for size in domain.sizes])
        for columns in ((3,), (0, 2)):
            coarse.measure(columns, Fraction(1, 6))
        guess = {
            columns: [[0] * domain.sizes[columns[1]] for _ in range(domain.sizes[columns[0]])] for columns in pairs
        }
        meter.choose(pairs, lambda columns: guess[columns], Fraction(1, 4), k=2, weights=[1, 2, 1, 1.5])

    return Job(schema, ALLOTMENTS[way], Pure(1) if way == "epsilon" else ZCDP(1), run)


def relations(chance: random.Random) -> Job:
    """Parents and child rows, in any order: counts of both levels, and now and then all that the method asks."""
    schema = schema_of(unit_of(chance, person=True))
    part, price = _price(chance)
    order = chance.choice([None, "d", "n", "l", "s"])
    below = [name for name in chance.sample(["e", "n", "x", "d"], 2) if name != order]
    asked = Curator(Desk(schema, part)).relate(  # type: ignore[arg-type]
        chance.sample(["g", "o", "f"], chance.randint(1, 2)), below, order=order, limit=chance.randint(1, 3)
    )
    plan = asked.plan(**price).plan
    if chance.random() < 0.1:
        return _planned(schema, plan)
    return Job(schema, plan.allotment, plan.cost, functools.partial(both_levels, plan), plan)


def both_levels(plan: Any, data: Any, bits: Any) -> None:
    """Counts of single columns and of the first ones together, of parents and of child rows, for all of the price."""
    levels = plan.levels
    salt = [int(word) & (2**31 - 1) for word in words(bits, 8)]
    above, below = encode_levels(levels, plan.schema, data.table, salt)
    tables = [(plan.parent_meter(), above), *([(plan.child_meter(), below)] if levels.steps else [])]
    for blank, codes in tables:
        counts = EngineCounts.of_codes(blank.domain, data, codes)
        meter = Meter(counts, blank.moved, blank.currency, blank.price, bits)
        every: list[Columns] = [(column,) for column in range(len(blank.domain))]
        for columns in [*every, (0, len(blank.domain) - 1)]:
            meter.measure(columns, blank.price / (len(every) + 1))


def discoveries(chance: random.Random) -> Job:
    schema = schema_of(unit_of(chance, promised=False))
    keys = chance.choice(
        [
            [discover("t")],
            [discover("t"), key("g")],
            [discover("n")],
            [discover("d"), discover("f")],
            [discover("hour(s)")],
        ]
    )
    table = _limits(chance, Desk(schema, ALLOTMENTS["rho"]).table(), schema.unit)
    if chance.random() < 0.2:  # what is found is sorted and cut
        plan = table.top(keys[0], chance.randint(1, 3)).plan(rho=1, delta="0.001").plan
        return Job(schema, plan.allotment, plan.cost, plan.measure, plan.found)
    asked = table.group_by(*keys)
    asked = asked.keys() if chance.random() < 0.3 else asked.agg(o=_aggregate(chance, schema))
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
    "magnitudes": magnitudes,
    "groups": groups,
    "censuses": censuses,
    "flows": flows,
    "commuters": commuters,
    "synthesis": synthesis,
    "relations": relations,
    "discoveries": discoveries,
    "choices": choices,
}
