"""The gradient of every example on its own, written out: what exact noise needs, and the yardstick of faster ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from discreet.learn.clip.clipping import parts_of
from discreet.learn.clip.passes import gradients_by_sites

__all__ = ["Augment", "Losses", "augmented", "by_layers", "example_gradients", "outputs_alone"]

Tree = Any
Array = Any
Losses = Callable[[Tree, Tree], Array]
"""`losses(params, batch)`: the loss of each example of a batch, whose leaves have examples along their first axis."""
Augment = Callable[[Array, Tree], Tree]
"""`augment(key, batch)`: a batch of one example becomes one of its copies. It is shown one example at a time."""


def augmented(augment: Augment, key: Array, batch: Tree) -> Tree:
    """The copies of every example, those of one side by side.

    `augment` sees each example in a batch of its own, with a key of its own, so nothing of the others can get in.
    """

    def one(own: Array, example: Tree) -> Tree:
        return augment(own, jax.tree.map(lambda leaf: leaf[None], example))

    made = jax.vmap(one)(_keys(key, batch), batch)
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), made)


def example_gradients(losses: Losses, params: Tree, batch: Tree, copies: int = 1) -> tuple[Array, Array]:
    """Gradients, one example a row with all parameters side by side, and losses; the mean over an example's copies.

    An example is shown to `losses` in a batch of its copies only, so that nothing of the others can get in.
    """
    alone = jax.tree.map(lambda leaf: leaf.reshape(-1, copies, *leaf.shape[1:]), batch)

    def mean(parameters: Tree, example: Tree) -> Array:
        return losses(parameters, example).mean()

    values, trees = jax.vmap(jax.value_and_grad(mean), in_axes=(None, 0))(params, alone)
    count = values.shape[0]
    rows = [leaf.reshape(count, -1).astype(jnp.float32) for leaf in jax.tree.leaves(trees)]
    return jnp.concatenate(rows, axis=1), values


def by_layers(losses: Losses, params: Tree, batch: Tree, copies: int = 1) -> tuple[list[Array], Array, Array]:
    """Gradients of every example, one array [examples, ...] for each parameter, their squared norms, and losses.

    The same as `example_gradients`, and faster: products of inputs and cotangents instead of a pass for each example.
    """
    parts = parts_of(losses, params, batch, copies, examples=1, keep=True)
    rows = jax.tree.map(lambda leaf: leaf.reshape(-1, copies, *leaf.shape[1:]), batch)
    leaves = list(map(jnp.asarray, jax.tree.leaves(params)))
    each, square, values = gradients_by_sites(parts, leaves, jax.tree.leaves(rows))
    return each, square, values.mean(axis=1)


def outputs_alone(apply: Callable[[Tree, Array], Array], params: Tree, x: Array) -> Array:
    """What a model says of each row, one row after another by the same program: no row sees another."""
    return jax.jit(lambda params, x: jax.lax.map(lambda row: apply(params, row[None])[0], x))(params, x)


def _keys(key: Array, batch: Tree) -> Array:
    """A key for each example, from the two words of one."""
    return jax.random.split(jax.random.wrap_key_data(key, impl="threefry2x32"), jax.tree.leaves(batch)[0].shape[0])
