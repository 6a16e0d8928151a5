"""Where in a batch an example is computed: in a slot that the example alone decides.

What a batch computes for an example may depend, in its last bits, on where in the batch it stands, but not on what
stands in the other places. So an example that always has the same slot always has the same numbers, whoever else is in
the lot.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.learn.lot import Microbatch

__all__ = ["arrange", "slot_count", "slots_of"]

_MOST = 64
_SHARE = 32  # examples of a lot for each slot: with fewer, slots that are nearly empty cost more than long ones save

Array = Any
Tree = Any


def slot_count(room: int) -> int:
    """How many slots a batch has, where a microbatch has room for so many examples: a power of two, from public sizes.

    >>> [slot_count(room) for room in (1, 8, 100, 664, 4096)]
    [1, 8, 8, 16, 64]
    """
    most = min(room, _MOST, max(8, room // _SHARE))
    return 1 << (most.bit_length() - 1)


def slots_of(batch: Tree, count: int) -> Array:
    """The slot of each example, by a hash of all its bits and of nothing else. Pure; for `jit`."""
    total: Array = jnp.uint32(0)
    for index, leaf in enumerate(jax.tree.leaves(batch)):
        words = _words(leaf)
        places = jnp.arange(words.shape[1], dtype=jnp.uint32) * jnp.uint32(0x9E3779B9) + jnp.uint32(index)
        total = _stirred(total + jnp.sum(_stirred(words ^ _stirred(places)), axis=1, dtype=jnp.uint32))
    return (total % jnp.uint32(count)).astype(jnp.int32)


def arrange(places: NDArray[Any], slots: NDArray[Any], count: int) -> list[Microbatch]:
    """Examples in as many batches of `count` slots as the fullest slot needs, each example in its own slot.

    >>> [list(part.places) for part in arrange(np.array([5, 6, 7]), np.array([1, 0, 1]), 2)]
    [[np.int32(6), np.int32(5)], [np.int32(0), np.int32(7)]]
    """
    order = np.argsort(slots, kind="stable")
    slots, places = slots[order], places[order]
    turn = np.arange(len(slots)) - np.searchsorted(slots, slots)  # how many before it have the same slot
    turns = int(turn.max(initial=-1)) + 1
    filled, mask = np.zeros((turns, count), np.int32), np.zeros((turns, count), np.float32)
    filled[turn, slots] = places
    mask[turn, slots] = 1
    return [Microbatch(row, own) for row, own in zip(filled, mask, strict=True)]


def _words(leaf: Array) -> Array:
    """The bits of each example as whole numbers of 32 bits [examples, ...]."""
    flat = leaf.reshape(leaf.shape[0], -1)
    if jnp.issubdtype(flat.dtype, jnp.floating):
        bits = jnp.dtype(f"uint{8 * flat.dtype.itemsize}")
        flat = jax.lax.bitcast_convert_type(flat, bits)
    if flat.dtype.itemsize == 8:
        flat = jnp.concatenate([flat >> 32, flat], axis=1)
    return flat.astype(jnp.uint32)


def _stirred(words: Array) -> Array:
    words = (words ^ (words >> 16)) * jnp.uint32(0x7FEB352D)
    words = (words ^ (words >> 15)) * jnp.uint32(0x846CA68B)
    return words ^ (words >> 16)
