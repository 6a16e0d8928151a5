"""The baseline: near the optimum, and it does not add up."""

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.trees.exact.solve import exact
from discreet.trees.measurement import Level, Measurement
from discreet.trees.relaxed import relaxed, violations
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy


def table(leaves=1000, cells=2):
    numbers = np.random.default_rng(7)
    digits = len(str(leaves - 1))
    tree = Hierarchy.from_prefixes([f"{i:0{digits}d}" for i in range(leaves)], {"a": 1, "b": digits})
    truth = tree.sums(numbers.poisson(2, (leaves, cells)))
    noise = Laplace(4)
    bits = Replay(b"relaxed")  # the same table every time
    return Measurement(
        tree, tuple(Level(noise.release(x.reshape(-1), bits=bits).reshape(x.shape), noise) for x in truth)
    )


@pytest.mark.parametrize("solver", ["osqp", "clarabel"])
def test_rounding_breaks_sums_and_the_exact_method_none(solver):
    asked = table()
    rules = Rules(totals={"all": [4000]}, upper={"b": 12})
    rounded, best = relaxed(asked, rules, solver=solver, precision=1e-6), exact(asked, rules)
    broken = violations(asked.tree, rounded.counts)
    assert broken > 10
    assert f"{broken:,} counts" in rounded.notes[0]
    assert violations(asked.tree, best.counts) == 0
    # Rounding moves a count by half a person; the whole optimum is as near to the real one.
    for one, two in zip(rounded.counts, best.counts, strict=True):
        assert abs(one - two).max() <= 2
    assert rounded.counts[-1].min() == 0
    assert rounded.counts[-1].max() <= 12


def test_both_solvers_find_the_same():
    asked = table(200)
    rules = Rules(totals={"a": [400, -1]}, weights={"a": 3})
    one, two = (relaxed(asked, rules, solver=solver, precision=1e-8) for solver in ("osqp", "clarabel"))
    differences = sum(int((x != y).sum()) for x, y in zip(one.counts, two.counts, strict=True))
    assert differences <= 3  # a half may be rounded either way
    assert one.totals[1][0] == 400


def test_violations_are_counted():
    tree = Hierarchy.from_levels({"state": ["1", "2"], "block": ["11", "12", "21"]})
    counts = [np.array([[6]]), np.array([[3], [3]]), np.array([[1], [2], [3]])]
    assert violations(tree, tuple(counts)) == 0
    counts[0] = np.array([[7]])
    assert violations(tree, tuple(counts)) == 1
    counts[2] = np.array([[-1], [2], [3]])
    assert violations(tree, tuple(counts)) == 3
    with pytest.raises(InputError, match="counts"):
        violations(tree, tuple(counts[:2]))


def test_what_cannot_be_solved_is_refused():
    asked = table(100)
    with pytest.raises(InputError, match="solver"):
        relaxed(asked, solver="simplex")
    with pytest.raises(InputError, match="precision"):
        relaxed(asked, precision=0.0)
    tree = Hierarchy.from_levels({"state": ["1", "2"], "block": ["11", "21"]})
    small = Measurement(tree, (Level(), Level(), Level(np.zeros((2, 2), np.int64), Laplace(1))))
    impossible = Rules(
        totals={"state": [4, 4]}, upper={"all": [[3, 9]], "state": [[9, 0], [9, 9]], "block": [[9, 1], [0, 9]]}
    )
    for solver in ("osqp", "clarabel"):
        with pytest.raises(InputError, match="can all hold at once"):
            relaxed(small, impossible, solver=solver)
