"""Sampled rows, weighted so that they also agree with marginals that no tree of bearable size could hold.

A weight is the exponential of a sum of potentials, one for every marginal: the model that a tree is, on the rows at
hand instead of on all cells. The same descent finds them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.core.mechanism import Bits
from discreet.marginals.counts import Columns
from discreet.noise.replay import uniforms
from discreet.synth.descent import Target, average_targets, descend
from discreet.synth.junction import Floats
from discreet.synth.model import Model
from discreet.synth.row_cells import RowCells, flat
from discreet.synth.sample import Codes

__all__ = ["WeightedRows", "reweight"]

_KEYS = 12  # columns that rows are ordered by before they are drawn


class WeightedRows:
    """Rows with weights that add up to `total`: answers marginals, and makes rows that all weigh the same."""

    def __init__(
        self, sizes: Sequence[int], rows: Codes, weights: Floats, total: float, potentials: Mapping[Columns, Floats]
    ) -> None:
        self.sizes = tuple(sizes)
        self.codes = rows
        self.weights = weights
        self.total = total
        self.potentials = potentials

    @property
    def effective(self) -> float:
        """Of all rows, what part equal weights would need for the same spread."""
        return float(self.weights.sum() ** 2 / (len(self.weights) * (self.weights**2).sum()))

    def marginal(self, columns: Columns) -> Floats:
        """The weight in each cell."""
        shape = tuple(self.sizes[column] for column in columns)
        cells = flat(self.codes, columns, shape)
        found: Floats = np.bincount(cells, weights=self.weights, minlength=int(np.prod(shape))).astype(np.float64)
        scaled: Floats = found.reshape(shape) * (self.total / self.weights.sum())
        return scaled

    def rows(self, count: int, bits: Bits) -> Codes:
        """So many rows, drawn systematically: each as often as its weight says, up or down to a whole.

        They are drawn, and come, in the order of their codes, columns of few codes first: rows that are much alike make
        up for each other, so that what they have in common is drawn as often as their weights together say.
        """
        if count == 0 or len(self.codes) == 0:
            return self.codes[:0]
        first = [column for column in np.argsort(self.sizes, kind="stable") if self.sizes[column] > 1][:_KEYS]
        order = (
            np.lexsort([self.codes[:, column] for column in reversed(first)]) if first else np.arange(len(self.codes))
        )
        edges = np.cumsum(self.weights[order])
        edges /= edges[-1]
        steps = (np.arange(count) + uniforms(bits, 1)[0]) / count
        drawn: Codes = self.codes[order[np.minimum(np.searchsorted(edges, steps, side="right"), len(edges) - 1)]]
        return drawn


def reweight(
    model: Model | WeightedRows,
    rows: Codes,
    targets: Sequence[Target],
    start: Mapping[Columns, Floats] | None = None,
    steps: int = 60,
) -> WeightedRows:
    """Weights under which rows of a model come near to all targets, those it was fitted to and others.

    The rows stand in for all cells: with its own potentials the model gives all of them the same weight. `start` are
    potentials to begin with, of an earlier round.
    """
    sizes, total = model.sizes, model.total
    averaged = average_targets(targets)
    base = [model.potentials.get(target.columns, np.zeros(target.values.shape)) for target in averaged]
    cells = RowCells(sizes, rows, [target.columns for target in averaged])

    def weigh(potentials: Sequence[Floats]) -> Floats:
        heights = cells.gathered([potential - known for potential, known in zip(potentials, base, strict=True)])
        weights: Floats = np.exp(heights - heights.max())
        weights /= weights.sum()
        return weights

    def evaluate(potentials: Sequence[Floats]) -> list[Floats]:
        return cells.added_up(weigh(potentials))

    first = [(start or {}).get(target.columns, known) for target, known in zip(averaged, base, strict=True)]
    found = descend(evaluate, averaged, first, total, steps)
    weights = weigh(found)
    for many, potential, known in zip(cells.added_up(np.ones(len(rows))), found, base, strict=True):
        # Where there are no rows nothing held a potential back: other rows are to begin with the tree's.
        potential[many == 0] = known[many == 0]
    return WeightedRows(sizes, rows, weights, total, dict(zip((one.columns for one in averaged), found, strict=True)))
