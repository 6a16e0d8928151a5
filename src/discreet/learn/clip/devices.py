"""Examples spread over devices: each device clips its own, and only sums travel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax
from jax.sharding import PartitionSpec

from discreet.errors import InputError

__all__ = ["over_devices"]

Tree = Any


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
