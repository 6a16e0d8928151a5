"""The real optimum does not depend on how multipliers are bracketed."""

import numpy as np
import pytest
from exact_problems import wide

from discreet.trees.exact import breakpoints
from discreet.trees.rules import Rules
from small_trees import planted


@pytest.mark.parametrize(("mean", "scale"), [(0.1, 20), (3, 5), (100, 2)])
def test_ranges_of_multipliers_do_not_change_the_real_optimum(mean, scale):
    forest = planted(wide(10_000, mean, scale), Rules())
    everything = breakpoints._within(forest, [np.full(forest.size(i), np.inf) for i in range(forest.depth - 1)])
    for x, y in zip(breakpoints.continuous(forest), everything, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-7, atol=1e-5)
    for level in range(forest.depth - 1):
        sums = np.add.reduceat(everything[level + 1], forest.edges(level)[:-1])
        np.testing.assert_allclose(sums, everything[level], rtol=1e-7, atol=1e-5)
