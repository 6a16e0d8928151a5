"""Discrete Gaussian noise, P[x] proportional to e^(-x^2/(2 sigma^2)) over the integers.

Small sigma: one table lookup. Large sigma: the integers are cut into blocks of 2^shift; a block is looked up, an offset
is drawn uniformly, and the pair is kept with probability e^(-(x^2 - start^2)/(2 sigma^2)), about 99 times in a hundred.
That coin is exact too: an integer comparison settles most, floating point with a proven margin most of the rest, and
lazy bits what remains.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, negative_exp_bounds
from discreet.core.mechanism import Bits
from discreet.noise.bernoulli import below_exp
from discreet.noise.bits import SystemBits, words
from discreet.noise.parameters import read_scale, read_size
from discreet.noise.table import CHUNK, Table, table, zigzag

__all__ = ["GaussianBlocks", "gaussian"]

_DIRECT = 128  # up to this sigma one lookup does it all
_MARGIN = 2.0**-40  # float error of the acceptance probability is below 2**-48: see docs/proofs/noise.md


@dataclass(frozen=True, slots=True)
class GaussianBlocks:
    """Blocks of 2**shift integers, each weighted by its heaviest; single integers when shift is zero.

    Index 2b is the block that starts at b 2^shift and goes up, index 2b+1 the one that starts at -1 - b 2^shift and
    goes down.
    """

    sigma: Fraction
    shift: int = 0

    def cdf(self, bits: int) -> tuple[list[int], list[int]]:
        """The law, bounded from both sides: see `discreet.noise.table`."""
        work = bits + 96
        sums_low, sums_high = [0], [0]
        sides = zip(self._weights(0, work), self._weights(1, work), strict=True)
        for up, down in sides:
            for low, high, _ in (up, down):
                sums_low.append(sums_low[-1] + low)
                sums_high.append(sums_high[-1] + high)
            beyond = up[2] + down[2]
            if beyond < sums_low[-1] >> (bits + 1):
                break
        total_low, total_high = sums_low[-1], sums_high[-1] + beyond
        low_rows = [(value << bits) // total_high for value in sums_low[1:]]
        high_rows = [min(-((-value << bits) // total_low), 1 << bits) for value in sums_high[1:]]
        return low_rows, high_rows

    def _weights(self, first: int, work: int) -> Iterator[tuple[int, int, int]]:
        """Bounds on e^(-x^2/(2 sigma^2)) for x = first, first + 2^shift, ..., and on the sum of all that follow."""
        one = 1 << work
        step = 1 << self.shift
        half = 1 / (2 * self.sigma * self.sigma)
        low, high = negative_exp_bounds(first * first * half, work)
        ratio_low, ratio_high = negative_exp_bounds((2 * first * step + step * step) * half, work)
        fall_low, fall_high = negative_exp_bounds(2 * step * step * half, work)
        while True:
            # The ratios only fall, so what follows is below a geometric series.
            yield low, high, -(-high * ratio_high // (one - ratio_high))
            low, high = low * ratio_low >> work, -(-high * ratio_high >> work)
            ratio_low, ratio_high = ratio_low * fall_low >> work, -(-ratio_high * fall_high >> work)

    def decode(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The outcomes the indices stand for."""
        return zigzag(index)


