"""The gradient of every example by itself, written out: what exact noise needs, and the yardstick of faster ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

__all__ = ["Losses", "each_alone", "example_gradients"]

Tree = Any
Array = Any
Losses = Callable[[Tree, Tree], Array]
"""`losses(params, batch)`: the loss of each example of a batch, whose leaves have examples along their first axis."""


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


def each_alone(losses: Losses, params: Tree, batch: Tree, copies: int = 1) -> tuple[Array, Array]:
    """`example_gradients`, one example after another by the same program.

    Slower, and to the last bit a function of the example alone: what a batch computes for an example may depend, in its
    last bits, on where in the batch it is.
    """
    split = jax.tree.map(lambda leaf: leaf.reshape(-1, copies, *leaf.shape[1:]), batch)

    def one(example: Tree) -> tuple[Array, Array]:
        value, tree = jax.value_and_grad(lambda parameters: losses(parameters, example).mean())(params)
        return jnp.concatenate([leaf.ravel().astype(jnp.float32) for leaf in jax.tree.leaves(tree)]), value

    rows, values = jax.lax.map(one, split)
    return rows, values
