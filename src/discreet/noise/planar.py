"""Planar Laplace noise, P[z] proportional to e^(-|z|/scale) over pairs of integers, |z| the straight distance.

Two discrete Laplace numbers of a scale p just above scale * sqrt(2) are proposed: |x| + |y| <= sqrt(2) |z|, so that
their law, e^(-(|x| + |y|)/p), lies above the one wanted. The pair is kept with the chance that corrects the difference,
e^(-(|z|/scale - (|x| + |y|)/p)), about four times in five. That exponent is irrational; floating point with a proven
margin settles nearly all pairs, and bounds on it, as tight as it takes, the others. Nothing is approximated.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number, negative_exp_bounds, sqrt_down, sqrt_up
from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.noise.bernoulli import below
from discreet.noise.bits import SystemBits, words
from discreet.noise.laplace import laplace
from discreet.noise.parameters import LARGEST, read_scale, read_size

__all__ = ["planar", "read_planar_scale"]

_GRID = 1 << 80  # the proposal's scale is rounded up on this
_MARGIN = 2.0**-30  # float error of the chance is below 2**-34 of it, up to _FAR: see docs/proofs/planar-laplace.md
_FAR = 2.0**15  # scales from the centre: farther pairs are settled exactly


def read_planar_scale(value: Number, field: str = "scale") -> Fraction:
    """A scale of planar noise, exact: proposals are a little wider, and must be possible too."""
    scale = read_scale(value, field)
    if 2 * scale > LARGEST:
        raise InputError(field, value, "at most 2**39 (about 5.5e11)", "Measure in coarser steps.")
    return scale


def planar(scale: Number, size: int, *, bits: Bits | None = None) -> NDArray[np.int64]:
    """Pairs of integers from the planar Laplace law of `scale`, one a row.

    >>> planar(scale=10, size=1000).shape
    (1000, 2)
    """
    exact, count = read_planar_scale(scale), read_size(size)
    source = bits if bits is not None else SystemBits()
    wide = sqrt_up(2 * exact * exact, _GRID)
    found: list[NDArray[np.int64]] = []
    left = count
    while left > 0:
        tried = left + left // 3 + 8
        pairs = laplace(wide, 2 * tried, bits=source).reshape(tried, 2)
        kept = pairs[_kept(pairs, exact, wide, source)][:left]
        found.append(kept)
        left -= len(kept)
    return np.concatenate(found) if found else np.zeros((0, 2), dtype=np.int64)


def _kept(pairs: NDArray[np.int64], scale: Fraction, wide: Fraction, bits: Bits) -> NDArray[np.bool_]:
    """Which pairs are kept: each with exactly the chance that makes the law right."""
    drawn = words(bits, len(pairs))
    x, y = np.abs(pairs[:, 0]).astype(float), np.abs(pairs[:, 1]).astype(float)
    far = np.hypot(x, y) / float(scale)
    chance = np.exp(np.minimum((x + y) / float(wide) - far, 0.0))
    uniform = (drawn >> np.uint64(11)).astype(float) * 2.0**-53
    kept = np.asarray(uniform + 2.0**-52 <= chance * (1 - _MARGIN))
    unsure = ~kept & (uniform <= chance * (1 + _MARGIN) + 2.0**-52) | (far > _FAR)
    for place in np.flatnonzero(unsure).tolist():
        gap = _Gap(int(x[place]), int(y[place]), scale, wide)
        kept[place] = below(gap.bounds, int(drawn[place]), 64, bits)
    return kept


class _Gap:
    """How far the law proposed lies above the one wanted at a pair: e^(-gap), by bounds."""

    __slots__ = ("_proposed", "_square")

    def __init__(self, x: int, y: int, scale: Fraction, wide: Fraction) -> None:
        self._square, self._proposed = (x * x + y * y) / (scale * scale), (x + y) / wide

    def bounds(self, bits: int) -> tuple[int, int]:
        """Integers around 2**bits * e^(-gap)."""
        grid = 1 << (bits + 16)
        low = max(sqrt_down(self._square, grid) - self._proposed, Fraction(0))
        high = max(sqrt_up(self._square, grid) - self._proposed, Fraction(0))
        return negative_exp_bounds(high, bits)[0], negative_exp_bounds(low, bits)[1]
