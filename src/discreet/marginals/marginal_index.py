"""Marginals by the columns they have, to find one that others can be added up from, however many there are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.marginals.counts import Columns

__all__ = ["MarginalIndex"]


class MarginalIndex:
    """A set of marginals of columns that have so many codes each.

    >>> index = MarginalIndex((2, 3, 4))
    >>> index.add((0, 1, 2)), index.add((1, 2)), index.holder((1,)), index.holder((0,))
    (None, None, (1, 2), (0, 1, 2))
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._all: set[Columns] = set()
        self._having: dict[int, set[Columns]] = {}

    def copy(self) -> MarginalIndex:
        """Another one of the same marginals."""
        other = MarginalIndex(self._sizes)
        other._all = set(self._all)
        other._having = {column: set(marginals) for column, marginals in self._having.items()}
        return other

    def add(self, columns: Columns) -> None:
        """Have one more."""
        self._all.add(columns)
        for column in columns:
            self._having.setdefault(column, set()).add(columns)

    def holder(self, columns: Columns) -> Columns | None:
        """The marginal itself, or the smallest one that has all of its columns; None if there is none."""
        if columns in self._all:
            return columns
        having = [self._having.get(column, set()) for column in columns] or [self._all]
        return min(set.intersection(*having), key=self._order, default=None)

    def _order(self, columns: Columns) -> tuple[int, Columns]:
        return math.prod(self._sizes[column] for column in columns), columns
