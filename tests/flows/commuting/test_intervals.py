"""Intervals of flows hold the true ones as often as they say: noisy counts, their sums, and urns of every prior."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import betabinom

from chance import at_most
from discreet.flows.commuting.intervals import _at_most, cell_ends, sum_ends, urn_ends
from discreet.flows.commuting.prior import UNIT
from discreet.flows.commuting.urns import Urns
from discreet.mechanisms import Gaussian, Laplace
from discreet.noise.bits import SystemBits

TRUE = np.array([0, 0, 1, 2, 5, 40, 300])


def measured(noise, true):
    return noise.release(true.ravel(), bits=SystemBits()).reshape(true.shape)


@pytest.mark.parametrize("noise", [Laplace(Fraction(1, 2)), Laplace(7), Gaussian(Fraction(3)), Gaussian(20)], ids=str)
def test_intervals_of_flows_hold_for_every_true_size(noise):
    many = 400
    missed = np.zeros(len(TRUE), int)
    for _ in range(many):
        noisy = measured(noise, TRUE)
        published = np.maximum(noisy, 0) // 2  # a poor estimate: intervals do not lean on it
        low, high = cell_ends(noisy, noise, published, 0.9)
        assert (low >= 0).all()
        assert ((low <= published) & (published <= high)).all()
        missed += (low > TRUE) | (high < TRUE)
    assert all(at_most(int(one), many, 0.1) for one in missed)


def test_too_little_noise_in_the_books_is_noticed():
    """The same test must fail where the noise is twice what it is taken to be."""
    noisy = measured(Laplace(20), np.full(4000, 500))
    low, high = cell_ends(noisy, Laplace(10), noisy, 0.9)
    assert not at_most(int(((low > 500) | (high < 500)).sum()), 4000, 0.1)


def test_intervals_of_sums_hold_and_are_shorter_than_those_of_either_source():
    cells, direct, many = Laplace(10), Laplace(30), 600
    true = np.full((many, 12), 25)
    noisy, sums = measured(cells, true).sum(axis=1), measured(direct, true.sum(axis=1))
    low, high = sum_ends([(noisy, cells, 12), (sums, direct, 1)], (noisy + sums) // 2, 0.9)
    missed = int(((low > 300) | (high < 300)).sum())
    assert at_most(missed, many, 0.1)
    assert missed > 0.03 * many  # and no wider than need be
    for source in ((noisy, cells, 12), (sums, direct, 1)):
        alone = sum_ends([source], source[0], 0.9)
        assert (high - low).mean() < (alone[1] - alone[0]).mean()


@pytest.mark.parametrize(("size", "shape", "rest"), [(50, 0.3, 70.0), (50, 20.5, 60.0), (5000, 3.2, 8000.0)])
def test_chances_of_draws_are_those_of_the_beta_binomial_law(size, shape, rest):
    places = np.unique(np.rint(np.linspace(0, size, 40))).astype(int)
    found = _at_most(places, size, np.full(len(places), shape), np.full(len(places), rest))
    assert np.abs(found - betabinom(size, shape, rest).cdf(places)).max() < 2e-3


@pytest.mark.parametrize("rare", [0.025, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(("size", "shape", "rest"), [(50, 1 / 64, 51.0), (400, 0.3, 700.0), (3000, 1501.0, 1800.0)])
def test_rare_tails_are_right_too(size, shape, rest, rare):
    """An origin's interval adds up ends that miss a flow with a chance of (1 - c) / destinations."""
    chance = betabinom.pmf(np.arange(size + 1), size, shape, rest)
    below, above = np.cumsum(chance), np.cumsum(chance[::-1])[::-1]
    few, many = int(np.searchsorted(below, rare)), int(np.flatnonzero(above >= rare)[-1])

    def at_most_of(draws):
        return float(_at_most(np.array([draws]), size, np.array([shape]), np.array([rest]))[0])

    assert at_most_of(few) == pytest.approx(below[few], rel=5e-3)
    assert 1 - at_most_of(many - 1) == pytest.approx(above[many], rel=5e-3)


@pytest.mark.parametrize(("prior", "epsilon"), [("pure", 4), ("pure", 1), ("accepted", 3)])
def test_intervals_hold_for_the_workers_of_an_urn(prior, epsilon):
    urns, workers, size, many = Urns(prior, Fraction(epsilon), Fraction(1, 10**3)), np.array([0, 1, 12, 60]), 80, 250
    missed, whole, shorter = np.zeros(4, int), 0, 0
    for _ in range(many):
        drawn = urns.draw(workers, size, SystemBits())
        if drawn is None:
            continue
        low, high = urn_ends(drawn, size, urns.units(size, len(drawn)) / UNIT, 0.9)
        missed += (low[1:] > workers) | (high[1:] < workers)
        whole += 1
        shorter += (high - low)[1:].max() < size
        assert (low <= high).all()
        assert (high <= size).all()
    assert whole > many / 2
    assert all(at_most(int(one), whole, 0.1) for one in missed)
    assert epsilon < 3 or shorter > whole / 2  # they say something


def test_draws_between_those_inverted_get_wider_intervals():
    drawn = np.arange(0, 60)
    size = int(drawn.sum())
    exact, coarse = (urn_ends(drawn, size, 0.5, 0.9, grid) for grid in (100, 10))
    assert (coarse[0] <= exact[0]).all()
    assert (coarse[1] >= exact[1]).all()
