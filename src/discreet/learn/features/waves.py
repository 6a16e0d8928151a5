"""Little waves of a few widths and directions: the filters that fixed image features are made of."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "folded", "morlet", "pooling"]

Floats = NDArray[np.float32]
_PITCH = 0.75 * math.pi  # of the finest wave: three quarters of the fastest a grid can hold
_WIDTH = 0.8  # pixels, of the finest wave
_SHIFTS = (-2, -1, 0, 1, 2)  # turns of the circle after which a bump's tail no longer matters


def morlet(size: int, scale: int, turn: float, directions: int) -> Floats:
    """The transform of a Morlet wave, `scale` octaves below the finest, on a periodic grid of `size` times `size`.

    A Morlet wave is a Gabor wave less as much of its envelope as takes its mean away: a flat image gives zero.
    """
    width = _WIDTH * 2.0**scale
    pitch = _PITCH / 2.0**scale
    slant = 4.0 / directions  # fewer directions, rounder envelopes
    there = _bump(size, width, slant, turn, pitch)
    here = _bump(size, width, slant, turn, 0.0)
    return np.asarray(there - there[0, 0] / here[0, 0] * here, dtype=np.float32)


def _bump(size: int, width: float, slant: float, turn: float, pitch: float) -> NDArray[np.float64]:
    """A Gaussian envelope's transform around `pitch` towards `turn`, with what a sampled grid folds into it."""
    angles = 2 * math.pi * np.arange(size) / size
    total = np.zeros((size, size))
    for down, right in product(_SHIFTS, _SHIFTS):
        y = angles[:, None] + 2 * math.pi * down
        x = angles[None, :] + 2 * math.pi * right
        along = math.cos(turn) * x + math.sin(turn) * y - pitch
        across = math.cos(turn) * y - math.sin(turn) * x
        total += np.exp(-((width * along) ** 2 + (width * across / slant) ** 2) / 2)
    return total


def folded(transform: Any, step: int) -> Any:
    """The transform of every `step`-th sample of the images whose transforms these are; NumPy's arrays or JAX's."""
    if step == 1:
        return transform
    *lead, size, _ = transform.shape
    less = size // step
    return transform.reshape(*lead, step, less, step, less).mean(axis=(-4, -2))


def pooling(size: int, places: int, width: float) -> Floats:
    """Rows of weights, one for each of `places` evenly laid windows over `size` samples; each row sums to one."""
    centres = (np.arange(places) + 0.5) * size / places - 0.5
    weights = np.exp(-(((np.arange(size)[None, :] - centres[:, None]) / width) ** 2) / 2)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float32)
