"""Examples spread over time or machines: in slices, so that memory holds one slice only, or over several devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec

from discreet.errors import InputError
from discreet.learn.clip import norms

__all__ = ["in_slices", "over_devices"]

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


def over_devices(work: Callable[..., Any], mesh: Any, params: Tree, batch: Tree, mask: Any) -> tuple[Tree, Any, Any]:
    """`work(params, batch, mask)` on each device's share of the examples; totals added up, the rest side by side.

    Every device runs a program of its own over its own examples, so nothing depends on how a compiler would have cut
    one program into several.
    """
    if len(mesh.axis_names) != 1:
        raise InputError("mesh", mesh.axis_names, "a mesh of one axis, along which the examples lie")
    if mask.shape[0] % mesh.size:
        raise InputError(
            "mask", mask.shape[0], f"of a length that {mesh.size} devices can share evenly", "Pad with mask 0."
        )
    (axis,) = mesh.axis_names
    part: Any = PartitionSpec
    add: Any = lax.psum
    each, all_over = part(axis), part()

    def one(params: Tree, batch: Tree, mask: Any) -> tuple[Tree, Any, Any]:
        total, norms, losses = work(params, batch, mask)
        return jax.tree.map(lambda leaf: add(leaf, axis), total), norms, losses

    spread = _shard_map(one, mesh, (all_over, each, each), (all_over, each, each))
    made: tuple[Tree, Any, Any] = spread(params, batch, mask)
    return made


def _shard_map(function: Callable[..., Any], mesh: Any, given: Any, made: Any) -> Callable[..., Any]:
    if hasattr(jax, "shard_map"):
        newer: Any = jax.shard_map
        return newer(function, mesh=mesh, in_specs=given, out_specs=made, check_vma=False)  # type: ignore[no-any-return]
    from jax.experimental.shard_map import shard_map

    older: Any = shard_map
    return older(function, mesh=mesh, in_specs=given, out_specs=made, check_rep=False)  # type: ignore[no-any-return]
