"""A table that might be the true one: drawn, given what was measured, to try methods out on.

A method's own estimate is a poor stand-in for the truth where counts are small: noise has scattered it, or a method has
smoothed it, and errors measured on it are too small. So the spread of true counts is learned from the noisy ones
by expectation maximisation, and for every region and cell a count is drawn from what is then likely given its own noisy
count; level by level, so that the table adds up. Only noisy values are read: post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import words
from discreet.trees.bayes.prior import climb
from discreet.trees.gls import gls
from discreet.trees.measurement import Measurement
from discreet.trees.rules import Rules
from discreet.trees.topdown.crossing import known_totals
from discreet.trees.topdown.rounding import spread
from discreet.trees.topdown.solve import rows_of
from discreet.trees.topdown.transport import Rows, one_row, transport
from discreet.trees.tree import Hierarchy

__all__ = ["Laws", "Spread", "draw_counts", "draw_table"]

Array = NDArray[np.int64]
Reals = NDArray[np.float64]

_TOTALS, _CELLS = 0.5, 3.0  # how evenly people are spread where noise hides it: shapes of negative binomial laws
_LITTLE = 0.05
_TURNS = 5
_FAR = 30  # standard deviations from which on a noisy count says all there is to know
_STEPS = 30  # of expectation maximisation
_BINS = 16
_SUMMED = 1 << 15  # beyond, a law is cut off: counts this large are not what noise hides
_SMALL, _EMPTY = 10, 0.75  # of 3,687 voting districts of the United States with fewer than 10 people, 2,798 have none
_PSEUDO = 30.0  # observations that what a column has in common counts for in each of its groups


@dataclass(frozen=True, slots=True)
class Spread:
    """The noise of an estimate, by its family and standard deviation: near enough for simulations."""

    deviation: float
    laplace: bool

    def below(self, x: Reals) -> Reals:
        """How likely noise is below x."""
        if self.laplace:
            tail = 0.5 * np.exp(-np.sqrt(2) / self.deviation * np.abs(x))
            found: Reals = np.where(x < 0, tail, 1 - tail)
            return found
        # The logistic curve that is nearest to the normal one: never off by more than 0.0002.
        scaled = x / self.deviation
        normal: Reals = 1 / (1 + np.exp(np.clip(-1.5976 * scaled - 0.070566 * scaled**3, -700, 700)))
        return normal

    def at(self, uniform: Reals) -> Reals:
        """Noise, from uniform numbers."""
        grid = np.linspace(-12, 12, 4801) * self.deviation
        return np.interp(uniform, self.below(grid), grid)


Laws = dict[int, Reals]
"""Of columns: how true counts are spread, in a column for each group of counts of which as much was expected."""


def draw_counts(
    noisy: Reals, noise: Spread, expected: Reals, shape: float, bits: Bits, learned: Laws, *, empty: bool = False
) -> Reals:
    """For every noisy count a true one, drawn from what is likely where as much was expected.

    Counts of a column of which about as much was expected (powers of two) are a group with a distribution of its own.
    Where noise hides everything, that is the negative binomial law of that mean and `shape`; what the noisy counts
    say, and what the column has in common, moves it from there. With `empty`, small counts are more often none than
    that law has it, as where people live in houses. What was `learned` of a column is used again: more tables may be
    drawn from the same noisy counts.
    """
    size, columns = noisy.shape
    group = np.clip(2 + np.log2(np.maximum(expected, 0.25)), 0, _BINS - 1).astype(np.int64)
    groups = int(group.max()) + 1
    edges = _edges(noise.deviation)
    starts, ends = edges[:-1], edges[1:]
    step, first, chance = _chances(noise)
    heard = len(chance)
    row = np.clip(np.rint(noisy / step).astype(np.int64) - first, 0, heard - 1)
    uniform = (words(bits, 2 * noisy.size) >> np.uint64(11)).astype(float).reshape(2, size, columns) * 2.0**-53
    out: Reals = np.rint(noisy - noise.at(uniform[0]))
    hidden = noisy < _FAR * noise.deviation
    if not learned:
        many = np.bincount(group[hidden], minlength=groups)
        means = np.bincount(group[hidden], weights=expected[hidden], minlength=groups) / np.maximum(many, 1)
        means = np.where(many > 0, means, 2.0 ** (np.arange(groups) - 1.5))  # the next table may have some there
        laws = _scattered(edges, means, _shapes(noisy, noise, expected, group, shape))
        laws = _emptied(edges, laws) if empty else laws
    for column in range(columns):
        near = np.flatnonzero(hidden[:, column])
        if not len(near):
            continue
        label, place = group[near, column], row[near, column]
        if column not in learned:
            seen = np.bincount(place * groups + label, minlength=heard * groups).reshape(-1, groups).astype(float)
            flat = np.full((len(starts), 1), 1 / len(starts))
            common = climb(chance, seen.sum(axis=1, keepdims=True), flat, 1.0, _STEPS)
            learned[column] = climb(chance, seen, 0.9 * laws + 0.1 * common, _PSEUDO, _STEPS)
        weights = learned[column]
        label = np.minimum(label, weights.shape[1] - 1)
        order = np.argsort(label, kind="stable")
        stops = np.cumsum(np.bincount(label, minlength=groups))
        for one in np.flatnonzero(np.diff(stops, prepend=0)):
            here = order[stops[one - 1] if one else 0 : stops[one]]
            present = np.zeros(heard, bool)
            present[place[here]] = True
            rows, back = np.flatnonzero(present), (np.cumsum(present) - 1)[place[here]]
            masses = chance[rows] * weights[:, one]
            masses /= masses.sum(axis=1, keepdims=True)
            running = np.cumsum(masses, axis=1) + np.arange(len(rows))[:, None]
            found = np.searchsorted(running.ravel(), back + uniform[0, near[here], column], "right")
            found = np.clip(found - back * len(starts), 0, len(starts) - 1)
            inside = np.floor(uniform[1, near[here], column] * (ends - starts)[found])
            out[near[here], column] = starts[found] + inside
    return out


@lru_cache(maxsize=16)
def _chances(noise: Spread) -> tuple[float, int, Reals]:
    """How likely noisy counts are, a row each, where true ones are between two edges.

    The first is so many steps. Tables are drawn in pairs, with the same noise: it is worked out once.
    """
    edges = _edges(noise.deviation)
    step = max(1.0, noise.deviation / 8)
    first, last = -int(40 * noise.deviation / step), int(_FAR * noise.deviation / step) + 1
    # Intervals meet: what is below the end of one is below the start of the next.
    below = noise.below((np.arange(first, last + 1) * step)[:, None] - edges + 0.5)
    chance = np.maximum(below[:, :-1] - below[:, 1:], 1e-14) / np.diff(edges)
    chance.flags.writeable = False
    return step, first, chance


def _edges(deviation: float) -> Reals:
    """Every whole number near 0, then steps of a quarter of the noise or a twentieth of the count."""
    edges = [0]
    while edges[-1] <= 2 * _FAR * deviation:
        at = edges[-1]
        edges.append(at + max(1, round(max(min(deviation / 4, at / 4), at / 20))))
    return np.array(edges, float)


def _shapes(noisy: Reals, noise: Spread, expected: Reals, group: Array, usual: float) -> Reals:
    """How evenly true counts of each group are spread: from how much more than noise and chance the noisy ones vary.

    As `usual` where noise hides it.
    """
    near = noisy < _FAR * noise.deviation
    many = np.maximum(np.bincount(group[near], minlength=int(group.max()) + 1), 1)
    mean, centre, square = (
        np.bincount(group[near], weights=values[near], minlength=len(many)) / many
        for values in (expected, noisy, noisy**2)
    )
    mean = np.maximum(mean, 0.1)
    rough = (square - centre**2 - noise.deviation**2 - mean) / mean**2
    error = np.sqrt(5 if noise.laplace else 2) * noise.deviation**2 / mean**2 / np.sqrt(many)
    trust = 0.25 / (0.25 + error**2)
    shapes: Reals = 1 / np.clip(trust * rough + (1 - trust) / usual, 0.1, 4)
    return shapes


def _scattered(edges: Reals, means: Reals, shapes: Reals) -> Reals:
    """Negative binomial laws, a column for each mean and shape, in the intervals of the grid: by summation."""
    upto = np.arange(min(int(edges[-1]), _SUMMED))
    mean, shape = np.maximum(means, 1e-3), shapes
    # log P[k] = log P[k-1] + log((k - 1 + shape) / k * ratio)
    steps = np.log((upto[1:, None] - 1 + shape) / upto[1:, None]) + np.log(mean / (mean + shape))
    first = -shape * np.log1p(mean / shape)
    masses = np.exp(first + np.vstack([np.zeros(len(means)), np.cumsum(steps, axis=0)]))
    begins = np.searchsorted(upto, edges[:-1][edges[:-1] < len(upto)])
    found = np.full((len(edges) - 1, len(means)), 1e-12)
    found[: len(begins)] += np.add.reduceat(masses, begins, axis=0)
    laws: Reals = found / found.sum(axis=0)
    return laws


def _emptied(edges: Reals, laws: Reals) -> Reals:
    """Laws in which of all that is below ten, three quarters are nothing, and the rest is spread evenly.

    Noise does not tell an empty region from one of three people, and a smooth law has too few of the first: land where
    nobody lives is not land where few live.
    """
    small = edges[:-1] < _SMALL
    widths = np.where(small, np.diff(edges), 0.0)
    widths[0] = 0.0
    mass = laws[small].sum(axis=0)
    found: Reals = np.where(small[:, None], (1 - _EMPTY) * mass * (widths / widths.sum())[:, None], laws)
    found[0] = _EMPTY * mass
    return found


def draw_table(
    measured: Measurement,
    guess: Array,
    rules: Rules,
    bits: Bits,
    learned: dict[tuple[int, bool], Laws] | None = None,
    *,
    empty: bool = False,
) -> Array:
    """Counts of the leaves, drawn from what is likely behind the noisy ones.

    The root is the best linear estimate, whatever the bias of the method to be tried. Chains (counts of groups of at
    least s members) are not drawn, nor what bounds and public totals have cornered: `guess` is returned, what a method
    made of the leaves. What was `learned` for one table, by level and for totals or not, is used for the next. With
    `empty`, regions of few people are taken to be empty more often than a smooth law has it: for what is said of those.
    """
    tree, cells = measured.tree, measured.cells
    if measured.chain:
        return guess
    known = known_totals(tree, rules.bounds(tree, cells))
    found = gls(measured)
    root = one_row(found.up_counts(0), found.alone[0], known.lower[0], known.upper[0], rows_of(known, found, 0))
    if root is None:
        return guess
    counts, known_laws = root, {} if learned is None else learned
    for level in range(1, tree.depth):
        place, many = tree.parents[level], tree.children(level - 1)
        alone = found.alone[level]
        above = counts.sum(axis=1)
        # Totals first, each region's among those whose parents have as much to give for each child.
        asked = measured.levels[level]
        own = asked.noise if cells == 1 and asked.totals_noise is None else asked.totals_noise
        noise = _noise(found.up_total_variance[level], own)
        laws = known_laws.setdefault((level, True), {})
        sums, even = found.up_totals[level][:, None], (above / many)[place][:, None]
        totals = draw_counts(sums, noise, even, _TOTALS, bits, laws, empty=empty)
        nothing = np.zeros(totals.shape, np.int64)
        totals *= (above / np.maximum(tree.add(level - 1, totals)[:, 0], 1))[place][:, None]
        width = np.maximum(totals, 0) + _LITTLE
        fitting = spread(tree, level - 1, above[:, None], totals, width, nothing, nothing + above[place][:, None])
        # Then cells: among those of which as much is to be expected, from the parent's mix and the region's total.
        mix = counts / np.maximum(above, 1)[:, None]
        noise = _noise(alone, asked.noise)
        laws = known_laws.setdefault((level, False), {})
        drawn = draw_counts(found.up_counts(level), noise, mix[place] * fitting, _CELLS, bits, laws)
        rows = rows_of(known, found, level)
        low, high = known.lower[level], known.upper[level]
        drawn = _fitted(tree, level - 1, np.clip(drawn, low, high), counts, fitting)
        if rows.hard:
            below = transport(tree, level - 1, counts, drawn, alone, low, high, Rows(rows.least, rows.most))
        else:
            below = spread(tree, level - 1, counts, drawn, drawn + _LITTLE, low, high)
        if below is None:
            return guess
        counts = below
    return counts


def _fitted(tree: Hierarchy, level: int, drawn: Reals, parents: Array, totals: Array) -> Reals:
    """Cells, scaled by turns to region's totals and to parents: where nobody lives there is nobody of any kind."""
    found = drawn + _LITTLE / 10
    for _ in range(_TURNS):
        found = found * (totals / found.sum(axis=1, keepdims=True))
        found = found * (parents / np.maximum(tree.add(level, found), 1e-9))[tree.parents[level + 1]]
        found = found + _LITTLE / 100
    return found


def _noise(variance: Reals, own: Laplace | Gaussian | None) -> Spread:
    """The noise of a level's estimates: like Laplace where one such noise prevails, normal where many add up."""
    typical = float(np.median(variance))
    return Spread(float(np.sqrt(typical)), isinstance(own, Laplace) and typical > own.variance / 2)
