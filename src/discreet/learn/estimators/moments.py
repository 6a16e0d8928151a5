"""Rows as integers of bounded length, and exact sums of their products.

A row's integers follow from that row alone, to the last bit. Floating-point sums would not do: how they round depends
on the order of adding, which a row more or less can change for all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.learn.estimators.box import Floats
from discreet.learn.estimators.till import room

__all__ = ["BLOCK", "FINE", "RADIUS", "blocks", "fine", "second_moments", "whole_rows"]

RADIUS = 2**14
"""How many steps a row of full length is long."""

FINE = 2**18
"""Steps in 1 before rows are cut. Sums of squares are exact: 2**36 for each of at most 2**16 features."""

BLOCK = 2**13
"""Rows multiplied at once: BLOCK * RADIUS**2 = 2**41, far below the 2**53 up to which floats are exact integers."""


def blocks(count: int) -> Iterator[slice]:
    """Slices of at most BLOCK rows."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def fine(values: Floats) -> Floats:
    """Values in [-1, 1] as whole numbers of fine steps, held as floats; each by itself."""
    return np.rint(np.clip(values, -1.0, 1.0) * FINE)


def whole_rows(steps: Floats, norm: float, radius: int) -> Floats:
    """Rows of fine steps, those longer than `norm` cut to it, in coarser steps: `norm` becomes `radius`.

    Every row that comes out has a sum of squares of at most radius**2, and follows from the row that went in alone:
    sums of squares are sums of integers below 2**53, exact in any order, and all else is done entry by entry. Rounded
    to the nearest step; towards zero where that would be too long; and nothing at all where even that would be.
    """
    length = np.sqrt(np.einsum("ij,ij->i", steps, steps))
    real = steps * (radius / np.maximum(length, norm))[:, None]
    whole: Floats = np.rint(real)
    for attempt in range(3):
        long = np.flatnonzero(np.einsum("ij,ij->i", whole, whole) > radius * radius)
        if not len(long):
            break
        whole[long] = np.trunc(real[long] * (1 - attempt * 2.0**-20)) if attempt < 2 else 0.0
    return whole


def second_moments(rows: Iterable[Floats], size: int, count: int, radius: int = RADIUS) -> NDArray[np.int64]:
    """The sum of v v' over blocks of whole rows, exact.

    Within a block every sum, in whatever order the product of matrices adds, is an integer of at most BLOCK * radius**2
    in size, which a float holds exactly; blocks are added as 64-bit integers.
    """
    room(count, radius * radius)
    summed = np.zeros((size, size), dtype=np.int64)
    for block in rows:
        summed += (block.T @ block).astype(np.int64)
    return summed
