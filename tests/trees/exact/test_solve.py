"""The exact method against everything there is to try, against SCIP, and against itself broken on purpose."""

import numpy as np
import pytest
from exact_problems import problems, wide

from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.replay import Replay
from discreet.trees.exact import breakpoints
from discreet.trees.exact import solve as module
from discreet.trees.exact.certificate import faults
from discreet.trees.exact.solve import exact, solve, whole_weights
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import NO_BOUND, Rules
from discreet.trees.tree import Hierarchy
from small_trees import cost, flat, least_cost, planted, small_table, small_tree


def uneven(seed, count):
    """Problems in which rounding often misses the optimum: weights differ by much."""
    numbers = np.random.default_rng(seed)
    for _ in range(count):
        tree = small_tree(numbers, leaves=8, inner=2)
        table = small_table(numbers, tree, 1)
        weights = {name: numbers.integers(1, 200, (size, 1)) for name, size in zip(tree.names, tree.sizes, strict=True)}
        yield planted(table, Rules(weights=weights))


def test_no_allowed_counts_cost_less():
    for table, rules, forest in problems(1, 250):
        found = exact(table, rules)
        assert found.notes[0] == "optimal: certificate holds"
        bounds = rules.bounds(table.tree, table.cells)
        for level, x in enumerate(found.counts):
            assert ((bounds.lower[level] <= x) & (x <= bounds.upper[level])).all()
        if bounds.totals[0] is not None and bounds.totals[0][0] >= 0:
            assert found.totals[0].tolist() == bounds.totals[0].tolist()
        assert cost(forest, flat(forest, found.counts)) == least_cost(forest)


def far_from_real():
    """Ten states that would have 0.4 people each and get none, so the eleventh gets four more than the real optimum."""
    tree = Hierarchy.from_levels({"state": list("abcdefghijk"), "block": [f"{state}1" for state in "abcdefghijk"]})
    noise = Laplace(1)
    states, blocks = [[[1]] * 10 + [[6]], [[0]] * 10 + [[6]]]
    table = Measurement(tree, tuple(Level(np.array(level), noise) for level in ([[10]], states, blocks)))
    return planted(table, Rules(weights={"all": 10**6, "state": [80] * 10 + [1], "block": [120] * 10 + [1]}))


def test_rounding_and_a_window_without_the_certificate_are_caught():
    """The mutants: rounding what is real, and taking the first window on trust. The same comparison catches both."""
    wrong = {"rounded": 0, "one window": 0, "exact": 0}
    for forest in [far_from_real(), *uneven(2, 200)]:
        best = least_cost(forest)
        real = breakpoints.continuous(forest)
        leaves = np.rint(real[-1]).astype(np.int64)
        rounded = [leaves]
        for level in range(forest.depth - 2, -1, -1):
            rounded.insert(0, np.add.reduceat(rounded[0], forest.edges(level)[:-1]))
        window = module._around(forest, [np.floor(x).astype(np.int64) for x in real], 0, 1)
        for name, found in (("rounded", rounded), ("one window", window), ("exact", solve(forest))):
            wrong[name] += cost(forest, found) != best
            assert (cost(forest, found) == best) == (faults(forest, found) == 0), name
    assert wrong["rounded"] > 20
    assert wrong["one window"] > 0
    assert wrong["exact"] == 0


def test_a_bad_guess_changes_nothing_but_the_time(monkeypatch):
    """Nothing rests on the floats: from the lower bounds, or from far above, the same cost is reached."""
    for _, _, forest in problems(4, 25):
        best = cost(forest, solve(forest))
        for shift in (0.0, 40.0):
            monkeypatch.setattr(module, "continuous", lambda forest: [x + shift for x in forest.lower])  # noqa: B023
            found = solve(forest)
            monkeypatch.undo()
            assert cost(forest, found) == best


