"""Many exact draws at once: uniform integers and packed coins.

The same laws as `discreet.noise`, laid out for a million respondents: narrow integers instead of wide ones, coins eight
to a byte. Proofs: docs/proofs/local.md, "Draws".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.noise.bernoulli import bernoulli

__all__ = ["evenly", "flips", "packed_flips"]

_ROUNDS = 11  # binary digits of a coin that are compared for all coins; one in 2048 needs more
_CHUNK = 1 << 16
_BYTES = 1 << 16  # of coins made at a time: what they are made of stays in cache


def evenly(bound: int, count: int, bits: Bits) -> NDArray[Any]:
    """`count` integers drawn evenly from 0..bound-1, in the narrowest of uint16, uint32 and uint64 that has room.

    A word times the bound, divided by the size of a word: each result has equally many words once those whose
    remainder is too small are drawn again.
    """
    word: np.dtype[Any]
    wide: np.dtype[Any]
    if bound <= 1 << 12:
        word, wide, digits = np.dtype(np.uint16), np.dtype(np.uint32), 16
    elif bound <= 1 << 24:
        word, wide, digits = np.dtype(np.uint32), np.dtype(np.uint64), 32
    else:
        return _evenly_wide(bound, count, bits)
    out = np.empty(count, dtype=word)
    spare = wide.type((1 << digits) % bound)
    low = wide.type((1 << digits) - 1)
    for start in range(0, count, _CHUNK):
        part = out[start : start + _CHUNK]
        product = _read(word, len(part), bits).astype(wide) * wide.type(bound)
        part[:] = product >> wide.type(digits)
        if spare:
            for i in np.flatnonzero((product & low) < spare):
                part[i] = _again(bound, digits, int(spare), bits)
    return out


def _again(bound: int, digits: int, spare: int, bits: Bits) -> int:
    while True:
        product = int.from_bytes(bits.read(digits // 8).tobytes(), "little") * bound
        if product & ((1 << digits) - 1) >= spare:
            return product >> digits


def _read(word: np.dtype[Any], count: int, bits: Bits) -> NDArray[Any]:
    return bits.read(word.itemsize * count).view(word)


def _evenly_wide(bound: int, count: int, bits: Bits) -> NDArray[np.uint64]:
    """By rejection, from as many binary digits as the bound has."""
    shift = np.uint64(64 - (bound - 1).bit_length())
    out = _read(np.dtype(np.uint64), count, bits) >> shift
    waiting = np.flatnonzero(out > np.uint64(bound - 1))
    while len(waiting):
        drawn = _read(np.dtype(np.uint64), len(waiting), bits) >> shift
        out[waiting] = drawn
        waiting = waiting[drawn > np.uint64(bound - 1)]
    return out


def flips(probability: Fraction, count: int, bits: Bits) -> NDArray[np.bool_]:
    """`count` coins, heads with probability exactly `probability`."""
    return bernoulli(probability, count, bits=bits)


def packed_flips(probability: Fraction, count: int, bits: Bits) -> NDArray[np.uint8]:
    """`count` bytes of eight coins each, heads (1) with probability exactly `probability`.

    A coin compares an endless binary number with the probability, digit by digit: 64 coins at a time for the first
    eleven digits, and one exact coin for each of the few whose first eleven digits are equal.
    """
    if probability in (0, 1):
        return np.full(count, 255 * int(probability), dtype=np.uint8)
    rounds = _ROUNDS
    if probability.denominator <= 1 << _ROUNDS and (1 << _ROUNDS) % probability.denominator == 0:
        rounds = probability.denominator.bit_length() - 1  # so many digits are all it has
    first, rest = divmod(probability * (1 << rounds), 1)
    out = np.empty(count, dtype=np.uint8)
    for start in range(0, count, _BYTES):
        part = out[start : start + _BYTES]
        part[:] = _compared(int(first), rest, rounds, -(-len(part) // 8), bits)[: len(part)]
    return out


def _compared(first: int, rest: Fraction, rounds: int, words: int, bits: Bits) -> NDArray[np.uint8]:
    """Words of coins: digits are drawn as 0 where the number's digit is 1, which is as likely."""
    drawn = bits.read(8 * words * rounds).view(np.uint64).reshape(rounds, words)
    below = np.zeros(words, dtype=np.uint64)
    equal = np.full(words, ~np.uint64(0))
    for place in range(rounds):  # from the last digit to the first
        digit = drawn[place]
        if first >> place & 1:
            below |= digit
            if rest:
                equal &= np.invert(digit, out=digit)
        else:
            below &= digit
            if rest:
                equal &= digit
    if rest:
        places = np.flatnonzero(equal)
        undecided = np.flatnonzero(np.unpackbits(equal[places].view(np.uint8)))
        settled = np.zeros(64 * len(places), dtype=np.uint8)
        settled[undecided] = bernoulli(rest, len(undecided), bits=bits)
        below[places] |= np.packbits(settled).view(np.uint64)
    return below.view(np.uint8)
