"""The plan of a hierarchy: what it charges, which rules it refuses before spending, and that a row is hidden."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from tree_desk import COUNTIES, SCHEMA, table

import discreet
from chance import at_most
from discreet import Budget, Category, Integer, Rules, Schema, Text, Unit
from discreet.accounting import pure
from discreet.accounting.compose import compose
from discreet.core.loss import ZCDP, Pure
from discreet.errors import BudgetError, InputError
from discreet.mechanisms import Laplace
from discreet.noise.bits import SystemBits
from discreet.trees.plan import TreePlan


def test_what_is_charged_is_what_was_asked(curator):
    offer = curator.tree(["state", "county"], by=["sex"]).plan(epsilon="1/2")
    assert offer.plan.cost == compose([measure.loss for measure in offer.plan.measures])
    assert offer.plan.charge.amount <= Fraction(1, 2)
    assert offer.plan.charge.amount > Fraction(1, 2) * Fraction(99, 100)
    before = curator.standing()[0].left.amount
    offer.release()
    assert before - curator.standing()[0].left.amount == offer.plan.charge.amount


def test_merged_levels_are_charged_by_norms_alone(tmp_path):
    schema = Schema(
        "people", {**SCHEMA.columns, "person": Integer(0, 10**6, nullable=False)}, Unit("person", groups=2, rows=3)
    )
    rows = table(50).append_column("person", pyarrow.array(range(50)))
    for budget, price in ((Budget(10), {"epsilon": 1}), (Budget(rho=10, delta="1e-9"), {"rho": 1})):
        books = tmp_path / f"{min(price)}.db"
        curator = discreet.open(rows, schema, ledger=books, budget=budget, who="ann", create=True)
        plan = curator.tree(["state", "county"]).plan(**price).plan
        for measure in plan.measures:
            leaves = measure.level == 2 and not measure.totals
            assert isinstance(measure.loss, (Pure, ZCDP)) != leaves
        assert plan.charge.amount <= 1


def test_the_plan_says_what_to_expect_and_spends_nothing(curator):
    offer = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=1)
    text = str(offer)
    for word in ("all", "state", "county", "8 regions", "of the price", "left out", "epsilon = 1"):
        assert word in text
    assert [row["level"] for row in offer.explained.facts["levels"]] == ["all", "state", "county"]
    assert [one.output for one in offer.expected][:3] == ["all, a cell", "all, a total", "state, a cell"]
    assert all(one.half_width > 0 for one in offer.expected)
    assert curator.standing()[0].spent.amount == 0
    finer = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=2)
    assert all(two.half_width < one.half_width for one, two in zip(offer.expected, finer.expected, strict=True))


def test_the_error_said_beforehand_is_not_too_small_where_one_noise_is_all_there_is(curator):
    # Nothing but the leaves is asked, so their error is one Laplace noise, whose tails are heavier than a normal law's.
    for confidence in (0.9, 0.95, 0.999):
        offer = curator.tree(["state", "county"]).plan(epsilon="1/20", split="leaves", confidence=confidence)
        (measure,) = offer.plan.measures
        exact = float(measure.noise.scale) * math.log(1 / (1 - confidence))
        assert offer.expected[2].half_width > 0.998 * exact


def test_rules_are_kept_and_refused_before_spending(curator):
    rules = Rules(upper={"county": np.array([0 if c == COUNTIES[7] else 2**53 for c in COUNTIES])})
    release = curator.tree(["state", "county"], by=["sex"], rules=rules).plan(epsilon=1).release()
    assert release.estimate.counts[2][7].tolist() == [0, 0]
    spent = curator.standing()[0].spent
    wrong = Rules(lower={"county": 10}, totals={"all": [5]})
    with pytest.raises(InputError, match="all"):
        curator.tree(["state", "county"], by=["sex"], rules=wrong).plan(epsilon=1)
    with pytest.raises(BudgetError):
        curator.tree(["state", "county"]).plan(epsilon=100).release()
    assert curator.standing()[0].spent == spent


def test_a_level_that_repeats_the_one_below_is_paid_once(tmp_path):
    columns = {
        "state": Category(["44"], nullable=False),
        "county": Category(["44001", "44003"], nullable=False),
        "sex": Category(["f", "m"], nullable=False),
    }
    rows = pyarrow.table({"state": ["44"], "county": ["44001"], "sex": ["f"]})
    curator = discreet.open(
        rows, Schema("p", columns), ledger=tmp_path / "b.db", budget=Budget(9), who="ann", create=True
    )
    shapes = {"state": ["44", "44"], "county": ["44001", "44003"]}
    for how in ("auto", "equal", "accurate", {"all": 1, "state": 1, "county": 2}):
        offer = curator.tree(["state", "county"], by="sex", geography=shapes).plan(epsilon=1, split=how)
        asked = {level.level for level in offer.plan.measures}
        assert 0 not in asked  # it is the state again
        assert sum(level.share for level in offer.plan.measures) == 1
        assert pure(offer.plan.cost).epsilon == 1
        assert "asked once" in offer.explain()
        release = offer.release()
        assert release.totals("all")["count"] == release.totals("state")["count"]


def test_bounds_that_sizes_in_order_cannot_meet_are_refused_before_spending(tmp_path):
    schema = Schema("people", {"county": Category(COUNTIES, nullable=False), "house": Text()})
    rows = pyarrow.table({"county": ["01000"], "house": ["x"]})
    curator = discreet.open(rows, schema, ledger=tmp_path / "books.db", budget=Budget(1), who="ann", create=True)
    rules = Rules(lower={"county": [[0, 0, 5]] * 8}, upper={"county": [[2, 9, 9]] * 8})
    with pytest.raises(InputError, match="never rise"):
        curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, rules=rules).plan(epsilon=1)
    plain = curator.tree({"state": 2, "county": 5}, sizes="house", largest=3, cumulative=False, rules=rules)
    assert plain.plan(epsilon=1).plan.charge.amount == 1
    assert curator.standing()[0].spent.amount == 0


def test_wrong_plans_are_refused(curator):
    question = curator.tree(["state", "county"])
    for how in ({}, {"epsilon": 0}, {"epsilon": 1, "method": "magic"}, {"epsilon": 1, "split": "odd"}, {"rho": 1}):
        with pytest.raises(InputError):
            question.plan(**how)
    assert curator.standing()[0].spent.amount == 0


def test_a_plan_is_a_plan_of_the_house(curator):
    from discreet.core.plan import Plan

    plan = curator.tree(["state", "county"]).plan(epsilon=1).plan
    assert isinstance(plan, TreePlan)
    assert isinstance(plan, Plan)
    json.dumps(plan.query)
    assert plan.digest == curator.tree(["state", "county"]).plan(epsilon=1).plan.digest
    assert plan.digest != curator.tree(["state", "county"]).plan(epsilon=2).plan.digest
    rules = Rules(lower={"county": 1})
    assert plan.digest != curator.tree(["state", "county"], rules=rules).plan(epsilon=1).plan.digest


def chance_of_all_up(curator, runs: int, halved: bool = False) -> tuple[int, float]:
    """How often a row more lifts the numbers of every level at once, and how often it may at the price charged."""
    plan = curator.tree(["state", "county"], by=["sex"]).plan(epsilon=4, split="equal").plan
    if halved:
        measures = [replace(one, noise=Laplace(one.noise.scale / 2)) for one in plan.measures]
        plan, priced = replace(plan, measures=tuple(measures)), plan
    else:
        priced = plan
    with_row = np.zeros((8, 2), np.int64)
    with_row[0, 0] = 1
    seen = 0
    for _ in range(runs):
        levels = plan.noisy(with_row, SystemBits()).levels
        seen += all(level.counts[0, 0] >= 1 for level in levels)
    # Without the row the same event needs noise of one or more everywhere.
    without = math.prod(1 / (1 + math.exp(1 / float(one.noise.scale))) for one in priced.measures)
    return seen, math.exp(float(priced.charge.amount)) * without


@pytest.mark.statistical
def test_a_row_is_hidden_at_the_price_charged(curator):
    seen, allowed = chance_of_all_up(curator, 2000)
    assert at_most(seen, 2000, allowed)


@pytest.mark.statistical
def test_half_the_noise_is_caught(curator):
    seen, allowed = chance_of_all_up(curator, 2000, halved=True)
    assert not at_most(seen, 2000, allowed)


def wide_offer(curator, **terms):
    return curator.tree(["state", "county"], by=["sex"], **terms).plan(epsilon=1)


def test_the_noisy_total_of_the_root_decides_how_the_rest_is_asked(curator):
    plan = wide_offer(curator).plan
    assert [one.below for one in plan.sparse] == sorted(one.below for one in plan.sparse)
    # Far enough from the limits that no noise crosses them; counts below zero stand for noise that is.
    for people, way in ((-(10**4), plan.sparse[0].measures), (10**6, plan.measures)):
        asked = {(one.level, one.totals): one.noise for one in way}
        levels = plan.noisy(np.full((8, 2), people, np.int64), SystemBits()).levels
        for level, seen in enumerate(levels):
            assert (seen.noise, seen.totals_noise) == (asked[level, False], asked[level, True])


def test_every_way_costs_at_most_what_is_charged_and_asks_the_deciding_question_alike(curator):
    plan = wide_offer(curator).plan
    assert len(plan.ways) == 3
    first = [next(one for one in way if one.totals) for way in plan.ways]
    assert len({(one.level, one.noise) for one in first}) == 1
    for way in plan.ways:
        assert pure(compose([one.loss for one in way])).epsilon <= plan.charge.amount <= 1


def test_a_way_that_costs_more_is_what_is_charged(curator):
    plan = wide_offer(curator).plan
    dear = tuple(replace(one, noise=Laplace(one.noise.scale / 2)) for one in plan.sparse[0].measures)
    more = replace(plan, sparse=(replace(plan.sparse[0], measures=dear),))
    assert more.charge.amount > plan.charge.amount
    assert more.digest != plan.digest


def test_a_public_expectation_settles_the_shares_beforehand(curator):
    open_plan = wide_offer(curator)
    small, large = wide_offer(curator, expected=0), wide_offer(curator, expected=10**9)
    assert small.plan.sparse == large.plan.sparse == ()
    assert (small.plan.measures, large.plan.measures) == (open_plan.plan.sparse[0].measures, open_plan.plan.measures)
    assert "is measured first" in str(open_plan)
    assert "is measured first" not in str(small)
    accurate = curator.tree(["state", "county"], by=["sex"]).plan(within=50)
    assert accurate.plan.sparse == ()  # an accuracy is promised whatever there is
    with pytest.raises(InputError, match="expected"):
        wide_offer(curator, expected=-1)


def test_nothing_but_the_noisy_total_decides(curator, monkeypatch):
    # The noise hides a million people: what is asked then is what few people would be asked.
    plan = wide_offer(curator).plan
    monkeypatch.setattr(Laplace, "release", lambda self, values, bits: np.zeros_like(values))
    levels = plan.noisy(np.full((8, 2), 10**6, np.int64), SystemBits()).levels
    assert levels[2].noise == plan.sparse[0].measures[-2].noise
