"""Marginals counted by engines are those of the codes that the rules give, to the last row, however dirty the table."""

from __future__ import annotations

import functools
import itertools
import math
import random
import tempfile
from bisect import bisect_right
from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest

from discreet.core.unit import Unit
from discreet.data.code_table import CodeTable
from discreet.data.column import Boolean, Category, Date, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import Source, source_of
from discreet.errors import InputError
from discreet.marginals.counts import ArrayCounts, MergedCounts
from discreet.marginals.domain import Domain
from discreet.marginals.engine import EngineCounts, moved_by
from discreet.noise.bits import SystemBits
from discreet.query.key import Bin
from discreet.query.parse import parse_condition
from discreet.query.predicate import checked
from servers import fresh_schema, spark

WORDS = ["", "%", "Ä", "Zoë", "null", "a", "A", "aa", "b", "ß", "10", "9", "--", ";"]
COLUMNS = {
    "short": Category(["a", "it's", "é"], nullable=False),
    "long": Category(WORDS, nullable=True),
    "flag": Boolean(nullable=True),
    "n": Integer(-3, 5, nullable=False),
    "m": Integer(0, 1000, nullable=True),
    "x": Real(-10.5, 20.25, nullable=False),
    "y": Real(0, 1e6, nullable=True),
    "d": Date("2020-02-27", "2021-03-02", nullable=True),
}
FLOATS = [0.0, -0.0, 0.5, -2.5, 19.99, 20.25, 1e300, -1e300, math.inf, -math.inf, 123.456, 1e6, 5e-324, 999_999.5]
POOLS = {
    "p": [None, 1, 2, 3, 4, 5, 6, -1, 2**62, -(2**63)],
    "short": ["a", "a", "it's", "é", None, "A", "unknown"],
    "long": [*WORDS, None, "ÿ", "aaa"],
    "flag": [True, False, None],
    "n": [None, -(2**63), 2**63 - 1, 0, 1, -3, -4, 5, 6],
    "m": [None, math.nan, 0.0, 15.49, 15.5, 16.0, 999.6, 1000.0, 1e9, -1.0, 512.0],
    "x": [None, math.nan, *FLOATS, *FLOATS],
    "y": [None, math.nan, *FLOATS],
    "d": [None, date(2020, 2, 27), date(2020, 2, 29), date(2021, 3, 2), date(2021, 3, 3), date(1, 1, 1), date.max],
}
TYPES = {"p": "int64", "short": "string", "long": "string", "flag": "bool_", "n": "int64", "m": "float64"}
TYPES |= {"x": "float64", "y": "float64", "d": "date32", "who": "string"}
NAMES = ["", "a", "A", "Zoë", "\\", "日本"]
SALTED = 40


@functools.cache
def rows() -> list[dict]:
    chance = random.Random(11)
    found = [{name: chance.choice(pool) for name, pool in POOLS.items()} for _ in range(400)]
    return [{**row, "who": None if row["p"] is None else NAMES[row["p"] % len(NAMES)]} for row in found]


def table() -> pyarrow.Table:
    kinds = {name: getattr(pyarrow, kind)() for name, kind in TYPES.items()}
    return pyarrow.table({name: pyarrow.array([row[name] for row in rows()], kind) for name, kind in kinds.items()})


@functools.cache
def parquet() -> str:
    path = Path(tempfile.mkdtemp(prefix="synth")) / "t.parquet"
    pyarrow.parquet.write_table(table(), path)
    return str(path)


@functools.cache
def on_duckdb() -> Source:
    return source_of(parquet())


@functools.cache
def in_memory() -> Source:
    return source_of(table())


@functools.cache
def on_postgres() -> Source:
    import psycopg

    address = fresh_schema()
    kinds = {"p": "int8", "short": "text", "long": "text", "flag": "bool", "n": "int8", "m": "float8"}
    kinds |= {"x": "float8", "y": "float8", "d": "date", "who": "text"}
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE visits ({', '.join(f'{name} {kind}' for name, kind in kinds.items())})")
        with connection.cursor().copy(f"COPY visits ({', '.join(kinds)}) FROM STDIN") as copy:
            for row in rows():
                copy.write_row([row[name] for name in kinds])
    return source_of(f"{address}&table=visits")


@functools.cache
def on_spark() -> Source:
    return source_of(spark().read.parquet(parquet()))


ENGINES = [
    on_duckdb,
    in_memory,
    on_postgres,
    pytest.param(on_spark, marks=pytest.mark.spark),
]


class Salt:
    """Bits that are the same each time: the expected limits are worked out from them."""

    def read(self, count):
        return np.full(count, SALTED, dtype=np.uint8)


def schema(unit: Unit | None = None) -> Schema:
    person = {None: {}, "p": {"p": Integer(0, 9, nullable=False)}, "who": {"who": Text()}}[
        None if unit is None else unit.column
    ]
    return Schema("t", {**COLUMNS, **person}, Unit() if unit is None else unit)


DOMAIN = Domain.of(schema(), list(COLUMNS))


