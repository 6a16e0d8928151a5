"""Lots: every example joins by a coin of its own, none is cut, shuffled batches are found out."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

from fractions import Fraction

import numpy as np
from scipy import stats
from train_steps import OTHER, SECRET, recipe

from chance import fits, frequency_fits
from discreet.learn.lot import capacity, microbatches, sample_lot


def test_a_lot_asked_for_again_is_the_same_and_another_is_another():
    one = sample_lot(SECRET, 4, 1000, Fraction(1, 3))
    assert np.array_equal(one, sample_lot(SECRET, 4, 1000, Fraction(1, 3)))
    assert not np.array_equal(one, sample_lot(SECRET, 5, 1000, Fraction(1, 3)))
    assert not np.array_equal(one, sample_lot(OTHER, 4, 1000, Fraction(1, 3)))


def lot_sizes_fit(lots, count, probability) -> bool:
    """Whether sizes of lots are those of independent coins: their spread is what batches of a fixed size lack."""
    sizes = np.array([len(lot) for lot in lots])
    return fits(sizes, lambda n: stats.binom.pmf(n, count, float(probability)))


def test_every_example_joins_by_a_coin_of_its_own():
    count, probability, steps = 40, Fraction(3, 10), 4000
    lots = [sample_lot(SECRET, step, count, probability) for step in range(steps)]
    assert lot_sizes_fit(lots, count, probability)
    joined = np.zeros((steps, count), dtype=int)
    for row, lot in zip(joined, lots, strict=True):
        row[lot] = 1
    for place in range(count):
        assert frequency_fits(joined[:, place].sum(), steps, float(probability))
    together = (joined[:, 0] * joined[:, 1]).sum()
    assert frequency_fits(together, steps, float(probability) ** 2)
    again = (joined[:-1, 0] * joined[1:, 0])[::2].sum()
    assert frequency_fits(again, len(joined[:-1, 0][::2]), float(probability) ** 2)


def test_shuffled_batches_are_found_out():
    chance = np.random.default_rng(1)
    lots = [chance.permutation(40)[:12] for _ in range(4000)]
    assert not lot_sizes_fit(lots, 40, Fraction(3, 10))


@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 25])
def test_no_example_of_a_lot_is_cut(count):
    parts = microbatches(np.arange(count), 8)
    assert all(len(part.places) == len(part.mask) == 8 for part in parts)
    kept = [place for part in parts for place, there in zip(part.places, part.mask, strict=True) if there]
    assert kept == list(range(count))


def test_microbatches_hold_most_lots_and_divide_among_devices():
    assert 600 < capacity(recipe(examples=60_000, lot=600)) < 720
    assert capacity(recipe(microbatch=10), devices=4) == 12
    assert capacity(recipe(lot=200)) == 200
