"""The dirtiest of tables on every engine, questions about it, and the integers they must give."""

from __future__ import annotations

import functools
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from dirty import COLUMNS, KEYS, SALT, arrow, some_rows
from discreet.core.unit import Unit
from discreet.data.column import Category, Date, Integer, Real, Text, Timestamp
from discreet.data.schema import Schema
from discreet.data.source import Source, source_of
from discreet.query.aggregate import count, mean, people, std, total, variance
from discreet.query.compile import GROUP, compile_query, measure_name
from discreet.query.key import Key, bins, key
from discreet.query.question import Query
from reference import measures_of, of_each_person, of_persons, of_rows, person_rows
from servers import fresh_schema, spark

# Labels that some engine might take for something else than text.
ODD = [
    "\\",
    "\\n",
    "\\t",
    '"',
    "'",
    "''",
    "${spark.app.name}",
    "${env:HOME}",
    "%s",
    "?",
    ":x",
    "{0}",
    "/* */",
    "a\u0301",
]
NAMES = ["", "a", "A", "Zoë", "it's", 'x"y', "\\", "${env:HOME}", "日本", " a"]
MORE = {
    "odd": Category(ODD, nullable=True),
    "few": Category(ODD[:9], nullable=False),
    "price": Real(-5, 5, nullable=True),
    "small": Integer(-100, 100, nullable=False),
    "short_float": Real(-1, 1, nullable=False),
    "moment": Date("2020-01-01", "2020-12-31", nullable=True),
    "code": Category(["1", "2", "-3", "0"], nullable=True),
    "at": Timestamp("2020-03-28", "2020-10-26T12:30", "Europe/Vienna"),
    "local": Timestamp("2020-04-01", "2020-10-10", "Australia/Lord_Howe", nullable=False),
}
_types = {
    "who": pyarrow.string(),
    "odd": pyarrow.string(),
    "few": pyarrow.string(),
    "price": pyarrow.decimal128(10, 2),
    "small": pyarrow.int16(),
    "short_float": pyarrow.float32(),
    "moment": pyarrow.timestamp("us", "UTC"),
    "code": pyarrow.float64(),
    "at": pyarrow.timestamp("us", "America/New_York"),
    "local": pyarrow.timestamp("us"),
}
_pools = {
    "odd": [*ODD, None, "á", "\\\\", "$", "discreet"],
    "few": [*ODD[:9], None, "n", "tests"],
    "price": [None, Decimal("1.50"), Decimal("-7.25"), Decimal("99999999.99"), Decimal("0.00"), Decimal("-0.01")],
    "small": [None, -32768, 32767, 0, 1, -1],
    "short_float": [None, math.nan, math.inf, -math.inf, 0.1, -0.0, 0.5, float.fromhex("0x1.fffffep+127"), 2**-149],
    "moment": [
        None,
        datetime(2020, 3, 1, 0, 30),
        datetime(2020, 3, 1, 23, 30),
        datetime(1970, 1, 1),
        datetime(2031, 1, 1),
    ],
    "at": [
        None,
        *(datetime(2020, 3, 29, hour, minute, 59, 999_999) for hour in (0, 1, 2) for minute in (0, 59)),
        *(datetime(2020, 10, 25, hour, minute) for hour in (0, 1, 2) for minute in (0, 30)),
        datetime(2020, 3, 27, 23, 0),
        datetime(2020, 10, 26, 11, 30, 0, 1),
        datetime(1969, 12, 31, 23, 59, 59, 500_000),
        datetime(2020, 7, 31, 22, 15),
        datetime(1, 1, 2),
        datetime(9999, 12, 30),
    ],
    "local": [
        None,
        *(datetime(2020, 4, 5, 1, minute, 0, 1) for minute in (0, 29, 30, 45)),
        *(datetime(2020, 4, 5, 2, minute) for minute in (0, 15, 30)),
        *(datetime(2020, 10, 4, hour, minute) for hour in (1, 2) for minute in (29, 30, 59)),
        datetime(2020, 10, 4, 2, 0),
        datetime(2020, 4, 1),
        datetime(2020, 5, 31, 23, 59, 59, 999_999),
        datetime(1900, 1, 1),
        datetime(2020, 10, 11),
    ],
    "code": [None, 1.0, 2.0, -3.0, 1.5, -0.0, math.nan, math.inf, 1e300],
}