def code(attribute, value, column) -> int | None:
    """Where a stored value belongs, by the rules as they are stated."""
    gap = attribute.size - 1 if attribute.missing else None
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return gap
    match column:
        case Category():
            return attribute.labels.index(value) if value in column.values else gap
        case Boolean():
            return int(value)
        case Integer():
            value = math.floor(min(max(value, int(column.lower)), int(column.upper)) + 0.5)
        case Real():
            value = min(max(value, float(column.lower)), float(column.upper))
        case Date():
            value = min(max(value, column.lower), column.upper)
    if attribute.partition is not None:
        return by_points(attribute, value)
    if not isinstance(attribute.labels[0], Bin):
        return attribute.labels.index(value)
    starts = [one.start if isinstance(one.start, date) else float(one.start) for one in attribute.labels if one]
    return bisect_right(starts, value) - 1


def by_points(attribute, value) -> int:
    """The run that holds the point nearest to a value; halves go up."""
    partition = attribute.partition
    number = (value - date(1970, 1, 1)).days if isinstance(value, date) else value
    nearest = (Fraction(number) - partition.origin) / partition.unit
    return (
        bisect_right(partition.starts.tolist(), min(max(math.floor(nearest + Fraction(1, 2)), 0), partition.last)) - 1
    )


def codes(wanted: list[dict], domain: Domain = DOMAIN) -> list[tuple[int | None, ...]]:
    return [
        tuple(code(attribute, row[attribute.name], COLUMNS[attribute.name]) for attribute in domain.attributes)
        for row in wanted
    ]


def complete(found: list[tuple[int | None, ...]]) -> np.ndarray:
    return np.array([one for one in found if None not in one], dtype=np.int64).reshape(-1, len(DOMAIN))


MARGINALS = [(), *((column,) for column in range(8)), *itertools.combinations(range(8), 2), (0, 2, 3), (1, 4, 7)]


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_count_what_the_codes_say(engine):
    wanted = ArrayCounts(DOMAIN, complete(codes(rows())))
    assert 0 < wanted.marginal(()) < len(rows())  # some rows have a column without a code: they count nowhere
    with engine().open() as connection:
        found = EngineCounts(DOMAIN, schema(), connection, SystemBits())
        found.prepare(MARGINALS)
        for columns in MARGINALS:
            assert np.array_equal(found.marginal(columns), wanted.marginal(columns)), columns


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_merge_codes_as_arrays_do(engine):
    wanted = ArrayCounts(DOMAIN, complete(codes(rows())))
    bins = [np.minimum(np.arange(size) * 3 % 11, size - 1) for size in DOMAIN.sizes]
    bins = [np.unique(one, return_inverse=True)[1].astype(np.int64) for one in bins]
    with engine().open() as connection:
        found = EngineCounts(DOMAIN, schema(), connection, SystemBits()).merged(bins)
        for columns in ((0, 1), (4, 5), (5, 6), (7,)):
            assert np.array_equal(found.marginal(columns), MergedCounts(wanted, bins).marginal(columns)), columns


def test_a_condition_and_fewer_columns():
    fewer = Domain.of(schema(), ["n", "flag"])
    condition = checked(parse_condition("m >= 16 and short = 'a'"), schema())
    met = [r for r in rows() if r["short"] == "a" and r["m"] is not None and not math.isnan(r["m"]) and r["m"] >= 15.5]
    wanted = Counter(one for one in codes(met, fewer) if None not in one)
    with on_duckdb().open() as connection:
        found = EngineCounts(fewer, schema(), connection, SystemBits(), condition).marginal((0, 1))
    assert {(i, j): n for (i, j), n in np.ndenumerate(found) if n} == dict(wanted)
    # Rows whose other columns have no code count here: those columns are not part of the table.
    assert found.sum() > 0


def limited(unit: Unit) -> np.ndarray:
    """The table of codes when persons with whole numbers for names are limited, by the order as it is stated."""
    mask, word = 2**31 - 1, int.from_bytes(bytes([SALTED] * 8), "little") & (2**31 - 1)
    factor = word | 2**30 | 1
    first = second = (word & (2**30 - 1)) | 2**29 | 1
    persons: dict[int, Counter] = {}
    for row, one in zip(rows(), codes(rows()), strict=True):
        if row["p"] is not None and None not in one:
            persons.setdefault(row["p"], Counter())[one] += 1
    kept = []
    for person, cells in persons.items():

        def order(one, person=person):
            folded = 0
            for place in one:
                folded = (folded * factor + place + word) & mask
            mixed = ((((person ^ (person >> 31)) & mask) * first + folded * second) >> 11) & mask
            for _ in range(2):
                mixed = (((mixed ^ word) ** 2) >> 15) & mask
            return (mixed << 31) | folded, one

        for one in sorted(cells, key=order)[: unit.groups]:
            kept += [one] * min(cells[one], unit.rows)
    return np.array(kept, dtype=np.int64).reshape(-1, len(DOMAIN))


