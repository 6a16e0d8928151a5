"""What private quantiles are read from: histograms that fit, quantiles as written, bins within reach."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.mechanisms.quantile import MOST_BINS, MOST_ROWS, read_bins, read_histogram, read_quantiles


def test_quantiles_are_read_as_they_are_written_one_or_several():
    assert read_quantiles(0.9) == (Fraction(9, 10),)
    assert read_quantiles("1/3") == (Fraction(1, 3),)
    assert read_quantiles([0.25, 0.5]) == (Fraction(1, 4), Fraction(1, 2))


@pytest.mark.parametrize("given", [[], 0, 1, [0.5, 1.5], [Fraction(1, 2**20 + 1)]])
def test_quantiles_that_are_none_are_refused(given):
    with pytest.raises(InputError) as caught:
        read_quantiles(given)
    assert caught.value.field == "quantiles"


def test_a_histogram_has_a_count_for_each_bin():
    assert read_histogram([3, 0, 1], 3).tolist() == [3, 0, 1]
    assert read_histogram([MOST_ROWS], 1).tolist() == [MOST_ROWS]


@pytest.mark.parametrize(
    ("counts", "allowed"),
    [
        ([4711, 1], "one count for each of the 3 bins"),
        ([1, -4711, 1], "zero or more"),
        ([MOST_ROWS, 1, 4711], r"at most 2\*\*42"),
        (np.full(3, 2**62), r"at most 2\*\*42"),  # a sum that wraps in 64 bits is still seen
    ],
)
def test_another_histogram_is_refused_without_its_counts(counts, allowed):
    with pytest.raises(InputError, match=allowed) as caught:
        read_histogram(counts, 3)
    assert "4711" not in str(caught.value)


def test_bins_end_somewhere():
    assert read_bins(MOST_BINS) == MOST_BINS
    for bins in (0, MOST_BINS + 1):
        with pytest.raises(InputError, match="`bins`"):
            read_bins(bins)