@functools.cache
def rows():
    """Every column of the dirty table, and columns stored in other ways."""
    found = []
    for place, row in enumerate(some_rows(260)):
        more = {name: pool[(place * 7 + place // len(pool)) % len(pool)] for name, pool in _pools.items()}
        who = None if row["p"] is None else NAMES[row["p"] % len(NAMES)]
        if more["short_float"] is not None:
            more["short_float"] = pyarrow.scalar(more["short_float"], pyarrow.float32()).as_py()
        for name in ("moment", "at"):
            if more[name] is not None:
                more[name] = more[name].replace(tzinfo=UTC)
        found.append({**row, **more, "who": who})
    return found


def table() -> pyarrow.Table:
    whole = arrow(rows())
    for name, kind in _types.items():
        whole = whole.append_column(name, pyarrow.array([row[name] for row in rows()], kind))
    return whole


@functools.cache
def parquet() -> str:
    path = Path(tempfile.mkdtemp(prefix="engines")) / "t.parquet"
    pyarrow.parquet.write_table(table(), path)
    return str(path)


@functools.cache
def on_duckdb() -> Source:
    return source_of(parquet())


@functools.cache
def on_postgres() -> Source:
    import psycopg

    address = fresh_schema()
    kinds = {"p": "int8", "short": "text", "long": "text", "flag": "bool", "n": "int8", "m": "float8", "big": "int8"}
    kinds |= {"x": "float8", "y": "float8", "d": "date", "who": "text", "odd": "text", "few": "text"}
    kinds |= {"price": "numeric(10, 2)", "small": "int2", "short_float": "float4", "moment": "timestamptz"}
    kinds |= {"code": "float8", "at": "timestamptz", "local": "timestamp"}
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
        with connection.cursor().copy(f"COPY visits ({', '.join(kinds)}) FROM STDIN") as copy:
            for row in rows():
                copy.write_row([row[name] for name in kinds])
    return source_of(f"{address}&table=visits")


@functools.cache
def on_spark() -> Source:
    return source_of(spark().read.parquet(parquet()))


ENGINES = [on_duckdb, on_postgres, pytest.param(on_spark, marks=pytest.mark.spark)]


@dataclass(frozen=True)
class Case:
    """A question, whom it protects, and the integers it must give."""

    query: Query
    schema: Schema

    @property
    def checked(self):
        return self.query.checked(self.schema)

    @property
    def measures(self):
        return measures_of(self.checked, self.schema)

    def expected(self):
        unit = self.schema.unit
        if unit.column is None:
            return of_rows(self.checked, self.schema, self.measures, rows())
        if unit.column == "p":
            return of_persons(self.checked, self.schema, self.measures, rows(), SALT)
        # By hand where every group of a person counts.
        found: dict[int, list[int]] = {}
        for places in of_each_person(self.checked, self.schema, self.measures, rows()).values():
            assert len(places) <= unit.groups
            for place, values in places.items():
                found[place] = [a + b for a, b in zip(found.get(place, [0] * len(values)), values, strict=True)]
        return found


def schema(unit: Unit | None = None) -> Schema:
    unit = Unit() if unit is None else unit
    person = {"p": {"p": Integer(0, 9, nullable=False)}, "who": {"who": Text()}, None: {}}[unit.column]
    return Schema("t", {**COLUMNS, **MORE, **person}, unit)


def answers(source: Source, cases: list[Case]) -> list[dict[int, list[int]]]:
    """What an engine counts, case by case. All cases are one expression: engines take longer to start than to count."""
    import ibis

    wide = max(len(case.measures) for case in cases)
    with source.open() as connection:
        parts = []
        for place, case in enumerate(cases):
            part = compile_query(case.checked, case.schema, case.measures, connection.table, SALT)
            spare = {measure_name(i): ibis.literal(0, "int64") for i in range(len(case.measures), wide)}
            part = part.mutate(case=ibis.literal(place, "int64"), **spare)
            parts.append(part.select("case", GROUP, *(measure_name(i) for i in range(wide))))
        found = connection.integers(ibis.union(*parts) if len(parts) > 1 else parts[0])
    results: list[dict[int, list[int]]] = [{} for _ in cases]
    columns = [found[measure_name(i)].tolist() for i in range(wide)]
    for place, group, *values in zip(found["case"].tolist(), found[GROUP].tolist(), *columns, strict=True):
        assert group not in results[place]
        results[place][group] = values[: len(cases[place].measures)]
    return results


OUTPUTS = (("rows", count()), ("sum", total("y")), ("sum2", total("big")))
MORE_KEYS = [
    key("odd"),
    key("few"),
    key("odd", ["${env:HOME}", None, "\\"]),
    key("code"),
]
MORE_KEYS += [bins("price", [-5, -0.01, 5]), bins("moment", every="month")]
MORE_KEYS += [bins("moment", ["2020-03-01", "2020-03-02", "2020-12-31"]), key("small")]
TIME_KEYS = [bins("at", every="month"), bins("local", every="week"), bins("at", width="5 hours")]
EVERY_KEY = [*KEYS, *MORE_KEYS]
FEW_KEYS = [key("short"), key("long"), key("n"), bins("m", width=7), bins("d", every="month"), key("odd")]
EVERYTHING = (("n", count()), *((f"n_{name}", count(name)) for name in ("m", "d", "long", "flag", "odd", "moment")))
EVERYTHING += tuple((f"t_{name}", total(name)) for name in ("n", "m", "y", "big", "x", "price", "small", "short_float"))
EVERYTHING += (("a", mean("x")), ("v", variance("m")), ("s", std("x")), ("t", total("x", bounds=(-1, 2.5))))
EVERYTHING += (("v2", variance("price")), ("a2", mean("n")))
CONDITIONS = [
    "n = 5 or n < -2",
    "n >= 1 and not (m > 50)",
    "x <> 0.5",
    "x <= -10.5 or x >= 20.25",
    "not (y < 1) and y is not null",
    "m is null or flag is null",
    "flag",
    "not flag",
    "long in ('', 'Ä', 'zz', '%') or short <> 'a'",
    "short in ('it''s', 'say \"x\"') and d <= DATE '2020-12-31'",
    "d between DATE '2020-02-28' and DATE '2021-03-01'",
    "odd = '${env:HOME}' or odd = '\\' or odd = ''''",
    "not (odd in ('%s', '?'))",
    "big > 12345678900 and big < 1099511627777",
    "price > 1.25 or small = 100",
    "moment = DATE '2020-03-01' or code = '-3'",
    "short_float > 0.1 or short_float = 0",
    "(n = 1 or m is null) and not (x > 0 and y > 0)",
]


TIME_CONDITIONS = [
    "at >= '2020-10-25 02:30' or local < TIMESTAMP '2020-04-05 01:45'",
    "local between '2019-05-01' and '2020-04-05 02:00+10:30' or at > '2100-01-01' or at is null",
]


def of_times() -> list[Case]:
    counted = Query(None, (), (("n", count()),))
    return [*of_keys(TIME_KEYS), *(Case(counted.where(text), schema()) for text in TIME_CONDITIONS)]


def of_keys(keys: list[Key], unit: Unit | None = None) -> list[Case]:
    return [Case(Query(None, (k,), OUTPUTS), schema(unit)) for k in keys]


def of_aggregates() -> list[Case]:
    persons = (*EVERYTHING, ("who", people()))
    cases = [Case(Query(None, keys, EVERYTHING), schema()) for keys in ((), (key("flag"),))]
    for unit in (Unit("p", groups=3, rows=2), Unit("who", groups=3, rows=4)):
        cases += [Case(Query(None, keys, persons), schema(unit)) for keys in ((), (key("flag"),))]
    return cases


def of_conditions() -> list[Case]:
    unit = Unit("p", groups=2, rows=2)
    plain = [Case(Query(None, (), (("n", count()),)).where(text), schema()) for text in CONDITIONS]
    grouped = Query(None, (key("short"), key("n")), (("rows", count()), ("sum", total("m")))).where(CONDITIONS[1])
    return [*plain, Case(grouped, schema()), Case(grouped.agg(who=people()), schema(unit))]


def long_lists() -> Schema:
    fill, whole = [f"label {i}" for i in range(600)], schema()
    codes = Category([*(str(n) for n in range(10, 700)), "1", "2", "-3", "0"], nullable=True)
    odd = Category([*fill[:300], *ODD, *fill[300:]], nullable=True)
    few = Category([*fill, *ODD[:9]], nullable=False)
    return replace(whole, columns={**whole.columns, "odd": odd, "few": few, "code": codes})


def of_long_lists() -> list[Case]:
    """Labels by the hundred are one text for the engine to take apart."""
    return [Case(Query(None, (key("odd"),), OUTPUTS), long_lists())]


def of_long_conditions() -> list[Case]:
    """The same in conditions and counts, where engines that can look them up."""
    wide = long_lists()
    counted = Query(None, (), (("n", count()), ("odd", count("odd")), ("code", count("code"))))
    texts = ("odd = '\\' or odd = ''''", "not (odd in ('%s', '?'))", "odd is null or not (few = '\\n')", "code = '-3'")
    cases = [Case(counted, wide), *(Case(counted.where(text), wide) for text in texts)]
    person = {**wide.columns, "p": Integer(0, 9, nullable=False)}
    keys = (key("odd", ["${env:HOME}", None, "\\"]),)
    persons = replace(wide, unit=Unit("p", groups=2, rows=2), columns=person)
    return cases + [Case(Query(None, keys, OUTPUTS), each) for each in (wide, persons)]


@dataclass(frozen=True)
class PersonsCase(Case):
    """A question about a table of persons: the same, about rows that plain Python computes."""

    def expected(self):
        return of_persons(self.checked, self.schema, self.measures, person_rows(self.schema, rows()), SALT)


def of_tables_of_persons() -> list[Case]:
    """Every function of a person's rows, over columns stored in all ways."""
    each = {f"sum_{name}": f"sum({name})" for name in ("n", "m", "y", "price", "short_float")}
    each |= {f"mean_{name}": f"avg({name})" for name in ("n", "x", "price")}
    each |= {f"min_{name}": f"min({name})" for name in ("n", "x", "d", "odd", "flag")}
    each |= {f"max_{name}": f"max({name})" for name in ("big", "moment", "code")}
    each |= {"rows": "count(*)", "there": "count(m)", "kinds": "count(distinct odd)", "few": "least(count(x), 3)"}
    whole, cases = schema(Unit("p", groups=4, rows=9)), []
    outputs = {f"t_{name}": total(name) for name in each if name.startswith(("sum", "mean", "min_n", "max_big"))}
    outputs |= {"n": count(), "n_x": count("min_x"), "n_m": count("mean_x"), "v": variance("kinds")}
    chosen = Query().where("n >= 1 and not (m > 50)")
    for inner, keys in (
        (Query(), ("min_odd",)),
        (chosen, ("max_code", "few")),
        (Query().group_by("flag"), ("min_flag", bins("max_moment", [date(2020, 1, 1), date(2020, 12, 31)]))),
    ):
        query = inner.per_person(**each).group_by(*keys).agg(**outputs)
        cases.append(PersonsCase(query, query.limited(whole)))
    return cases


KINDS: dict[str, Callable[[], list[Case]]] = {
    "tables of persons": of_tables_of_persons,
    "keys of rows": lambda: of_keys(EVERY_KEY),
    "long lists of keys": of_long_lists,
    "keys of persons": lambda: of_keys(FEW_KEYS, Unit("p", groups=2, rows=2)),
    "aggregates": of_aggregates,
    "conditions": of_conditions,
    "times": of_times,
}