@pytest.mark.parametrize("engine", ENGINES)
def test_persons_are_limited_once_for_all_marginals(engine):
    for unit in (Unit("p", groups=5, rows=1), Unit("p", groups=2, rows=3)):
        wanted = ArrayCounts(DOMAIN, limited(unit))
        with engine().open() as connection:
            found = EngineCounts(DOMAIN, schema(unit), connection, Salt())
            found.prepare(MARGINALS)
            for columns in MARGINALS:
                assert np.array_equal(found.marginal(columns), wanted.marginal(columns)), columns


@pytest.mark.parametrize("engine", ENGINES)
def test_persons_named_by_text_are_limited(engine):
    persons = {
        row["who"] for row, one in zip(rows(), codes(rows()), strict=True) if row["who"] is not None and None not in one
    }
    for groups in (1, 4):
        with engine().open() as connection:
            found = EngineCounts(DOMAIN, schema(Unit("who", groups=groups, rows=1)), connection, SystemBits())
            totals = [int(found.marginal(columns).sum()) for columns in ((), (0,), (1, 4))]
        assert totals == [groups * len(persons)] * 3  # everyone here has more cells than that


def reach(unit: Unit, person: int, bins) -> tuple[int, int]:
    """How far the counts of a merged marginal move, in both norms, when one person's rows are taken away."""
    tables = []
    for gone in (None, person):
        left = table().filter(pyarrow.compute.invert(pyarrow.compute.equal(table()["p"], -7 if gone is None else gone)))
        with source_of(left).open() as connection:
            counts = MergedCounts(EngineCounts(DOMAIN, schema(unit), connection, Salt()), bins)
            tables.append(counts.marginal((0, 2)))
    moved = np.abs(tables[0] - tables[1])
    return int(moved.sum()), int((moved**2).sum())


def test_one_person_moves_a_marginal_no_farther_than_is_charged():
    bins = [np.zeros(size, dtype=np.int64) for size in DOMAIN.sizes]  # all codes in one bin: where moves add up
    unit = Unit("p", groups=5, rows=1)
    charged = moved_by(unit)
    reached = [reach(unit, person, bins) for person in (1, 2, 3)]
    assert max(l1 for l1, _ in reached) <= charged.l1
    assert max(l2 for _, l2 in reached) <= charged.l2_squared
    # The sensitivity of a plain group-by, sqrt(groups) * rows, would not do: here moves add up.
    assert max(l2 for _, l2 in reached) > unit.groups * unit.rows**2
    assert moved_by(Unit("p", neighbours="replace", groups=5, rows=1)).l2_squared == 2 * charged.l2_squared
    assert (moved_by(Unit()).l1, moved_by(Unit(neighbours="replace")).l1) == (1, 2)


def test_without_the_limit_one_person_is_seen():
    bins = [np.zeros(size, dtype=np.int64) for size in DOMAIN.sizes]
    wide = Unit("p", groups=2**20, rows=2**20)  # what a schema without limits would let through
    assert reach(wide, 1, bins)[0] > moved_by(Unit("p", groups=5, rows=1)).l1


def test_smaller_marginals_cost_no_query(monkeypatch):
    asked = []
    tally = CodeTable.tally
    monkeypatch.setattr(CodeTable, "tally", lambda *args: asked.append(1) or tally(*args))
    with on_duckdb().open() as connection:
        found = EngineCounts(DOMAIN, schema(), connection, SystemBits())
        found.prepare([(0, 1, 2), (0, 1), (3,), (3, 4)])
        assert len(asked) == 2
        for columns in ((0, 1, 2), (0, 2), (2,), (), (4,), (3, 4)):
            found.marginal(columns)
        assert len(asked) == 2


def test_one_query_counts_many_where_no_codes_are_stored(monkeypatch):
    with on_duckdb().open() as connection:
        asked = []
        monkeypatch.setattr(connection, "store", lambda codes: None)  # as on other engines
        integers = connection.integers
        monkeypatch.setattr(connection, "integers", lambda expression: asked.append(1) or integers(expression))
        found = EngineCounts(DOMAIN, schema(), connection, SystemBits())
        found.prepare([(0, 1, 2), (0, 1), (3,), (3, 4)])
        assert len(asked) == 1
        for columns in ((0, 1, 2), (0, 2), (2,), (), (4,), (3, 4)):
            found.marginal(columns)
        assert len(asked) == 1
        found.marginal((4, 5))
        assert len(asked) == 2


def test_too_large_a_marginal_is_refused():
    columns = {name: Category([str(i) for i in range(5000)], nullable=False) for name in "ab"}
    wide = Schema("t", columns)
    with source_of(pyarrow.table({"a": ["1"], "b": ["2"]})).open() as connection:
        found = EngineCounts(Domain.of(wide), wide, connection, SystemBits())
        assert found.marginal((0,)).sum() == 1
        with pytest.raises(InputError, match="a, b"):
            found.marginal((0, 1))


def test_an_empty_table_counts_nothing():
    with source_of(table()[:0]).open() as connection:
        found = EngineCounts(DOMAIN, schema(Unit("p", groups=1, rows=1)), connection, SystemBits())
        assert found.marginal((0, 1)).sum() == 0
