"""Gradients and outputs of one example at a time: no example sees another, whatever a model or an augmentation does."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import jax
import jax.numpy as jnp
import numpy as np
from train_steps import examples, less_the_sum, linear, start

from discreet.learn.gradients import (
    augmented,
    by_layers,
    example_gradients,
)
from discreet.learn.objective import (
    cross_entropy,
)
from discreet.learn.search import right_answers
from discreet.learn.trainer import losses_of


def test_gradients_from_layers_are_those_of_one_example_at_a_time():
    x, y = examples()
    losses, params = losses_of(linear, cross_entropy), start()
    each, square, values = jax.jit(lambda b: by_layers(losses, params, b))((x, y))
    whole, others = example_gradients(losses, params, (x, y))
    assert np.allclose(np.concatenate([leaf.reshape(200, -1) for leaf in each], axis=1), whole, atol=1e-5)
    assert np.allclose(square, (np.asarray(whole) ** 2).sum(axis=1), rtol=1e-4)
    assert np.allclose(values, others, atol=1e-5)


def test_every_example_has_looks_of_its_own():
    def stirred(key, batch):
        return batch + jax.random.normal(key, (2, 1))

    key = np.array([1, 2], dtype=np.uint32)
    made = np.asarray(augmented(stirred, key, jnp.zeros((3, 1))))
    assert made.shape == (6, 1)
    assert len(np.unique(made)) == 6
    assert np.array_equal(made, augmented(stirred, key, jnp.zeros((3, 1))))
    _, _, values = by_layers(lambda p, x: x[:, 0] * p, jnp.ones(()), jnp.asarray(made), copies=2)
    assert np.allclose(values, made.reshape(3, 2).mean(axis=1))


def moved_by_one_row(outputs) -> int:
    """How far one held-out row moves the number of right answers."""
    rows, labels = np.tile(np.float32([[1, 0]]), (50, 1)), np.ones(50, np.int32)
    more = np.concatenate([rows, np.float32([[-1e4, 0]])])
    (before,) = right_answers([outputs(rows)], labels)
    (after,) = right_answers([outputs(more)], np.append(labels, 0))
    return abs(after - before)


def test_held_out_rows_are_scored_one_at_a_time():
    pytest.importorskip("jax")
    from discreet.learn.gradients import outputs_alone

    assert moved_by_one_row(lambda rows: outputs_alone(less_the_sum, np.eye(2), rows)) <= 1
    assert moved_by_one_row(lambda rows: less_the_sum(np.eye(2), rows)) > 10  # the twin: all in one batch
    assert outputs_alone(less_the_sum, np.eye(2), np.zeros((0, 2), np.float32)).shape == (0, 2)
