"""Whole numbers as short text for a page, which a script decodes when they are looked at."""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packed", "pack", "unpack"]

Packed = str | int
"""Base64 of variable-length integers, seven bits a byte, the lowest first, the sign in the lowest bit; or one number
that all of them are."""

_LONGEST = 8  # bytes of a number with its sign: 2**54


def pack(numbers: NDArray[np.int64]) -> Packed:
    """Numbers of at most 53 bits as text: a small number takes a byte.

    >>> pack(np.array([0, 1, -1, 64])), pack(np.array([7, 7]))
    ('AAIDgAE=', 7)
    """
    if len(numbers) and (numbers == numbers[0]).all():
        return int(numbers[0])
    signed = np.where(numbers < 0, 2 * np.abs(numbers) + 1, 2 * numbers)
    sizes = np.ones(len(signed), dtype=np.int64)
    for more in range(1, _LONGEST):
        sizes += signed >> (7 * more) > 0
    starts = np.cumsum(sizes) - sizes
    out = np.zeros(int(sizes.sum()), dtype=np.uint8)
    for at in range(_LONGEST):
        here = np.flatnonzero(sizes > at)
        goes_on = np.where(sizes[here] > at + 1, 128, 0)
        out[starts[here] + at] = ((signed[here] >> (7 * at)) & 127) | goes_on
    return base64.b64encode(out.tobytes()).decode()


def unpack(packed: Packed, count: int) -> NDArray[np.int64]:
    """The numbers again.

    >>> unpack("AAIDgAE=", 4).tolist(), unpack(7, 2).tolist()
    ([0, 1, -1, 64], [7, 7])
    """
    if isinstance(packed, int):
        return np.full(count, packed, dtype=np.int64)
    raw = np.frombuffer(base64.b64decode(packed), dtype=np.uint8).astype(np.int64)
    ends = np.flatnonzero(raw < 128)
    starts = np.concatenate([[0], ends[:-1] + 1])
    place = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    signed = np.add.reduceat((raw & 127) << (7 * place), starts)
    return np.where(signed & 1, -(signed >> 1), signed >> 1)
