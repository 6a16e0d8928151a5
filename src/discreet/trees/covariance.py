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
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from discreet.core.digest import text_of
from discreet.trees.components import Component, components
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
    _solved: dict[tuple[int, int], tuple[Reals, Reals]] = field(default_factory=dict, repr=False)

    @cached_property
    def linear(self) -> Gls:
        """The best linear estimates themselves."""
        return gls(self.measured)

    @cached_property
    def fingerprint(self) -> bytes:
        """What tells this noise from another: a release that is read again, or made by another method, has the same."""
        found = sha256(text_of((*map(int, self.measured.tree.sizes), self.measured.cells)).encode())
        for level in self.measured.levels:
            for margin in level.queries(self.measured.axes):
                found.update(text_of((margin.axes, margin.values.shape, margin.noise)).encode())
                found.update(np.ascontiguousarray(margin.values).data)
        return found.digest()

    def same(self, other: Covariance) -> bool:
        """Whether both are the noise of one measurement; noises of two measurements are independent."""
        return self is other or self.fingerprint == other.fingerprint

    def akin(self, other: Covariance) -> bool:
        """Whether both were told the same noisy totals, as tables of one census are: noises in common."""
        pairs = [
            (mine, theirs)
            for mine, theirs in zip(_totals(self.measured), _totals(other.measured), strict=False)
            if mine is not None and theirs is not None
        ]
        return bool(pairs) and all(np.array_equal(mine, theirs) for mine, theirs in pairs)

    def between(self, one: Weights, two: Weights) -> float:
        """The covariance of two weighted sums; of one with itself, its variance.

        Differences between cells and the sum over cells are estimated apart (`gls`), so the weights of cells are taken
        apart as well: their mean goes with the totals, what margins inform with them, what is left with the cells.
        """
        found = 0.0
        for leaves, cells in one.terms:
            parts = self._apart(cells)
            for others, more in two.terms:
                for part, (own, other) in enumerate(zip(parts, self._apart(more), strict=True)):
                    if weight := float(own @ other):
                        found += weight * float(self._solve(leaves, part) @ others)
        return found

    def variances(self, leaves: Reals, cells: Reals) -> Reals:
        """The variances of many weighted sums at once: a column of weights of leaves each, and one weight a cell."""
        found = np.zeros(leaves.shape[1])
        for part, own in enumerate(self._apart(cells)):
            if weight := float(own @ own):
                found += weight * np.einsum("ij,ij->j", self._pass(leaves, part), leaves)
        return found

    @cached_property
    def _components(self) -> list[Component]:
        return components(self.measured)

    def _apart(self, cells: Reals) -> list[Reals]:
        """The weights of cells, taken apart: the rest, their mean, and the part of every component."""
        parts = [one.project(cells[None, :])[0] for one in self._components]
        mean = np.array([cells.mean()])
        return [cells - mean - sum(parts, np.zeros(len(cells))), mean, *parts]

    def _solve(self, leaves: Reals, part: int) -> Reals:
        """The covariance matrix of the leaves, of one part of the cells, times a vector."""
        key = (id(leaves), part)
        if key not in self._solved:
            self._solved[key] = (leaves, self._pass(leaves, part))  # the vector is kept, so that its id stays its own
        return self._solved[key][1]

    def _pass(self, leaves: Reals, part: int) -> Reals:
        """One pass up and one down, for a vector or for columns of them."""
        tree, many = self.measured.tree, leaves.shape[1:]
        noise = _spreads(self.measured, totals=part == 1) if part < 2 else list(self._components[part - 2].spreads)
        asked = [
            np.zeros((size, *many)) if np.isfinite(one) else None for size, one in zip(tree.sizes, noise, strict=True)
        ]
        asked[-1] = leaves * noise[-1]
        (*_, (found, _)) = downward(tree, upward(tree, asked, noise))
        return found


def _spreads(measured: Measurement, *, totals: bool) -> list[float]:
    """The variance of what each level says of one cell, or of a total; infinite where it was not asked."""
    found = []
    for level in measured.levels:
        of_cells = np.inf if level.noise is None else max(level.noise.variance, 1e-12)
        if totals:
            direct = np.inf if level.totals_noise is None else max(level.totals_noise.variance, 1e-12)
            margins = sum(1 / (one.values.shape[1] * max(one.noise.variance, 1e-12)) for one in level.margins)
            of_cells = 1 / max(1 / (measured.cells * of_cells) + 1 / direct + margins, 1e-300)
            of_cells = of_cells if of_cells < 1e290 else np.inf
        found.append(float(of_cells))
    return found


def _totals(measured: Measurement) -> list[NDArray[np.int64] | None]:
    """What each level was told about totals: as a question of its own, or by the first of cumulative counts."""
    first = measured.chain or measured.cells == 1
    return [
        level.counts[:, 0] if level.totals is None and first and level.counts is not None else level.totals
        for level in measured.levels
    ]
