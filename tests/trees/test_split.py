"""Shares of the price: exact, complete, and the best ones where that is asked."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.gls import gls
from discreet.trees.measurement import Level, Measurement
from discreet.trees.split import GOAL, Goal, Shape, sparse_splits, split
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_prefixes(
    [f"{a}{b}{c}" for a in "ab" for b in "xyz" for c in "0123456"[: 3 + ord(b) - 119]],
    {"state": 1, "county": 2, "block": 3},
)
WAYS = ["auto", "equal", "leaves", "accurate", {"block": 2, "county": 0.1}]


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("cells", [1, 5])
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_shares_are_fractions_that_add_up_to_one_and_ask_for_the_leaves(how, cells, kind):
    shares = split(TREE, cells, how, kind=kind)
    assert all(isinstance(share, Fraction) and share > 0 for share in shares.values())
    assert sum(shares.values()) == 1
    assert (TREE.depth - 1, False) in shares
    assert cells > 1 or not any(totals for _, totals in shares)


def test_auto_gives_totals_their_part_and_the_root_a_little():
    shares = split(TREE, 4, "auto")
    assert sum(shares.values()) == 1
    last = TREE.depth - 1
    assert (shares[0, False], shares[0, True]) == (Fraction(1, 40), Fraction(3, 100))
    for level in range(1, TREE.depth):
        whole = shares[level, False] + shares[level, True]
        assert whole == Fraction(945, 1000) / last
        assert shares[level, True] / whole == (Fraction(33, 100) if level == last else Fraction(19, 100))


def test_where_counts_are_small_the_leaves_totals_get_more_and_the_first_question_is_the_same():
    usual, last = split(TREE, 4, "auto"), TREE.depth - 1
    others = sparse_splits(TREE, 4, "auto", None)
    limits = [limit for limit, _ in others]
    assert limits == sorted(limits)
    for _, shares in others:
        assert sum(shares.values()) == 1
        assert set(shares) == set(usual)
        assert shares[0, True] == usual[0, True]
        assert shares[last, True] > usual[last, True]
        # Other levels pay next to nothing for it: what is moved is the leaves' own.
        assert all(shares[level, False] >= usual[level, False] * Fraction(49, 50) for level in range(last))
    assert others[0][1][last, True] > others[1][1][last, True]


@pytest.mark.parametrize(("how", "cells", "totals"), [("equal", 4, None), ("auto", 1, None), ("auto", 4, 0)])
def test_other_splits_have_one_way(how, cells, totals):
    assert sparse_splits(TREE, cells, how, totals) == []


def test_weights_are_taken_as_written():
    shares = split(TREE, 1, {"block": 0.3, "state": 0.1})
    assert shares == {(1, False): Fraction(1, 4), (3, False): Fraction(3, 4)}


def test_a_chain_has_no_totals():
    assert not any(totals for _, totals in split(TREE, 9, totals=0))
    assert any(totals for _, totals in split(TREE, 9))


def test_variances_of_the_shape_are_those_of_the_estimate():
    shares = split(TREE, 3, "auto")
    levels = tuple(
        Level(
            np.zeros((size, 3), np.int64),
            Laplace(1000 / shares[level, False]),
            np.zeros(size, np.int64),
            Laplace(1000 / shares[level, True]),
        )
        for level, size in enumerate(TREE.sizes)
    )
    found = gls(Measurement(TREE, levels))
    cells, totals = Shape.of(TREE).cells_and_totals(3, "laplace", shares)
    for level in range(TREE.depth):
        many = TREE.children(level - 1) if level == TREE.depth - 1 else np.ones(TREE.sizes[level], int)
        np.testing.assert_allclose(found.variance[level], 1e6 * np.repeat(cells[level], many), rtol=1e-5)
        np.testing.assert_allclose(found.total_variance[level], 1e6 * np.repeat(totals[level], many), rtol=1e-5)


def error(shares, cells, kind, goal):
    shape = Shape.of(TREE)
    of_cells, of_totals = shape.cells_and_totals(cells, kind, shares)
    whole = 0.0
    for weight, number, size, cell, total in zip(
        goal.of_levels(TREE), shape.numbers, shape.sizes, of_cells, of_totals, strict=True
    ):
        for name, variance in (("cells", cell), ("totals", total / cells)):
            if goal.of in (name, "both"):
                each = variance if goal.error == "variance" else np.sqrt(variance) / size
                whole += weight * np.average(each, weights=number)
    return whole


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    "goal", [Goal(), Goal("relative"), Goal(of="totals"), Goal(of="cells", weights={"block": 0, "county": 5})], ids=str
)
def test_accurate_shares_are_not_beaten_by_others(goal, kind):
    best = error(split(TREE, 4, "accurate", kind=kind, goal=goal), 4, kind, goal)
    random = np.random.default_rng(5)
    for how in ("auto", "equal", {"block": 1, "county": 1}):
        assert best <= error(split(TREE, 4, how), 4, kind, goal) * 1.01
    for _ in range(200):
        parts = random.dirichlet(np.full(8, 0.5))
        others = {(place % 4, place >= 4): part for place, part in enumerate(parts)}
        assert best <= error(others, 4, kind, goal) * 1.01


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("split", {"how": "best"}),
        ("split", {"how": {"town": 1}}),
        ("split.block", {"how": {"state": 1}}),
        ("split.state", {"how": {"state": -1, "block": 1}}),
        ("totals", {"totals": 1}),
        ("totals", {"how": "accurate", "totals": 0.2}),
        ("kind", {"kind": "normal"}),
        ("goal", {"goal": Goal()}),
        ("cells", {"cells": 0}),
    ],
)
def test_what_is_not_allowed_is_named(field, asked):
    with pytest.raises(InputError) as caught:
        split(TREE, **{"cells": 3, **asked})
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("goal.error", lambda: Goal("absolute")),
        ("goal.of", lambda: Goal(of="people")),
        ("goal.weights", lambda: Goal(weights={"town": 1}).of_levels(TREE)),
        ("goal.weights.state", lambda: Goal(weights={"state": -1}).of_levels(TREE)),
        ("goal.weights", lambda: Goal(weights=dict.fromkeys(TREE.names, 0)).of_levels(TREE)),
    ],
)
def test_goals_that_are_none_are_named(field, make):
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.field == field


def test_a_goal_is_the_same_in_python_as_json_and_typed():
    goal = Goal("relative", "totals", {"county": 2})
    typed = GOAL.settle(GOAL.parse("relative, totals, county=2"))
    assert (typed.error, typed.of, typed.of_levels(TREE)) == (goal.error, goal.of, goal.of_levels(TREE))
    assert GOAL.settle(GOAL.write(goal)).of_levels(TREE) == goal.of_levels(TREE)
    assert GOAL.write(Goal()) == {"error": "variance", "of": "both"}
    assert GOAL.settle(GOAL.parse('{"of": "cells"}')) == Goal(of="cells")
    assert GOAL.settle(goal) is goal
    assert GOAL.settle("relative, totals, county=2").of_levels(TREE) == goal.of_levels(TREE)


@pytest.mark.parametrize(
    "wrong", ["relatve", "county=", "{", {"errors": "relative"}, {"weights": [1]}, {"error": "absolute"}, 3]
)
def test_goals_that_say_nothing_are_refused(wrong):
    with pytest.raises(InputError, match="goal"):
        GOAL.settle(GOAL.parse(wrong) if isinstance(wrong, str) else wrong)
