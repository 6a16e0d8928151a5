"""Random small hierarchies with every kind of rule, and their optimum by trying everything: for comparison only."""

from itertools import product

import numpy as np

from discreet.mechanisms import Laplace
from discreet.trees.exact.forest import Forest
from discreet.trees.exact.solve import whole_weights
from discreet.trees.measurement import Level, Measurement
from discreet.trees.rules import Rules
from discreet.trees.tree import Hierarchy


def small_tree(numbers, *, leaves: int, inner: int) -> Hierarchy:
    """A tree of at most `inner` levels between root and leaves."""
    paths = [""] * int(numbers.integers(1, leaves + 1))
    columns = {}
    for level in range(int(numbers.integers(0, inner + 1))):
        paths = [path + str(numbers.integers(0, 3)) for path in paths]
        columns[f"level {level}"] = paths
    return Hierarchy.from_columns({**columns, "leaf": [f"{path}-{i}" for i, path in enumerate(paths)]})


def small_table(numbers, tree: Hierarchy, cells: int) -> Measurement:
    """Noisy counts near zero; some levels were not asked."""
    levels = []
    for size in tree.sizes:
        asked = len(levels) == tree.depth - 1 or numbers.random() < 0.8
        levels.append(Level(numbers.integers(-4, 9, (size, cells)), Laplace(1)) if asked else Level())
    return Measurement(tree, tuple(levels))


def small_rules(numbers, tree: Hierarchy, cells: int, *, totals: str, most: int | None = None) -> Rules:
    """Some bounds, zeros and weights; public totals "never", at the "root" or "everywhere"."""
    lower, upper, weights, public = {}, {}, {}, {}
    for level, (name, size) in enumerate(zip(tree.names, tree.sizes, strict=True)):
        if numbers.random() < 0.3:
            lower[name] = numbers.integers(0, 3, (size, cells))
        if numbers.random() < 0.3:
            upper[name] = numbers.integers(0, 7, (size, cells))
        if numbers.random() < 0.7:
            weights[name] = numbers.integers(numbers.integers(0, 2), numbers.choice([2, 8, 100]), (size, cells))
        if (totals == "everywhere" and numbers.random() < 0.6) or (
            totals == "root" and not level and numbers.random() < 0.5
        ):
            public[name] = np.where(
                numbers.random(size) < 0.6, numbers.integers(0, 4 * 2 ** (tree.depth - level), size), -1
            )
    if most is not None:
        upper[tree.names[-1]] = numbers.integers(0, most + 1, (tree.leaves, cells))
    return Rules(lower=lower, upper=upper, weights=weights, totals=public)


def planted(measured: Measurement, rules: Rules) -> Forest:
    """The problem `exact` solves, laid flat; public totals of regions are left out."""
    tree, cells = measured.tree, measured.cells
    weights = rules.level_weights(tree, cells, whole_weights(measured))
    return Forest.plant(tree, tuple(level.counts for level in measured.levels), weights, rules.bounds(tree, cells))


def flat(forest: Forest, counts) -> list[np.ndarray]:
    """Counts of (regions, cells), laid flat."""
    found = [level.T.reshape(-1) for level in counts]
    return [forest.lower[0], *found] if forest.depth > len(found) else found


def cost(forest: Forest, counts) -> int:
    """Weighted squares, in Python's own integers."""
    return sum(
        int(w) * (int(x) - int(y)) ** 2
        for level in range(forest.depth)
        for x, y, w in zip(counts[level], forest.targets[level], forest.weights[level], strict=True)
    )


def least_cost(forest: Forest, most: int = 45) -> int | None:
    """The optimum by complete tables of cost: every region at every count up to `most`. None if nothing is allowed."""
    x = np.arange(most + 1)
    rest = x[:, None] - x
    tables: list[np.ndarray] = []
    for level in range(forest.depth - 1, -1, -1):
        here = []
        for region in range(forest.size(level)):
            table = np.zeros(most + 1)
            if level < forest.depth - 1:
                table[1:] = np.inf
                for child in np.flatnonzero(forest.parents[level + 1] == region):
                    table = np.where(rest >= 0, table + tables[child][rest], np.inf).min(axis=1)
            y, w, low, high = (
                int(part[level][region]) for part in (forest.targets, forest.weights, forest.lower, forest.upper)
            )
            here.append(np.where((low <= x) & (x <= high), table + w * (x - y) ** 2, np.inf))
        tables = here
    best = sum(table.min() for table in tables)
    return None if np.isinf(best) else int(best)


def least_crossing_cost(measured: Measurement, rules: Rules, most: int) -> int | None:
    """The optimum with public totals anywhere: tables over all cells at once. None if nothing is allowed."""
    tree, cells = measured.tree, measured.cells
    bounds, weights = rules.bounds(tree, cells), rules.level_weights(tree, cells, whole_weights(measured))

    def own(level, region, x):
        total = bounds.totals[level]
        if total is not None and total[region] >= 0 and sum(x) != total[region]:
            return None
        if any(not bounds.lower[level][region, c] <= x[c] <= bounds.upper[level][region, c] for c in range(cells)):
            return None
        y = measured.levels[level].counts
        return (
            0
            if y is None
            else sum(int(weights[level][region, c]) * (x[c] - int(y[region, c])) ** 2 for c in range(cells))
        )

    def table(level, region):
        if level == tree.depth - 1:
            sums = dict.fromkeys(product(range(most + 1), repeat=cells), 0)
        else:
            sums = {(0,) * cells: 0}
            for child in np.flatnonzero(tree.parents[level + 1] == region):
                below, found = table(level + 1, child), {}
                for x, here in sums.items():
                    for z, there in below.items():
                        both = tuple(a + b for a, b in zip(x, z, strict=True))
                        found[both] = min(found.get(both, here + there), here + there)
                sums = found
        priced = ((x, there, own(level, region, x)) for x, there in sums.items())
        return {x: there + here for x, there, here in priced if here is not None}

    return min(table(0, 0).values(), default=None)