class _Acceptance:
    """The coin that turns a block and a uniform offset into exact Gaussian noise."""

    __slots__ = ("_half", "_half_float", "_shift", "_sure")

    def __init__(self, sigma: Fraction, shift: int) -> None:
        self._shift = shift
        self._half = 1 / (2 * sigma * sigma)
        self._half_float = float(self._half)
        # Below this 16-bit draw every offset in the block is kept: the far end of the lower block is the worst.
        # Ten sigma out the list ends with "never sure", and the exact comparison takes over.
        width = 2.0**shift
        start = 1 + width * np.arange(int(10 * sigma / (1 << shift)))
        exponent = (width - 1) * (2 * start + width - 1) * self._half_float
        sure = np.floor((np.exp(-exponent) - _MARGIN) * 2.0**16)
        self._sure = np.append(np.maximum(sure, 0), 0).astype(np.uint16)

    def kept(self, start: NDArray[np.int64], offset: NDArray[np.int64], bits: Bits) -> NDArray[np.bool_]:
        """Which (block start magnitude, offset) pairs are kept."""
        coin = bits.read(2 * len(start)).view(np.uint16)
        kept = coin < self._sure.take(start >> self._shift, mode="clip")
        unsure = np.flatnonzero(~kept)
        if len(unsure):
            kept[unsure] = self._weigh(start[unsure], offset[unsure], coin[unsure], bits)
        return kept

    def _weigh(
        self, start: NDArray[np.int64], offset: NDArray[np.int64], coin: NDArray[np.uint16], bits: Bits
    ) -> NDArray[np.bool_]:
        exponent = offset.astype(np.float64) * (2.0 * start.astype(np.float64) + offset) * self._half_float
        chance = np.exp(-exponent)
        prefix = coin.astype(np.uint64) << np.uint64(48) | words(bits, len(coin)) >> np.uint64(16)
        uniform = prefix.astype(np.float64) * 2.0**-64
        kept = uniform < chance
        for i in np.flatnonzero(np.abs(uniform - chance) < _MARGIN):
            exact = int(offset[i]) * (2 * int(start[i]) + int(offset[i])) * self._half
            kept[i] = below_exp(exact, int(prefix[i]), 64, bits)
        return kept


@lru_cache(maxsize=64)
def _acceptance(sigma: Fraction, shift: int) -> _Acceptance:
    return _Acceptance(sigma, shift)


@overload
def gaussian(sigma: Number, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def gaussian(sigma: Number, size: int, *, bits: Bits | None = None) -> NDArray[np.int64]: ...
def gaussian(sigma: Number, size: int | None = None, *, bits: Bits | None = None) -> NDArray[np.int64] | int:
    """Integers from the discrete Gaussian law of `sigma` (a float is taken bit for bit): an array, or one int.

    >>> noise = gaussian(sigma=2.5, size=1000)
    >>> noise.dtype, noise.shape
    (dtype('int64'), (1000,))
    """
    exact, count = read_scale(sigma, "sigma"), read_size(size)
    source = bits if bits is not None else SystemBits()
    shift = 0 if exact <= _DIRECT else (int(exact) // 64).bit_length() - 1
    blocks = table(GaussianBlocks(exact, shift))
    if shift == 0:
        out = blocks.draw(count, source)
    else:
        coin = _acceptance(exact, shift)
        out = np.empty(count, dtype=np.int64)
        for begin in range(0, count, CHUNK):
            _fill(out[begin : begin + CHUNK], blocks, coin, shift, source)
    return out if size is not None else int(out[0])


def _fill(out: NDArray[np.int64], blocks: Table, coin: _Acceptance, shift: int, bits: Bits) -> None:
    refused = _attempt(out, blocks, coin, shift, bits)
    while len(refused):
        again = np.empty(len(refused), dtype=np.int64)
        still = _attempt(again, blocks, coin, shift, bits)
        out[refused] = again
        refused = refused[still]


def _attempt(out: NDArray[np.int64], blocks: Table, coin: _Acceptance, shift: int, bits: Bits) -> NDArray[np.intp]:
    """Propose one value for every place in `out`; return the places where it was refused."""
    blocks.fill(out, bits)
    sign = out >> 63
    out ^= sign
    out <<= shift
    offset = _offsets(len(out), shift, bits)
    # The block below zero starts at magnitude 1: x = -1 - (b 2^shift + offset).
    kept = coin.kept(out - sign, offset, bits)
    out += offset
    out ^= sign
    return np.flatnonzero(~kept)


def _offsets(count: int, shift: int, bits: Bits) -> NDArray[np.int64]:
    if shift <= 16:
        narrow = bits.read(2 * count).view(np.uint16) >> np.uint16(16 - shift)
        return narrow.astype(np.int64)
    return (words(bits, count) >> np.uint64(64 - shift)).astype(np.int64)
