"""Rows that look alike: the classes of equal values on some columns, on which every measure of anonymity rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.risk.records import Coded

__all__ = ["Classes", "classes_of"]

Codes = NDArray[np.int64]

_DIRECT = 4  # with up to so many possible keys for each row, counting is quicker than sorting
_ROOM = 1 << 62


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """`of` says in which class each row is; `sizes` how many rows a class has."""

    of: Codes
    sizes: Codes

    @property
    def smallest(self) -> int:
        """k: every row looks like at least k - 1 others."""
        return int(self.sizes.min())

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Which rows look like no other."""
        return np.asarray(self.sizes[self.of] == 1)


def classes_of(columns: Sequence[Coded]) -> Classes:
    """The classes of rows with equal values on all of `columns`, of which there is at least one.

    >>> from discreet.risk.records import Coded
    >>> found = classes_of([Coded.of(["a", "b", "a"], "x"), Coded.of([1, 1, 1], "y")])
    >>> found.sizes.tolist(), found.smallest
    ([2, 1], 1)
    """
    key, room = np.zeros(len(columns[0].codes), dtype=np.int64), 1
    for column in columns:
        if room * column.size >= _ROOM:
            key, room = _ranked(key, room)
        key, room = key * column.size + column.codes, room * column.size
    of, many = _ranked(key, room)
    return Classes(of, np.bincount(of, minlength=many))


def _ranked(key: Codes, room: int) -> tuple[Codes, int]:
    """The same classes numbered 0, 1, ... without gaps, and how many there are."""
    if room <= _DIRECT * len(key):
        there = np.zeros(room, dtype=np.int64)
        there[key] = 1
        rank = np.cumsum(there)
        return np.asarray(rank[key] - 1), int(rank[-1])
    values, found = np.unique(key, return_inverse=True)
    return found.astype(np.int64), len(values)
