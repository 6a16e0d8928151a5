"""What is done with each parameter is said, and copies that cost memory are warned of once."""

from __future__ import annotations

import pytest

pytest.importorskip("jax")

import warnings

import clip_models
import jax
import jax.numpy as jnp

from discreet.learn.clip import clipped_sum, explain


def test_explain_says_where_and_how():
    text = explain(*clip_models.attention())
    assert "['table'] [11x8] lookup 11x8 at 6 places, dense 8x11 at 6 places: " in text
    assert "['positions'] [6x8] copied for add: copy" in text
    assert "in 2 blocks" not in text
    text = explain(*clip_models.recurrent())
    assert "['unused'] [2] unused: none" in text
    assert "['state'] [6x6] dense 6x6 at 1 place in 5 turns: " in text
    assert "['mid'] [6x6] dense 6x6 at 1 place: product (norm in passing" in text


def traced(losses, params, batch):
    """The warnings of a clipped sum that is traced and not run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        jax.eval_shape(lambda p, b: clipped_sum(losses, p, b, mask=jnp.ones(4), bound=1.0).total, params, batch)
    return [str(warning.message) for warning in caught]


def test_large_copies_are_warned_of_once():
    params = {"w": jnp.ones((3, 64, 64)), "b": jnp.ones(64)}

    def picked(params, x):
        return jax.lax.fori_loop(0, 3, lambda i, x: jnp.tanh(x @ params["w"][i] + params["b"]), x).sum(axis=1)

    (text,) = traced(picked, params, jnp.ones((4, 64)))
    assert (
        "['w']: 49,152 bytes an example, copied for dot_general (the weight is computed or picked anew in every turn"
        in text
    )
    assert "['b']" not in text  # no larger than the data it is added to
    assert traced(picked, params, jnp.ones((4, 64))) == []

    def scanned(params, x):
        return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w + params["b"]), None), x, params["w"])[0].sum(axis=1)

    assert traced(scanned, params, jnp.ones((4, 64))) == []


def test_gradients_added_up_over_unlike_uses_are_warned_of():
    params = {"w": jnp.ones((64, 64))}

    def twice(params, x):
        return (jnp.tanh(x @ params["w"])[:, :32] @ params["w"].reshape(32, 128)).sum(axis=1)

    (text,) = traced(twice, params, jnp.ones((4, 64)))
    assert "['w']: 16,384 bytes an example, added up over dense 64x64 at 1 place" in text
