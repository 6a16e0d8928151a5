"""Losses: one number for each example, learned from, and none for a label out of range."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
import numpy as np
from train_steps import SECRET, linear, recipe, start

from discreet.errors import InputError
from discreet.learn.objective import absolute, check_labels, cross_entropy, logistic, squared
from discreet.learn.trainer import train


@pytest.mark.parametrize("loss", [squared, absolute, logistic])
def test_numbers_and_yes_or_no_can_be_learned_too(loss):
    chance = np.random.default_rng(2)
    x = chance.normal(size=(2000, 4)).astype(np.float32)
    score = x @ np.array([1.0, -2.0, 0.5, 0.0], dtype=np.float32)
    y = (score > 0).astype(np.float32) if loss is logistic else score
    one = recipe(examples=2000, lot=400, steps=200, rate=0.5, multiplier=1)
    before = float(loss(linear(start(4, 1), x), y).mean())
    result = train(linear, loss, start(4, 1), (x, y), one, secret=SECRET)
    assert float(loss(linear(result.params, x), y).mean()) < 0.6 * before


def test_losses_are_what_their_names_say():
    scores, labels = jnp.array([[2.0, 0.0, -1.0], [0.0, 0.0, 0.0]]), jnp.array([0, 2])
    by_hand = [np.log(np.exp([2, 0, -1]).sum()) - 2, np.log(3)]
    assert np.allclose(cross_entropy(scores, labels), by_hand, atol=1e-6)
    assert np.allclose(logistic(jnp.array([[3.0], [3.0]]), jnp.array([1, 0])), np.log1p(np.exp([-3.0, 3.0])), atol=1e-6)
    assert np.allclose(squared(jnp.array([1.0, 4.0]), jnp.array([1.0, 2.0])), [0, 2])
    assert np.allclose(absolute(jnp.array([0.0, 1e3]), jnp.array([0.0, 0.0])), [0, 999], atol=1e-2)


def test_a_label_out_of_range_makes_its_own_loss_no_number():
    values = np.asarray(cross_entropy(jnp.zeros((3, 2)), jnp.array([0, 2, 1])))
    assert np.isnan(values).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("labels", "said"),
    [(np.array([0.5]), "one whole number"), (np.zeros((2, 1), int), "one whole number"),
     (np.array([0, 3]), "from 0 to 2"), (np.array([-1]), "from 0 to 2")],
)  # fmt: skip
def test_labels_that_no_output_stands_for_are_refused_without_being_shown(labels, said):
    with pytest.raises(InputError, match=said) as caught:
        check_labels(labels, 3)
    assert "-1" not in str(caught.value)
    check_labels(np.array([0, 1, 2]), 3)
    check_labels(np.array([], dtype=int), 3)
