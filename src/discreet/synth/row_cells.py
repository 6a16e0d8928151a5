"""The cells that rows are in, of many marginals: what cells give to each row, and what rows add up to in each cell.

Marginals that share columns are looked up together, in one table of all their columns, where that is small: there are
many rows, and to look at all of them once more takes longer than to add up such a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.marginals.counts import Columns
from discreet.marginals.cover import cover
from discreet.synth.junction import Floats
from discreet.synth.sample import Codes

__all__ = ["RowCells", "flat"]

_TOGETHER = 2**14  # cells of a table of several marginals


class RowCells:
    """Rows of codes, by the cells of some marginals.

    >>> cells = RowCells((2, 2), np.array([[0, 1], [1, 1]]), [(0,), (0, 1)])
    >>> cells.gathered([np.array([1.0, 2.0]), np.array([[0.0, 10.0], [0.0, 20.0]])]).tolist()
    [11.0, 22.0]
    >>> [sums.tolist() for sums in cells.added_up(np.array([1.0, 3.0]))]
    [[1.0, 3.0], [[0.0, 1.0], [0.0, 3.0]]]
    """

    def __init__(self, sizes: Sequence[int], rows: Codes, marginals: Sequence[Columns]) -> None:
        self._rows = len(rows)
        self._tables = [
            _Table(
                columns, tuple(sizes[column] for column in columns), rows, {place: marginals[place] for place in held}
            )
            for columns, held in cover(sizes, marginals, _TOGETHER)
        ]

    def gathered(self, values: Sequence[Floats]) -> Floats:
        """For every row the sum of what its cells have; `values` are a table for each marginal."""
        total: Floats = np.zeros(self._rows)
        for table in self._tables:
            total += table.gathered(values)
        return total

    def added_up(self, weights: Floats) -> list[Floats]:
        """For every marginal the weight of the rows in each of its cells."""
        sums: dict[int, Floats] = {}
        for table in self._tables:
            sums |= table.added_up(weights)
        return [sums[place] for place in range(len(sums))]


class _Table:
    """Some marginals, by their places among all, and the cells of rows in the table of all their columns."""

    def __init__(self, columns: Columns, shape: tuple[int, ...], rows: Codes, held: dict[int, Columns]) -> None:
        self._shape = shape
        self._cells = flat(rows, columns, shape)
        self._axes = {
            place: tuple(axis for axis, column in enumerate(columns) if column not in marginal)
            for place, marginal in held.items()
        }

    def gathered(self, values: Sequence[Floats]) -> Floats:
        table: Floats = np.zeros(self._shape)
        for place, others in self._axes.items():
            table += np.expand_dims(values[place], others)
        return np.take(table.ravel(), self._cells)

    def added_up(self, weights: Floats) -> dict[int, Floats]:
        sums = np.bincount(self._cells, weights=weights, minlength=math.prod(self._shape)).astype(np.float64)
        table = sums.reshape(self._shape)
        return {place: table.sum(axis=others) for place, others in self._axes.items()}


def flat(rows: Codes, columns: Columns, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """The cell each row is in, counted through."""
    cells = np.zeros(len(rows), dtype=np.int64)
    for column, size in zip(columns, shape, strict=True):
        cells = cells * size + rows[:, column]
    return cells
