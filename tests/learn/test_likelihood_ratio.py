"""LiRA finds the members of a model that remembers them, and none of a model that does not look."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import numpy as np
from train_steps import linear, start

from chance import frequency_fits
from discreet.audit import guess
from discreet.errors import InputError
from discreet.learn.likelihood_ratio import lira, lira_together
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.trainer import losses_of, train
from seam import Tape


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


def test_models_trained_side_by_side_are_the_same_as_one_by_one():
    def weighted(data, weights):
        x, y = data
        return jnp.linalg.lstsq(x * weights[:, None], y * weights)[0]

    def losses(weights, data):
        return jnp.logaddexp(0, -4 * data[1] * (data[0] @ weights))

    data = rows(60, 90)
    attacks = [
        lira(remembering, losses, data, shadows=8, bits=Tape("halves")),
        lira_together(weighted, losses, data, shadows=8, bits=Tape("halves")),
    ]
    assert (attacks[0].members == attacks[1].members).all()
    assert attacks[1].losses == pytest.approx(attacks[0].losses, rel=0.05, abs=0.01)  # floats of 32 bits
    assert attacks[1].advantage > 0.9
    every = lira_together(weighted, losses, data, shadows=8, each=True, bits=Tape("halves"))
    assert every.scores[:60] == pytest.approx(attacks[1].scores)
    assert len(every.scores) == 9 * 60


def test_an_attack_that_makes_no_sense_is_refused():
    with pytest.raises(InputError, match="at least 8"):
        lira(remembering, logistic_losses, rows(), shadows=3)
    with pytest.raises(InputError, match="at least four"):
        lira(remembering, logistic_losses, rows(2))
