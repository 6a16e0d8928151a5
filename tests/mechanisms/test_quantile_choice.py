"""Segments around a bin: they cover one side without gaps, grow, and are few."""

import numpy as np
import pytest

from discreet.mechanisms.quantile_choice import downward, most_segments, upward


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 64, 1000])
def test_segments_cover_each_side_once_from_the_bin_outwards(bins):
    for at in {0, bins // 3, bins // 2, bins - 1}:
        first, last = downward(at)
        assert [j for a, b in zip(first, last, strict=True) for j in range(b, a - 1, -1)] == list(range(at, -1, -1))
        first, last = upward(at, bins)
        assert [j for a, b in zip(first, last, strict=True) for j in range(a, b + 1)] == list(range(at, bins))
        assert max(len(downward(at)[0]), len(first)) <= most_segments(bins)


def test_segments_are_few_and_no_longer_than_half_of_the_way_there():
    assert [most_segments(2**k) for k in (1, 10, 16, 24)] == [2, 19, 30, 43]
    first, last = upward(0, 10**6)
    assert (last - first + 1 <= np.maximum(1, first / 2 + 1)).all()
