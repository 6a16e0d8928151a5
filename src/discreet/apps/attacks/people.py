"""Made-up people for attacks: drawn from the operating system's randomness, so no two runs are alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.noise.bits import SystemBits
from discreet.risk.draws import draw_even

__all__ = ["even", "normal"]

Floats = NDArray[np.float64]


def even(*shape: int) -> Floats:
    """Numbers from 0 up to 1."""
    return draw_even(SystemBits(), *shape)


def normal(*shape: int) -> Floats:
    """Normal numbers, by Box and Muller: for made-up data, never for noise that hides anyone."""
    radius = np.sqrt(-2 * np.log(1 - even(*shape)))
    return np.asarray(radius * np.cos(2 * np.pi * even(*shape)))
