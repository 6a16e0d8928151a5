"""Randomness for what is already public: bits that follow from a key, so that the same release makes the same rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.bits import words
from discreet.noise.replay import Replay

__all__ = ["Replay", "key_of", "uniforms"]


def key_of(arrays: Iterable[NDArray[np.float64]], purpose: str) -> bytes:
    """A key that follows from published numbers."""
    digest = hashlib.sha256(purpose.encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.digest()


def uniforms(bits: Bits, count: int) -> NDArray[np.float64]:
    """Numbers from 0 up to 1, 53 bits each."""
    return np.asarray((words(bits, count) >> np.uint64(11)) * 2.0**-53)
