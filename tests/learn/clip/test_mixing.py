"""Models in which examples depend on each other are refused by the operation that does it; others pass."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import clip_models
import jax
import jax.numpy as jnp
from jax import lax

from discreet.errors import InputError
from discreet.learn.clip import refuse_mixing

WEIGHTS = jnp.ones((4, 3))
BATCH = jnp.ones((5, 6, 4)), jnp.zeros(5, jnp.int32)


def classified(params, batch):
    outputs = batch[0].mean(axis=1) @ params
    return -jax.nn.log_softmax(outputs)[jnp.arange(len(batch[1])), batch[1]]


def folded(params, batch):
    """Places as rows of one long matrix, and back."""
    x = batch[0].reshape(-1, 4) @ params
    return x.reshape(batch[0].shape[0], -1).sum(axis=1)


def pooled(params, batch):
    x = lax.reduce_window(batch[0], -jnp.inf, lax.max, (1, 2, 1), (1, 2, 1), "VALID")
    return jnp.sort(jnp.cumsum(x @ params, axis=1), axis=-1)[:, 0, 0] + jax.nn.one_hot(batch[1], 3).sum(-1)


def across(params, batch):
    """Scores of every place with every other of the same example; sides swapped and stacked on the way."""
    x = jnp.transpose(batch[0], (1, 0, 2)) @ params
    scores = jnp.einsum("tbi,sbi->bts", x, x)
    return jnp.concatenate([scores, scores[:, ::-1]], axis=1).max(axis=(1, 2))


def stepped(params, batch):
    state, rows = lax.scan(
        lambda s, x: (s + x @ params, s), jnp.zeros((batch[0].shape[0], 3)), jnp.moveaxis(batch[0], 1, 0)
    )
    return state.sum(axis=1) + rows.sum(axis=(0, 2))


@pytest.mark.parametrize("losses", [classified, folded, pooled, across, stepped])
def test_examples_by_themselves_pass(losses):
    assert refuse_mixing(losses, WEIGHTS, BATCH) == ()


@pytest.mark.parametrize("model", clip_models.PLAIN)
def test_the_models_of_these_tests_pass(model):
    assert refuse_mixing(*model()) == ()


def test_copies_of_one_example_may_meet():
    def losses(params, batch):
        pairs = batch[0].reshape(-1, 2, *batch[0].shape[1:])
        return classified(params, ((pairs - pairs.mean(axis=1, keepdims=True)).reshape(batch[0].shape), batch[1]))

    assert refuse_mixing(losses, WEIGHTS, BATCH, copies=2) == ()
    with pytest.raises(InputError):
        refuse_mixing(lambda p, b: losses(p, b) - b[0].mean(), WEIGHTS, BATCH, copies=2)


@pytest.mark.parametrize("width", [31, 62, 79])
def test_an_axis_of_the_models_own_does_not_pass_for_the_examples(width):
    """With as many examples as the axis is wide, the sum along the batch below would look like one along the axis."""

    def summed_up(params, batch):
        x = batch[0].mean(axis=1) @ jnp.ones((4, width)) * params.sum()
        return x.reshape(width, -1).cumsum(1).reshape(-1, width).sum(axis=1)

    def looped(params, batch):
        return lax.fori_loop(0, 2, lambda _, losses: losses + summed_up(params, batch), jnp.zeros(len(batch[1])))

    for losses in (summed_up, looped):
        assert refuse_mixing(losses, WEIGHTS, BATCH) != ()

    def alone(params, batch):
        return (batch[0].mean(axis=1) @ jnp.ones((4, width)) * params.sum()).cumsum(1).sum(axis=1)

    assert refuse_mixing(alone, WEIGHTS, BATCH) == ()


def test_what_cannot_be_followed_is_said():
    def losses(params, batch):
        return classified(params, batch) + jnp.linalg.qr(batch[0])[1].sum(axis=(1, 2))

    assert refuse_mixing(losses, WEIGHTS, BATCH) != ()


MIXING = {
    "reduce_sum over": lambda p, b: classified(p, ((b[0] - b[0].mean(axis=0)) / b[0].std(axis=0), b[1])),
    "rev turns": lambda p, b: classified(p, (b[0][::-1], b[1])),
    "slice picks": lambda p, b: classified(p, (jnp.roll(b[0], 1, axis=0), b[1])),
    "dot_general brings": lambda p, b: ((b[0].sum(1) @ p) @ (b[0].sum(1) @ p).T).sum(axis=1),
    "dot_general over": lambda p, b: (b[0].sum(1).T @ b[0].sum(1)).sum() * classified(p, b),
    "gather reads": lambda p, b: classified(p, b) + b[0][jnp.arange(b[0].shape[0])[::-1], 0, 0],
    "reduce_max over": lambda p, b: classified(p, b) / jnp.abs(b[0]).max(),
    "cumsum along": lambda p, b: jnp.cumsum(classified(p, b)),
    "sort along": lambda p, b: jnp.sort(classified(p, b)),
    "concatenate along": lambda p, b: classified(p, b) + jnp.concatenate([b[0], b[0]])[::2, 0, 0],
    "scan goes": lambda p, b: lax.scan(lambda s, x: (s + x.sum(), s), 0.0, b[0])[1] * classified(p, b),
    "conv_general_dilated over": lambda p, b: (
        classified(p, b)
        + lax.conv_general_dilated(
            b[0][None, :, :, 0], jnp.ones((3, 6, 1)), (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")
        )[0, :, 0]
    ),
    "brings together different": lambda p, b: (
        (b[0].sum(axis=(1, 2))[:, None] - b[0].sum(axis=(1, 2))).sum(axis=1) * p.sum()
    ),
}


@pytest.mark.parametrize("operation", MIXING)
def test_mixing_is_refused_by_name(operation):
    with pytest.raises(InputError, match=operation) as caught:
        refuse_mixing(MIXING[operation], WEIGHTS, BATCH)
    assert caught.value.field == "losses"
    assert "group norm" in str(caught.value)


def test_shapes_are_enough():
    shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), (WEIGHTS, BATCH))
    assert refuse_mixing(classified, *shapes) == ()
