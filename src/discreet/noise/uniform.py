"""Uniform integers without modulo bias."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import exactly
from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.noise.bits import SystemBits, words
from discreet.noise.parameters import read_size

__all__ = ["below", "uniform"]


@overload
def uniform(bound: int, size: None = None, *, bits: Bits | None = None) -> int: ...
@overload
def uniform(bound: int, size: int, *, bits: Bits | None = None) -> NDArray[np.int64]: ...
def uniform(bound: int, size: int | None = None, *, bits: Bits | None = None) -> NDArray[np.int64] | int:
    """Integers drawn evenly from 0, 1, ..., bound - 1: an array, or one int (of any length).

    >>> uniform(1, size=3).tolist()
    [0, 0, 0]
    """
    limit, count = exactly(bound, "bound"), read_size(size)
    if limit.denominator != 1 or limit < 1:
        raise InputError("bound", bound, "a whole number, 1 or more")
    if size is not None and limit > 2**63:
        raise InputError("bound", bound, "at most 2**63 for an array", "Draw single integers (size=None) instead.")
    source = bits if bits is not None else SystemBits()
    if size is None:
        return _one(int(limit), source)
    return _many(int(limit), count, source)


def below(bound: int, bits: Bits | None = None) -> int:
    """A whole number from 0 to bound - 1, each equally likely, however large the bound is."""
    return _one(bound, bits if bits is not None else SystemBits())


def _one(bound: int, bits: Bits) -> int:
    digits = (bound - 1).bit_length()
    size = (digits + 7) // 8
    while True:
        value = int.from_bytes(bits.read(size).tobytes(), "little") >> (8 * size - digits)
        if value < bound:
            return value


def _many(bound: int, count: int, bits: Bits) -> NDArray[np.int64]:
    digits = (bound - 1).bit_length()
    out = np.zeros(count, dtype=np.int64)
    if digits == 0:
        return out
    waiting = np.arange(count)
    while len(waiting):
        if digits <= 16:
            drawn = bits.read(2 * len(waiting)).view(np.uint16).astype(np.int64) >> (16 - digits)
        else:
            drawn = (words(bits, len(waiting)) >> np.uint64(64 - digits)).astype(np.int64)
        fits = drawn <= bound - 1
        out[waiting[fits]] = drawn[fits]
        waiting = waiting[~fits]
    return out
