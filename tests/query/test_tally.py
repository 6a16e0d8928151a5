"""The histogram that quantiles are made of: counted by the rules, and no person counts beyond the limits."""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pay_table import PEOPLE, table_of

from chance import frequency_fits
from dirty import COLUMNS, KEYS, SALT, arrow, predicates, schema_for, some_rows, tables, units
from discreet.core.unit import Unit
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.noise.bits import SystemBits
from discreet.query.contribution import GROUP
from discreet.query.grid import DECADES, Decades, grid_for
from discreet.query.quantile import median, quantile
from discreet.query.question import Query
from discreet.query.tally import BIN, ROWS, compile_tally
from reference import clamp, group, number, order

SALTS = [*SALT, 424_242_421, 1_717_171_717]
SLOW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def place(value, column, grid):
    """The bin of a stored value, one step after the other."""
    found = number(value)
    if found is None:
        return None
    low, high = float(column.lower), float(column.upper)
    if isinstance(column, Integer):
        found = math.floor(clamp(found, low, high) + 0.5)
    found = clamp(found, low, high)
    if isinstance(grid, Decades):
        return sum(found >= float(edge) for edge in grid.edges[1:-1])
    width = float(grid.width)
    raw = (found - low + 0.5) / width if grid.whole else ((found - low) + width / 2) / width - 0.5
    return clamp(math.floor(raw), 0, grid.bins - 1)


def reference(query, schema, name, grid, rows, salt=SALTS):
    """{(group, bin): rows} when persons, if any, have whole numbers for names."""
    unit, kept = schema.unit, []
    width = (query.groups(schema) - 1).bit_length()
    persons = defaultdict(lambda: defaultdict(list))
    for row in rows:
        where, bin_ = group(query, row, schema), place(row[name], schema.columns[name], grid)
        if where is None:
            continue
        if unit.column is None:
            kept += [] if bin_ is None else [(where, bin_)]
        elif row[unit.column] is not None:
            persons[row[unit.column]][where].append(bin_)
    for person, groups in persons.items():
        hashes = {where: order(person, where, width, salt) for where in groups}
        for where in sorted(groups, key=hashes.get)[: unit.groups]:
            seen, lines = Counter(), []
            for bin_ in (bin_ for bin_ in groups[where] if bin_ is not None):
                lines.append((order(hashes[where], bin_ + seen[bin_] * 2**16, 31, salt[5:]), bin_))
                seen[bin_] += 1
            kept += [(where, bin_) for _, bin_ in sorted(lines)[: unit.rows]]
    return dict(Counter(kept))


def tally(source, query, schema, name, grid, salt=SALTS):
    with source.open() as connection:
        found = connection.integers(compile_tally(query, schema, name, grid, connection.table, salt))
    columns = [found[name].tolist() for name in (GROUP, BIN, ROWS)]
    cells = {(where, bin_): rows for where, bin_, rows in zip(*columns, strict=True)}
    assert len(cells) == len(columns[0])
    return cells


grids = st.sampled_from([2, 7, 1024, 2**16, DECADES])
names = st.sampled_from(["n", "m", "big", "x", "y"])
few = [k for k in KEYS if k.edges != ("every", "day")]


@st.composite
def questions(draw):
    keys = draw(st.lists(st.sampled_from(few), max_size=2, unique_by=lambda k: k.column))
    return Query(draw(st.none() | predicates), tuple(keys))


@SLOW
@given(
    tables, questions(), names, grids, st.none() | units, st.lists(st.integers(0, 2**31 - 1), min_size=10, max_size=10)
)
def test_bins_are_counted_by_the_rules(rows, query, name, size, unit, salt):
    schema = schema_for(unit, None if unit is None else Integer(0, 9, nullable=False))
    query = query.agg(q=quantile(name, 0.5, grid=size)).checked(schema)
    grid = grid_for(schema.columns[name], size)
    assert tally(source_of(arrow(rows)), query, schema, name, grid, salt) == reference(
        query, schema, name, grid, rows, salt
    )


@pytest.mark.parametrize("size", [11, 1024, DECADES])
@pytest.mark.parametrize("unit", [None, Unit("p", groups=2, rows=3), Unit("p", groups=20, rows=1)])
def test_bins_are_counted_by_the_rules_on_a_larger_table(size, unit):
    rows = some_rows(2000)
    schema = schema_for(unit, None if unit is None else Integer(0, 9, nullable=False))
    for name in ("n", "m", "big", "x", "y"):
        query = Query().group_by("short").agg(q=quantile(name, 0.5, grid=size)).checked(schema)
        grid = grid_for(COLUMNS[name], size)
        assert tally(source_of(arrow(rows)), query, schema, name, grid) == reference(query, schema, name, grid, rows)


