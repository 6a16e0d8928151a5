"""Queries inside a level: what they are called, what they cost, and that what is published heeds them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tree_desk import add_up

from chance import at_most
from discreet import bins
from discreet.accounting.compose import compose
from discreet.core.unit import Unit
from discreet.data.column import Category, Integer
from discreet.data.schema import Schema
from discreet.errors import InputError
from discreet.noise.replay import Replay
from discreet.query.key import Key
from discreet.trees.ask import TreeAsk
from discreet.trees.components import margin_of
from discreet.trees.count import Tabulation
from discreet.trees.gls import gls
from discreet.trees.measurement_reader import read_measurements
from discreet.trees.queries import QUERIES, margin_axes, margin_name
from discreet.trees.tree import Hierarchy

AGES = bins("age", [0, 18, 65, 99])
QUERY = {"sex": 1, "age": "1/2", "all": 2, "total": 0.5}


def asked(curator, queries=QUERY, **more):
    return curator.tree(["state", "county"], by=["sex", AGES], queries=queries, **more)


def test_a_query_is_named_by_its_columns():
    columns = ("sex", "race", "age")
    assert [margin_axes(name, columns) for name in ("total", "age x sex", "race", "all")] == [
        (),
        (0, 2),
        (1,),
        (0, 1, 2),
    ]
    assert [margin_name(columns, axes) for axes in ((), (0, 2), (0, 1, 2))] == ["total", "sex x age", "all"]
    assert margin_axes("total", ("total", "sex")) == (0,)  # a column is what it is called


def test_what_is_typed_is_what_is_meant():
    assert QUERIES.parse("sex=1, age x sex=2") == {"sex": "1", "age x sex": "2"}
    assert QUERIES.parse("county: sex=1,all=2; block: all=1") == {
        "county": {"sex": "1", "all": "2"},
        "block": {"all": "1"},
    }
    assert QUERIES.parse('{"sex": 1}') == {"sex": 1}
    said = TreeAsk.of(["a"], queries={"sex": Fraction(1, 3), "all": 1}).to_dict()
    assert said["queries"] == {"sex": "1/3", "all": 1}
    assert "queries" not in TreeAsk.of(["a"]).to_dict()


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({"sx": 1, "all": 1}, "Did you mean"),
        ({"sex": 1}, "no share for all at county"),
        ({"sex": -1, "all": 1}, "queries.sex"),
        ({"sex x sex": 1, "all": 1}, "each column once"),
        ({"sex x age": 1, "all": 1}, "each query once"),
        ({"all": 0}, "above zero"),
        ({}, "a share for each query"),
        ({"county": {"all": 1}, "sex": 1}, "a share for each query"),
        ({"town": {"all": 1}}, "queries"),
        ({3: 1, "all": 1}, "columns of by"),
        ("sex", "a share for each query"),
    ],
)
def test_wrong_queries_are_refused_before_anything_is_spent(curator, queries, message):
    with pytest.raises(InputError, match=message):
        asked(curator, queries).plan(epsilon=1)
    assert curator.standing()[0].spent.amount == 0


def test_queries_need_cells(curator):
    with pytest.raises(InputError, match="queries"):
        curator.tree(["state", "county"], by=[], queries={"all": 1}).plan(epsilon=1)


def test_queries_divide_what_a_goal_gives_their_level(curator):
    goal = {"of": "totals", "weights": {"state": 5}}
    plan = asked(curator).plan(epsilon=1, split="accurate", goal=goal).plan
    alone = curator.tree(["state", "county"], by=["sex", AGES]).plan(epsilon=1, split="accurate", goal=goal).plan

    def by_level(plan):
        return {level: sum(one.share for one in plan.measures if one.level == level) for level in range(3)}

    assert by_level(plan) == by_level(alone)
    assert sum(by_level(plan).values()) == 1
    assert {one.axes for one in plan.measures if one.level == 2} >= {(0,), (1,)}


def test_what_is_charged_is_every_query_in_its_proportion(curator):
    plan = asked(curator).plan(epsilon=1, split="equal").plan
    assert plan.cost == compose([one.loss for one in plan.measures])
    assert Fraction(99, 100) < plan.charge.amount <= 1
    here = {one.axes if one.axes else one.totals: one.share for one in plan.measures if one.level == 1}
    assert here == {(0,): Fraction(1, 12), (1,): Fraction(1, 24), False: Fraction(1, 6), True: Fraction(1, 24)}
    assert plan.digest != asked(curator, {"sex": 1, "age": 1, "all": 2}).plan(epsilon=1, split="equal").plan.digest
    by_level = asked(curator, {"state": {"sex": 1}, "county": QUERY}).plan(epsilon=1).plan
    assert {one.axes for one in by_level.measures if one.level == 1} == {(0,)}
    assert {one.axes for one in by_level.measures if one.level == 0} == {None}


def test_the_plan_says_how_good_every_margin_will_be(curator):
    offer = asked(curator, expected=4000).plan(epsilon=1)
    halves = {one.output: one.half_width for one in offer.expected}
    assert halves["county, by sex"] < halves["county, a cell"] * 3**0.5  # as good as a sum of three cells, or better
    assert "queries" in offer.explained.facts["levels"][0]
    assert "queries" not in curator.tree(["state", "county"]).plan(epsilon=1).explained.facts["levels"][0]


@pytest.mark.parametrize("method", ["bayes", "topdown", "exact", "relaxed"])
def test_every_method_publishes_tables_that_add_up(curator, method):
    release = asked(curator).plan(epsilon=2, method=method).release()
    if method != "relaxed":
        add_up(release)
    margin = release.margin("county", "sex")
    if method != "relaxed":
        assert sum(margin["count"]) == sum(release.totals("county")["count"])
    assert list(margin.columns) == ["state", "county", "sex", "count", "count_lower", "count_upper"]
    assert all(
        a <= b <= c for a, b, c in zip(*(margin[f"count{end}"] for end in ("_lower", "", "_upper")), strict=True)
    )
    assert release.queries == ("sex", "age")
    again = curator.release(release.id)
    assert (again.estimate.counts[-1] == release.estimate.counts[-1]).all()
    assert again.queries == release.queries


def test_margins_are_in_the_files(curator, tmp_path):
    release = (
        asked(curator, {"state": {"sex": 1, "total": 1}, "county": QUERY}).plan(epsilon=2, method="topdown").release()
    )
    names = {path.name for path in release.save(tmp_path, "csv")}
    assert {"county-by-sex.csv", "all-by-age.csv", "county-totals.csv"} <= names
    release.save_measurements(tmp_path / "noisy")
    again = read_measurements(tmp_path / "noisy")
    assert again.queries == release.queries
    assert (again.estimate.counts[-1] == release.estimate.counts[-1]).all()


def test_a_margin_may_be_read_where_none_was_asked(curator):
    release = curator.tree(["state", "county"], by=["sex", AGES]).plan(epsilon=2).release()
    assert release.queries == ()
    whole = release.margin("state", "age x sex")
    assert whole["count"] == release["state"]["count"]
    assert whole["count_lower"] == release["state"]["count_lower"]
    assert release.margin("state", "total")["count"] == release.totals("state")["count"]
    with pytest.raises(InputError, match="columns of by"):
        release.margin("state", "income")


def test_intervals_of_margins_cover_and_half_as_wide_ones_do_not(curator):
    plan = asked(curator).plan(epsilon=1).plan
    exact = np.random.default_rng(2).integers(0, 40, (8, 6))
    truth = margin_of(exact, (2, 3), (0,))
    missed, missed_by_half, runs = 0, 0, 200
    for run in range(runs):
        values, variance = gls(plan.noisy(exact, Replay(b"%d" % run))).margin(2, (0,), (2, 3))
        off = np.abs(values - truth) / np.sqrt(variance)[:, None]
        missed, missed_by_half = missed + int(off[0, 0] > 2.12), missed_by_half + int(off[0, 0] > 1.06)
    assert at_most(missed, runs, 0.05)
    assert not at_most(missed_by_half, runs, 0.05)


LEAVES = Hierarchy.from_prefixes(["a1", "b1"], {"state": 1, "county": 2})


def tabulated(unit):
    columns = {
        "county": Category(["a1", "b1"], nullable=False),
        "sex": Category(["f", "m"], nullable=False),
        "race": Category(["x", "y"], nullable=False),
        "person": Integer(0, 9, nullable=False),
    }
    return Tabulation(Schema("t", columns, unit), LEAVES, "county", (Key("sex"), Key("race"))).checked()


def vectors(groups, rows):
    for places in itertools.combinations(range(8), groups):
        for sizes in itertools.product(range(rows + 1), repeat=groups):
            vector = np.zeros(8, np.int64)
            vector[list(places)] = sizes
            yield vector.reshape(2, 4)


@pytest.mark.parametrize("how", ["add-remove", "replace"])
@pytest.mark.parametrize(("groups", "rows"), [(1, 1), (1, 2), (2, 2)])
def test_no_unit_moves_a_margin_further_than_claimed(how, groups, rows):
    counted = tabulated(Unit("person", neighbours=how, groups=groups, rows=rows))
    can = list(vectors(groups, rows))
    others = can if how == "replace" else [np.zeros((2, 4), np.int64)]
    for level, axes in itertools.product(range(3), ((0,), (1,))):
        moved, merged = counted.moved(level, axes=axes)
        one, other = (
            np.array([margin_of(LEAVES.sums(x)[level], (2, 2), axes).ravel() for x in some]) for some in (can, others)
        )
        off = np.abs(one[:, None] - other[None])
        assert off.sum(axis=2).max() <= moved.l1
        assert (off**2).sum(axis=2).max() <= moved.l2_squared
        assert merged == (groups > 1)


def test_the_sensitivity_of_cells_would_be_wrong_for_a_margin():
    """The mutant: at the leaves a margin is charged as the cells are, though two of a person's cells merge in it."""
    counted = tabulated(Unit("person", groups=2, rows=1))
    cells, _ = counted.moved(2)
    both = np.array([[1, 1, 0, 0], [0, 0, 0, 0]])  # one sex, two races
    moved = margin_of(both, (2, 2), (0,))
    assert (moved**2).sum() > cells.l2_squared
    assert (moved**2).sum() <= counted.moved(2, axes=(0,))[0].l2_squared


def test_half_the_noise_of_a_margin_costs_more(curator):
    plan = asked(curator).plan(epsilon=1).plan
    first = plan.measures[0]
    assert first.axes is not None
    dear = replace(first, noise=type(first.noise)(first.noise.scale / 2))
    assert replace(plan, measures=(dear, *plan.measures[1:])).charge.amount > plan.charge.amount
