"""Models that take a key: dropout, and whatever else is drawn anew for every example and step.

`apply(params, x, key)` is shown one row at a time while it is trained, with a key of that row's own. To predict it is
called with `key=None`, on as many rows as there are, and draws nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from discreet.learn.gradients import Losses
from discreet.learn.keys import key_of

__all__ = ["Draws", "KeyedLosses", "dropout", "predictor", "row_keys", "takes_key", "trained_losses"]

Tree = Any
Array = Any
_WORDS = 2  # of a key


class Draws(NamedTuple):
    """What one microbatch draws with: words for augmentation and for keys of rows, and the rows' indices in the lot."""

    augment: Array
    keys: Array
    indices: Array

    @classmethod
    def of(cls, secret: bytes, step: int, part: int, size: int, indices: Array = None) -> Draws:
        """Of microbatch `part` of a step, where each holds `size` examples; the same whenever it is asked again.

        Examples have the `indices` given, or stand in the order of the lot.
        """
        return cls(
            _words(key_of(secret, "augment", step, part)),
            _words(key_of(secret, "dropout", step)),
            part * size + np.arange(size, dtype=np.uint32) if indices is None else np.asarray(indices, np.uint32),
        )

    @classmethod
    def shapes(cls) -> Draws:
        """For tracing, of two examples."""
        shaped: Any = jax.ShapeDtypeStruct
        return cls(shaped((_WORDS,), np.uint32), shaped((_WORDS,), np.uint32), shaped((2,), np.uint32))


def _words(key: bytes) -> Array:
    return np.frombuffer(key[: 4 * _WORDS], dtype="<u4").astype(np.uint32)


def row_keys(draws: Draws, examples: int, copies: int) -> Array:
    """The words of a key for each copy of each example [examples, copies, 2], by its index in the lot and its copy.

    How a lot is cut into microbatches does not change them.
    """
    whole = _key(draws.keys)

    def own(index: Array, copy: Array) -> Array:
        return jax.random.key_data(jax.random.fold_in(jax.random.fold_in(whole, index), copy))

    each = jax.vmap(own, in_axes=(None, 0))
    return jax.vmap(each, in_axes=(0, None))(draws.indices[:examples], jnp.arange(copies, dtype=jnp.uint32))


def _key(words: Array) -> Array:
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def takes_key(apply: Callable[..., Any]) -> bool:
    """Whether a model has a parameter named `key`."""
    try:
        return "key" in inspect.signature(apply).parameters
    except (TypeError, ValueError):
        return False


def predictor(apply: Callable[..., Any]) -> Callable[[Tree, Array], Array]:
    """The model as it predicts: `apply(params, x)`, without a key where it takes one."""
    return partial(apply, key=None) if takes_key(apply) else apply


@dataclass(frozen=True)
class KeyedLosses:
    """The loss of each example under a model that takes a key. Called on a batch (x, y) it draws nothing."""

    apply: Callable[..., Array]
    loss: Callable[[Array, Array], Array]

    def __call__(self, params: Tree, batch: Tree) -> Array:
        x, y = batch
        return self.loss(self.apply(params, x, key=None), y)

    def drawn(self, params: Tree, given: Tree) -> Array:
        """The losses of ((x, y), words of keys): each row is shown alone, with its own key."""
        (x, y), words = given

        def alone(row: Tree, own: Array) -> Array:
            return self.apply(params, jax.tree.map(lambda leaf: leaf[None], row), key=_key(own))[0]

        if words.shape[0] == 1:  # as clipping runs it: no second axis of rows
            return self.loss(self.apply(params, x, key=_key(words[0])), y)
        return self.loss(jax.vmap(alone)(x, words), y)


def trained_losses(losses: Losses) -> Losses:
    """The losses as steps of training compute them: with keys, where the model takes one."""
    return losses.drawn if isinstance(losses, KeyedLosses) else losses


def dropout(x: Array, rate: float, key: Array | None) -> Array:
    """`x` with each entry zero with probability `rate`, the others enlarged to make up for it; `x` without a key.

    >>> dropout(jnp.ones(3), 0.5, None).tolist()
    [1.0, 1.0, 1.0]
    """
    if key is None or not rate:
        return x
    kept = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(kept, x / (1 - rate), jnp.zeros_like(x))
