"""Losses that follow from other rows, or from a row's index, are found out by made-up batches; honest models pass."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from train_steps import examples, linear, recipe, start

from discreet.errors import InputError
from discreet.learn.clip import mixing_probe, refuse_mixed_losses
from discreet.learn.objective import cross_entropy
from discreet.learn.row_keys import dropout
from discreet.learn.trainer import losses_of, train

WEIGHTS = {"w": jnp.zeros((4, 3)), "b": jnp.zeros(3)}
BATCH = jnp.ones((5, 4)), jnp.zeros(5, jnp.int32)


def plain(params, batch):
    return cross_entropy(linear(params, batch[0]), batch[1])


def normed(x):
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-3)


MIXING = {
    "batch statistics": lambda p, b: plain(p, (normed(b[0]), b[1])),
    "batch statistics in bfloat16": lambda p, b: plain(p, (normed(b[0].astype(jnp.bfloat16)), b[1])),
    "roll": lambda p, b: plain(p, (jnp.roll(b[0], 1, axis=0), b[1])),
    "its own index": lambda p, b: plain(p, b) * (1 + 0.01 * jnp.arange(len(b[1]))),
    "cumsum": lambda p, b: jnp.cumsum(plain(p, b)),
    "number of rows": lambda p, b: plain(p, b) / len(b[1]),
    "a fixed mask": lambda p, b: plain(p, (dropout(b[0], 0.5, jax.random.key(1)), b[1])),
    "only the first row": lambda p, b: plain(p, b) + (jnp.arange(len(b[1])) > 0) * plain(p, b)[0],
    "an operation that is not followed": lambda p, b: (
        plain(p, b) + jnp.zeros(1).at[jnp.zeros(len(b[1]), int)].add(b[0].sum(axis=1))[0]
    ),
}


@pytest.mark.parametrize("name", MIXING)
def test_mixing_is_refused(name):
    with pytest.raises(InputError, match="the loss of an example") as caught:
        refuse_mixed_losses(MIXING[name], WEIGHTS, BATCH)
    assert "apply(params, x, key)" in str(caught.value)


def attended(params, batch):
    x = batch[0] @ params["embed"]
    scores = jnp.einsum("bti,bsi->bts", x @ params["query"], x @ params["key"])
    x = x + jax.nn.softmax(scores) @ (x @ params["value"])
    x = (x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)
    return cross_entropy(x.mean(axis=1) @ params["head"], batch[1])


def recurrent(params, batch):
    def cell(state, x):
        hidden, memory = state
        gates = x @ params["in"] + hidden @ params["back"]
        forget, enter, leave, new = jnp.split(gates, 4, axis=-1)
        memory = jax.nn.sigmoid(forget) * memory + jax.nn.sigmoid(enter) * jnp.tanh(new)
        return (jax.nn.sigmoid(leave) * jnp.tanh(memory), memory), None

    rows = batch[0].shape[0]
    zeros = jnp.zeros((rows, 3)), jnp.zeros((rows, 3))
    (hidden, _), _ = lax.scan(cell, zeros, jnp.moveaxis(batch[0], 1, 0))
    return cross_entropy(hidden @ params["head"], batch[1])


def half(params, batch):
    return plain(
        jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params), (batch[0].astype(jnp.bfloat16), batch[1])
    )


def shaped(**sizes):
    return {name: jax.ShapeDtypeStruct(size, np.float32) for name, size in sizes.items()}


SERIES = jax.ShapeDtypeStruct((2, 5, 4), np.float32), jax.ShapeDtypeStruct((2,), np.int32)
HONEST = {
    "dense": (plain, WEIGHTS, BATCH),
    "transformer": (attended, shaped(embed=(4, 6), query=(6, 6), key=(6, 6), value=(6, 6), head=(6, 3)), SERIES),
    "recurrent": (recurrent, {"in": jnp.ones((4, 12)), "back": jnp.ones((3, 12)), "head": jnp.ones((3, 3))}, SERIES),
    "bfloat16": (half, WEIGHTS, BATCH),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_models_pass(name):
    refuse_mixed_losses(*HONEST[name])


@pytest.mark.parametrize("model", clip_models.PLAIN)
def test_the_models_of_these_tests_pass(model):
    refuse_mixed_losses(*model())


def test_copies_of_one_example_may_meet():
    def losses(params, batch):
        pairs = batch[0].reshape(-1, 2, 4)
        return plain(params, ((pairs - pairs.mean(axis=1, keepdims=True)).reshape(-1, 4), batch[1]))

    refuse_mixed_losses(losses, WEIGHTS, BATCH, copies=2)
    with pytest.raises(InputError):
        refuse_mixed_losses(losses, WEIGHTS, BATCH)


def test_a_model_is_tried_once(monkeypatch):
    def losses(params, batch):
        return plain(params, batch)

    refuse_mixed_losses(losses, WEIGHTS, BATCH)
    monkeypatch.setattr(mixing_probe, "_batches", None)
    refuse_mixed_losses(losses, WEIGHTS, BATCH)


def test_a_probe_that_only_looks_at_whole_batches_in_order_is_blind(monkeypatch):
    """The planted bug: the same batch twice agrees with itself, whatever the model does."""
    whole = mixing_probe._again

    def same(losses, rows, other, copies):
        yield "", losses(rows), list(range(4))

    monkeypatch.setattr(mixing_probe, "_again", same)
    for losses in MIXING.values():
        mixing_probe._probe.cache_clear()
        refuse_mixed_losses(losses, WEIGHTS, BATCH)
    monkeypatch.setattr(mixing_probe, "_again", whole)
    mixing_probe._probe.cache_clear()


def test_training_refuses_what_the_probe_finds():
    def apply(params, x):
        return linear(params, x) * (1 + jnp.arange(x.shape[0]))[:, None]

    with pytest.raises(InputError, match="index in the batch"):
        train(apply, cross_entropy, start(), examples(), recipe())
    assert losses_of(linear, cross_entropy) is losses_of(linear, cross_entropy)
