"""Uniform integers are even, whatever the bound."""

import numpy as np
import pytest

from chance import fits
from discreet import noise
from discreet.errors import InputError


@pytest.mark.parametrize("bound", [2, 3, 10, 1000, 65536, 65537, 100_003])
def test_every_value_is_equally_likely(bound):
    drawn = noise.uniform(bound, 400 * min(bound, 1000))
    assert drawn.min() >= 0
    assert drawn.max() < bound
    cells = min(bound, 1000)
    sizes = np.bincount(np.arange(bound) * cells // bound, minlength=cells) / bound
    assert fits(drawn * cells // bound, lambda cell: sizes[cell])


@pytest.mark.parametrize("bound", [1, 2**63, 2**62 + 1])
def test_extreme_bounds(bound):
    drawn = noise.uniform(bound, 1000)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert bound == 1 or drawn.max() > bound // 2


def test_single_integers_of_any_length():
    bound = 10**40
    drawn = [noise.uniform(bound) for _ in range(200)]
    assert all(0 <= value < bound for value in drawn)
    assert max(drawn) > bound // 2
    assert len(set(drawn)) == 200


@pytest.mark.parametrize("bound", [0, -5, 1.5, float("nan"), None])
def test_bad_bounds_are_refused(bound):
    with pytest.raises(InputError, match="bound"):
        noise.uniform(bound)


def test_a_long_bound_is_refused_for_arrays():
    with pytest.raises(InputError, match=r"2\*\*63"):
        noise.uniform(2**63 + 1, 10)