def moved(one, other):
    """By how many rows the histogram of each group differs, rows that came and rows that went."""
    groups = defaultdict(lambda: [0, 0])
    for cell in set(one) | set(other):
        change = other.get(cell, 0) - one.get(cell, 0)
        groups[cell[0]][change < 0] += abs(change)
    return {where: pair for where, pair in groups.items() if any(pair)}


def neighbours(chance, unit, replaced):
    """Two tables that differ in what person 1 has, and in nothing else."""
    pool = [5, 5, 5, 100, 400, 900, None]

    def rows(person, size):
        return [{"p": person, "g": chance.choice("abc"), "pay": chance.choice(pool)} for _ in range(size)]

    others = [row for person in range(2, 7) for row in rows(person, chance.randrange(12))]
    return others + (rows(1, 15) if replaced else []), others + rows(1, 15)


def within_claim(claimed, actual, replaced, trials=6):
    """Whether neighbours stay within what a unit with the limits `claimed` may move, under the limits `actual`."""
    chance = random.Random(repr((claimed, actual, replaced)))
    schema = Schema("t", {**PEOPLE, "p": Integer(0, 9, nullable=False)}, actual)
    query = Query().group_by("g").agg(q=median("pay", grid=8)).checked(schema)
    grid = grid_for(PEOPLE["pay"], 8)
    for _ in range(trials):
        salt = [chance.randrange(2**31) for _ in range(10)]
        one, other = (
            tally(source_of(table_of(rows)), query, schema, "pay", grid, salt)
            for rows in neighbours(chance, actual, replaced)
        )
        groups = moved(one, other)
        came, went = ([pair[end] for pair in groups.values() if pair[end]] for end in (0, 1))
        if len(came) > claimed.groups or max(came, default=0) > claimed.rows:
            return False
        if len(went) > (claimed.groups if replaced else 0) or max(went, default=0) > claimed.rows:
            return False
    return True


@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (2, 2), (3, 4)])
def test_one_person_moves_no_more_than_is_claimed(groups, rows, replaced):
    assert within_claim(Unit("p", groups=groups, rows=rows), Unit("p", groups=groups, rows=rows), replaced)


@pytest.mark.parametrize("replaced", [False, True])
def test_limits_that_are_not_kept_are_caught(replaced):
    assert not within_claim(Unit("p", groups=1, rows=2), Unit("p", groups=1, rows=4), replaced, trials=40)
    assert not within_claim(Unit("p", groups=1, rows=9), Unit("p", groups=2, rows=9), replaced, trials=40)


def test_a_name_that_a_database_takes_for_another_is_one_person(tmp_path):
    import duckdb

    path = tmp_path / "t.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (p VARCHAR COLLATE NOCASE, g VARCHAR, pay DOUBLE)")
        rows = [(n, g, v) for n in "aA" for g in "abc" for v in (1, 1, 500, 900)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    schema = Schema("t", PEOPLE, Unit("p", groups=2, rows=3))
    query = Query().group_by("g").agg(q=median("pay")).checked(schema)
    for shift in range(6):
        salt = [word + shift for word in SALTS]
        cells = tally(source_of(path, "t"), query, schema, "pay", grid_for(PEOPLE["pay"], 64), salt)
        again = tally(source_of(path, "t"), query, schema, "pay", grid_for(PEOPLE["pay"], 64), salt)
        sizes = Counter()
        for (where, _), size in cells.items():
            sizes[where] += size
        assert len(sizes) <= 2
        assert all(size == 3 for size in sizes.values())
        assert cells == again


@pytest.mark.statistical
def test_rows_that_count_are_drawn_evenly():
    """Of a person's ten rows, nine alike, one is kept: each with the same chance, ties or not."""
    persons = 4000
    rows = [{"p": p, "g": "a", "pay": 5.0 if i else 900.0} for p in range(persons) for i in range(10)]
    schema = Schema("t", {**PEOPLE, "p": Integer(0, 9, nullable=False)}, Unit("p", groups=1, rows=1))
    query = Query().agg(q=median("pay")).checked(schema)
    salt = [int(word) for word in np.frombuffer(SystemBits().read(40), dtype=np.uint32) >> 1]
    cells = tally(source_of(table_of(rows)), query, schema, "pay", grid_for(PEOPLE["pay"], 2), salt)
    assert sum(cells.values()) == persons
    assert frequency_fits(cells[0, 1], persons, 0.1)
    assert not frequency_fits(cells[0, 1], persons, 0.5)  # what a draw among bins would give
