"""Marginals are put together in tables that hold them, none of them too large."""

from __future__ import annotations

import itertools
import math

from discreet.marginals.cover import cover

SIZES = (2, 30, 3, 17, 4, 9)


def test_every_marginal_is_held_once_and_no_table_of_several_is_too_large():
    marginals = [*itertools.combinations(range(6), 2), (0,), (1, 3, 5)]
    for most in (1, 60, 600, 10**6):
        tables = cover(SIZES, marginals, most)
        assert sorted(place for _, places in tables for place in places) == list(range(len(marginals)))
        for columns, places in tables:
            assert columns == tuple(sorted({column for place in places for column in marginals[place]}))
            cells = math.prod(SIZES[column] for column in columns)
            assert cells <= most or columns in [marginals[place] for place in places]
    assert len(cover(SIZES, marginals, 10**6)) == 1
    assert cover(SIZES, [], 10) == []
