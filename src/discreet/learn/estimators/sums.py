"""Sums over rows inside a fit: exact in integers, and out of it only with noise, each at a share of the price.

An estimator's measuring function is handed rows and a meter. It may look at what came out before it asks for more; the
meter adds up the shares and refuses what would exceed the whole. A row's integers follow from that row alone, to the
last bit. Floating-point sums would not do: how they round depends on the order of adding, which a row more or less can
change for all others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import sqrt_up
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase
from discreet.learn.estimators.columns import Floats
from discreet.learn.estimators.plan import FitPrice, Noise
from discreet.noise.bits import SystemBits

__all__ = [
    "BLOCK",
    "FINE",
    "RADIUS",
    "SumMeter",
    "blocks",
    "fine",
    "moment_noise",
    "room",
    "second_moments",
    "total",
    "whole_rows",
]

_SAFE = 2**62  # sums stay this far from the end of 64 bits

RADIUS = 2**14
"""How many steps a row of full length is long."""

FINE = 2**18
"""Steps in 1 before rows are cut. Sums of squares are exact: 2**36 for each of at most 2**16 features."""

BLOCK = 2**13
"""Rows multiplied at once: BLOCK * RADIUS**2 = 2**41, far below the 2**53 up to which floats are exact integers."""


class SumMeter:
    """Noise on sums of integers, within a fixed price.

    Guarantee
        Everything that came out of a meter costs at most its price, however the sums were chosen, if each sum moves no
        farther than the norms it was asked for with. Proof: docs/proofs/estimators.md.
    """

    def __init__(self, price: FitPrice, bits: Bits | None = None) -> None:
        self.price = price
        self._bits: Bits = SystemBits() if bits is None else bits
        self._left = Fraction(1)
        self._lock = threading.Lock()

    def sums(self, values: NDArray[np.int64], *, share: Fraction, l1: int, l2_squared: int) -> NDArray[np.int64]:
        """The values, of any shape, each with noise of its own."""
        return self._noisy(values, self.price.noise(self._pay(share), l1=l1, l2_squared=l2_squared))

    def moments(self, values: NDArray[np.int64], *, share: Fraction, squared: int) -> NDArray[np.int64]:
        """A sum of v v' over rows v with |v|^2 at most `squared`: symmetric, off the diagonal with less noise.

        Gaussian noise has variance s^2 on the diagonal and s^2 / 2 off it: a row moves the entries by v_i v_j, so the
        cost is (sum_i v_i^4 + 2 sum_(i<j) v_i^2 v_j^2) / (2 s^2) = |v|^4 / (2 s^2).
        """
        on, off = moment_noise(self.price, self._pay(share), len(values), squared)
        noisy = np.zeros_like(values)
        rows, columns = np.triu_indices(len(values), 1)
        noisy[rows, columns] = noisy[columns, rows] = self._noisy(values[rows, columns], off)
        np.fill_diagonal(noisy, self._noisy(np.diagonal(values).copy(), on))
        return noisy

    def _noisy(self, values: NDArray[np.int64], noise: Noise) -> NDArray[np.int64]:
        whole = np.asarray(values)
        with self._lock:  # one stream of bits, one thread at a time
            released: NDArray[np.int64] = noise.release(whole.ravel(), bits=self._bits).reshape(whole.shape)
        return released

    def _pay(self, share: Fraction) -> Fraction:
        with self._lock:
            if not 0 < share <= self._left:
                allowed = f"more than zero and at most what is left of the price, {self._left}"
                raise InputError("share", share, allowed)
            self._left -= share
        return share


def moment_noise(price: FitPrice, share: Fraction, size: int, squared: int) -> tuple[Noise, Noise]:
    """The noise on and off the diagonal of a matrix of second moments of rows with |v|^2 at most `squared`."""
    # The entries i <= j move by at most (|v|_1^2 + |v|_2^2) / 2 <= (size + 1) |v|_2^2 / 2 in sum.
    on = price.noise(share, l1=-(-(size + 1) * squared // 2), l2_squared=squared * squared)
    if price.currency == "epsilon":
        return on, on
    return on, type(on)(sqrt_up(Fraction(squared * squared, 4) / (share * price.amount)))


def total(rows: NDArray[Any], largest: int) -> NDArray[np.int64]:
    """The exact sum of integer rows whose entries are at most `largest` from zero."""
    room(len(rows), largest)
    summed: NDArray[np.int64] = np.asarray(rows, dtype=np.int64).sum(axis=0)
    return summed


def room(rows: int, largest: int) -> None:
    """Refuse so many rows that a sum could leave 64 bits; there are fewer wherever arrays fit in memory."""
    if rows * largest > _SAFE:
        raise InputError(
            "X", Phrase("more"), f"a table of at most {_SAFE // largest:,} rows: sums are exact in 64 bits"
        )


def blocks(count: int) -> Iterator[slice]:
    """Slices of at most BLOCK rows."""
    for start in range(0, count, BLOCK):
        yield slice(start, min(start + BLOCK, count))


def fine(values: Floats) -> Floats:
    """Values in [-1, 1] as whole numbers of fine steps, held as floats; each on its own."""
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
