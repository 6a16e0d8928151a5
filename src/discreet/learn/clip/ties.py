"""One table used in unlike ways, as where words are looked up and foretold: its norm from inner products alone.

Every use has a gradient that is a sum over places of (a vector over the table's rows) x (one over its columns). So the
squared norm of their sum is the sum over all pairs of places, of one use or two, of the products of both inner
products. A row that is looked up is a unit vector, and an inner product with it is an entry. No table is written out
for any example.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations_with_replacement
from typing import Any

import jax.numpy as jnp

from discreet.learn.clip import norms
from discreet.learn.clip.pieces import cotangent, pieces, row_numbers
from discreet.learn.clip.sites import Site

__all__ = ["are_ties", "measure_ties"]

Array = Any


def are_ties(sites: Sequence[Site]) -> bool:
    """Whether all uses are of one whole table of rows and columns, turned or not."""
    return all(_turned(site) is not None for site in sites)


def measure_ties(sites: Sequence[Site], given: Sequence[Array], pulled: Sequence[Array]) -> norms.Measured:
    """Squared norms of the sum of all uses, and how much more what is added may be than they say."""
    uses = [_factors(*use) for use in zip(sites, given, pulled, strict=True)]
    square: Array = 0.0
    for first, second in combinations_with_replacement(range(len(uses)), 2):
        rows, columns = (_inner(uses[first][side], uses[second][side]) for side in (0, 1))
        square = square + (1 if first == second else 2) * norms.row_sum(rows * columns, norms.PAIRS)
    lengths = [(_length(rows), _length(columns)) for rows, columns in uses]
    together = sum(jnp.sum(rows * columns, axis=1) for rows, columns in lengths)
    places, size = sum(site.all_places for site in sites), sites[0].inner + sites[0].outer
    doubt = norms.gram_excess(size + len(sites) ** 2, places**2) * together**2
    for side in (0, 1):
        doubt = doubt + norms.tiny(size) * sum(jnp.sum(pair[side], axis=1) for pair in lengths) ** 2
    return norms.Measured(jnp.maximum(square, 0.0), doubt, norms.rounding(places, factors=1) * together)


def _turned(site: Site) -> bool | None:
    """Whether the weight is the table with rows and columns exchanged; None where it is something else."""
    view = site.view
    if view is None or not view.whole or view.stacked or site.blocks != 1 or site.kind not in ("dense", "lookup"):
        return None
    turned = False
    for move in view.moves:
        if move.step.name != "transpose" or tuple(move.step.params["permutation"]) != (1, 0):
            return None
        turned = not turned
    if site.kind == "lookup":
        return None if turned or len(site.step.params["slice_sizes"]) != 2 else False
    contract, _ = site.step.params["dimension_numbers"]
    return turned if len(site.kernel) == 2 and len(contract[0]) == 1 else None


def _factors(site: Site, given: Array, pulled: Array) -> tuple[Array, Array]:
    """Of every place a vector over rows (or the number of a row) and one over columns [examples, places, ...]."""
    if site.kind == "lookup":
        return row_numbers(site, given, pulled)
    inner, outer = pieces(site, given, site.kernel)[0][:, 0], cotangent(site, pulled)[:, 0]
    contract, _ = site.step.params["dimension_numbers"]
    (axis,) = contract[site.step.inputs.index(site.weight)]
    return (inner, outer) if axis == int(bool(_turned(site))) else (outer, inner)


def _inner(first: Array, second: Array) -> Array:
    """Inner products between all places of two uses."""
    if first.ndim == second.ndim == 2:
        return (first[:, :, None] == second[:, None, :]).astype(jnp.float32)
    if first.ndim == 2:
        return jnp.swapaxes(_inner(second, first), 1, 2)
    if second.ndim == 2:
        return jnp.take_along_axis(first, second[:, None, :], axis=2)
    wide = jnp.promote_types(jnp.promote_types(first.dtype, second.dtype), jnp.float32)
    return jnp.einsum("btk,bsk->bts", first, second, preferred_element_type=wide)


def _length(array: Array) -> Array:
    """The length of each place's vector; of a unit vector one."""
    if array.ndim == 2:
        return jnp.ones(array.shape, jnp.float32)
    long = array.astype(jnp.promote_types(array.dtype, jnp.float32))
    return jnp.sqrt(jnp.sum(long * long, axis=2))
