"""Measuring again, on counts that are made up or already published: what a release would look like.

Nothing here touches private data. Randomness is public, so it is derived from what is known (`Replay`): the same
release gives the same intervals wherever and whenever they are worked out.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.core.digest import text_of
from discreet.core.mechanism import Bits
from discreet.noise.replay import Replay
from discreet.trees.measured import Measured

__all__ = ["Replay", "again", "key_of"]

Array = NDArray[np.int64]


def key_of(measured: Measured, purpose: str) -> bytes:
    """A key that follows from everything measured: published values, so public."""
    digest = hashlib.sha256(purpose.encode())
    for level in measured.levels:
        for values in (level.counts, level.totals):
            digest.update(b"-" if values is None else np.ascontiguousarray(values).astype("<i8").tobytes())
        digest.update(text_of((level.noise, level.totals_noise)).encode())
    return digest.digest()


def again(measured: Measured, leaves: Array, bits: Bits) -> Measured:
    """The same questions with fresh noise of the same law, asked of the counts `leaves`."""
    levels = []
    for level, exact in zip(measured.levels, measured.tree.sums(leaves), strict=True):
        fresh = level
        if level.noise is not None:
            counts = level.noise.release(exact.ravel(), bits=bits).reshape(exact.shape)
            fresh = replace(fresh, counts=counts)
        if level.totals_noise is not None:
            fresh = replace(fresh, totals=level.totals_noise.release(exact.sum(axis=1), bits=bits))
        levels.append(fresh)
    return Measured(measured.tree, tuple(levels), measured.chain)
