"""A spine for targets: distances are least, and no tree of the candidates is better than the one that is chosen."""

import itertools

import numpy as np
import pytest

from discreet.trees.spine import Spine, distances, optimise
from discreet.trees.targets import Family
from discreet.trees.tree import Hierarchy

TREE = Hierarchy.from_prefixes(
    [f"{a}{b}{c}" for a in "12" for b in "123" for c in "12"], {"county": 1, "tract": 2, "block": 3}
)


def least(tree: Hierarchy, leaves: np.ndarray) -> int:
    """The least number of regions whose sum, with signs, is a set of leaves: by trying."""
    nodes = []
    for level in range(tree.depth):
        at = np.arange(tree.leaves)
        for below in range(tree.depth - 1, level, -1):
            at = tree.parents[below][at]
        nodes += [(at == region).astype(int) for region in range(tree.sizes[level])]
    for many in itertools.count():
        for chosen in itertools.combinations(range(len(nodes)), many):
            for signs in itertools.product((1, -1), repeat=many):
                total = sum(
                    (sign * nodes[one] for sign, one in zip(signs, chosen, strict=True)), np.zeros(len(leaves), int)
                )
                if (total == leaves).all():
                    return many
    raise AssertionError


@pytest.mark.parametrize("seed", range(6))
def test_no_fewer_regions_make_a_target(seed):
    tree = Hierarchy.from_prefixes([f"{a}{b}" for a in "12" for b in "123"], {"county": 1, "block": 2})
    places = np.random.default_rng(seed).integers(-1, 2, tree.leaves)
    found = distances(tree, Family("place", ("a", "b"), places))
    assert found.tolist() == [least(tree, (places == target).astype(int)) for target in (0, 1)]


def family(tree, *targets):
    """Targets by the beginnings of the codes of their leaves."""
    places = [next((i for i, one in enumerate(targets) if code.startswith(one)), -1) for code in tree.codes[-1]]
    return Family("place", tuple(f"p{i}" for i in range(len(targets))), np.array(places))


def test_targets_that_cross_tracts_split_them():
    places = family(TREE, ("111", "12"), ("112", "13"), ("2",))
    found = optimise(TREE, [places])
    assert found.burden < Spine(TREE, (places,), (), sum(TREE.sizes)).burden
    assert distances(found.tree, found.families[0]).mean() < distances(TREE, places).mean()
    assert set(found.tree.codes[-1]) == set(TREE.codes[-1])
    assert "11: p0" in itertools.chain.from_iterable(found.tree.codes)


def test_targets_and_split_levels_keep_their_leaves():
    places = family(TREE, ("111", "12"), ("112", "21"))
    found = optimise(TREE, [places])
    for one, expected in [(found.families[0], {"p0": {"111", "121", "122"}, "p1": {"112", "211", "212"}})]:
        leaves = np.array(found.tree.codes[-1])
        assert {code: set(leaves[one.places == place]) for place, code in enumerate(one.codes)} == expected
    for level in found.split:
        leaves = np.array(found.tree.codes[-1])
        for place, code in enumerate(level.codes):
            assert set(leaves[level.places == place]) == {leaf for leaf in leaves if leaf.startswith(code)}
    assert {*found.tree.names, *(one.name for one in found.split)} >= set(TREE.names)


def test_targets_that_are_regions_leave_the_tree_as_it_is():
    found = optimise(TREE, [family(TREE, ("11",), ("12",), ("13",), ("21",), ("22",), ("23",))])
    assert found.tree.names == TREE.names
    assert found.split == ()


def test_the_spine_follows_from_geography_alone():
    """The same targets and regions, the same tree: nothing else is looked at."""
    places = family(TREE, ("111", "12"), ("112", "13"))
    assert optimise(TREE, [places]).tree.digest == optimise(TREE, [places]).tree.digest
