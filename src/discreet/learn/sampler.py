"""Discrete Gaussian noise drawn on the device: three table look-ups an entry, and a tail that reaches 13 deviations.

`jax.random.normal` in single precision ends at 5.42 standard deviations: what lies beyond never happens, and a delta
below 1e-7 cannot be claimed of it. Here an entry is x0 + 128 x1 + 128^2 x2, three independent discrete Gaussian numbers
of deviation 512, each by inversion of its law with 128 random bits. Proof: docs/proofs/training.md, "Noise on the
device".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError

__all__ = ["REACH", "VARIANCE", "draw_integers", "integers_of", "lattice_length", "thresholds"]

Array = Any

_SIGMA, _STRIDE, _PARTS = 512, 128, 3
_FARTHEST = 13 * _SIGMA
_WORDS = 4  # of 32 bits, for one number
_FIRST = 2  # of them settle all but one number in 10^15
_ENTRIES = 2 * _FARTHEST + 1
_DIGITS = 14  # binary, of a place in the table

VARIANCE = _SIGMA**2 * (1 + _STRIDE**2 + _STRIDE**4)
"""Of one entry of noise, in whole steps."""

REACH = _FARTHEST * (1 + _STRIDE + _STRIDE**2)
"""The largest entry there is: 13 deviations."""

_SMOOTH = 16  # 4^2: what rounding at random takes, as with exact noise
_ALLOWANCE = Fraction(1, 1024)  # of the bound, for the rounding of sums in single precision: a premise, not a proof


@lru_cache(maxsize=1)
def thresholds() -> NDArray[np.uint32]:
    """The table: for each value from -13 to 13 deviations, 2^128 times the chance of less, in words, highest first.

    Guarantee: the number whose threshold is the last not above 128 uniform bits has the discrete Gaussian law of
    deviation 512 up to a total variation of 3e-35: each chance is off by less than 2^-128, and the tails left out
    weigh less than 2e-38.
    """
    exact = Context(prec=80)
    weights = [exact.exp(exact.divide(Decimal(-x * x), Decimal(2 * _SIGMA**2))) for x in range(_FARTHEST + 1)]
    total = exact.add(weights[0], exact.multiply(Decimal(2), _sum(exact, weights[1:])))
    table = np.zeros((_WORDS, _ENTRIES), dtype=np.uint32)
    below = Decimal(0)
    for place in range(_ENTRIES):
        whole = int(exact.divide(exact.multiply(below, Decimal(2**128)), total))
        for word in range(_WORDS):
            table[word, place] = (whole >> (32 * (_WORDS - 1 - word))) & 0xFFFFFFFF
        below = exact.add(below, weights[abs(place - _FARTHEST)])
    table.flags.writeable = False
    return table


def _sum(exact: Context, numbers: Sequence[Decimal]) -> Decimal:
    total = Decimal(0)
    for number in reversed(numbers):  # the smallest first
        total = exact.add(total, number)
    return total


def draw_integers(keys: Array, size: int) -> Array:
    """`size` independent numbers of discrete Gaussian noise of `VARIANCE`, as int32. Pure; for `jit`.

    `keys` are two keys of JAX's generator (threefry): one for the first 64 bits of each number, the other for the rest.
    """
    first, rest = (jax.random.wrap_key_data(key, impl="threefry2x32") for key in keys)
    high = jax.random.bits(first, (_PARTS, _FIRST, size), jnp.uint32)

    def settled(high: Array) -> Array:
        low = jax.random.bits(rest, (_PARTS, _WORDS - _FIRST, size), jnp.uint32)
        return integers_of(jnp.concatenate([high, low], axis=1))[0]

    drawn, doubt = integers_of(high)
    return jax.lax.cond(doubt, settled, lambda _: drawn, high)


def integers_of(words: Array) -> tuple[Array, Array]:
    """Entries of noise from random words, shaped (3, words, size), and whether more words could change any of them.

    With all four words nothing can. Two are enough unless they equal those of a threshold.
    """
    table = [jnp.asarray(word) for word in thresholds()[: words.shape[1]]]
    place, tied = _looked_up([words[:, word] for word in range(words.shape[1])], table)
    strides = jnp.asarray([[_STRIDE**part] for part in range(_PARTS)], jnp.int32)
    return ((place - _FARTHEST) * strides).sum(axis=0, dtype=jnp.int32), tied.any()


def _looked_up(words: Sequence[Array], table: Sequence[Array]) -> tuple[Array, Array]:
    """The last place whose threshold is not above the words, by its binary digits, and where they are equal."""

    def narrowed(turn: Array, place: Array) -> Array:
        further = place + jnp.left_shift(1, _DIGITS - 1 - turn)
        near = jnp.minimum(further, _ENTRIES - 1)
        above = jnp.zeros(place.shape, bool)  # whether the threshold is above the words, from the last word on
        for word, column in zip(reversed(words), reversed(table), strict=True):
            there = column[near]
            above = (there > word) | ((there == word) & above)
        return jnp.where((further < _ENTRIES) & ~above, further, place)

    # A loop: written out, the digits take XLA half a minute to compile.
    place = jax.lax.fori_loop(0, _DIGITS, narrowed, jnp.zeros(words[0].shape, jnp.int32))
    tied = jnp.ones(place.shape, bool)
    for word, column in zip(words, table, strict=True):
        tied = tied & (column[place] == word)
    return place, tied


def lattice_length(multiplier: Fraction, size: int) -> int:
    """How many steps of the lattice the clipping bound is long, so that noise of `VARIANCE` is `multiplier` times it.

    Guarantee: with R what is returned, sums of `size` entries that differ by at most R (1 + 1/1024) differ, each
    rounded to whole steps, by at most R (1 + 1/1024) + sqrt(size), and `multiplier` times that, squared, is at most
    VARIANCE - 16.
    """
    room = math.isqrt(math.floor((VARIANCE - _SMOOTH) / multiplier**2))
    spare = math.isqrt(size) + 1
    length = math.floor((room - spare) / (1 + _ALLOWANCE))
    if length < spare:
        hint = "Use noise='exact', or fewer parameters, or less noise."
        raise InputError("multiplier", float(multiplier), f"smaller for {size:,} parameters on the device", hint)
    return length
