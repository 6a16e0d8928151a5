"""Norms that are never too small: sums of squares with a stated rounding error, and the factors that clip.

A clipped gradient must not be longer than the bound for any example whatever, so the norm an example is divided by
is an upper bound on the norm of what it adds: the computed norm, raised by everything floating point may have lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

__all__ = [
    "PAIRS",
    "Measured",
    "added_up",
    "factors",
    "gram_excess",
    "only",
    "product_rounding",
    "rounding",
    "row_sum",
    "sane_bound",
    "scaled",
    "slack",
    "square_sum",
    "tiny",
    "weigh",
    "wide",
]

_ROW = 512  # numbers added in one go
PAIRS = 64  # products of pairs added in one go: they have signs, so their sum is the more delicate
_UNIT = 2.0**-24  # rounding of one 32-bit operation
_SMALLEST = 2.0**-126  # squares below it may vanish

Array = Any


def wide(kind: Any) -> Any:
    """The type of sums over examples: 32 bits at least, however few those have that are added up.

    In fewer bits a sum moves in large steps: one more example could move it by many times the bound.
    """
    return jnp.promote_types(kind, jnp.float32) if jnp.issubdtype(kind, jnp.floating) else kind


def square_sum(array: Array) -> Array:
    """The sum of squares of each example's entries (first axis: examples)."""
    long = array.astype(jnp.promote_types(array.dtype, jnp.float32))
    return row_sum(long * long)


def row_sum(array: Array, row: int = _ROW) -> Array:
    """The sum of each example's entries, added up in rows of `row`, and these again, so that few roundings add up."""
    barrier: Any = lax.optimization_barrier
    flat = array.reshape(array.shape[0], -1)
    while flat.shape[1] > 2 * row:
        short = -flat.shape[1] % row
        if short:
            flat = jnp.pad(flat, ((0, 0), (0, short)))
        # The barrier keeps the compiler from joining the two sums into one long one.
        flat = barrier(flat.reshape(flat.shape[0], -1, row).sum(axis=2))
    return flat.sum(axis=1)


def _added(count: int, row: int = _ROW) -> int:
    """At most so many roundings touch one entry in `row_sum` of `count` entries."""
    return count if count <= 2 * row else row + _added(-(-count // row), row)


def slack(params: Any) -> float:
    """By how much, relatively, a norm over `params` may be computed too small; factors are smaller by as much.

    The trainer need not add anything: what `clipped_sum` adds up for one example is at most `bound` long.
    """
    sizes = [leaf.size for leaf in jax.tree.leaves(params)]
    return (2 * max(map(_added, sizes), default=0) + 16 * len(sizes) + 64) * _UNIT


def added_up(count: int) -> float:
    """How far, relatively, a sum of `count` squares may be off, in whatever order they are added."""
    return (count + 4) * _UNIT


def tiny(count: int) -> float:
    """What squares too small for 32 bits may add up to, for `count` entries."""
    return count * _SMALLEST


def product_rounding() -> float:
    """How far, relatively, a factor of a matrix product may be rounded before it is multiplied (tf32, bfloat16)."""
    asked = getattr(jax.config, "jax_default_matmul_precision", None)
    if asked in ("highest", "float32"):
        return _UNIT
    if asked is not None:
        return 2.0**-8
    return {"cpu": _UNIT, "gpu": 2.0**-10}.get(jax.default_backend(), 2.0**-8)


def rounding(reach: int, factors: int = 2) -> float:
    """How far a sum over `reach` places of products may be off, relative to the sum of their sizes.

    `factors` says how many of the two factors of a product are rounded before it.
    """
    return 1.01 * factors * product_rounding() + (reach + 4) * _UNIT


@dataclass(frozen=True)
class Measured:
    """Squared norms [examples], and what rounding may have hidden: `doubt` in the square, `extra` in the norm.

    Measures of different parameters add up: their gradients, and the errors in them, stand at right angles.
    """

    square: Array
    doubt: Array = 0.0
    extra: Array = 0.0

    def __add__(self, other: Measured) -> Measured:
        return Measured(self.square + other.square, self.doubt + other.doubt, jnp.hypot(self.extra, other.extra))


def factors(
    measured: Measured, mask: Array, bound: Array, params: Any, stability: float | None = None
) -> tuple[Array, Array]:
    """What each example's gradient is multiplied by, and whether it counts at all.

    min(1, bound / norm); with a `stability`, bound / (norm + stability) whatever the norm is.
    An example whose norm is not finite counts as nothing: adding or removing it changes the sum by zero.
    """
    count = sum(leaf.size for leaf in jax.tree.leaves(params))
    upper = jnp.sqrt(measured.square + measured.doubt + tiny(count)) * (1 + slack(params)) + measured.extra
    counts = jnp.isfinite(upper) & (mask != 0)
    upper = jnp.where(counts, upper, 1.0)
    clipped = jnp.minimum(1.0, bound / upper) if stability is None else bound / (upper + stability)
    return jnp.where(counts, clipped, 0.0), counts


def gram_excess(terms: int, pairs: int) -> float:
    """How far a squared norm by the Gram form may be off, relative to the squared sum of lengths over places.

    `terms` numbers go into each inner product, of which `pairs` are added up by `row_sum` with rows of `PAIRS`.
    """
    return (terms + _added(pairs, PAIRS) + 8) * _UNIT


def only(counts: Array, array: Array) -> Array:
    """Zero wherever an example does not count, whatever stood there (nothing times NaN is NaN)."""
    return jnp.where(counts.reshape(-1, *([1] * (array.ndim - 1))), array, jnp.zeros((), array.dtype))


def scaled(factor: Array, array: Array) -> Array:
    """Each example's entries (first axis: examples) times its factor, in 32 bits or more."""
    kind = jnp.promote_types(array.dtype, jnp.float32)
    return array.astype(kind) * factor.reshape(-1, *([1] * (array.ndim - 1))).astype(kind)


def weigh(factor: Array, counts: Array, array: Array) -> Array:
    """The sum over examples of `array` (first axis: examples) times their factors."""
    return jnp.sum(only(counts, scaled(factor, array)), axis=0)


def sane_bound(bound: Any) -> bool:
    """Whether a bound that is known now is one that 32 bits can clip to."""
    if isinstance(bound, jax.core.Tracer):
        return True
    value = float(bound)
    return math.isfinite(value) and value >= 1e-9
