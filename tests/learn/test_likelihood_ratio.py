"""LiRA finds the members of a model that remembers them, and none of a model that does not look."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import numpy as np
from train_steps import linear, start

from chance import frequency_fits
from discreet.audit import guess
from discreet.errors import InputError
from discreet.learn.likelihood_ratio import Lira, lira
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.trainer import losses_of, train


def rows(count=120, width=200):
    chance = np.random.default_rng(5)
    return chance.normal(size=(count, width)), chance.choice([-1.0, 1.0], count)


def remembering(data):
    """The shortest weights that fit every row it was shown."""
    x, y = data
    return np.linalg.lstsq(x, y, rcond=None)[0]


def logistic_losses(weights, data):
    x, y = data
    return np.logaddexp(0, -4 * y * (x @ weights))


def test_members_of_a_model_that_remembers_them_are_found():
    attack = lira(remembering, logistic_losses, rows(), shadows=20)
    assert attack.advantage > 0.9
    assert attack.found(0.05) > 0.8
    order = np.argsort(-np.abs(attack.scores))[:60]
    assert guess(attack.scores, attack.members, len(order)).epsilon() > 1


@pytest.mark.statistical
def test_nothing_is_found_where_nothing_was_learned():
    attack = lira(lambda data: np.ones(200), logistic_losses, rows(), shadows=20)
    assert attack.found(0.1) < 0.5
    right = int(((attack.scores > np.median(attack.scores)) == attack.members).sum())
    assert frequency_fits(right, 120, 0.5)


def test_a_model_trained_in_private_stands_within_its_bound():
    chance = np.random.default_rng(2)
    data = chance.normal(size=(60, 4)).astype(np.float32), chance.integers(0, 3, 60).astype(np.int32)
    own = Recipe(examples=30, lot=30, steps=2, bound=1, multiplier=4, rate=1.0)
    losses = losses_of(linear, cross_entropy)
    attack = lira(lambda part: train(linear, cross_entropy, start(), part, own).params, losses, data, shadows=16)
    assert not guess(attack.scores, attack.members, 30).refutes(own.cost, confidence=1 - 1e-9)


def test_shares_are_counted_as_stated():
    attack = Lira(np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0]), np.array([True, False, True, True, False, False]))
    assert attack.found(0.0) == pytest.approx(1 / 3)
    assert attack.found(0.34) == 1.0
    assert attack.found(1.0) == 1.0
    assert attack.advantage == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="between 0 and 1"):
        attack.found(2)
    with pytest.raises(InputError, match="at least 16"):
        lira(remembering, logistic_losses, rows(), shadows=3)
    with pytest.raises(InputError, match="at least four"):
        lira(remembering, logistic_losses, rows(2))