def test_scip_agrees():
    scip = pytest.importorskip("pyscipopt")
    for _, _, forest in problems(5, 24, leaves=14, inner=3):
        model = scip.Model()
        model.hideOutput()
        levels, squares = [], []
        for level in range(forest.depth):
            parts = zip(*(p[level] for p in (forest.targets, forest.weights, forest.lower, forest.upper)), strict=True)
            here = []
            for y, w, low, high in parts:
                x = model.addVar(vtype="I", lb=int(low), ub=None if high >= NO_BOUND else int(high))
                here.append(x)
                squares.append(int(w) * (x - int(y)) * (x - int(y)))
            for region, x in enumerate(levels[-1] if levels else []):
                children = np.flatnonzero(forest.parents[level] == region)
                model.addCons(scip.quicksum(here[child] for child in children) == x)
            levels.append(here)
        total = model.addVar(lb=0)
        model.addCons(total >= scip.quicksum(squares))
        model.setObjective(total)
        model.optimize()
        assert model.getStatus() == "optimal"
        assert cost(forest, solve(forest)) == round(model.getObjVal())


def test_large_trees_are_solved_and_certified_whatever_the_blocks(monkeypatch):
    table = wide(20_000, 2, 6, cells=2)
    found = exact(table, Rules(totals={"all": [70_000]}, upper={"level 5": 40}))
    assert found.totals[0].tolist() == [70_000]
    for level in range(table.tree.depth - 1):
        assert (table.tree.add(level, found.counts[level + 1]) == found.counts[level]).all()
    assert all((x >= 0).all() for x in found.counts)
    assert found.counts[-1].max() <= 40


def test_a_hundred_thousand_children_of_one_parent():
    tree = Hierarchy.from_levels({"block": [f"{i:06d}" for i in range(100_000)]})
    noise = Laplace(5)
    leaves = noise.release(np.ones(100_000, np.int64), bits=Replay(b"one parent"))[:, None]
    found = exact(Measurement(tree, (Level(np.array([[100_000]]), noise), Level(leaves, noise))))
    assert found.counts[0].sum() == found.counts[1].sum()
    assert found.counts[1].min() == 0


def test_one_region():
    tree = Hierarchy.from_levels({"block": ["1"]})
    found = exact(Measurement(tree, (Level(np.array([[5]]), Laplace(1)), Level(np.array([[-3]]), Laplace(1)))))
    assert [x.tolist() for x in found.counts] == [[[1]], [[1]]]


def test_weights_follow_the_noise():
    tree = Hierarchy.from_levels({"state": ["1"], "block": ["11", "12"]})
    zeros = [np.zeros((size, 1), np.int64) for size in tree.sizes]

    def weights(*noise):
        levels = [Level(x, n) if n else Level() for x, n in zip(zeros, noise, strict=True)]
        return whole_weights(Measurement(tree, tuple(levels)))

    assert weights(Laplace(8), Laplace(8), Laplace(8)) == (1, 1, 1)
    assert weights(None, Gaussian(4), Gaussian(4)) == (0, 1, 1)
    assert weights(Gaussian(20), None, Gaussian(10)) == (1, 0, 4)
    fine = weights(Gaussian(30), Gaussian(20), Gaussian(10))
    assert fine[1] / fine[0] == pytest.approx(9 / 4, rel=2e-3)
    assert fine[2] / fine[0] == pytest.approx(9, rel=2e-3)
    assert weights(Gaussian(10**7), Gaussian(1), Gaussian(1))[2] == 2**20


def test_what_was_not_used_is_said():
    tree = Hierarchy.from_levels({"block": ["1", "2"]})
    noise = Laplace(2)
    levels = (Level(totals=np.array([3]), totals_noise=noise), Level(np.array([[3, 1], [1, 1]]), noise))
    notes = exact(Measurement(tree, levels, chain=True)).notes
    assert any("totals" in note for note in notes)
    assert any("order" in note for note in notes)
