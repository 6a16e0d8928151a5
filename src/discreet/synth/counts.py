"""Exact marginals: how many rows have each combination of codes of some columns. Private, and for the meter only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.synth.domain import Domain

__all__ = ["ArrayCounts", "Columns", "Counts"]

Columns = tuple[int, ...]
"""Places of columns in a domain, rising: which marginal is meant."""


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
