"""Windows: the optimum within one is found, and windows that do not fit together are noticed."""

from dataclasses import replace

import numpy as np
from exact_problems import problems

from discreet.trees.exact.window import optimum_within
from small_trees import cost, least_cost


def test_nothing_within_the_windows_costs_less():
    numbers = np.random.default_rng(9)
    solved = 0
    for _, _, forest in problems(9, 60, leaves=5):
        first = [np.maximum(low, numbers.integers(0, 4, len(low))) for low in forest.lower]
        last = [
            np.minimum(high, start + numbers.integers(2, 12, len(start)))
            for high, start in zip(forest.upper, first, strict=True)
        ]
        first = [np.minimum(start, end) for start, end in zip(first, last, strict=True)]
        best = least_cost(replace(forest, lower=tuple(first), upper=tuple(last)))
        found = optimum_within(forest, first, last)
        assert (found is None) == (best is None)
        if found is None:
            continue
        solved += 1
        assert cost(forest, found) == best
        for level in range(forest.depth - 1):
            np.testing.assert_array_equal(np.add.reduceat(found[level + 1], forest.edges(level)[:-1]), found[level])
    assert 10 < solved < 60  # both kinds were tried


def test_windows_that_do_not_fit_together_have_no_optimum():
    forest = next(forest for _, _, forest in problems(10, 20) if forest.depth == 2)
    children = [np.maximum(forest.lower[1], 3), np.maximum(forest.lower[1], 3)]
    below = np.zeros_like(forest.lower[0])
    assert optimum_within(forest, [below, children[0]], [below, children[1]]) is None
