"""Noise on record is the noise that was added."""

from fractions import Fraction

import pytest

from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.record import noise_from, noise_to


@pytest.mark.parametrize("noise", [Laplace(Fraction(20, 3)), Gaussian(Fraction(7, 2))])
def test_noise_is_read_as_it_was_written(noise):
    assert noise_from(noise_to(noise)) == noise


def test_the_two_laws_are_told_apart():
    assert noise_from({"laplace": "2"}) != noise_from({"gaussian": "2"})
