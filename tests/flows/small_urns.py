"""Laws of small urns, worked out over every outcome."""

import itertools
import math
from fractions import Fraction

from discreet.flows.commuting.prior import UNIT


def outcomes(draws, cells):
    """Every way so many draws can fall into so many cells."""
    for bars in itertools.combinations(range(draws + cells - 1), cells - 1):
        edges = [-1, *bars, draws + cells - 1]
        yield tuple(b - a - 1 for a, b in itertools.pairwise(edges))


def rising(start, count):
    """start (start + 1) ... of `count` factors, exactly."""
    return math.prod((start + step for step in range(count)), start=Fraction(1))


def mass(counts, weights):
    """The Dirichlet-multinomial probability of counts, as a fraction: what the urn is to follow."""
    ways = Fraction(math.factorial(sum(counts)), math.prod(map(math.factorial, counts)))
    return (
        ways * math.prod(rising(w, c) for w, c in zip(weights, counts, strict=True)) / rising(sum(weights), sum(counts))
    )


def law(workers, prior, draws):
    """All outcomes of an urn with these workers and `prior` units in every cell, with their probabilities."""
    weights = [n + Fraction(prior, UNIT) for n in workers]
    return {counts: mass(counts, weights) for counts in outcomes(draws, len(workers))}


def moves(workers):
    """Every urn that differs by one worker who moved."""
    for start, end in itertools.permutations(range(len(workers)), 2):
        if workers[start]:
            moved = list(workers)
            moved[start] -= 1
            moved[end] += 1
            yield tuple(moved)


# Pure priors.


def worst(size, cells, prior, seen=None):
    """The largest logarithm of a likelihood ratio between neighbours, over all urns and all outcomes."""
    found = 0.0
    for workers in outcomes(size, cells):
        first = law(workers, prior, size)
        for other in moves(workers):
            second = law(other, prior, size)
            found = max(found, *(math.log(first[case] / second[case]) for case in first))
    return found
