"""Public totals that cross cells: what follows from them, and what cannot hold together."""

import pytest

from discreet.errors import InputError
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.topdown.crossing import check_together, known_totals
from discreet.trees.tree import Hierarchy


def test_rules_that_nothing_meets_together_are_refused_beforehand():
    """Both children are fine, and so is their parent: only together they leave its first two cells too much."""
    tree = Hierarchy.from_columns({"region": ["a", "a"], "part": ["0", "1"]})
    upper = {"part": 12}
    possible = Rules(upper=upper, lower={"region": [[14, 15, 0, 0]]}, totals={"part": [5, 40]})
    check_together(tree, possible.bounds(tree, 4))
    impossible = Rules(upper=upper, lower={"region": [[15, 15, 0, 0]]}, totals={"part": [5, 40]})
    with pytest.raises(InputError, match="some table of counts"):
        check_together(tree, impossible.bounds(tree, 4))


def test_known_totals_draw_conclusions_for_cells_and_parents():
    tree = Hierarchy.from_columns({"region": ["a", "a"], "part": ["0", "1"]})
    rules = Rules(upper={"part": [[0, 3], [NO_BOUND, NO_BOUND]]}, totals={"part": [3, 7]})
    known = known_totals(tree, rules.bounds(tree, 2))
    assert known.lower[2].tolist() == [[0, 3], [0, 0]]
    assert known.upper[2].tolist() == [[0, 3], [7, 7]]
    assert known.least[0].tolist() == known.most[0].tolist() == [10]
    assert known.lower[0].tolist() == [[0, 3]]
    assert known.upper[0].tolist() == [[7, 10]]
