"""Gradients of look-ups (embeddings): a few rows of the table for each example, added up where one repeats."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from discreet.learn.clip.sites import Site

__all__ = ["rows", "scatter"]

Array = Any


def rows(site: Site, places: Array, pulled: Array) -> tuple[Array, Array]:
    """Which rows of the table each example touches [examples, reach], and its gradient there [.., .., outer].

    Equal places are sorted together and added up into the first of them, so the rows of an example are distinct and
    the sum of squares over them is the squared norm. Rows left over are zero, at place 0.
    """
    count = pulled.shape[0]
    where = places.reshape(count, site.reach)
    what = pulled.reshape(count, site.reach, site.outer)
    what = what.astype(jnp.promote_types(what.dtype, jnp.float32))
    if site.step.params["mode"] == lax.GatherScatterMode.FILL_OR_DROP:
        valid = (where >= 0) & (where < site.inner)
        what = jnp.where(valid[..., None], what, 0)
    where = jnp.clip(where, 0, site.inner - 1)

    def one(at: Array, add: Array) -> tuple[Array, Array]:
        order = jnp.argsort(at)
        at, add = at[order], add[order]
        new = jnp.concatenate([jnp.zeros(1, jnp.int32), (at[1:] != at[:-1]).astype(jnp.int32)])
        segment = jnp.cumsum(new)
        distinct = jnp.zeros_like(at).at[segment].max(at)
        return distinct, jnp.zeros_like(add).at[segment].add(add)

    where, what = jax.vmap(one)(where, what)
    return where, what


def scatter(site: Site, where: Array, what: Array, table: tuple[int, ...]) -> Array:
    """All rows of all examples added into an array of the shape of the table."""
    whole = jnp.zeros((table[0], site.outer), what.dtype)
    return whole.at[where.reshape(-1)].add(what.reshape(-1, site.outer)).reshape(table)
