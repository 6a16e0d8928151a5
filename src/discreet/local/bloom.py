"""Strings as a few bits among many: Bloom filters, one set of hash functions for each cohort."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, kind_of

__all__ = ["filter_bits", "filters"]


@lru_cache(maxsize=1 << 16)
def filter_bits(value: str, cohort: int, bits: int, hashes: int) -> tuple[int, ...]:
    """The places a string sets: SHA-256 of cohort, number of the hash and string. Public, and the same everywhere.

    >>> filter_bits("firefox", 0, 128, 2)
    (116, 98)
    """
    if not isinstance(value, str):
        raise InputError("values", kind_of(value), "texts")
    data = value.encode("utf-8", "surrogatepass")
    return tuple(
        int.from_bytes(hashlib.sha256(f"{cohort}/{number}/".encode() + data).digest()[:8], "big") % bits
        for number in range(hashes)
    )


def filters(value: str, cohorts: int, bits: int, hashes: int) -> NDArray[np.float64]:
    """A string's filter in every cohort, end to end: one row of zeros and ones."""
    out = np.zeros((cohorts, bits))
    for cohort in range(cohorts):
        out[cohort, list(filter_bits(value, cohort, bits, hashes))] = 1
    return out.reshape(-1)
