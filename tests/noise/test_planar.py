"""Planar Laplace noise follows its law in every direction, and wrong laws are told apart."""

from fractions import Fraction

import numpy as np
import pytest

from chance import LEVEL, fit, fits, frequency_fits
from discreet.errors import InputError
from discreet.noise.bits import SystemBits
from discreet.noise.planar import _Gap, _kept, planar
from discreet.noise.replay import Replay

COUNT = 200_000


def along(scale, slope=(1, 0), reach=None):
    """The law of x + slope of y on a line, by summation, for comparison."""
    reach = reach or int(40 * scale) + 2
    axis = np.arange(-reach, reach + 1)
    mass = np.exp(-np.hypot(axis[:, None], axis) / float(scale))
    position = (slope[0] * axis[:, None] + slope[1] * axis).ravel()
    least = int(position.min())
    total = np.bincount(position - least, weights=mass.ravel()) / mass.sum()

    def pmf(x):
        index = np.asarray(x) - least
        inside = (index >= 0) & (index < len(total))
        return np.where(inside, total[np.clip(index, 0, len(total) - 1)], 0.0)

    return pmf


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(7, 3), 12])
@pytest.mark.parametrize("slope", [(1, 0), (1, 1), (1, -2)])
def test_the_law_fits_along_every_line(scale, slope):
    drawn = planar(scale, COUNT)
    assert fits(drawn @ np.array(slope), along(scale, slope))


@pytest.mark.statistical
def test_other_laws_are_told_apart():
    drawn = planar(6, COUNT)[:, 0]
    assert fit(drawn, along(6 * 1.03)) < LEVEL
    # Two independent Laplace numbers of the same variance are not a planar law.
    wide = planar(6, COUNT)
    apart = np.stack([wide[:, 0], np.roll(wide[:, 1], 1)], axis=1)
    assert fit(apart @ np.array([1, 1]), along(6, (1, 1))) < LEVEL


@pytest.mark.statistical
def test_the_slow_way_keeps_as_many_as_the_quick_one():
    """The exact comparison and the quick one decide alike: the same bits, the same pairs."""
    scale, wide = Fraction(5), Fraction(71, 10)
    pairs = np.array([[3, 4], [0, 9], [7, -7], [20, 1]] * 500)
    quick = _kept(pairs, scale, wide, Replay(b"same"))
    drawn = np.frombuffer(Replay(b"same").read(8 * len(pairs)).tobytes(), dtype=np.uint64)
    for place in range(0, len(pairs), 7):
        low, high = _Gap(*map(abs, pairs[place].tolist()), scale, wide).bounds(64)
        if int(drawn[place]) + 1 <= low:
            assert quick[place]
        elif int(drawn[place]) >= high:
            assert not quick[place]


def test_bounds_close_in_on_the_chance():
    gap = _Gap(3, 4, Fraction(5), Fraction(71, 10))
    wanted = np.exp(-(1 - 70 / 71))
    for bits in (16, 64, 256):
        low, high = gap.bounds(bits)
        assert 0 <= high - low <= 8
        assert low / 2**bits <= wanted * (1 + 1e-12)
        assert high / 2**bits >= wanted * (1 - 1e-12)


@pytest.mark.statistical
def test_pairs_beyond_the_margin_are_settled_exactly():
    """Where floats may be wrong every pair takes the slow way, and as many are kept as should be."""
    scale, wide = Fraction(1, 2**17), Fraction(1, 2**16)
    pairs = np.tile([[1, 0]], (2000, 1))  # 2**17 scales from the centre
    kept = _kept(pairs, scale, wide, SystemBits())
    assert not kept.any()  # e^(-65536)
    near = _kept(np.tile([[0, 0]], (50, 1)), scale, wide, SystemBits())
    assert near.all()
    even = _kept(np.tile([[1, 0]], (4000, 1)), Fraction(1), Fraction(71, 50), SystemBits())
    assert frequency_fits(int(even.sum()), 4000, float(np.exp(-(1 - 50 / 71))))


def test_sizes_and_scales_are_checked():
    assert planar(3, 0).shape == (0, 2)
    assert planar(Fraction(1, 1000), 50).any() == np.False_
    assert np.abs(planar(2**39, 10)).max() > 1000
    for scale in (0, -1, 2**40, float("nan"), "ten", None):
        with pytest.raises(InputError, match="scale"):
            planar(scale, 3)
    with pytest.raises(InputError, match="size"):
        planar(1, -1)
