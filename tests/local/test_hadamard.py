"""Hadamard response: the transform, and the lengths of blocks."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import hadamard as hadamard_matrix

from discreet.errors import InputError
from discreet.local import Hadamard
from discreet.local.hadamard import walsh


def test_walsh_is_the_hadamard_matrix():
    rows = np.random.default_rng(3).integers(-5, 6, (3, 32))
    assert (walsh(rows) == rows @ hadamard_matrix(32)).all()


@pytest.mark.parametrize(("categories", "epsilon"), [(5, "1/2"), (20, 3), (100, 6)])
def test_the_length_is_the_best_of_all(categories, epsilon):
    lengths = [1 << power for power in range(1, categories.bit_length() + 1)]
    every = {
        length: Hadamard(categories, epsilon, length=length).variance(1, Fraction(1, categories)) for length in lengths
    }
    assert every[Hadamard(categories, epsilon).length] == pytest.approx(min(every.values()), rel=1e-12)


def test_one_block_for_small_epsilon_and_more_for_large():
    assert Hadamard(100, "1/10").blocks == 1
    assert Hadamard(100, 8).blocks > 1


def test_a_length_that_is_no_power_of_two_is_refused():
    for wrong in (3, 1, 0, 16):
        with pytest.raises(InputError):
            Hadamard(5, 1, length=wrong)
