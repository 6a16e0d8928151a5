"""Units of large sums: round, far below the noise, and no hindrance to public rules."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import Gaussian, Laplace
from discreet.trees.grain import coarse_noise, coarse_rules, coarse_values, rules_in_steps, step_for, unit_for
from discreet.trees.measurement import Level, Measurement
from discreet.trees.methods import publish_counts
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_prefixes(["a1", "a2", "b1"], {"state": 1, "county": 2})


@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 64), Fraction(16)])
@pytest.mark.parametrize("deviation", [0.0, 0.5, 31.0, 33.0, 1e4, 1e9])
def test_a_unit_is_a_multiple_of_the_step_and_far_below_the_noise(step, deviation):
    unit = unit_for(step, deviation)
    assert (unit / step).denominator == 1
    assert step_for(step, unit) in (step, 1)
    assert unit == step or unit <= deviation * step / 32
    assert 320 * unit >= deviation * step or deviation < 64  # and not much finer than need be


def test_coarse_noise_is_as_wide_and_coarse_values_are_the_nearest():
    assert coarse_values(np.array([-51, -50, -49, 49, 50, 149]), 100).tolist() == [-1, 0, 0, 0, 1, 1]
    assert coarse_noise(Laplace(7), 1) == Laplace(7)
    for noise in (Laplace(Fraction(100_003, 7)), Gaussian(Fraction(100_003, 7))):
        assert math.isclose(coarse_noise(noise, 100).variance * 100**2, noise.variance, rel_tol=1e-3)


def test_rules_in_steps_are_as_they_were_given():
    rules = rules_in_steps(
        Rules(lower={"a": [5, 10]}, upper={"a": [19, 2**53]}, totals={"a": [-1, 40]}), Fraction(1, 4)
    )
    assert (rules.lower["a"].tolist(), rules.upper["a"].tolist()) == ([20, 40], [76, 2**53])
    assert rules.totals["a"].tolist() == [-1, 160]
    with pytest.raises(InputError, match="multiple of 16"):
        rules_in_steps(Rules(totals={"a": [40]}), Fraction(16))


def test_coarse_rules_are_no_tighter_and_totals_add_up():
    rules = Rules(
        lower={"county": np.array([[15], [0], [0]])},
        upper={"county": np.array([[19], [2**53], [0]])},
        totals={"county": [16, 16, 0], "state": [32, -1], "all": [32]},
    )
    near = coarse_rules(rules, TREE, 1, 10)
    assert near.lower["county"].ravel().tolist() == [1, 0, 0]
    assert near.upper["county"].ravel().tolist() == [2, 2**53, 0]
    assert {name: totals.tolist() for name, totals in near.totals.items()} == {
        "county": [2, 2, 0],
        "state": [4, -1],
        "all": [4],
    }


def test_totals_that_meet_no_bounds_in_units_are_left_to_the_end():
    rules = Rules(upper={"state": np.array([[30], [100]])}, totals={"county": [15, 15, 50]})
    assert coarse_rules(rules, TREE, 1, 10).totals == {}


def test_sums_beyond_what_floats_tell_apart_are_not_cut():
    true, step = np.array([[3 * 10**16], [5], [2 * 10**17]]), 10**9
    levels = [Level(), Level(), Level(true + step, Laplace(10**12))]
    measured = Measurement(TREE, tuple(levels))
    for method in ("bayes", "topdown", "exact"):
        found = publish_counts(method, measured, Rules(), 0.999999999, 10**10)
        assert found is not None
        assert (abs(found.counts[-1] - true) < 10**14).all()
        assert (found.each.lower[-1] <= true).all()
        assert (true <= found.each.upper[-1]).all()
        assert (found.typical.upper[-1] >= found.counts[-1]).all()
