"""Small models of every kind that clipping should know, as losses, parameters and a batch."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

EXAMPLES = 12


def chance():
    return np.random.default_rng(11)


def normal(rng, *shape, scale=1.0):
    return jnp.asarray(rng.normal(size=shape) * scale, jnp.float32)


def cross_entropy(outputs, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(outputs), labels[:, None], axis=1)[:, 0]


def images(rng, classes=3):
    x = normal(rng, EXAMPLES, 8, 7, 3)
    return x, jnp.asarray(rng.integers(0, classes, EXAMPLES))


def mlp():
    rng = chance()
    params = {"a": normal(rng, 5, 8), "b": normal(rng, 8), "c": normal(rng, 8, 3), "scale": jnp.float32(1.3)}
    batch = normal(rng, EXAMPLES, 5), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        hidden = jnp.tanh(batch[0] @ params["a"] + params["b"]) * params["scale"]
        return cross_entropy(hidden @ params["c"], batch[1])

    return losses, params, batch


def convolutions():
    """Strides, padding, dilation of either side, groups; weights standardised, transposed, cast and tied."""
    rng = chance()
    params = {
        "one": normal(rng, 3, 3, 3, 8, scale=0.3),
        "two": normal(rng, 3, 2, 4, 8, scale=0.3),
        "three": normal(rng, 8, 8, 2, 2, scale=0.3),
        "four": normal(rng, 2, 2, 8, 8, scale=0.3),
        "gain": normal(rng, 8),
        "head": normal(rng, 3, 8),
    }

    def standard(w):
        w = w - w.mean(axis=(0, 1, 2))
        return w / jnp.sqrt((w * w).mean(axis=(0, 1, 2)) + 1e-3)

    def losses(params, batch):
        sides = ("NHWC", "HWIO", "NHWC")
        x = lax.conv_general_dilated(batch[0], params["one"], (2, 1), "SAME", dimension_numbers=sides)
        x = jnp.tanh(x)
        x = lax.conv_general_dilated(
            x,
            params["two"],
            (1, 1),
            ((1, 2), (0, 1)),
            rhs_dilation=(1, 2),
            feature_group_count=2,
            dimension_numbers=sides,
        )
        x = jnp.tanh(x)
        w = jnp.transpose(params["three"], (3, 2, 1, 0))
        x = lax.conv_general_dilated(x, w, (2, 2), ((0, 0), (1, 0)), lhs_dilation=(2, 1), dimension_numbers=sides)
        x = jnp.tanh(x)
        w = standard(params["four"]) * params["gain"]
        for _ in range(2):
            x = jnp.tanh(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=sides))
        return cross_entropy(x.mean(axis=(1, 2)) @ params["head"].T, batch[1])

    return losses, params, images(rng)


def attention():
    """Embedding and positions, one attention block with its own weights for each head, output tied to the embedding."""
    rng = chance()
    words, width, heads = 11, 8, 2
    params = {
        "table": normal(rng, words, width, scale=0.5),
        "positions": normal(rng, 6, width, scale=0.5),
        "qkv": normal(rng, 3, width, heads, width // heads, scale=0.5),
        "out": normal(rng, heads, width // heads, width, scale=0.5),
        "norm": {"scale": jnp.ones(width) * 1.1, "offset": normal(rng, width, scale=0.1)},
    }
    batch = jnp.asarray(rng.integers(0, words, (EXAMPLES, 7)))

    def losses(params, batch):
        x = params["table"][batch[:, :-1]] + params["positions"]
        mean, spread = x.mean(-1, keepdims=True), x.std(-1, keepdims=True)
        x = (x - mean) / (spread + 0.1) * params["norm"]["scale"] + params["norm"]["offset"]
        q, k, v = (jnp.einsum("btd,dhk->bthk", x, w) for w in params["qkv"])
        weights = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", q, k))
        y = jnp.einsum("bhts,bshk,hkd->btd", weights, v, params["out"])
        logits = (x + y) @ params["table"].T
        chances = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(chances, batch[:, 1:, None], axis=-1)[..., 0].mean(axis=1)

    return losses, params, batch


def recurrent():
    """A scan with tied weights, a checkpointed layer, a layer with a derivative of its own, and unused parameters."""
    rng = chance()
    params = {
        "in": normal(rng, 4, 6, scale=0.5),
        "state": normal(rng, 6, 6, scale=0.5),
        "head": normal(rng, 6, 3),
        "mid": normal(rng, 6, 6),
        "unused": normal(rng, 2),
        "count": jnp.int32(3),
    }
    batch = normal(rng, EXAMPLES, 5, 4), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    @jax.custom_vjp
    def doubled(x):
        return x

    doubled.defvjp(lambda x: (x, None), lambda _, pulled: (2 * pulled,))

    def losses(params, batch):
        def step(state, x):
            state = jnp.tanh(x @ params["in"] + state @ params["state"])
            return state, None

        start = jnp.zeros((batch[0].shape[0], 6))
        state, _ = lax.scan(step, start, jnp.moveaxis(batch[0], 1, 0))
        state = jax.checkpoint(lambda w, x: jnp.sin(x @ w))(params["mid"], state)
        return cross_entropy(doubled(jax.nn.silu(state)) @ params["head"] * params["count"], batch[1])

    return losses, params, batch


def unrolled():
    """Weights used several times in the same way, and a low-rank weight made of two parameters."""
    rng = chance()
    params = {"w": normal(rng, 6, 6, scale=0.6), "left": normal(rng, 6, 2), "right": normal(rng, 2, 3)}
    batch = normal(rng, EXAMPLES, 6), jnp.asarray(rng.integers(0, 3, EXAMPLES))

    def losses(params, batch):
        x = batch[0]
        for _ in range(3):
            x = jnp.tanh(x @ params["w"])
        return cross_entropy(x @ (params["left"] @ params["right"]), batch[1])

    return losses, params, batch


PLAIN = [mlp, convolutions, attention, recurrent, unrolled]
