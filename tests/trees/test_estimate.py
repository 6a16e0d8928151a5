"""An estimate made of its leaves adds up on every level."""

import numpy as np

from discreet.trees.estimate import Estimate
from discreet.trees.tree import Hierarchy


def test_everything_above_the_leaves_is_their_sum():
    tree = Hierarchy.from_prefixes(["aa", "ab", "ba"], {"state": 1, "county": 2})
    found = Estimate.of_leaves(tree, np.array([[1, 2], [3, 4], [5, 6]]), ("a note",))
    assert [level.tolist() for level in found.counts] == [[[9, 12]], [[4, 6], [5, 6]], [[1, 2], [3, 4], [5, 6]]]
    assert [level.tolist() for level in found.totals] == [[21], [10, 11], [3, 7, 11]]
    assert found.notes == ("a note",)
    assert found.each is found.typical is None
