"""Squared norms of per-example gradients from inputs and cotangents, each with what rounding may have hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from discreet.learn.clip import norms
from discreet.learn.clip.pieces import cotangent, pairs, pieces, product, pulled_pairs
from discreet.learn.clip.sites import Site

__all__ = ["measure", "products_of", "squares"]

Array = Any


def measure(
    way: str, sites: Sequence[Site], given: Sequence[Array], pulled: Sequence[Array], kernel: tuple[int, ...],
    operands: Any | None,
) -> norms.Measured:  # fmt: skip
    """Squared norms by "product", "gram" or "again", and how much more what is added may be than they say."""
    first, places = sites[0], sum(site.all_places for site in sites)
    if way == "product":
        left = _blockwise(pieces(first, given[0], kernel)[0]) + norms.tiny(first.inner)
        right = _blockwise(cotangent(first, pulled[0])) + norms.tiny(first.outer)
        square = jnp.sum(left * right, axis=1)
        return norms.Measured(square, 0.0, norms.rounding(1) * jnp.sqrt(square))
    if way == "gram":
        return _by_pairs(first, given[0], pulled[0], kernel)
    split, pull = _side_by_side(sites, given, pulled, kernel)
    square = squares([product(part, pull, operands) for part in split])
    lengths = sum(norms.square_sum(part) for part in split) * norms.square_sum(pull)
    rough = 0.0 if operands is None else 4.1 * 2.0**-7  # bfloat16 keeps 8 bits
    return norms.Measured(square, 0.0, (2 * norms.rounding(places) + rough) * jnp.sqrt(lengths))


def products_of(
    sites: Sequence[Site], given: Sequence[Array], pulled: Sequence[Array], kernel: tuple[int, ...],
    operands: Any | None,
) -> list[Array]:  # fmt: skip
    """Per-example gradients of a weight, one array for each piece, over all its sites."""
    split, pull = _side_by_side(sites, given, pulled, kernel)
    return [product(part, pull, operands) for part in split]


def squares(arrays: list[Array]) -> Array:
    """The sum of squares of each example over several arrays."""
    sums = [norms.square_sum(each) for each in arrays]
    return sums[0] if len(sums) == 1 else norms.row_sum(jnp.stack(sums, axis=1))


def _by_pairs(site: Site, given: Array, pulled: Array, kernel: tuple[int, ...]) -> norms.Measured:
    """The Gram form: a squared norm is the sum over pairs of places of inputs' and cotangents' inner products."""
    inputs, pulls = pairs(site, given, kernel), pulled_pairs(site, pulled)
    square = norms.row_sum(inputs * pulls, norms.PAIRS)
    at_input = jnp.sqrt(jnp.diagonal(inputs, axis1=2, axis2=3))
    at_pull = jnp.sqrt(jnp.diagonal(pulls, axis1=2, axis2=3))
    lengths = jnp.sum(at_input * at_pull, axis=(1, 2))
    # Every partial sum is below lengths^2; squares that vanish are below the smallest number.
    terms = site.inner // site.offsets + site.offsets + site.outer
    doubt = norms.gram_excess(terms, site.all_blocks * site.all_places**2) * lengths**2
    doubt = doubt + norms.tiny(site.inner) * jnp.sum(at_pull, axis=(1, 2)) ** 2
    doubt = doubt + norms.tiny(site.outer) * jnp.sum(at_input, axis=(1, 2)) ** 2
    return norms.Measured(jnp.maximum(square, 0.0), doubt, norms.rounding(site.all_places, factors=1) * lengths)


def _blockwise(array: Array) -> Array:
    """Sums of squares for every example and block."""
    return norms.square_sum(array.reshape(-1, *array.shape[2:])).reshape(array.shape[:2])


def _side_by_side(
    sites: Sequence[Site], given: Sequence[Array], pulled: Sequence[Array], kernel: tuple[int, ...]
) -> tuple[list[Array], Array]:
    """Pieces and cotangents of sites that use a weight in the same way: places of one after those of the other."""
    split = [pieces(site, array, kernel) for site, array in zip(sites, given, strict=True)]
    pulls = [cotangent(site, array) for site, array in zip(sites, pulled, strict=True)]
    return [_joined(same) for same in zip(*split, strict=True)], _joined(pulls)


def _joined(arrays: Sequence[Array]) -> Array:
    return arrays[0] if len(arrays) == 1 else jnp.concatenate(list(arrays), axis=2)
