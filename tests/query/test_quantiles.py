"""Quantiles from the engine's histogram to the released table: counted by the rules, bounded, covered, charged once."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from chance import at_most, frequency_fits
from dirty import COLUMNS, KEYS, SALT, arrow, predicates, schema_for, some_rows, tables, units
from discreet.accounting import pure, zcdp
from discreet.core.unit import Unit
from discreet.data.column import Category, Integer, Real, Text
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment, Budget
from discreet.mechanisms import QuantileExponential, QuantileFlip, QuantileTree
from discreet.noise.bits import SystemBits
from discreet.query.aggregate import count, mean
from discreet.query.composite_plan import CompositePlan, plan_question
from discreet.query.contribution import GROUP
from discreet.query.grid import DECADES, Decades, grid_for
from discreet.query.key import bins, discover, key
from discreet.query.notes import declared_notes
from discreet.query.price import Price
from discreet.query.quantile import At, maximum, median, minimum, quantile, quantiles, spread
from discreet.query.quantile_plan import _touched, plan_quantiles
from discreet.query.question import Query
from discreet.query.question_ask import plan_any
from discreet.query.tally import BIN, ROWS, compile_tally
from jobs import run_plan
from plan_text import explain
from reference import clamp, group, number, order

SALTS = [*SALT, 424_242_421, 1_717_171_717]
PURE = Allotment("questions", "pure", epsilon=10)
ZCDP = Allotment("questions", "zcdp", rho=5)
PEOPLE = {
    "g": Category(["a", "b", "c"], nullable=False),
    "pay": Real(0, 1000, nullable=True),
    "age": Integer(0, 120, nullable=False),
}
ROWS_SCHEMA = Schema("people", PEOPLE)
SURE = 1 - 1e-13  # a confidence at which an interval may be asserted outright
SLOW = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# The histogram, against the rules as they are stated.


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


def test_a_grid_covers_the_bounds_without_gaps():
    for column, size in [
        (Integer(0, 120, nullable=False), 1024),
        (Integer(-5, 5000, nullable=False), 1000),
        (Real(0, 1, nullable=False), 7),
        (Real(-3, 1e6, nullable=False), 1024),
        (Real(-1000, 5e9, nullable=False), DECADES),
        (Integer(0, 10**6, nullable=False), DECADES),
        (Real("0.001", "0.002", nullable=False), DECADES),
    ]:
        grid = grid_for(column, size)
        assert grid.start(0) == float(column.lower)
        assert grid.end(grid.bins - 1) == float(column.upper)
        for j in range(grid.bins - 1):
            gap = 1 if column.__class__ is Integer and size != DECADES else 0
            assert grid.start(j + 1) == pytest.approx(grid.end(j) + gap, rel=1e-12, abs=1e-12)
            assert grid.start(j) <= grid.middle(j) <= grid.end(j)
    assert grid_for(Integer(0, 120, nullable=False), 1024).bins == 121  # as many as there are whole numbers
    assert {5.0, 10.0, 20.0, 50.0, 0.0, -1.0} <= {
        float(e) for e in grid_for(Real(-9, 99, nullable=False), DECADES).edges
    }


# One person, and what they can move.


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


def table_of(rows):
    kinds = {"p": pyarrow.int64(), "g": pyarrow.string(), "pay": pyarrow.float64()}
    return pyarrow.table({name: pyarrow.array([r[name] for r in rows], kind) for name, kind in kinds.items()})


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


# What it costs.


def moved_scores(counts, q):
    """The miss of every bin, as docs/proofs/quantile-exponential.md defines it."""
    below = np.concatenate([[0], np.cumsum(counts)]).astype(float)
    target = float(q) * below[-1]
    high, low = below[:-1] - target, target - below[1:]
    high[0], low[-1] = 0, 0
    return np.maximum(np.maximum(high, low), 0)


def logs(counts, q, rate):
    scores = -rate * moved_scores(counts, q)
    return scores - np.logaddexp.reduce(scores)


@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(9, 10)])
def test_replacing_a_row_costs_two_ranges_of_a_choice_and_no_less(q):
    """All histograms of two groups with up to four rows in three bins, and every row of one group put elsewhere."""
    search = QuantileExponential(q, 3, bins=3)
    rate, worst = float(search.rate(q)), 0.0
    for cells in itertools.product(range(3), repeat=6):
        for source, target in itertools.permutations(range(6), 2):
            if not cells[source]:
                continue
            other = list(cells)
            other[source] -= 1
            other[target] += 1
            span = 0.0  # the choices of the two groups are independent: their ranges add up
            for half in (slice(0, 3), slice(3, 6)):
                ratio = logs(cells[half], q, rate) - logs(other[half], q, rate)
                span += ratio.max() - ratio.min()
            worst = max(worst, span)
    claimed = 2 * float(search.epsilon)
    assert worst <= claimed + 1e-9
    assert worst > 1.4 * float(search.epsilon)  # so the price of an addition alone would be a lie


@pytest.mark.parametrize("replaced", [False, True])
def test_the_nodes_of_a_tree_move_within_the_price(replaced):
    tree, chance = QuantileTree(9, epsilon=1, branching=3, rows=2), random.Random(3)
    ends = 2 if replaced else 1
    most = [0.0, 0.0]
    for _ in range(400):
        change = np.zeros((2, 9), dtype=int)  # two groups, of which the unit is in one at a time
        for sign in (1, -1)[:ends]:
            where = chance.randrange(2)
            for _ in range(tree.rows):
                change[where, chance.randrange(9)] += sign
        nodes = np.concatenate([change.reshape(-1), change.reshape(-1, 3).sum(axis=1)])
        most = [max(most[0], np.abs(nodes).sum()), max(most[1], (nodes**2).sum())]
    claimed = ends * tree.levels * tree.rows, ends * tree.levels * tree.rows**2
    assert most[0] <= claimed[0]
    assert most[1] <= claimed[1]
    assert most[0] > claimed[0] / 2
    assert most[1] > claimed[1] / 2


UNITS = [Unit(), Unit(neighbours="replace"), Unit("id", groups=2, rows=3), Unit("id", "replace", groups=5, rows=2)]


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("method", ["tree", "exponential", "auto"])
@pytest.mark.parametrize("keys", [(), ("g",)])
def test_the_price_is_that_of_the_whole_question(unit, method, keys):
    schema = Schema("people", PEOPLE, unit)
    query = Query().group_by(*keys).agg(**quantiles("pay", [0.1, 0.5, 0.99], method=method))
    made = plan_quantiles(query, schema, PURE, Price.read(epsilon="0.7"))
    assert made.charge.amount == pure(made.cost).epsilon == Fraction(7, 10)
    made = plan_quantiles(query, schema, ZCDP, Price.read(rho="0.01"))
    assert Fraction(999, 100_000) <= made.charge.amount <= Fraction(1, 100)
    made = plan_quantiles(query, schema, ZCDP, Price.read(epsilon="0.7"))
    assert pure(made.cost).epsilon == Fraction(7, 10)
    assert made.charge.amount == zcdp(made.cost).rho < Fraction(49, 200)
    touched = _touched(unit, made.groups)
    assert touched == (min(unit.groups, 3 if keys else 1) if unit.column else 1, 1 if unit in UNITS[::2] else 2)


def test_the_better_search_is_chosen_and_a_person_may_insist():
    def chosen(listed, **how):
        query = Query().agg(**quantiles("pay", listed, **how))
        return plan_quantiles(query, ROWS_SCHEMA, PURE, Price.read(epsilon=1))

    single, several = chosen([0.5]), chosen([0.1, 0.5, 0.9])
    assert isinstance(single.search, QuantileFlip)  # its interval is narrower, and its value closer
    assert isinstance(several.search, QuantileTree)
    assert isinstance(chosen([0.5], grid=64).search, QuantileTree)
    value = chosen([0.5], interval=False)
    assert isinstance(value.search, QuantileFlip)
    for made, other in ((single, "tree"), (several, "flip"), (several, "exponential")):
        insisted = chosen(made.ranks, method=other)
        assert type(insisted.search) is not type(made.search)
        counts = np.full(1024, 3)
        # Of so many draws the means are eight deviations and more apart; of 30 they would be six.
        widths = [[plan._searched(counts, SystemBits()) for _ in range(60)] for plan in (made, insisted)]
        narrow, wide = (np.mean([upper - lower for _, lower, upper in found]) for found in widths)
        assert narrow < wide
        guaranteed = chosen(made.ranks, method="tree" if made is several else "flip", interval="guaranteed")
        wider = np.mean(
            [upper - lower for _, lower, upper in (guaranteed._searched(counts, SystemBits()) for _ in range(60))]
        )
        assert narrow < wider
        assert guaranteed.charge == made.charge
    for price in ({"rho": "0.01"}, {"epsilon": 1}):  # where rho is counted, a bounded range is cheaper
        charged = plan_quantiles(value.question, ROWS_SCHEMA, ZCDP, Price.read(**price))
        assert isinstance(charged.search, QuantileExponential)
        insisted = Query().agg(m=median("pay", method="flip"))
        with pytest.raises(InputError, match="four times"):
            plan_quantiles(insisted, ROWS_SCHEMA, ZCDP, Price.read(**price))
    gaussian = plan_quantiles(several.question, ROWS_SCHEMA, ZCDP, Price.read(rho="0.01"))
    assert "Gaussian" in gaussian.mechanism
    assert gaussian.search.levels > several.search.levels  # more levels cost Gaussian noise less


# What comes out.


def run(made, rows):
    with source_of(table_of(rows)).open() as connection:
        return run_plan(made, connection, SystemBits())["columns"]


def people(values, group="a"):
    return [{"p": i, "g": group, "pay": value} for i, value in enumerate(values)]


@pytest.mark.parametrize("method", ["tree", "flip", "exponential"])
@pytest.mark.parametrize(
    "schema",
    [ROWS_SCHEMA, Schema("people", {**PEOPLE, "p": Integer(0, 9, nullable=False)}, Unit("p", groups=1, rows=1))],
)
def test_ties_constants_gaps_and_empty_groups(method, schema):
    query = Query().group_by("g").agg(**quantiles("pay", [0.25, 0.5, 0.9], method=method))
    made = plan_quantiles(query, schema, PURE, Price.read(epsilon=10, confidence=SURE))
    rows = people([500.0] * 3000) + people([None, math.nan] * 500, "b")
    table = run(made, rows)
    assert table["g"] == ["a", "b", "c"]
    for name in ("q25", "q50", "q90"):
        value, low, high = (table[name + end] for end in ("", "_lower", "_upper"))
        assert abs(value[0] - 500) <= 2  # a constant is found to within its bin
        assert 498 <= low[0] <= 500 <= high[0] <= 502
        assert (low[1], high[1]) == (low[2], high[2]) == (0, 1000)  # nothing is known, and said so
        assert all(a <= b <= c for a, b, c in zip(low, value, high, strict=True))
    outside = run(made, people([-math.inf, math.inf, 1e300, -5.0] * 800))
    assert outside["q25"][0] < 1
    assert outside["q90"][0] > 999


@pytest.mark.parametrize("method", ["tree", "flip", "exponential"])
def test_quantiles_and_their_ends_never_fall(method):
    listed = [Fraction(i, 20) for i in range(1, 20)]
    made = plan_quantiles(
        Query().agg(**quantiles("pay", listed, method=method)), ROWS_SCHEMA, PURE, Price.read(epsilon="0.05")
    )
    chance = np.random.default_rng()
    for _ in range(5):
        table = run(made, people(chance.uniform(0, 1000, 200).tolist()))
        for end in ("", "_lower", "_upper"):
            line = [table[f"q{5 * i}{end}"][0] for i in range(1, 20)]
            assert line == sorted(line)
            assert 0 <= line[0] <= line[-1] <= 1000
        for i in range(1, 20):
            value, low, high = (table[f"q{5 * i}{end}"][0] for end in ("", "_lower", "_upper"))
            assert low <= value <= high


def test_whole_numbers_stay_whole():
    rows = [{"p": i, "g": "a", "pay": 1.0, "age": 40 + i % 3} for i in range(3000)]
    table = table_of(rows).append_column("age", pyarrow.array([row["age"] for row in rows]))
    made = plan_quantiles(
        Query().agg(m=median("age"), s=spread("age", tail=0.25)), ROWS_SCHEMA, PURE, Price.read(epsilon=5)
    )
    with source_of(table).open() as connection:
        found = run_plan(made, connection, SystemBits())["columns"]
    assert found["m"] == [41]
    assert all(type(value) is int for column in found.values() for value in column)


SHAPES = {
    "even": np.full(64, 30),
    "few rows": np.bincount([3, 3, 7, 40, 41, 63], minlength=64),
    "one bin": np.bincount([20] * 500, minlength=64),
    "two ends": np.bincount([0] * 300 + [63] * 301, minlength=64),
    "nothing": np.zeros(64, dtype=int),
}


@pytest.mark.statistical
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("method", "allotment"), [("tree", PURE), ("flip", PURE), ("exponential", ZCDP), ("tree", ZCDP)]
)
def test_intervals_hold_what_they_promise(shape, method, allotment):
    how = {"grid": 64, "method": method}
    query = Query().agg(
        lo=minimum("pay", tail=0.1, **how),
        mid=median("pay", **how),
        hi=maximum("pay", tail=0.1, **how),
        iqr=spread("pay", tail=0.25, **how),
    )
    price = {"epsilon": 2} if allotment is PURE else {"rho": "0.1"}
    made = plan_quantiles(query, ROWS_SCHEMA, allotment, Price.read(**price, confidence=0.8))
    counts, trials = SHAPES[shape], 200
    reached = np.cumsum(counts)
    true = {q: int(np.argmax(reached >= float(q) * reached[-1])) for q in made.ranks}
    missed = Counter()
    width = 1000 / 64
    for _ in range(trials):
        table = made.table(made._searched(counts, SystemBits())[:, :, None])["columns"]
        for name, q in (("lo", "1/10"), ("mid", "1/2"), ("hi", "9/10")):
            value = (true[Fraction(q)] + 0.5) * width
            missed[name] += not table[f"{name}_lower"][0] <= value <= table[f"{name}_upper"][0]
        apart = (true[Fraction(3, 4)] - true[Fraction(1, 4)]) * width
        missed["iqr"] += not table["iqr_lower"][0] <= apart <= table["iqr_upper"][0]
    assert all(at_most(missed[name], trials, 0.2) for name in ("lo", "mid", "hi", "iqr"))


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["tree", "flip", "exponential"])
def test_rank_errors_stay_within_what_the_plan_says(method):
    made = plan_quantiles(
        Query().agg(mid=median("pay", method=method)), ROWS_SCHEMA, PURE, Price.read(epsilon="0.5", confidence=0.8)
    )
    (expected,) = made.expected()
    values = np.sort(np.random.default_rng().uniform(0, 1000, 3000))
    counts, trials = np.bincount((values / 1000 * 1024).astype(int), minlength=1024), 300
    reached = np.concatenate([[0], np.cumsum(counts)])
    off = []
    for _ in range(trials):
        at = int(made._searched(counts, SystemBits())[0, 0])
        off.append(max(reached[at] - 1500, 1500 - reached[at + 1], 0))
    assert at_most(sum(error > expected.half_width for error in off), trials, 0.2)
    assert not at_most(sum(error > expected.half_width / 100 for error in off), trials, 0.2)


# Through the door.


@pytest.fixture
def curator(tmp_path):
    chance = random.Random(11)
    rows = [{"p": i % 3000, "g": "ab"[i % 2], "pay": chance.lognormvariate(5, 0.5)} for i in range(6000)]
    columns = {
        "g": Category(["a", "b", "c"], nullable=False),
        "pay": Real(0, 10**6, nullable=True),
        "p": Integer(0, 9, nullable=False),
    }
    schema = Schema("people", columns, Unit("p", groups=1, rows=2))
    return discreet.open(
        table_of(rows), schema, ledger=tmp_path / "l.db", budget=Budget(epsilon=30), who="test", create=True
    )


@pytest.mark.filterwarnings("ignore:.*may describe earlier data")  # a table in memory has no version
def test_quantiles_are_priced_charged_once_and_kept(curator):
    question = curator.table().where("pay > 0").group_by("g").quantiles("pay", [0.25, 0.5, 0.9], grid=4096)
    offer = question.plan(epsilon=4, confidence=SURE)
    words = str(offer)
    for part in (
        "epsilon = 4",
        "tree of noisy counts over 4,096 bins",
        "at 100 rows",
        "at 10,000 rows",
        "at most 2 rows",
        "0..1000000",
    ):
        assert part in words
    answer = offer.release(release="pay")
    assert list(answer.columns) == ["g", *(n + e for n in ("q25", "q50", "q90") for e in ("", "_lower", "_upper"))]
    assert answer["q50_lower"][0] <= math.exp(5) <= answer["q50_upper"][0]
    assert (answer["q50_lower"][2], answer["q50_upper"][2]) == (0, 10**6)
    assert offer.release(release="pay").columns == answer.columns
    assert curator.standing()[0].left.amount == 26
    assert curator.release("pay").columns == answer.columns
    assert json.loads(answer.to_json())["outputs"] == ["q25", "q50", "q90"]
    other = question.plan(epsilon=5, confidence=SURE)
    assert other.plan.digest != offer.plan.digest
    assert question.plan(epsilon="4.0", confidence=SURE).plan.digest == offer.plan.digest


def test_median_range_and_suggested_bounds(curator):
    mid = curator.table().median("pay", grid=2**16).plan(epsilon=2).release()
    assert mid.outputs == ("median",)
    assert 100 < mid["median"][0] < 220
    ends = curator.table().range("pay", tail=0.05, grid=2**14).plan(epsilon=4).release()
    assert ends.outputs == ("min", "max", "range")
    assert ends["min"][0] < mid["median"][0] < ends["max"][0]
    assert ends["range"][0] == pytest.approx(ends["max"][0] - ends["min"][0])
    assert ends["range_lower"][0] <= ends["range"][0] <= ends["range_upper"][0]
    found = curator.table().suggest_bounds("pay", tail=0.01).plan(epsilon=15).release()
    low, high = found["low"][0], found["high"][0]
    assert low in (20, 50)
    assert high in (500, 1000)
    assert curator.table().agg(avg=mean("pay", bounds=(low, high))).plan(epsilon=1).release()["avg"][0] < 400


def test_sums_and_quantiles_are_one_table_under_one_price(curator):
    question = curator.table().group_by("g").agg(n=count(), mid=median("pay", grid=4096), avg=mean("pay"))
    offer = question.plan(epsilon=3)
    assert isinstance(offer.plan, CompositePlan)
    assert offer.plan.charge.amount == 3
    assert [part.charge.amount for part in offer.plan.parts] == [2, 1] or offer.plan.parts[0].charge.amount < 3
    assert "tree" in str(offer) or "permute-and-flip" in str(offer)
    answer = offer.release()
    assert answer.keys == ("g",)
    assert answer.outputs == ("n", "mid", "avg")
    assert len(answer) == 3
    assert len(curator.releases()) == 1
    assert curator.standing()[0].left.amount == 27
    two = curator.table().agg(a=median("pay"), b=median("pay", grid=64)).plan(epsilon=1)
    assert len(two.plan.parts) == 2


def test_outputs_stand_in_the_order_asked_for_and_no_digest_depends_on_it(curator):
    kinds = {"high": quantile("pay", 0.9), "avg": mean("pay"), "low": median("pay", grid=64), "mid": median("pay")}
    offers = []
    for names in (["high", "avg", "low", "mid"], ["avg", "high", "mid", "low"]):
        offer = curator.table().agg(**{name: kinds[name] for name in names}).plan(epsilon=1)
        assert [expected.output for expected in offer.plan.expected()] == names
        places = [str(offer).index(f"\n  {name}: ") for name in names]
        assert places == sorted(places)
        assert list(offer.plan.query["outputs"]) == names
        offers.append(offer)
    assert list(offers[0].release(release="first").outputs) == ["high", "avg", "low", "mid"]
    again = curator.table().agg(avg=kinds["avg"], mid=kinds["mid"]).plan(epsilon=1)
    swapped = curator.table().agg(mid=kinds["mid"], avg=kinds["avg"]).plan(epsilon=1)
    assert again.plan.digest == swapped.plan.digest
    assert swapped.plan.question != again.plan.question


def test_batches_hold_quantiles_too(curator):
    batch = curator.batch(ages=curator.table().agg(n=count()), pay=curator.table().median("pay", interval=False))
    offer = batch.plan(epsilon=2, weights={"pay": 4})
    assert "permute-and-flip" in str(offer)
    parts = offer.release()
    assert parts["pay"].outputs == ("median",)
    assert curator.standing()[0].left.amount >= 28


def test_quantiles_in_sql(curator):
    text = "SELECT g, COUNT(*) AS n, MEDIAN(pay), QUANTILE_CONT(pay, 0.9) AS top FROM people "
    text += "GROUP BY g ORDER BY top DESC LIMIT 2"
    question = curator.sql(text)
    assert question.query == Query().group_by("g").agg(
        n=count(), median_pay=median("pay"), top=quantile("pay", 0.9)
    ).checked(curator.schema)
    answer = question.plan(epsilon=2).release()
    assert answer.outputs == ("n", "median_pay", "top")
    assert len(answer) == 2
    same = curator.sql("SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pay) FROM people").query
    assert same == Query().agg(q90_pay=quantile("pay", 0.9)).checked(curator.schema)


def test_a_release_says_that_a_quantile_is_a_bin_and_not_interpolated(curator):
    text = "SELECT MEDIAN(pay) AS m, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pay) AS top, COUNT(*) AS n FROM people"
    answer = curator.sql(text).plan(epsilon=1).release()
    said = [note for note in answer.notes if note.kind == "grid"]
    assert [note.outputs for note in said] == [("m", "top")]
    assert "a bin 976.562 wide" in said[0].text
    assert "SQL interpolates" in said[0].text
    (fine,) = [note for note in declared_notes(Query().agg(m=median("age")), ROWS_SCHEMA) if note.kind == "grid"]
    assert "one of the values" in fine.text


@pytest.mark.parametrize(
    "item",
    [
        "MEDIAN(DISTINCT pay)",
        "MEDIAN(g)",
        "MEDIAN(pay + 1)",
        "MEDIAN(pay) FILTER (WHERE pay > 1)",
        "MEDIAN(pay) OVER ()",
        "QUANTILE_CONT(pay, 0)",
        "QUANTILE_CONT(pay, 1)",
        "QUANTILE_CONT(pay, -1)",
        "QUANTILE_CONT(pay, [0.1, 0.2])",
        "QUANTILE_CONT(pay, 'half')",
        "QUANTILE_CONT(pay, TRUE)",
        "QUANTILE_CONT(pay, pay)",
        "QUANTILE_CONT(pay, 0.5 ORDER BY pay DESC)",
        "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pay DESC)",
        "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pay, g)",
        "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY pay)",
        "QUANTILE_DISC(pay, 0.5)",
        "APPROX_QUANTILE(pay, 0.5)",
        "MIN(pay)",
        "MAX(pay)",
    ],
)
def test_sql_that_is_not_understood_is_refused(curator, item):
    with pytest.raises(InputError):
        curator.sql(f"SELECT {item} AS x FROM people")


BAD = [
    (lambda: quantiles("pay", []), "quantiles"),
    (lambda: quantiles("pay", [0.5, "1/2"]), "quantiles"),
    (lambda: quantiles("pay", [0]), "quantile"),
    (lambda: quantiles("pay", [1]), "quantile"),
    (lambda: quantiles("pay", [1.5]), "quantile"),
    (lambda: quantiles("pay", [float("nan")]), "quantile"),
    (lambda: quantiles("pay", ["lots"]), "quantile"),
    (lambda: quantiles("pay", [True]), "quantile"),
    (lambda: quantiles("pay", "0.1234567890123"), "quantile"),
    (lambda: {"m": median("nothing")}, "quantile"),
    (lambda: {"m": median("g")}, "quantile"),
    (lambda: {"m": median("pay", grid=1)}, "grid"),
    (lambda: {"m": median("pay", grid=2**17)}, "grid"),
    (lambda: {"m": median("pay", grid=10.5)}, "grid"),
    (lambda: {"m": median("pay", grid="fine")}, "grid"),
    (lambda: {"m": median("pay", method="guess")}, "method"),
    (lambda: {"m": At("pay", Fraction(1, 2), take="best")}, "take"),
    (lambda: {"s": spread("pay", tail=0.5)}, "tail"),
    (lambda: {"s": minimum("pay", tail=0)}, "quantile"),
]


@pytest.mark.parametrize(("made", "field"), BAD)
def test_bad_input_is_refused_by_name_before_anything_is_spent(made, field):
    with pytest.raises(InputError) as caught:
        plan_question(Query().agg(**made()), ROWS_SCHEMA, PURE, Price.read(epsilon=1))
    assert caught.value.field == field


def test_prices_and_groups_that_do_not_fit_are_refused():
    query = Query().agg(m=median("pay"))
    for price, allotment, field in [
        ({"within": 5}, PURE, "within"),
        ({"rho": 1}, PURE, "rho"),
        ({"epsilon": "1e-30"}, PURE, "epsilon"),
        ({"epsilon": 1, "noise": "gaussian"}, PURE, "noise"),
        ({"epsilon": 1}, Allotment("training", "plan", epsilon=1, delta="1e-6"), "allotment"),
    ]:
        with pytest.raises(InputError) as caught:
            plan_question(query, ROWS_SCHEMA, allotment, Price.read(**price))
        assert caught.value.field == field, price
    choice = Query().agg(m=median("pay", method="exponential"))
    with pytest.raises(InputError, match="adds no noise"):
        plan_question(choice, ROWS_SCHEMA, PURE, Price.read(epsilon=1, noise="laplace"))
    laplace = plan_question(query, ROWS_SCHEMA, PURE, Price.read(epsilon=1, noise="laplace"))
    assert isinstance(laplace.search, QuantileTree)
    fine = Query().group_by(bins("pay", width=0.5)).agg(m=median("age"), z=median("pay", grid=2**16))
    with pytest.raises(InputError) as caught:
        plan_question(fine, ROWS_SCHEMA, PURE, Price.read(epsilon=1))
    assert caught.value.field == "grid"


def test_a_question_survives_json():
    query = (
        Query()
        .where("age > 5")
        .group_by(key("g", ["b"]))
        .agg(
            n=count(),
            m=median("pay"),
            s=spread("age", tail="1/3"),
            **quantiles("pay", [0.1, "1/3"], grid=64, method="tree"),
        )
    )
    assert Query.from_json(query.to_json(), ROWS_SCHEMA) == query.checked(ROWS_SCHEMA)
    short = {"outputs": {"m": {"of": "median", "column": "pay"}, "q": {"of": "quantile", "column": "pay", "q": 0.9}}}
    assert Query.from_dict(short, ROWS_SCHEMA) == Query().agg(m=median("pay"), q=quantile("pay", 0.9)).checked(
        ROWS_SCHEMA
    )
    for wrong in (
        {"of": "quantile", "column": "pay"},
        {"of": "quantile", "column": "pay", "q": "many"},
        {"of": "quantile", "column": "pay", "q": 0.5, "more": 1},
        {"of": "quantile", "column": 7, "q": 0.5},
        {"of": "quantile", "column": "pay", "q": 0.5, "grid": [1]},
        {"of": "spread", "column": "pay", "low": 0.9, "high": 0.1},
        {"of": ["quantile"]},
    ):
        with pytest.raises(InputError):
            Query.from_dict({"outputs": {"x": wrong}}, ROWS_SCHEMA)


def test_a_plan_in_words_says_what_its_rank_error_means():
    made = plan_question(Query().agg(m=median("pay"), s=spread("pay")), ROWS_SCHEMA, PURE, Price.read(epsilon="0.1"))
    words = explain(made)
    assert "any value at 100 rows" in words
    assert "at 10,000 rows in the group" in words
    assert "steps of 0.976562" in words


def test_an_interval_that_is_not_paid_for_is_the_whole_grid():
    def planned(**how):
        query = Query().agg(m=median("pay", **how))
        return plan_question(query, ROWS_SCHEMA, PURE, Price.read(epsilon=1))

    bare, covered = planned(interval=False), planned()
    assert bare.charge == covered.charge
    assert bare.search.choices == 1
    assert 2 * bare.expected()[0].half_width < covered.expected()[0].half_width
    table = run(bare, people([300.0] * 2000))
    assert abs(table["m"][0] - 300) < 2
    assert (table["m_lower"], table["m_upper"]) == ([0], [1000])
    assert "No interval of pay was paid for" in explain(bare)
    assert "paid for" not in explain(covered)
    mixed = Query().agg(a=median("pay"), b=median("pay", interval=False))
    assert len(plan_question(mixed, ROWS_SCHEMA, PURE, Price.read(epsilon=1)).parts) == 2
    with pytest.raises(InputError, match="guaranteed"):
        planned(interval="no")
    stored = planned(interval="guaranteed").question
    assert Query.from_json(stored.to_json(), ROWS_SCHEMA) == stored


def test_quantiles_are_not_forgotten_beside_discovered_keys():
    schema = Schema("people", {**PEOPLE, "zip": Text()})
    query = Query().group_by(discover("zip")).agg(n=count(), m=median("pay"))
    with pytest.raises(InputError) as caught:
        plan_any(query, schema, ZCDP, Price.read(rho=1), "1e-9")
    assert caught.value.field == "group_by"
