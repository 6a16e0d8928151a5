"""Canaries: a sound trainer is let through, one that does not clip, reuses noise or shuffles is caught."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import numpy as np
from scipy import stats

from chance import fits
from discreet.audit.one_run import guess
from discreet.errors import InputError
from discreet.learn import step as stepping
from discreet.learn import trainer as training
from discreet.learn.canary import Canaries, Watch, coins_for, loss_scores
from discreet.learn.objective import cross_entropy
from discreet.learn.recipe import Recipe
from discreet.learn.trainer import losses_of, train

REAL, CANARIES, STEPS = 400, 300, 30

RECIPE = Recipe(examples=700, lot=140, steps=STEPS, bound=1, multiplier=6, rate=0.001, noise="device")
DELTA = 1e-12  # so small that a claim can be refuted beyond doubt
GUESSES = 200
SURE = 1 - 1e-9  # false alarms of a sound trainer


def linear(params, x):
    return x @ params["w"]


LOSSES = losses_of(linear, cross_entropy)


@pytest.fixture(scope="module")
def claim():
    return float(RECIPE.epsilon(DELTA)), DELTA


def watched():
    """A run with a canary in each of many inputs that nobody else uses, seen step by step."""
    chance = np.random.default_rng(6)
    x = np.zeros((REAL, 4 + CANARIES), dtype=np.float32)
    x[:, :4] = chance.normal(size=(REAL, 4))
    y = (x[:, 0] > 0).astype(np.int32)
    made = np.zeros((CANARIES, 4 + CANARIES), dtype=np.float32)
    made[np.arange(CANARIES), 4 + np.arange(CANARIES)] = 60  # far longer than the bound
    canaries = Canaries((made, np.ones(CANARIES, dtype=np.int32)), coins_for(CANARIES))
    params = {"w": jnp.zeros((4 + CANARIES, 2))}
    watch = Watch(LOSSES, canaries, params)
    result = train(linear, cross_entropy, params, canaries.inserted((x, y)), RECIPE, after=watch)
    return watch, canaries, params, result.params


def test_a_sound_trainer_is_let_through(claim):
    watch, canaries, before, after = watched()
    for scores in (watch.along, watch.apart, loss_scores(LOSSES, before, after, canaries)):
        assert not guess(scores, canaries.present, GUESSES).refutes(claim, SURE)


def test_a_trainer_that_does_not_clip_is_caught(claim, monkeypatch):
    whole = stepping.clipped_sum
    monkeypatch.setattr(stepping, "clipped_sum", lambda *given, **how: whole(*given, **how | {"bound": 1e9}))
    training._step.cache_clear()
    watch, canaries, before, after = watched()
    training._step.cache_clear()
    assert guess(watch.along, canaries.present, GUESSES).refutes(claim, SURE)
    assert guess(loss_scores(LOSSES, before, after, canaries), canaries.present, GUESSES).refutes(claim, SURE)


def test_a_trainer_that_uses_its_noise_for_a_whole_epoch_is_caught(claim, monkeypatch):
    fresh = stepping.device_key
    monkeypatch.setattr(stepping, "device_key", lambda secret, step: fresh(secret, step // 5))
    training._step.cache_clear()
    watch, canaries, _, _ = watched()
    training._step.cache_clear()
    assert guess(watch.apart, canaries.present, GUESSES).refutes(claim, SURE)


def lots_of_a_run(monkeypatch, count=40, steps=600):
    """The sizes of the lots that a trainer really sums."""
    sizes = []
    whole = training.microbatches

    def seen(places, capacity):
        sizes.append(len(places))
        return whole(places, capacity)

    monkeypatch.setattr(training, "microbatches", seen)
    recipe = Recipe(examples=count, lot=12, steps=steps, bound=1, multiplier=1)
    data = np.ones((count, 1), dtype=np.float32), np.zeros(count, dtype=np.int32)
    train(linear, cross_entropy, {"w": jnp.zeros((1, 2))}, data, recipe)
    return sizes


def by_coins(sizes) -> bool:
    return fits(sizes, lambda size: stats.binom.pmf(size, 40, 0.3))


@pytest.mark.statistical
def test_a_trainer_that_shuffles_is_caught_by_its_lots(monkeypatch):
    assert by_coins(lots_of_a_run(monkeypatch))
    chance = np.random.default_rng(1)
    monkeypatch.setattr(training, "sample_lot", lambda *_: np.sort(chance.permutation(40)[:12]))
    assert not by_coins(lots_of_a_run(monkeypatch))


def test_canaries_must_be_like_the_data():
    with pytest.raises(InputError, match="one row for each of 3 coins"):
        Canaries((np.zeros((2, 4)), np.zeros(3)), np.ones(3, dtype=bool))
    with pytest.raises(InputError, match="rows of the same shape"):
        Canaries(np.zeros((3, 4)), np.ones(3, dtype=bool)).inserted(np.zeros((9, 5)))
    with pytest.raises(InputError, match="1 or more"):
        coins_for(0)
    inside = Canaries(np.arange(3.0), np.array([True, False, True])).inserted(np.zeros(2, dtype=np.float32))
    assert list(inside) == [0, 0, 0, 2]
