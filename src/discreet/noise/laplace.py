"""Discrete Laplace noise, P[x] proportional to e^(-|x|/scale) over the integers.

With r = e^(-1/scale), a draw is G or -1-G with odds 1 : r, where G is geometric with ratio r; and the binary digits of
a geometric variable are independent. So any scale is a handful of small table lookups: one for the sign and the high
digits together, one for every ten of the low digits. Nothing is rejected, nothing is a float.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, negative_exp_bounds
from discreet.core.mechanism import Bits
from discreet.noise.bits import SystemBits
from discreet.noise.parameters import read_scale, read_size
from discreet.noise.table import CHUNK, table, zigzag

__all__ = ["LowDigits", "SignedHigh", "laplace"]

_DIRECT = 32  # up to this scale one lookup does it all
_DIGITS = 10  # low binary digits per lookup


@dataclass(frozen=True, slots=True)
class SignedHigh:
    """The sign and the digits above the lowest `shift` of discrete Laplace noise.

    Index 2h is +h, index 2h+1 is -1-h. With q = r^(2^shift), the mass beyond them is q^h (r+q)/(1+r) and q^(h+1).
    """

    scale: Fraction
    shift: int = 0

    def cdf(self, bits: int) -> tuple[list[int], list[int]]:
        """The law, bounded from both sides: see `discreet.noise.table`."""
        work = bits + 64
        one = 1 << work
        r_low, r_high = negative_exp_bounds(1 / self.scale, work)
        q_low, q_high = negative_exp_bounds((1 << self.shift) / self.scale, work)
        # (r+q)/(1+r) grows with r and with q.
        half_low = ((r_low + q_low) << work) // (one + r_low)
        half_high = -((-(r_high + q_high) << work) // (one + r_high))
        low: list[int] = []
        high: list[int] = []
        power_low = power_high = one
        while power_high >> 64:  # the mass beyond is still 2**-bits or more
            low.append((one - _up(power_high * half_high, work)) >> 64)
            high.append(-((power_low * half_low >> work) - one >> 64))
            power_low = power_low * q_low >> work
            power_high = _up(power_high * q_high, work)
            low.append((one - power_high) >> 64)
            high.append(-(power_low - one >> 64))
        return low, high

    def decode(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The outcomes the indices stand for."""
        return zigzag(index)


@dataclass(frozen=True, slots=True)
class LowDigits:
    """`width` binary digits of a geometric variable, from digit `position` up.

    P[d] is proportional to r^(d 2^position).
    """

    scale: Fraction
    position: int
    width: int

    def cdf(self, bits: int) -> tuple[list[int], list[int]]:
        """The law, bounded from both sides: see `discreet.noise.table`."""
        step = (1 << self.position) / self.scale
        # 1 - r^(2^position) is about `step`: its leading zeros must not eat the precision.
        work = bits + 64 + self.width + (step.denominator // step.numerator).bit_length()
        one = 1 << work
        ratio_low, ratio_high = negative_exp_bounds(step, work)
        total_low, total_high = negative_exp_bounds(step * (1 << self.width), work)
        low: list[int] = []
        high: list[int] = []
        power_low = power_high = one
        for _ in range((1 << self.width) - 1):
            power_low = power_low * ratio_low >> work
            power_high = _up(power_high * ratio_high, work)
            low.append(((one - power_high) << bits) // (one - total_low))
            high.append(-((-(one - power_low) << bits) // (one - total_high)))
        return [*low, 1 << bits], [*high, 1 << bits]

    def decode(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """The outcomes the indices stand for."""
        return index


def _up(product: int, work: int) -> int:
    return -(-product >> work)


@overload
def laplace(scale: Number, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def laplace(scale: Number, size: int, *, bits: Bits | None = None) -> NDArray[np.int64]: ...
def laplace(scale: Number, size: int | None = None, *, bits: Bits | None = None) -> NDArray[np.int64] | int:
    """Integers from the discrete Laplace law of `scale` (a float is taken bit for bit): an array, or one int.

    >>> noise = laplace(scale=10, size=1000)
    >>> noise.dtype, noise.shape
    (dtype('int64'), (1000,))
    """
    exact, count = read_scale(scale, "scale"), read_size(size)
    source = bits if bits is not None else SystemBits()
    shift = 0 if exact <= _DIRECT else (int(exact) // 8).bit_length() - 1
    signed = table(SignedHigh(exact, shift))
    pieces = []
    for top in range(shift, 0, -_DIGITS):
        width = min(_DIGITS, top)
        pieces.append((width, table(LowDigits(exact, top - width, width))))
    out = np.empty(count, dtype=np.int64)
    digits = np.empty(min(count, CHUNK), dtype=np.int64)
    for start in range(0, count, CHUNK):
        part = out[start : start + CHUNK]
        signed.fill(part, source)
        if pieces:
            sign = part >> 63
            part ^= sign
            for width, low in pieces:
                low.fill(digits[: len(part)], source)
                part <<= width
                part |= digits[: len(part)]
            part ^= sign
    return out if size is not None else int(out[0])
