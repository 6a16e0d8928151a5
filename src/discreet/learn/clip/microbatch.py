"""The same in slices, one after another, so that memory holds the per-example work of one slice only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from discreet.learn.clip import norms

__all__ = ["in_slices"]

Array = Any
Tree = Any


def in_slices(
    part: Callable[[Tree, Array], tuple[Tree, Array, Array]], params: Tree, rows: Tree, mask: Array, size: int
) -> tuple[Tree, Array, Array]:
    """Run `part(rows, mask)` over slices of `size` examples and add up what it gives.

    Sums have 32 bits at least. A last slice that is not full is filled with copies of the first example under a mask of
    zero.
    """
    count = mask.shape[0]
    slices = max(-(-count // size), 1)
    short = slices * size - count

    def cut(leaf: Array) -> Array:
        if short:
            leaf = jnp.concatenate([leaf, jnp.broadcast_to(leaf[:1], (short, *leaf.shape[1:]))])
        return leaf.reshape(slices, size, *leaf.shape[1:])

    cut_mask = jnp.pad(mask, (0, short)).reshape(slices, size)

    def add(total: Tree, piece: tuple[Tree, Array]) -> tuple[Tree, tuple[Array, Array]]:
        more, square, values = part(*piece)
        return jax.tree.map(jnp.add, total, more), (square, values)

    start = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, norms.wide(leaf.dtype)), params)
    total, (square, values) = lax.scan(add, start, (jax.tree.map(cut, rows), cut_mask))
    return total, square.reshape(-1)[:count], values.reshape(slices * size, -1)[:count]
