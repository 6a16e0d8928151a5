"""Factors are found where pairs by themselves are noise, and none where there are none."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.replay import Replay
from discreet.synth.descent import Target
from discreet.synth.factors import fit_factors
from discreet.synth.mosaic import mosaic
from planted import distance, domain_of, meter_of

ROWS, WIDTH = 4000, 40
PRICE = Fraction(1, 100)


def leaning(strength, seed=3):
    """Columns of two to four codes that lean on one hidden number."""
    chance = np.random.default_rng(seed)
    hidden = chance.normal(size=ROWS)
    sizes = [2 + column % 3 for column in range(WIDTH)]
    codes = []
    for size in sizes:
        seen = strength * hidden + chance.normal(size=ROWS)
        codes.append(np.searchsorted(np.quantile(seen, np.arange(1, size) / size), seen))
    return sizes, np.column_stack(codes)


def noisy_pairs(sizes, codes, sigma, seed=4):
    chance = np.random.default_rng(seed)
    pairs = []
    for one, two in itertools.combinations(range(WIDTH), 2):
        counts = np.zeros((sizes[one], sizes[two]))
        np.add.at(counts, (codes[:, one], codes[:, two]), 1)
        pairs.append(Target((one, two), counts + sigma * chance.normal(size=counts.shape), np.array(sigma**2)))
    return pairs


def shares_of(sizes, codes):
    return [np.bincount(codes[:, column], minlength=size) / ROWS for column, size in enumerate(sizes)]


def mean_distance(made, codes, sizes):
    domain = domain_of(sizes)
    pairs = list(itertools.combinations(range(0, WIDTH, 3), 2))
    return float(np.mean([distance(made, codes, domain, pair) for pair in pairs]))


def test_one_factor_is_told_from_noise_that_hides_every_pair():
    sizes, codes = leaning(1.0)
    pairs = noisy_pairs(sizes, codes, sigma=400.0)
    found = fit_factors(shares_of(sizes, codes), pairs, float(ROWS), Replay(b"kinds"))
    assert found.many == 1
    made = found.rows(ROWS, Replay(b"rows"))
    chance = np.random.default_rng(0)
    independent = np.column_stack([chance.permutation(column) for column in codes.T])
    assert mean_distance(made, codes, sizes) < 0.5 * mean_distance(independent, codes, sizes)
    for column, share in enumerate(shares_of(sizes, codes)):
        np.testing.assert_allclose(np.bincount(made[:, column], minlength=sizes[column]) / ROWS, share, atol=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_of_noise_alone_there_are_no_factors(seed):
    sizes, codes = leaning(0.0, seed)
    found = fit_factors(shares_of(sizes, codes), noisy_pairs(sizes, codes, 400.0, seed), float(ROWS), Replay(b"kinds"))
    assert found.many == 0
    assert found.rows(7, Replay(b"rows")).shape == (7, WIDTH)
    assert found.rows(0, Replay(b"rows")).shape == (0, WIDTH)


def test_a_wide_table_spends_its_price_and_beats_independence():
    sizes, codes = leaning(1.0)
    domain = domain_of(sizes)
    pairs = list(itertools.combinations(range(WIDTH), 2))
    meter = meter_of(domain, codes, price=PRICE)
    made = mosaic(meter, pairs)
    assert meter.left == 0
    assert any("factors distinguished from noise" in note for note in made.notes)
    domain.check(made.codes)
    chance = np.random.default_rng(0)
    independent = np.column_stack([chance.permutation(column) for column in codes.T])
    assert mean_distance(made.codes, codes, sizes) < 0.7 * mean_distance(independent, codes, sizes)
    again = mosaic(meter_of(domain, codes, price=PRICE), pairs)
    np.testing.assert_array_equal(made.codes, again.codes)
