"""Models whose losses follow from the other rows of a batch, or from a row's index in it, are found out by trying.

Numbers are made up: of the data only shapes and types are used. A few batches are computed whole, with their rows in
another order, with other rows beside them, and each example alone as clipping runs it; its loss must be the same.
Following the operations (`mixing`) proves more where it can; this sees what a proof of dependence cannot, such as a
loss that grows with a row's index, and operations that are not followed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.core.mechanism import Bits
from discreet.errors import InputError
from discreet.learn.clip.flat import of_rows
from discreet.learn.clip.mixing import values_of
from discreet.noise.replay import Replay

__all__ = ["refuse_mixed_losses"]

Tree = Any
Losses = Callable[[Tree, Tree], Any]
_EXAMPLES = 4
_ORDER = (2, 0, 3, 1)  # no example keeps its index, and none follows the one before
_ROUNDING = {8: 2.0**-13, 4: 2.0**-13, 2: 2.0**-5, 1: 0.5}  # of losses, by the bytes of the coarsest float
_HINT = (
    "Use group norm or layer norm instead of batch norm. For dropout write apply(params, x, key): each example "
    "then gets a key of its own. A mask or noise from a fixed key is the same for all."
)


def refuse_mixed_losses(losses: Losses, params: Tree, batch: Tree, *, copies: int = 1) -> None:
    """Raise InputError if, of made-up rows, the loss of an example is another one beside other rows or elsewhere.

    `params` and `batch` are arrays or their shapes. What passes may still mix examples for other values.
    """
    leaves, structure = jax.tree.flatten((params, batch))
    outline = str(structure), tuple((leaf.shape, str(leaf.dtype)) for leaf in leaves)
    _probe(losses, _Given(outline, params, batch), copies)


@dataclass(frozen=True)
class _Given:
    """What is probed: the same for the same shapes, so that a model is tried once."""

    outline: tuple[str, tuple[Any, ...]]
    params: Tree = field(compare=False)
    batch: Tree = field(compare=False)


@lru_cache(maxsize=8)
def _probe(losses: Losses, given: _Given, copies: int) -> None:
    batch, weights = given.batch, _made_up(given.params, Replay(b"weights"))
    computed = jax.jit(losses)
    with jax.default_matmul_precision("highest"):
        rounding = _rounding(jax.make_jaxpr(losses)(weights, of_rows(batch, _EXAMPLES * copies)).jaxpr)
        for whole, other in _batches(batch, copies):
            expected = _examples(computed(weights, whole), copies)
            for what, found, seen in _again(lambda rows: computed(weights, rows), whole, other, copies):
                _compare(expected[seen], _examples(found, copies), rounding, what)


def _again(
    losses: Callable[[Tree], Any], whole: Tree, other: Tree, copies: int
) -> Iterator[tuple[str, Any, list[int]]]:
    """The losses of the same examples once more: what was changed, what came out, and of which examples."""
    order = list(_ORDER)
    moved = jax.tree.map(lambda leaf: _grouped(leaf, copies)[np.array(order)].reshape(leaf.shape), whole)
    yield "changes with its index in the batch", losses(moved), order
    for kept in range(_EXAMPLES):
        alone = jax.tree.map(lambda leaf, at=kept: _grouped(leaf, copies)[at], whole)
        yield "is another one in a batch of its own", losses(alone), [kept]
    half = np.arange(_EXAMPLES * copies) < _EXAMPLES // 2 * copies

    def beside(mine: Any, others: Any) -> Any:
        return np.where(half.reshape(-1, *[1] * (mine.ndim - 1)), mine, others)

    mixed = _examples(losses(jax.tree.map(beside, whole, other)), copies)[: _EXAMPLES // 2]
    yield "changes with the rows beside it", mixed.ravel(), list(range(_EXAMPLES // 2))


def _compare(expected: NDArray[Any], found: NDArray[Any], rounding: float, what: str) -> None:
    scale = 1 + np.abs(np.nan_to_num(expected)).max(initial=0.0)
    if not np.allclose(expected, found, rtol=rounding, atol=rounding * scale, equal_nan=True):
        raise InputError(
            "losses",
            f"the loss of an example {what}",
            "a function in which the loss of an example depends on that example alone",
            _HINT,
        )


def _examples(losses: Any, copies: int) -> NDArray[Any]:
    return np.asarray(losses, dtype=np.float64).reshape(-1, copies)


def _grouped(leaf: NDArray[Any], copies: int) -> NDArray[Any]:
    return leaf.reshape(-1, copies, *leaf.shape[1:])


def _batches(batch: Tree, copies: int) -> Iterator[tuple[Tree, Tree]]:
    """Pairs of made-up batches: of either sign, and of numbers from 0 to 1, where roots and logarithms are real."""
    bits = Replay(b"rows")
    for positive in (False, True):
        yield tuple(_made_up(of_rows(batch, _EXAMPLES * copies), bits, positive) for _ in range(2))


def _made_up(tree: Tree, bits: Bits, positive: bool | None = None) -> Tree:
    """Numbers of the shapes and types of a tree; parameters (`positive` is None) are moved from where they start."""

    def fill(leaf: Any) -> Any:
        kind, words = jnp.dtype(leaf.dtype), _words(bits, leaf.shape)
        if positive is None and not jnp.issubdtype(kind, jnp.floating):
            return np.zeros(leaf.shape, kind) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf
        if kind == np.uint32:  # words of keys
            return words
        if not jnp.issubdtype(kind, jnp.inexact):  # labels and tokens: 0 and 1 are among those of any model
            return (words >> 31).astype(kind)
        parts = (words / 2.0**32).astype(np.float32)
        if positive is None:  # where many begin, at zero, nothing depends on anything
            start = 0.0 if isinstance(leaf, jax.ShapeDtypeStruct) else np.asarray(leaf, np.float32)
            return np.asarray(start + 0.4 * (parts - 0.5), np.float32).astype(kind)
        return (parts if positive else 4 * parts - 2).astype(kind)

    return jax.tree.map(fill, tree)


def _words(bits: Bits, shape: tuple[int, ...]) -> NDArray[np.uint32]:
    """Fixed words that look random: nothing private depends on them, and a refusal can be repeated."""
    return bits.read(4 * math.prod(shape)).view(np.uint32).reshape(shape)


def _rounding(jaxpr: Any) -> float:
    """How far apart two ways to compute the same loss may be."""
    kinds = {value.dtype for value in values_of(jaxpr) if hasattr(value, "dtype")}
    return _ROUNDING[min([4, *(kind.itemsize for kind in kinds if jnp.issubdtype(kind, jnp.floating))])]
