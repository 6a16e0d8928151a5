"""Problems laid flat: numbers too large for exact arithmetic are refused."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.trees.exact.certificate import faults
from discreet.trees.exact.forest import Forest
from discreet.trees.exact.solve import solve
from discreet.trees.rules import NO_BOUND
from small_trees import cost


def test_large_counts_are_exact_and_larger_ones_refused():
    forest = Forest(
        (np.zeros(0, np.int64), np.zeros(3, np.int64)),
        (np.array([2**50]), np.array([2**48 + 1, 2**49, -(2**47)])),
        (np.array([3]), np.array([5, 7, 2])),
        (np.array([0]), np.zeros(3, np.int64)),
        (np.array([NO_BOUND]), np.full(3, NO_BOUND)),
    )
    found = solve(forest)
    assert faults(forest, found) == 0
    for moved in ([1, -1, 0], [0, 1, -1], [1, 0, 0], [-1, 0, 0], [0, 0, 1]):
        leaves = found[1] + np.array(moved)
        if (leaves >= 0).all():
            assert cost(forest, [leaves.sum(keepdims=True), leaves]) >= cost(forest, found)
    with pytest.raises(InputError, match="`weights` must be"):
        solve(replace(forest, weights=(np.array([3]), np.array([5, 2**12, 2]))))
