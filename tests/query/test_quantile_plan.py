"""Quantiles as a priced job: what one unit can move, what it costs, and intervals that cover."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from pay_table import PEOPLE, PURE, ROWS_SCHEMA, SURE, ZCDP, people, run, table_of

from chance import at_most
from discreet.accounting import pure, zcdp
from discreet.core.unit import Unit
from discreet.data.column import Integer
from discreet.data.schema import Schema
from discreet.data.source import source_of
from discreet.errors import InputError
from discreet.ledger.budget import Allotment
from discreet.mechanisms import QuantileExponential, QuantileFlip, QuantileTree
from discreet.noise.bits import SystemBits
from discreet.query.composite_plan import plan_question
from discreet.query.key import bins
from discreet.query.price import Price
from discreet.query.quantile import maximum, median, minimum, quantiles, spread
from discreet.query.quantile_plan import _touched, plan_quantiles
from discreet.query.question import Query
from jobs import run_plan
from plan_text import explain


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
