"""Public totals that cross the cells: against everything there is to try, and against a window never widened."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.trees.exact import flow
from discreet.trees.exact.solve import exact, whole_weights
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy
from small_trees import least_crossing_cost, small_rules, small_table, small_tree

MOST = 3


def problems(seed, count):
    """Random small problems with totals of regions; whether they can be met is left open."""
    numbers = np.random.default_rng(seed)
    while count:
        tree, cells = small_tree(numbers, leaves=4, inner=1), int(numbers.integers(1, 3))
        table = small_table(numbers, tree, cells)
        rules = small_rules(numbers, tree, cells, totals="everywhere", most=MOST)
        try:
            bounds = rules.bounds(tree, cells)
        except InputError:
            continue
        if any(known is not None and (known >= 0).any() for known in bounds.totals[1:]):
            count -= 1
            yield table, rules, bounds


def paid(table, rules, counts):
    weights = rules.level_weights(table.tree, table.cells, whole_weights(table))
    asked = [(w, x, level.counts) for w, x, level in zip(weights, counts, table.levels, strict=True)]
    return sum(int((w * (x - y) ** 2).sum()) for w, x, y in asked if y is not None)


def test_no_allowed_counts_cost_less():
    solved = refused = 0
    for table, rules, bounds in problems(1, 75):
        best = least_crossing_cost(table, rules, MOST)
        if best is None:
            with pytest.raises(InputError, match="can all hold at once"):
                exact(table, rules)
            refused += 1
            continue
        found = exact(table, rules)
        for level, x in enumerate(found.counts):
            assert ((bounds.lower[level] <= x) & (x <= bounds.upper[level])).all()
            known = bounds.totals[level]
            assert known is None or ((known < 0) | (x.sum(axis=1) == known)).all()
        assert paid(table, rules, found.counts) == best
        solved += 1
    assert solved > 55
    assert refused > 0


def test_a_window_never_widened_is_caught(monkeypatch):
    """The mutant trusts a poor guess: no certificate. The same comparison finds it out."""
    monkeypatch.setattr(flow._Network, "faults", lambda *_: 0)
    monkeypatch.setattr(flow, "_SWEEPS", 1)
    wrong = 0
    for table, rules, _ in problems(2, 80):
        best = least_crossing_cost(table, rules, MOST)
        if best is not None:
            wrong += paid(table, rules, exact(table, rules).counts) != best
    assert wrong > 1


def test_a_poor_guess_changes_nothing_but_the_time(monkeypatch):
    monkeypatch.setattr(flow, "_SWEEPS", 1)
    for table, rules, _ in problems(3, 40):
        best = least_crossing_cost(table, rules, MOST)
        if best is not None:
            assert paid(table, rules, exact(table, rules).counts) == best


def test_totals_of_many_regions():
    numbers = np.random.default_rng(4)
    tree = Hierarchy.from_prefixes([f"{i:03d}" for i in range(400)], {"state": 1, "county": 2, "block": 3})
    truth = tree.sums(numbers.poisson(numbers.gamma(0.5, 8, (400, 5))))
    noise = Laplace(6)
    bits = Replay(b"many")  # the same table every time
    table = Measurement(
        tree, tuple(Level(noise.release(x.reshape(-1), bits=bits).reshape(x.shape), noise) for x in truth)
    )
    public = {name: x.sum(axis=1) for name, x in zip(tree.names, truth, strict=True) if name != "county"}
    found = exact(table, Rules(totals=public, upper={"block": 60}))
    for level, name in enumerate(tree.names):
        if name in public:
            assert (found.totals[level] == public[name]).all()
    assert (found.counts[-1] >= 0).all()
    free = exact(table, Rules(upper={"block": 60}))
    assert paid(table, Rules(), free.counts) < paid(table, Rules(), found.counts)
    assert found.notes[0] == "optimal: certificate holds"


def test_totals_that_contradict_each_other_through_bounds_are_refused():
    tree = Hierarchy.from_levels({"state": ["1", "2"], "block": ["11", "21"]})
    noise = Laplace(1)
    table = Measurement(tree, (Level(), Level(), Level(np.zeros((2, 2), np.int64), noise)))
    rules = Rules(totals={"state": [4, 4]}, upper={"all": [[3, 9]], "block": [[9, 1], [9, 9]]})
    with pytest.raises(InputError, match="can all hold at once"):
        exact(
            table,
            Rules(
                totals={"state": [4, 4]}, upper={"all": [[3, 9]], "block": [[9, 1], [0, 9]], "state": [[9, 0], [9, 9]]}
            ),
        )
    assert exact(table, rules).totals[1].tolist() == [4, 4]
