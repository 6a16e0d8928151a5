"""Problems for the exact method: random small ones, and wide ones."""

import numpy as np

from discreet.errors import InputError
from discreet.mechanisms import Laplace
from discreet.noise.replay import Replay
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy
from small_trees import planted, small_rules, small_table, small_tree


def problems(seed, count, *, leaves=6, inner=2):
    """Random small problems that have a solution."""
    numbers = np.random.default_rng(seed)
    while count:
        tree, cells = small_tree(numbers, leaves=leaves, inner=inner), int(numbers.integers(1, 3))
        table, rules = small_table(numbers, tree, cells), small_rules(numbers, tree, cells, totals="root")
        try:
            forest = planted(table, rules)
        except InputError:
            continue
        count -= 1
        yield table, rules, forest


def wide(leaves, mean, scale, *, seed=6, cells=1):
    """A larger table on a tree with ten children a region."""
    numbers = np.random.default_rng(seed)
    digits = len(str(leaves - 1))
    codes = [f"{i:0{digits}d}" for i in range(leaves)]
    tree = Hierarchy.from_prefixes(codes, {f"level {i}": i for i in range(1, digits + 1)})
    truth = tree.sums(numbers.poisson(numbers.gamma(0.5, 2 * mean, (leaves, cells))))
    noise = Laplace(scale)
    bits = Replay(b"wide")  # the same table every time
    return Measurement(
        tree, tuple(Level(noise.release(x.reshape(-1), bits=bits).reshape(x.shape), noise) for x in truth)
    )
