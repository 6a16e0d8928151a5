"""Weights that follow noisy counts as far as these can be told from noise."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.marginals.meter import Noisy
from discreet.mechanisms import Gaussian
from discreet.noise.replay import Replay
from discreet.synth.calibration import counts_in, drawn_rows, evidence_of, raked, unexplained

CODES = np.stack(np.divmod(np.arange(4000) % 4, 2), axis=1)  # two columns, all four cells alike
TRUE = np.array([[1600, 400], [400, 1600]])


def evidence(deviation: int, seed: int = 1):
    noise = np.rint(np.random.default_rng(seed).normal(0, deviation, (2, 2))).astype(np.int64)
    return evidence_of([(None, Noisy((0, 1), TRUE + noise, Gaussian(deviation)))])


def test_a_clear_count_is_met():
    (one,) = evidence(5)
    weights = raked(CODES, np.ones(4000), [one], 4000)
    assert weights.sum() == pytest.approx(4000)
    assert counts_in(CODES, weights, one) == pytest.approx(TRUE.ravel(), abs=30)


def test_what_noise_hides_stays_as_the_rows_have_it():
    (one,) = evidence(20_000)
    weights = raked(CODES, np.ones(4000), [one], 4000)
    assert counts_in(CODES, weights, one) == pytest.approx(1000, rel=0.25)


def test_bins_are_counted_together():
    bins = [np.array([0, 1]), np.array([0, 0])]
    (one,) = evidence_of([(bins, Noisy((0, 1), np.array([[3000], [1000]]), Gaussian(2)))])
    weights = raked(CODES, np.ones(4000), [one], 4000)
    assert counts_in(CODES, weights, one) == pytest.approx([3000, 1000], abs=10)
    assert np.bincount(CODES[:, 1], weights=weights) == pytest.approx([2000, 2000], abs=1)


def test_noise_explains_noise_and_nothing_else():
    (quiet,), (loud,) = evidence(5), evidence(20_000)
    flat = np.ones(4000)
    assert unexplained(CODES, flat, [quiet]) == pytest.approx(4 * 600**2, rel=0.1)
    assert unexplained(CODES, flat, [loud]) < 3 * 4 * 20_000**2
    assert unexplained(CODES, flat, []) == 0


def test_rows_are_drawn_as_often_as_they_weigh():
    weights = np.array([3.0, 0.0, 1.0])
    rows = drawn_rows(np.arange(3)[:, None], weights, 400, Replay(b"a"))
    assert np.bincount(rows[:, 0], minlength=3).tolist() == [300, 0, 100]
    assert len(drawn_rows(np.arange(3)[:, None], weights, 0, Replay(b"a"))) == 0
