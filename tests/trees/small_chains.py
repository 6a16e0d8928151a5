"""Ordered counts on small trees: noisy ones, what is broken in an estimate, and the optimum by brute force."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

import numpy as np

from discreet.mechanisms import Laplace
from discreet.trees.chain.rules import ChainRules
from discreet.trees.chain.solve import at_least, exact_chain, topdown_chain
from discreet.trees.measurement import Level, Measurement
from discreet.trees.tree import Hierarchy

METHODS = (exact_chain, topdown_chain)


def tree_of(*shape):
    """A tree whose levels have so many regions, children spread evenly."""
    leaves = shape[-1]
    if shape == (1,):
        # A root alone cannot be written as columns of levels.
        return Hierarchy(("all",), (("",),), (np.zeros(0, np.int64),))
    columns = {f"level{i}": [f"{k * size // leaves:04d}" for k in range(leaves)] for i, size in enumerate(shape[1:])}
    return Hierarchy.from_columns(columns)


def chained(tree, *levels, scale=1):
    return Measurement(tree, tuple(Level(np.asarray(level, np.int64), Laplace(scale)) for level in levels), chain=True)


def noisy(tree, cells, chance, scale=4):
    true = tree.sums(at_least(chance.poisson(chance.choice([0.3, 1, 4]), (tree.leaves, cells))))
    return chained(tree, *(level + two_sided(chance, scale, level.shape) for level in true), scale=scale)


def two_sided(chance, scale, shape):
    """Noise like that of the mechanism, the same every time."""
    stop = -np.expm1(-1 / scale)
    return chance.geometric(stop, shape) - chance.geometric(stop, shape)


def faults(estimate):
    """What is broken: rises, negative numbers, sums that do not add up, numbers that are not whole."""
    found = [level.dtype != np.int64 for level in estimate.counts]
    found += [bool((np.diff(level, axis=1) > 0).any() or (level < 0).any()) for level in estimate.counts]
    for level in range(estimate.tree.depth - 1):
        found.append(bool((estimate.tree.add(level, estimate.counts[level + 1]) != estimate.counts[level]).any()))
    return sum(found)


def brute_force(measured, rules, most):
    """The least sum of weighted squares over all ordered whole counts of leaves from 0 to `most` within the rules."""
    problem = ChainRules.read(measured, rules)
    tree, cells = measured.tree, measured.cells
    falling = np.array([c[::-1] for c in combinations_with_replacement(range(most + 1), cells)])
    picks = np.array(list(product(range(len(falling)), repeat=tree.leaves)))
    counts = falling[picks]  # (candidates, leaves, cells)
    costs = np.zeros(len(counts), np.int64)
    for level in range(tree.depth - 1, -1, -1):
        if level < tree.depth - 1:
            counts = np.add.reduceat(counts, tree.starts(level), axis=1)
        lower, upper = problem.boxes[level]
        costs += (problem.weights[level] * (counts - problem.targets[level]) ** 2).sum(axis=(1, 2))
        costs[((counts < lower) | (counts > upper)).any(axis=(1, 2))] = 2**60
    return int(costs.min())


def _spans(tree):
    return [(count, max(tree.leaves // count, 1)) for count in tree.sizes]
