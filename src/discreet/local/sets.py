"""Sets of a fixed size drawn evenly, one for each respondent, from fair coins eight to a byte."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.local.packed import width_of

__all__ = ["packed_sets"]

_BYTES = 1 << 19  # of candidates handled at a time: what they touch stays in cache


def packed_sets(
    categories: int, size: int, values: NDArray[np.int64], own: NDArray[np.bool_], bits: Bits
) -> NDArray[np.uint8]:
    """For each value a set of `size` categories, with the value itself where `own` says so and without it elsewhere.

    All such sets are equally likely: every other category draws an endless binary number, and the largest are chosen.
    Proof: docs/proofs/local.md, "Draws".
    """
    width = width_of(categories)
    word = np.dtype(f"u{min(8, 1 << (width - 1).bit_length())}")
    each, words = 8 * word.itemsize, -(-width // word.itemsize)
    everything = np.packbits(np.arange(each * words) < categories).view(word)
    masks = np.packbits(np.eye(each, dtype=np.uint8), axis=1).view(word).reshape(-1)
    small = np.min_scalar_type(categories)
    out = np.empty((len(values), width), dtype=np.uint8)
    step = max(1, _BYTES // (words * word.itemsize))
    for start in range(0, len(values), step):
        part, mine = values[start : start + step], own[start : start + step]
        # The first words of all, then the second words of all: what is done to each set is done to long arrays.
        tied = np.repeat(everything, len(part)).reshape(words, len(part))
        place, mask = part // each * len(part) + np.arange(len(part)), masks.take(part % each)
        tied.reshape(-1)[place] ^= mask
        chosen = _largest(tied, (size - mine.astype(small)).astype(small), bits)
        chosen.reshape(-1)[place] |= mask * mine
        out[start : start + step] = chosen.T.copy().view(np.uint8)[:, :width]
    return out


def _largest(tied: NDArray[Any], wanted: NDArray[Any], bits: Bits) -> NDArray[Any]:
    """Column by column, the `wanted` largest of those that are `tied` in all digits so far. Both are written over."""
    chosen, counts = np.zeros_like(tied), np.empty(tied.shape, dtype=np.uint8)
    few = len(wanted) // 4
    while np.count_nonzero(wanted) > few:
        ones = bits.read(tied.nbytes).view(tied.dtype).reshape(tied.shape)  # the next digit of every number
        ones &= tied
        found = np.bitwise_count(ones, out=counts).sum(axis=0, dtype=wanted.dtype)
        fit = found <= wanted
        # Where they fit, ones are chosen and zeros stay tied. Elsewhere zeros are too small, and ones stay tied.
        # A column that wants no more stays as it is: only no ones at all fit.
        if not fit.any():  # the first digits of many categories go one way for everyone, which is quicker
            tied = ones
        elif fit.all():
            wanted -= found
            tied ^= ones
            chosen |= ones
        else:
            found *= fit
            wanted -= found
            mask = fit.astype(tied.dtype)
            np.negative(mask, out=mask)
            tied &= mask
            tied ^= ones
            ones &= mask
            chosen |= ones
    going = np.flatnonzero(wanted)
    if len(going):  # the few that need more digits, by themselves
        more = _largest(tied.take(going, axis=1), wanted.take(going), bits)
        chosen[:, going] = more | chosen.take(going, axis=1)
    return chosen
