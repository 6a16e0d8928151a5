"""The tables of costs that the exact method could be solved by: those of a class, and of any small tree."""

import itertools

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.trees.exact import exact
from discreet.trees.measurement import Level, Measurement
from discreet.trees.release import TreeRelease
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy


def release_of(tree, noisy, rules=None, cells=1):
    """A release of noisy counts, a list for each level."""
    tables = [np.array(values, np.int64).reshape(-1, cells) for values in noisy]
    measured = Measurement(tree, tuple(Level(counts, Laplace(1)) for counts in tables))
    head = dict.fromkeys(("id", "dataset", "cost", "remaining", "mechanism", "digest"), "x")
    by = (("sex", ("f", "m")),) if cells == 2 else ()
    known = rules or Rules()
    found = exact(measured, known)
    more = {"confidence": 0.95, "by": by, "cumulative": False, "method": "exact", "rules": known}
    return TreeRelease(**head, **more, measured=measured, _published=found)


STATES = Hierarchy.from_columns({"state": ["Georgia", "Michigan"]}, root="US")


def test_the_example_of_a_class():
    """Noisy 2 in Georgia, -1 in Michigan and 2 in the US: nothing beats 2, 0 and 2, at a cost of 1."""
    release = release_of(STATES, [[2], [2, -1]])
    georgia, michigan, us = (release.explain_cost(name) for name in ("Georgia", "Michigan", "US"))
    assert (georgia.best, michigan.best, us.best) == (2, 0, 2)
    assert (georgia.chosen, michigan.chosen, us.chosen) == (2, 0, 2)
    assert us.cost == 1
    assert georgia.costs[:4] == (4, 1, 0, 1)
    assert michigan.costs[:3] == (1, 4, 9)
    assert us.below[:4] == (5, 2, 1, 2)
    assert us.own[:4] == (4, 1, 0, 1)
    assert "Least cost 1 at 2; 2 in the optimum of all regions." in repr(us)
    assert us.to_dict()["table"]["cost"][2] == 1


def test_tables_agree_with_every_combination_there_is():
    tree = Hierarchy.from_columns({"state": ["A", "A", "B", "B", "B"], "county": ["a", "b", "c", "d", "e"]}, root="all")
    random = np.random.default_rng(5)
    for _ in range(3):
        noisy = [random.integers(-2, 6, size) for size in tree.sizes]
        release = release_of(tree, noisy)
        for place, code in ((1, "B"), (0, "all")):
            table = release.explain_cost(code)
            chosen = [2, 3, 4] if place else [0, 1, 2, 3, 4]
            least = {}
            for leaves in itertools.product(range(5), repeat=len(chosen)):
                whole = np.zeros(5, int)
                whole[chosen] = leaves
                sums = tree.sums(whole[:, None])
                cost = int(((whole - noisy[2])[chosen] ** 2).sum())
                cost += (
                    int(((sums[1][:, 0] - noisy[1]) ** 2).sum())
                    if not place
                    else int((sums[1][1, 0] - noisy[1][1]) ** 2)
                )
                cost += 0 if place else int((sums[0][0, 0] - noisy[0][0]) ** 2)
                least[sum(leaves)] = min(cost, least.get(sum(leaves), cost))
            costs = dict(zip(table.counts, table.costs, strict=True))
            assert all(costs[count] == least[count] for count in range(5))
        assert table.best == table.chosen == release.estimate.counts[0][0, 0]


def test_rules_and_cells_are_kept():
    release = release_of(STATES, [[9], [2, -1]], Rules(lower={"state": [3, 1]}))
    assert release.explain_cost("Georgia").counts[0] == 3
    assert release.explain_cost("US").counts[0] == 4
    two = release_of(STATES, [[2, 5], [2, 5, -1, 0]], cells=2)
    assert two.explain_cost("US", cells={"sex": "m"}).noisy == 5
    with pytest.raises(InputError, match="sex"):
        two.explain_cost("US")


@pytest.mark.parametrize(
    ("region", "level", "field"), [("Ohio", None, "region"), ("US", "state", "region"), ("US", "x", "level")]
)
def test_regions_that_are_not_there_are_refused(region, level, field):
    with pytest.raises(InputError) as caught:
        release_of(STATES, [[2], [2, -1]]).explain_cost(region, level=level)
    assert caught.value.field == field


def test_tables_that_nobody_could_read_are_refused():
    with pytest.raises(InputError, match="at most 10,000"):
        release_of(STATES, [[2], [20_000, -1]]).explain_cost("US")
