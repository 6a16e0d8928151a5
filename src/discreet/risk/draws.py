"""Numbers for made-up people: from whatever bits are given, never for noise that hides anyone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.bits import words

__all__ = ["draw_even"]


def draw_even(bits: Bits, *shape: int) -> NDArray[np.float64]:
    """Numbers from 0 up to 1, each as likely as the next."""
    drawn = (words(bits, int(np.prod(shape))) >> np.uint64(11)) * 2.0**-53
    return np.asarray(drawn.reshape(shape), dtype=np.float64)
