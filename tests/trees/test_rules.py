"""Rules that cannot hold are found before anything is spent, and the region is named."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_levels({"state": ["1", "2"], "county": ["11", "12", "21"]})


def test_bounds_are_tightened_by_the_levels_below():
    bounds = Rules(lower={"county": [[1], [2], [0]]}, upper={"county": 5, "state": 7}).bounds(TREE, 1)
    assert [level.tolist() for level in bounds.lower] == [[[3]], [[3], [0]], [[1], [2], [0]]]
    assert [level.tolist() for level in bounds.upper] == [[[12]], [[7], [5]], [[5], [5], [5]]]


def test_no_bound_is_no_bound_for_many_children_too():
    tree = Hierarchy.from_levels({"block": [f"{i:05d}" for i in range(10_000)]})
    assert Rules().bounds(tree, 2).upper[0].tolist() == [[NO_BOUND, NO_BOUND]]
    one_free = np.full((10_000, 1), 3)
    one_free[77] = NO_BOUND
    assert Rules(upper={"block": one_free}).bounds(tree, 1).upper[0].tolist() == [[NO_BOUND]]
    large = Rules(upper={"block": NO_BOUND - 1}).bounds(tree, 1)
    assert large.upper[0].tolist() == [[NO_BOUND]]


def test_one_number_a_region_stands_for_all_its_cells():
    bounds = Rules(upper={"county": [1, 2, 3]}).bounds(TREE, 2)
    assert bounds.upper[2].tolist() == [[1, 1], [2, 2], [3, 3]]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (
            Rules(lower={"county": [[4], [4], [0]]}, upper={"state": 7}),
            r"rules of state '1'` .*at least 8 and at most 7",
        ),
        (Rules(lower={"county": 3}, upper={"county": 2}), r"rules of county '11'` .*at least 3 and at most 2"),
        (Rules(lower={"all": 9}, upper={"county": 2}), r"rules of all.*at least 9 and at most 6"),
        (
            Rules(totals={"state": [2, -1]}, lower={"county": 2}),
            r"`rules.totals.state` must be .*from 4 to.*; got 2 for state '1'",
        ),
        (Rules(totals={"all": [7]}, upper={"county": 2}), r"`rules.totals.all` must be .*from 0 to 6.*; got 7 for all"),
        (Rules(totals={"all": [7], "state": [3, 5]}), r"`rules.totals.all` must be .*from 8 to 8.*; got 7 for all"),
        (Rules(totals={"all": [-2]}), r"`rules.totals.all` must be .*; got -2"),
        (Rules(totals={"all": [1, 2]}), r"`rules.totals.all` must be .*; got an array of shape \(2,\)"),
        (Rules(lower={"county": -1}), r"`rules.lower.county` must be .*not negative.*; got -1"),
        (Rules(lower={"county": float("nan")}), r"`rules.lower.county` must be .*whole numbers.*; got nan"),
        (Rules(lower={"county": 0.5}), r"`rules.lower.county` must be .*whole numbers.*; got 0.5"),
        (Rules(lower={"county": "many"}), r"rules.lower.county.*whole numbers"),
        (Rules(upper={"county": [[1], [2, 3]]}), r"`rules.upper.county` must be .*; got a ragged list"),
        (Rules(upper={"county": [1, 2, 3, 4]}), r"rules.upper.county.*broadcasts to \(3, 1\)"),
        (Rules(upper={"county": 2**60}), r"rules.upper.county.*at most"),
        (Rules(lower={"county": NO_BOUND - 1}), r"rules of state '1'` .*below"),
        (Rules(upper={"tract": 1}), r"`rules.upper` must be .*one of all, state, county.*; got 'tract'"),
        (Rules(totals={"tract": [1]}), r"`rules.totals` must be .*; got 'tract'"),
    ],
)
def test_rules_that_cannot_hold_are_refused(rules, message):
    with pytest.raises(InputError, match=message):
        rules.bounds(TREE, 1)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"county": -1}, r"`rules.weights.county` must be .*zero or more.*; got -1"),
        ({"county": [1, 2, -3]}, r"`rules.weights.county` must be .*; got -3"),
        ({"county": float("nan")}, r"`rules.weights.county` must be .*; got nan"),
        ({"county": 0.5}, r"`rules.weights.county` must be .*whole numbers.*; got 0.5"),
        ({"tract": 1}, r"`rules.weights` must be .*; got 'tract'"),
    ],
)
def test_weights_are_whole_and_not_negative(weights, message):
    with pytest.raises(InputError, match=message):
        Rules(weights=weights).level_weights(TREE, 1, (1, 1, 1))


def test_weights_default_to_those_given():
    found = Rules(weights={"state": 3.0}).level_weights(TREE, 2, (1, 2, 4))
    assert [level[0].tolist() for level in found] == [[1, 1], [3, 3], [4, 4]]
