"""How the best linear estimates of a tree vary together: the variance of any weighted sum of them.

`gls` gives the variance of every region by itself. A place that is no region of the tree (a school district made of
blocks), a difference of two regions or a share needs covariances, and the covariance matrix S of n leaves is far too
large to write down. It need not be: S is the inverse of the least-squares matrix, and least squares on the tree takes
one pass up and one down. So S u is what those passes make of data that would ask for it: u times the noise's variance
at the leaves, nothing elsewhere. Proof: docs/proofs/hierarchy-topdown.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.trees.gls import Gls, downward, gls, upward
from discreet.trees.measurement import Measurement

__all__ = ["Covariance", "Weights"]

Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A weighted sum over leaves and cells: `leaves` (one a leaf) times `cells` (one a cell), added up over terms."""

    terms: tuple[tuple[Reals, Reals], ...]

    def of(self, table: Reals | NDArray[np.int64]) -> float:
        """The sum, of a table with one row a leaf and one column a cell."""
        return float(sum(float(leaves @ (table @ cells)) for leaves, cells in self.terms))

    def times(self, factor: float) -> Weights:
        """The same sum, as many times as large."""
        return Weights(tuple((leaves, factor * cells) for leaves, cells in self.terms))

    def plus(self, other: Weights) -> Weights:
        """Both sums together."""
        return Weights((*self.terms, *other.terms))

    def table(self) -> Reals:
        """Every single weight, one row a leaf and one column a cell."""
        leaves, cells = self.terms[0]
        found: Reals = np.zeros((len(leaves), len(cells)))
        for leaves, cells in self.terms:
            found += leaves[:, None] * cells
        return found


@dataclass(eq=False)
class Covariance:
    """Variances of weighted sums of the best linear estimates from one measurement."""

    measured: Measurement
    _solved: dict[tuple[int, bool], tuple[Reals, Reals]] = field(default_factory=dict, repr=False)

    @cached_property
    def linear(self) -> Gls:
        """The best linear estimates themselves."""
        return gls(self.measured)

    def between(self, one: Weights, two: Weights) -> float:
        """The covariance of two weighted sums; of one with itself, its variance.

        Differences between cells and the sum over cells are estimated apart (`gls`), so the weights of cells are taken
        apart as well: their mean goes with the totals, what is left with the cells.
        """
        found = 0.0
        for leaves, cells in one.terms:
            mean, rest = cells.mean(), cells - cells.mean()
            for others, more in two.terms:
                other_mean, other_rest = more.mean(), more - more.mean()
                apart, together = float(rest @ other_rest), float(mean * other_mean)
                if apart:
                    found += apart * float(self._solve(leaves, totals=False) @ others)
                if together:
                    found += together * float(self._solve(leaves, totals=True) @ others)
        return found

    def _solve(self, leaves: Reals, *, totals: bool) -> Reals:
        """The covariance matrix of the leaves, of one cell or of the totals, times a vector."""
        key = (id(leaves), totals)
        if key not in self._solved:
            tree, noise = self.measured.tree, _spreads(self.measured, totals=totals)
            asked = [np.zeros(size) if np.isfinite(one) else None for size, one in zip(tree.sizes, noise, strict=True)]
            asked[-1] = leaves * noise[-1]
            (*_, (found, _)) = downward(tree, upward(tree, asked, noise))
            self._solved[key] = (leaves, found)  # the vector is kept, so that its id stays its own
        return self._solved[key][1]


def _spreads(measured: Measurement, *, totals: bool) -> list[float]:
    """The variance of what each level says of one cell, or of a total; infinite where it was not asked."""
    found = []
    for level in measured.levels:
        of_cells = np.inf if level.noise is None else max(level.noise.variance, 1e-12)
        if totals:
            direct = np.inf if level.totals_noise is None else max(level.totals_noise.variance, 1e-12)
            of_cells = 1 / (1 / (measured.cells * of_cells) + 1 / direct)
        found.append(float(of_cells))
    return found
