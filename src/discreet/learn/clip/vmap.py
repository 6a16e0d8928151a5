"""The plain way: every example's whole gradient at once, by `jax.vmap`. Exact for any model, slow, and large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from discreet.learn.clip import norms

__all__ = ["clip_by_vmap"]

Array = Any
Tree = Any


def clip_by_vmap(
    losses: Callable[[Tree, Tree], Array],
    params: Tree,
    rows: Tree,
    clip: Callable[[norms.Measured], tuple[Array, Array]],
) -> tuple[Tree, Array, Array]:
    """The clipped sum, squared norms and losses [examples, copies]; `rows` lead with examples and copies."""
    leaves, shape = jax.tree.flatten(params)
    real = [place for place, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating)]

    def one(chosen: list[Array], row: Tree) -> tuple[Array, Array]:
        whole = list(leaves)
        for place, leaf in zip(real, chosen, strict=True):
            whole[place] = leaf
        each = losses(jax.tree.unflatten(shape, whole), row)
        return jnp.mean(each), each

    slope = jax.grad(one, has_aux=True)
    each, values = jax.vmap(slope, in_axes=(None, 0))([leaves[place] for place in real], rows)
    measured = norms.Measured(jnp.zeros(values.shape[0]))
    for gradient in each:
        measured = measured + norms.Measured(norms.square_sum(gradient))
    factor, counts = clip(measured)
    total = [jnp.zeros(leaf.shape, norms.wide(leaf.dtype)) for leaf in leaves]
    for place, gradient in zip(real, each, strict=True):
        total[place] = norms.weigh(factor, counts, gradient).astype(total[place].dtype)
    return jax.tree.unflatten(shape, total), measured.square, values
