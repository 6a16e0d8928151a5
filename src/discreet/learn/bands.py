"""Noise that is correlated over steps: each step takes back a part of the noise of the last few (banded factorisation).

What training sums up over many steps then has less noise for the same price, since each example takes part only every
so many steps. Proof: docs/proofs/training.md, "Bands".
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import sqrt_up
from discreet.learn.keys import bits_of
from discreet.learn.lattice import LONGEST, SMOOTH
from discreet.noise.gaussian import gaussian

__all__ = ["BandedNoise", "banded_coefficients", "banded_sigma", "inverse_coefficients"]

_SHIFT = 16
_ONE = 2**_SHIFT

Integers = NDArray[np.int64]


@lru_cache(maxsize=16)
def banded_coefficients(bands: int) -> tuple[int, ...]:
    """The first `bands` coefficients of 1/sqrt(1 - x), 1, 1/2, 3/8, ..., in units of 2^-16: one column of the factor.

    >>> banded_coefficients(3)
    (65536, 32768, 24576)
    """
    exact, found = Fraction(1), []
    for place in range(bands):
        found.append(round(exact * _ONE))
        exact *= Fraction(2 * place + 1, 2 * place + 2)
    return tuple(found)


def banded_sigma(multiplier: Fraction, bands: int, size: int) -> Fraction:
    """The sigma of the noise that is drawn at each step, for vectors of `size` integers.

    Guarantee: its square is at least (multiplier S)^2 + 16, where S = |c| LONGEST + sqrt((bands - 1) size) is the
    farthest that one example, in one step, moves what is drawn in this step and the next bands - 1, and c are the
    coefficients. With one band it is `lattice_sigma`.
    """
    column = sqrt_up(Fraction(sum(c * c for c in banded_coefficients(bands)), _ONE**2))
    moved = column * LONGEST + sqrt_up(Fraction((bands - 1) * size))
    return sqrt_up((multiplier * moved) ** 2 + SMOOTH)


def inverse_coefficients(bands: int, steps: int) -> NDArray[np.float64]:
    """How much of the noise drawn at a step is in the noise of that step and of each later one."""
    column = np.array(banded_coefficients(bands)) / _ONE
    found = np.zeros(steps)
    found[0] = 1
    for step in range(1, steps):
        before = found[max(0, step - bands + 1) : step][::-1]
        found[step] = -before @ column[1 : len(before) + 1]
    return found


@dataclass(eq=False)
class BandedNoise:
    """The noise of the steps of one run, in turn; a step that is asked for again has the same.

    n_t = z_t - round(sum of c_i n_(t-i) over the bands), all integers: z_t is drawn exactly, keyed by secret and step.
    It depends on no data, so a run that goes on makes it anew from its first step.
    """

    secret: bytes
    multiplier: Fraction
    bands: int
    _last: deque[Integers] = field(init=False)
    _steps: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._last = deque(maxlen=self.bands)

    def at(self, step: int, size: int) -> Integers:
        """The noise of a step on a vector of `size` integers."""
        if step < self._steps - 1 or (self._last and len(self._last[0]) != size):
            self._last.clear()
            self._steps = 0
        sigma = banded_sigma(self.multiplier, self.bands, size)
        while self._steps <= step:
            drawn = gaussian(sigma, size, bits=bits_of(self.secret, "banded noise", self._steps))
            self._last.appendleft(drawn - taken_back(list(self._last), self.bands))
            self._steps += 1
        return self._last[0]


def taken_back(last: list[Integers], bands: int) -> Integers:
    """What a step takes back of the noise of the last few, the latest first: whole numbers, rounded half up."""
    total = np.zeros_like(last[0]) if last else np.int64(0)
    for weight, noise in zip(banded_coefficients(bands)[1:], last, strict=False):
        total = total + weight * noise
    return np.asarray((total + _ONE // 2) >> _SHIFT, dtype=np.int64)
