"""Subset selection: report a set of categories that holds one's own more often than chance would have it."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import AUTO, named, settle, whole_or_none
from discreet.core.mechanism import Bits, Integers
from discreet.errors import InputError, Phrase
from discreet.local.draws import flips
from discreet.local.estimate import Tally
from discreet.local.packed import bit_sums, read_packed, width_of
from discreet.local.protocol import Layout, Oracle, Report
from discreet.noise.bits import SystemBits

__all__ = ["Subset", "packed_sets"]

_LISTED = 14
_BYTES = 1 << 19  # of candidates handled at a time: what they touch stays in cache


@frozen(field_transformer=named)
class Subset(Oracle):
    """Report `size` categories: sets with one's own among them are `ratio` times as likely as others.

    Errs least of all: with the best size, near categories/(e^epsilon + 1), no mechanism has a smaller error when there
    are many respondents. The report is long: one bit for each category.

    Guarantee
        ln(ratio)-differential privacy of every report. Proof: docs/proofs/local.md.

    >>> Subset(100, epsilon=1).size
    27
    """

    kind: ClassVar[str] = "subset"
    layout: ClassVar[Layout] = "packed"
    size: int = field(default=AUTO, converter=whole_or_none, kw_only=True)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if self.size is AUTO:
            near = math.floor(self.categories / (self.ratio + 1))
            settle(self, size=min({max(1, near), near + 1}, key=self._variance_with))
        if not 1 <= self.size < self.categories:
            raise InputError("size", self.size, f"a whole number from 1 to {self.categories - 1}")

    @property
    def hit(self) -> Fraction:
        return self.size * self.ratio / (self.size * self.ratio + self.categories - self.size)

    @property
    def miss(self) -> Fraction:
        return (self.size - self.hit) / (self.categories - 1)

    @property
    def reports(self) -> int:
        return math.comb(self.categories, self.size)

    @property
    def report_bits(self) -> int:
        return self.categories

    def _variance_with(self, size: int) -> Fraction:
        settle(self, size=size)
        share, hit, miss = Fraction(1, self.categories), self.hit, self.miss
        return (share * hit * (1 - hit) + (1 - share) * miss * (1 - miss)) / (hit - miss) ** 2

    def _randomize(self, values: NDArray[np.int64], bits: Bits | None) -> NDArray[np.uint8]:
        source = bits if bits is not None else SystemBits()
        return packed_sets(self.categories, self.size, values, flips(self.hit, len(values), source), source)

    def law(self, value: int) -> dict[Report, Fraction]:
        if self.categories > _LISTED:
            raise InputError("categories", self.categories, f"at most {_LISTED} to list every report")
        width = width_of(self.categories)
        out: dict[Report, Fraction] = {}
        total = math.comb(self.categories - 1, self.size - 1) * self.ratio + math.comb(self.categories - 1, self.size)
        for chosen in itertools.combinations(range(self.categories), self.size):
            packed = sum(1 << (8 * width - 1 - place) for place in chosen)
            out[packed.to_bytes(width, "big")] = (self.ratio if value in chosen else 1) / total
        return out

    def scores(self, reports: Any) -> NDArray[np.int64]:
        rows = read_packed(reports, self.categories)
        return np.unpackbits(rows, axis=1)[:, : self.categories].astype(np.int64)

    def tally(self, reports: Any, times: Integers | None = None) -> Tally:
        rows = read_packed(reports, self.categories)
        if len(rows) and (np.bitwise_count(rows).sum(axis=1, dtype=np.int64) != self.size).any():
            raise InputError("reports", Phrase("a set of another size"), f"sets of {self.size} categories")
        sums = bit_sums(rows, self.categories, times)
        return Tally(self.id, len(rows) if times is None else int(np.sum(times)), sums, sums)


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
