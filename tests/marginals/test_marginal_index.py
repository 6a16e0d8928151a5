"""The smallest marginal that holds another is found among many, whatever was added before."""

from __future__ import annotations

import itertools
import math

from discreet.marginals.marginal_index import MarginalIndex

SIZES = (2, 7, 3, 5, 4)


def test_the_holder_is_the_smallest_of_those_that_have_all_columns():
    index, added = MarginalIndex(SIZES), []
    every = [columns for many in range(5) for columns in itertools.combinations(range(5), many)]
    for marginal in [(0, 1, 2), (1, 2, 4), (3,), (0, 3, 4), (1, 2)]:
        index.add(marginal)
        added.append(marginal)
        for columns in every:
            holders = [one for one in added if set(columns) <= set(one)]
            cells = [math.prod(SIZES[column] for column in one) for one in holders]
            holder = index.holder(columns)
            if columns in added:
                assert holder == columns
            elif not holders:
                assert holder is None
            else:
                assert holder in holders
                assert math.prod(SIZES[column] for column in holder) == min(cells)


def test_a_copy_goes_its_own_way():
    index = MarginalIndex(SIZES)
    index.add((0, 1))
    other = index.copy()
    other.add((2, 3))
    assert other.holder((2,)) == (2, 3)
    assert index.holder((2,)) is None
    assert other.holder((0,)) == (0, 1)
