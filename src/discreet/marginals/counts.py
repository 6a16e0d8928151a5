"""Exact marginals: how many rows have each combination of codes of some columns. Private, and for the meter only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.marginals.domain import Domain

__all__ = ["ArrayCounts", "Bins", "Columns", "Counts", "MergedCounts"]

Columns = tuple[int, ...]
"""Places of columns in a domain, rising: which marginal is meant."""
Bins = Sequence[NDArray[np.int64]]
"""For every column, which bin each of its codes goes into."""


class Counts(Protocol):
    """What a meter reads: exact counts of marginals of one table."""

    @property
    def domain(self) -> Domain:
        """The columns."""
        ...

    def prepare(self, marginals: Iterable[Columns]) -> None:
        """Count these now, all at once, because they will be asked for."""
        ...

    def marginal(self, columns: Columns) -> NDArray[np.int64]:
        """The counts, one axis a column."""
        ...

    def merged(self, bins: Bins) -> Counts:
        """Counts of the same table with codes put together in bins."""
        ...


class ArrayCounts:
    """Counts of a table of codes that is already in memory: for synthetic rows, tests and benchmarks."""

    def __init__(self, domain: Domain, codes: NDArray[np.int64]) -> None:
        self.domain = domain
        self._codes = domain.check(codes)

    def prepare(self, marginals: Iterable[Columns]) -> None:
        """Nothing: counting is quick here."""

    def marginal(self, columns: Columns) -> NDArray[np.int64]:
        """The counts, one axis a column."""
        shape = tuple(self.domain.sizes[column] for column in columns)
        if not columns:
            return np.array(len(self._codes), dtype=np.int64)
        cells = np.ravel_multi_index(tuple(self._codes[:, column] for column in columns), shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)

    def merged(self, bins: Bins) -> Counts:
        """Counts of the same rows with codes put together in bins."""
        return MergedCounts(self, bins)


class MergedCounts:
    """Counts of another table's codes put together in bins. Which go together is public: it was decided before."""

    def __init__(self, counts: Counts, bins: Bins) -> None:
        self.domain = counts.domain.merged(bins)
        self._counts = counts
        self._bins = [np.asarray(one, dtype=np.int64) for one in bins]
        self._kept: dict[Columns, NDArray[np.int64]] = {}

    def prepare(self, marginals: Iterable[Columns]) -> None:
        """Have them counted, all at once."""
        self._counts.prepare(marginals)

    def marginal(self, columns: Columns) -> NDArray[np.int64]:
        """The counts, one axis a column. Kept: methods that choose ask for the same ones again and again."""
        if columns not in self._kept:
            table = self._counts.marginal(columns)
            for axis, column in enumerate(columns):
                table = fold(table, axis, self._bins[column], self.domain.sizes[column])
            self._kept[columns] = table
        return self._kept[columns].copy()

    def merged(self, bins: Bins) -> Counts:
        """Counts of the same rows with bins put together in larger ones."""
        return MergedCounts(self, bins)


def fold(table: NDArray[np.int64], axis: int, bins: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A table with the slices along one axis added up by bin."""
    shape = list(table.shape)
    shape[axis] = size
    result = np.zeros(shape, dtype=table.dtype)
    np.add.at(np.moveaxis(result, axis, 0), bins, np.moveaxis(table, axis, 0))
    return result
