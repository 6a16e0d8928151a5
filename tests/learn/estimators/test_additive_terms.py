"""Terms weigh what is measured against what is expected, as a filter does."""

from __future__ import annotations

import pytest

pytest.importorskip("sklearn")

from fractions import Fraction

import numpy as np

from discreet.learn.estimators.additive_terms import STEP, AdditiveShape, Term, likeness
from discreet.learn.estimators.boosted_trees import random_leaves
from discreet.noise.replay import Replay

SHAPE = AdditiveShape((17, 4), (True, False), 1, 3, 2.0, 0.2, 0.2)


def term(rows=100.0):
    return Term(np.full(17, rows), likeness(17, True, 0.5), np.zeros((17, 1), dtype=np.int64))


def test_shares_of_all_rounds_and_columns_and_of_the_histograms_add_up_to_the_price():
    assert SHAPE.share * 3 * 3 + Fraction(1, 10) == 1


def test_under_much_noise_nothing_is_learned_and_doubt_stays():
    flat = term()
    step = flat.learn(np.arange(17), np.full((17, 1), 50.0), 1e12, SHAPE)
    assert np.abs(step).max() <= 1
    assert flat.errors == pytest.approx(np.ones(17), rel=1e-3)


def test_without_noise_a_step_leads_to_the_best_and_little_doubt_is_left():
    sharp, best = term(1e6), np.sin(np.linspace(0, 6, 17))[:, None] / 2
    sharp.learn(np.arange(17), -SHAPE.curvature * 1e6 * best, 0.0, SHAPE)
    assert sharp.values[:16] / STEP == pytest.approx(best[:16], abs=0.01)
    assert sharp.errors.max() < 0.01


@pytest.mark.statistical
def test_doubt_is_how_far_terms_are_off():
    """Terms drawn from the prior, measured in random leaves under noise: errors have the size that is stated."""
    chance, leaves = np.random.default_rng(0), Replay(b"leaves")
    prior, far = np.linalg.cholesky(likeness(17, True, 0.5)), []
    for _ in range(400):
        guess, best = term(50.0), prior @ chance.normal(size=(17, 1))
        for _ in range(SHAPE.rounds):
            leaf = random_leaves(guess.rows, True, 5, leaves)
            away = SHAPE.curvature * guess.rows[:, None] * (guess.values / STEP - best)
            sums = np.zeros((5, 1))
            np.add.at(sums, leaf, away)
            spread = np.sqrt(400.0 + SHAPE.rounds * SHAPE.variance * np.bincount(leaf, guess.rows, minlength=5))
            guess.learn(leaf, sums + spread[:, None] * chance.normal(size=(5, 1)), 400.0, SHAPE)
        far.append((guess.values[:, 0] / STEP - best[:, 0]) / guess.errors)
    assert np.mean(np.square(far)) == pytest.approx(1, abs=0.1)
