"""What a private quantile is, whichever way it was found: a bin of a declared grid, and bins it lies between.

The input is a histogram: how many rows fall in each of the bins, in order. With F(j) rows in the bins up to j and n in
all, the q-quantile is the first bin with F(j) >= q n. A bin is off by the rank error e if e is the least number with
F(j-1) <= q n + e and F(j) >= q n - e: zero for a bin that holds the rank q n, however many rows share it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.exact import Number
from discreet.core.mechanism import Integers
from discreet.errors import InputError, Phrase
from discreet.mechanisms.inputs import read_count, read_probability_inside, read_values

__all__ = ["MOST_BINS", "MOST_ROWS", "Quantile", "read_bins", "read_histogram", "read_quantiles"]

MOST_BINS = 2**24
MOST_ROWS = 2**42  # times the denominator of a quantile, at most 2**20, this stays inside 64 bits


@dataclass(frozen=True, slots=True)
class Quantile:
    """The bin `at`, and the bins from `lower` to `upper` between which the `q`-quantile lies with `confidence`.

    An interval as wide as the grid says that nothing is known: so it is when there are no rows, or too few for the
    noise. `confidence` is None, and the interval that wide, where no interval was paid for.
    """

    q: Fraction
    at: int
    lower: int
    upper: int
    confidence: Fraction | None


def read_histogram(counts: Integers, bins: int) -> NDArray[np.int64]:
    """The rows in each bin."""
    exact = read_values(counts, "counts")
    if len(exact) != bins:
        raise InputError("counts", Phrase(f"{len(exact)} of them"), f"one count for each of the {bins} bins")
    if exact.min() < 0:
        raise InputError("counts", Phrase("negative counts"), "zero or more, a count of rows")
    # As floats first: a sum of 64-bit integers may wrap.
    if float(exact.sum(dtype=np.float64)) > MOST_ROWS:
        raise InputError("counts", Phrase("more than 2**42 rows"), "at most 2**42 in all", "Divide the counts.")
    return exact


def read_bins(value: int) -> int:
    """How many bins a histogram has."""
    count = read_count(value, "bins")
    if count > MOST_BINS:
        raise InputError("bins", value, "at most 2**24")
    return count


def read_quantiles(quantiles: Iterable[Number] | Number) -> tuple[Fraction, ...]:
    """The quantiles asked for, as they were written: 0.9 is nine tenths."""
    listed = quantiles if isinstance(quantiles, Iterable) and not isinstance(quantiles, str) else [quantiles]
    read = tuple(read_probability_inside(q, "quantiles") for q in listed)
    if not read:
        raise InputError("quantiles", Phrase("an empty list"), "at least one quantile")
    if any(q.denominator > 2**20 for q in read):
        raise InputError(
            "quantiles",
            Phrase("a longer fraction"),
            "fractions with a denominator of at most 2**20",
            "Round it to six digits.",
        )
    return read
