"""The nets that clipped sums are timed on: losses, parameters and a batch of each."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def cross_entropy(outputs, labels):
    """The loss of each example."""
    return jax.nn.logsumexp(outputs, axis=-1) - jnp.take_along_axis(outputs, labels[:, None], axis=1)[:, 0]


def scaled(chance, *shape):
    """Weights, scaled by what goes in."""
    return jnp.asarray(chance.normal(size=shape) / np.sqrt(np.prod(shape[-2:-1])), jnp.float32)


def normal(chance, *shape):
    """Weights and a bias, scaled by what goes in."""
    return jnp.asarray(chance.normal(size=shape) / np.sqrt(np.prod(shape[:-1])), jnp.float32), jnp.zeros(shape[-1])


def mlp(chance, examples=600):
    """60-1000-10: losses, parameters and a batch."""

    def losses(params, batch):
        (first, shift), (second, rest) = params
        return cross_entropy(jax.nn.relu(batch[0] @ first + shift) @ second + rest, batch[1])

    images = jnp.asarray(chance.normal(size=(examples, 60)), jnp.float32)
    return losses, [normal(chance, 60, 1000), normal(chance, 1000, 10)], (images, labels(chance, examples))


def cnn(chance, examples=600):
    """16 filters of 8x8 and 32 of 4x4, both of stride 2 with max pooling, then 32 and 10 units, on 28x28."""

    def convolved(x, weights, edge):
        x = lax.conv_general_dilated(x, weights[0], (2, 2), edge, dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + weights[1])
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")

    def losses(params, batch):
        x = convolved(batch[0], params[0], [(3, 3), (3, 3)])
        x = convolved(x, params[1], "VALID").reshape(batch[0].shape[0], -1)
        x = jax.nn.relu(x @ params[2][0] + params[2][1])
        return cross_entropy(x @ params[3][0] + params[3][1], batch[1])

    params = [normal(chance, *shape) for shape in ((8, 8, 1, 16), (4, 4, 16, 32), (512, 32), (32, 10))]
    images = jnp.asarray(chance.normal(size=(examples, 28, 28, 1)), jnp.float32)
    return losses, params, (images, labels(chance, examples))


def labels(chance, examples):
    return jnp.asarray(chance.integers(0, 10, examples))


def transformer(chance, examples=32, *, checkpoint=False, rank=0):
    """Four layers of width 128 and four heads in a scan over stacked weights, 64 words of 512, the next one foretold.

    With `rank` the weights are frozen and a low-rank change of queries, keys and values is learned (LoRA).
    """
    width, layers, words, length, heads = 128, 4, 512, 64, 4
    weights = {
        "qkv": scaled(chance, layers, width, 3 * width),
        "out": scaled(chance, layers, width, width),
        "up": scaled(chance, layers, width, 4 * width),
        "down": scaled(chance, layers, 4 * width, width),
        "norms": jnp.ones((layers, 2, width)),
        "shift": jnp.zeros((layers, 4 * width)),
    }
    ends = {"table": scaled(chance, words, width), "head": scaled(chance, width, words)}
    if rank:
        frozen = {**weights, **ends}
        params = {
            "lower": scaled(chance, layers, width, rank),
            "raise": jnp.asarray(chance.normal(size=(layers, rank, 3 * width)) * 0.01, jnp.float32),
        }
    else:
        frozen, params = {}, {**weights, **ends}

    def normed(x, scale):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale

    def layer(x, own):
        y = normed(x, own["norms"][0])
        mixed = y @ own["qkv"]
        if rank:
            mixed = mixed + y @ own["lower"] @ own["raise"]
        query, key, value = (part.reshape(*part.shape[:-1], heads, -1) for part in jnp.split(mixed, 3, axis=-1))
        seen = jax.nn.softmax(jnp.einsum("bthk,bshk->bhts", query, key) / np.sqrt(width / heads))
        x = x + jnp.einsum("bhts,bshk->bthk", seen, value).reshape(x.shape) @ own["out"]
        return x + jax.nn.gelu(normed(x, own["norms"][1]) @ own["up"] + own["shift"]) @ own["down"]

    step = jax.checkpoint(layer) if checkpoint else layer

    def losses(params, batch):
        every = {**frozen, **params}
        stacks = {name: stack for name, stack in every.items() if name not in ends}
        x, _ = lax.scan(lambda x, own: (step(x, own), None), every["table"][batch[:, :-1]], stacks)
        chances = jax.nn.log_softmax(x @ every["head"])
        return -jnp.take_along_axis(chances, batch[:, 1:, None], axis=-1)[..., 0].mean(axis=1)

    return losses, params, jnp.asarray(chance.integers(0, words, (examples, length + 1)))


def lora(chance, examples=32):
    """The transformer with frozen weights and a change of rank 8."""
    return transformer(chance, examples, rank=8)


def checkpointed(chance, examples=32):
    """The transformer with every layer checkpointed."""
    return transformer(chance, examples, checkpoint=True)


def lstm(chance, examples=64):
    """128 units over 32 words of width 128, in a scan, and ten classes."""
    width, length = 128, 32
    params = {
        "gates": scaled(chance, 2 * width, 4 * width),
        "shift": jnp.zeros(4 * width),
        "head": scaled(chance, width, 10),
    }

    def losses(params, batch):
        def turn(state, x):
            hidden, cell = state
            both = jnp.concatenate([x, hidden], axis=-1) @ params["gates"] + params["shift"]
            update, keep, out, new = jnp.split(both, 4, axis=-1)
            cell = jax.nn.sigmoid(keep) * cell + jax.nn.sigmoid(update) * jnp.tanh(new)
            return (jax.nn.sigmoid(out) * jnp.tanh(cell), cell), None

        start = jnp.zeros((batch[0].shape[0], width))
        (hidden, _), _ = lax.scan(turn, (start, start), jnp.moveaxis(batch[0], 1, 0))
        return cross_entropy(hidden @ params["head"], batch[1])

    words = jnp.asarray(chance.normal(size=(examples, length, width)), jnp.float32)
    return losses, params, (words, labels(chance, examples))
