"""The bins on one side of a bin, in segments that grow with the distance: candidates for the end of an interval.

There are about 1.7 log2(bins) + 2 of them, so a choice among them misses by far less than one among all bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["Segments", "downward", "most_segments", "upward"]

Segments = tuple[NDArray[np.int64], NDArray[np.int64]]  # the first and the last bin of each, from the nearest on


def downward(at: int) -> Segments:
    """The bin `at`, then those below it down to the first.

    >>> [bins.tolist() for bins in downward(7)]
    [[7, 6, 5, 4, 3, 1, 0], [7, 6, 5, 4, 3, 2, 0]]
    """
    outer = at - _distances(at)
    return outer, np.concatenate([outer[:1], outer[:-1] - 1])


def upward(at: int, bins: int) -> Segments:
    """The bin `at`, then those above it up to the last."""
    outer = at + _distances(bins - 1 - at)
    return np.concatenate([outer[:1], outer[:-1] + 1]), outer


def most_segments(bins: int) -> int:
    """How many segments there are at most on one side of a bin."""
    return len(_distances(bins - 1))


@lru_cache(maxsize=4096)
def _distances(farthest: int) -> NDArray[np.int64]:
    return np.fromiter(_grow(farthest), dtype=np.int64)


def _grow(farthest: int) -> Iterator[int]:
    """0, 1, 2, 3, 4, 6, 9, 13, ... as long as they stay below the last, then the last."""
    distance = 0
    while distance < farthest:
        yield distance
        distance = max(distance + 1, distance * 3 // 2)
    yield farthest
