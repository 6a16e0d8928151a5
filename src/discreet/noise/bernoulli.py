"""Exact coins: P[heads] = p for a rational p, e^(-x), or 1/(1 + m e^(-x)), never an approximation of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, exactly, negative_exp_bounds
from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.noise.bits import SystemBits, words
from discreet.noise.parameters import read_probability, read_size
from discreet.noise.table import table

__all__ = ["Coin", "below", "below_exp", "bernoulli", "bernoulli_exp"]

_FEW = 32  # so few flips are cheaper one by one than building a table


@dataclass(frozen=True, slots=True)
class Coin:
    """Heads with odds 1 : tails * e^(-exponent); index 0 is heads. A fair coin has tails = 1, exponent = 0.

    The forms people use: rational p is tails = (1-p)/p; randomized response over k categories is tails = k-1.
    """

    tails: Fraction
    exponent: Fraction = Fraction(0)

    def cdf(self, bits: int) -> tuple[list[int], list[int]]:
        """The law, bounded from both sides: see `discreet.noise.table`."""
        low, high = self.bounds(bits)
        return [low, 1 << bits], [high, 1 << bits]

    def bounds(self, bits: int) -> tuple[int, int]:
        """Integers around 2**bits * P[heads]."""
        work = bits + 64 + max(self.tails, Fraction(1)).__ceil__().bit_length()
        one = 1 << work
        small_low, small_high = negative_exp_bounds(self.exponent, work)
        top, bottom = self.tails.numerator, self.tails.denominator
        # P = bottom / (bottom + top e^(-exponent)), falling in e^(-exponent).
        low = (bottom * one << bits) // (bottom * one + top * small_high)
        high = -(-(bottom * one << bits) // (bottom * one + top * small_low))
        return low, high

    def decode(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The outcomes the indices stand for."""
        return 1 - index

    def flips(self, count: int, bits: Bits) -> NDArray[np.bool_]:
        """`count` independent flips, heads as True."""
        if self.tails == 0:
            return np.ones(count, dtype=np.bool_)
        if count <= _FEW:
            return np.array([below(self.bounds, 0, 0, bits) for _ in range(count)], dtype=np.bool_)
        return table(self).draw(count, bits).astype(np.bool_)


@dataclass(frozen=True, slots=True)
class _ExpCoin:
    """Heads with probability e^(-exponent)."""

    exponent: Fraction

    def cdf(self, bits: int) -> tuple[list[int], list[int]]:
        low, high = negative_exp_bounds(self.exponent, bits)
        return [low, 1 << bits], [high, 1 << bits]

    def decode(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        return 1 - index


def below(bounds: Callable[[int], tuple[int, int]], prefix: int, depth: int, bits: Bits) -> bool:
    """Whether a uniform real that begins with the `depth` bits of `prefix` is below a number known by its bounds.

    `bounds(n)` returns integers around 2**n times the number.
    """
    while True:
        if depth:
            low, high = bounds(depth)
            if prefix + 1 <= low:
                return True
            if prefix >= high:
                return False
        prefix = prefix << 64 | int(words(bits, 1)[0])
        depth += 64


def below_exp(exponent: Fraction, prefix: int, depth: int, bits: Bits) -> bool:
    """Whether a uniform real that begins with `prefix` is below e^(-exponent)."""
    return below(lambda n: negative_exp_bounds(exponent, n), prefix, depth, bits)


@overload
def bernoulli(p: Number, size: None = None, *, bits: Bits | None = None) -> bool: ...
@overload
def bernoulli(p: Number, size: int, *, bits: Bits | None = None) -> NDArray[np.bool_]: ...
def bernoulli(p: Number, size: int | None = None, *, bits: Bits | None = None) -> NDArray[np.bool_] | bool:
    """Coins that show heads (True) with probability exactly `p`: an array, or one bool.

    >>> bernoulli(p=1), bernoulli(p=0)
    (True, False)
    """
    probability, count = read_probability(p, "p"), read_size(size)
    source = bits if bits is not None else SystemBits()
    if probability == 0:
        out = np.zeros(count, dtype=np.bool_)
    else:
        out = Coin((1 - probability) / probability).flips(count, source)
    return out if size is not None else bool(out[0])


@overload
def bernoulli_exp(x: Number, size: None = None, *, bits: Bits | None = None) -> bool: ...
@overload
def bernoulli_exp(x: Number, size: int, *, bits: Bits | None = None) -> NDArray[np.bool_]: ...
def bernoulli_exp(x: Number, size: int | None = None, *, bits: Bits | None = None) -> NDArray[np.bool_] | bool:
    """Coins that show heads (True) with probability exactly e^(-x), x >= 0: an array, or one bool."""
    exponent, count = exactly(x, "x"), read_size(size)
    if exponent < 0:
        raise InputError("x", x, "zero or more (the probability is e^-x)")
    source = bits if bits is not None else SystemBits()
    if exponent == 0:
        out = np.ones(count, dtype=np.bool_)
    elif count <= _FEW:
        out = np.array([below_exp(exponent, 0, 0, source) for _ in range(count)], dtype=np.bool_)
    else:
        out = table(_ExpCoin(exponent)).draw(count, source).astype(np.bool_)
    return out if size is not None else bool(out[0])
