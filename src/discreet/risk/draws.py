"""Numbers for made-up people: from whatever bits are given, never for noise that hides anyone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.bits import words

__all__ = ["draw_bits", "draw_even", "draw_order"]


def draw_even(bits: Bits, *shape: int) -> NDArray[np.float64]:
    """Numbers from 0 up to 1, each as likely as the next."""
    drawn = (words(bits, int(np.prod(shape))) >> np.uint64(11)) * 2.0**-53
    return np.asarray(drawn.reshape(shape), dtype=np.float64)


def draw_bits(bits: Bits, many: int) -> NDArray[np.bool_]:
    """Fair bits, such as secrets of made-up people."""
    return np.asarray(words(bits, many) >> np.uint64(63), dtype=bool)


def draw_order(bits: Bits, many: int) -> NDArray[np.int64]:
    """The numbers from 0 up to `many` in any order."""
    return np.argsort(words(bits, many), kind="stable")
