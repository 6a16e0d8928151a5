"""Training where a person has several rows: their gradients are averaged before clipping, so a person is one example.

Of each person up to `rows` rows count, chosen by a keyed hash of what a row holds: a function of the person's own rows.
Rows that are missing are filled up with one of the person's own, of weight zero.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, Phrase, kind_of
from discreet.learn.gradients import Losses
from discreet.learn.keys import key_of

__all__ = ["PersonLosses", "by_person", "fill_up", "read_persons", "rows_apart", "shape_of_persons", "unfold"]

Tree = Any
Array = Any


@dataclass(frozen=True)
class PersonLosses:
    """The loss of each row of a batch (rows, weights), times its weight: a person's mean is that of their own rows."""

    losses: Losses

    def __call__(self, params: Tree, batch: Tree) -> Array:
        rows, weights = batch
        return self.losses(params, rows) * weights


def read_persons(persons: Any, rows: int) -> NDArray[Any]:
    """Who each row belongs to: whole numbers or texts, one for each row."""
    allowed, hint = "an array of whole numbers or texts, one for each row", "Leave out rows that belong to nobody."
    if not hasattr(persons, "__len__") or isinstance(persons, (str, bytes, np.ma.MaskedArray)):
        raise InputError("persons", kind_of(persons), allowed)
    found = np.asarray(persons, dtype=None if hasattr(persons, "dtype") else object)
    for kind, known in ((str, _is_text), (int, _is_whole)):  # all of one kind: 1 and "1" are not the same person
        if found.dtype == object and all(map(known, found.flat)):
            if kind is str and any(one.endswith("\0") for one in found.flat):  # NumPy would drop it: two persons as one
                raise InputError("persons", Phrase("a text that ends in NUL"), "texts that do not end in NUL")
            found = found.astype(kind)
    if found.ndim != 1 or (found.size and found.dtype.kind not in "iuUS"):
        raise InputError("persons", Phrase(f"{found.dtype} of shape {found.shape}"), allowed, hint)
    if len(found) != rows:
        raise InputError("persons", Phrase(f"{len(found):,} of them"), f"one for each of the {rows:,} rows")
    return found


def _is_text(person: Any) -> bool:
    return isinstance(person, str)


def _is_whole(person: Any) -> bool:
    return isinstance(person, (int, np.integer)) and not isinstance(person, bool) and -(2**63) <= int(person) < 2**63


def by_person(data: Tree, persons: NDArray[Any], rows: int, secret: bytes) -> Tree:
    """Examples by person: leaves [persons, rows, ...] and weights [persons, rows]; of one row each, leaves alone.

    Guarantee: one person is one example, which depends on the person's rows and `secret` alone, whatever their order.
    """
    person = np.unique(persons, return_inverse=True)[1]
    tags = _tags(data, key_of(secret, "rows"))
    order = np.lexsort((tags[:, 1], tags[:, 0], person))
    person = person[order]
    place = np.arange(len(person)) - np.searchsorted(person, person)
    index, weights = fill_up(person, place, rows)
    laid_out = jax.tree.map(lambda leaf: np.asarray(leaf)[order[index]], data)
    return rows_apart(laid_out, weights)


def fill_up(person: NDArray[Any], place: NDArray[Any], rows: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Indices [persons, rows] of the first rows of each person, and their weights: `rows` over how many there are.

    `person` counts from zero without gaps, and `place` from zero in each.

    >>> index, weights = fill_up(np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), 2)
    >>> index.tolist(), weights.tolist()
    ([[0, 1], [3, 3]], [[1.0, 1.0], [2.0, 0.0]])
    """
    count = int(person.max(initial=-1)) + 1
    kept = np.flatnonzero(place < rows)
    first = np.zeros(count, np.int64)
    first[person[place == 0]] = np.flatnonzero(place == 0)
    index = np.repeat(first[:, None], rows, axis=1)
    index[person[kept], place[kept]] = kept
    many = np.bincount(person[kept], minlength=count)
    weights = np.where(np.arange(rows) < many[:, None], rows / np.maximum(many, 1)[:, None], 0.0)
    return index, weights.astype(np.float32)


def rows_apart(data: Tree, weights: NDArray[np.float32]) -> Tree:
    """What a step takes of leaves [persons, rows, ...]: with the weights beside them, unless one row each counts."""
    if weights.shape[1] == 1:
        return jax.tree.map(lambda leaf: leaf[:, 0], data)
    return data, weights


def shape_of_persons(data: Tree, rows: int) -> Tree:
    """Two made-up persons of the shapes of these rows."""
    two = jax.tree.map(lambda leaf: np.zeros((2, rows, *np.shape(leaf)[1:]), leaf.dtype), data)
    return rows_apart(two, np.ones((2, rows), np.float32))


def _tags(data: Tree, key: bytes) -> NDArray[np.uint64]:
    """A keyed hash of each row, as two whole numbers."""
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(data)]
    count = len(leaves[0])
    if not count:
        return np.zeros((0, 2), np.uint64)
    plain = [np.ascontiguousarray(leaf).reshape(count, -1).view(np.uint8).reshape(count, -1) for leaf in leaves]
    whole = np.concatenate(plain, axis=1)
    digests = b"".join(hashlib.blake2b(row.tobytes(), digest_size=16, key=key).digest() for row in whole)
    return np.frombuffer(digests, dtype=">u8").reshape(-1, 2)


def unfold(batch: Tree) -> tuple[Tree, Array]:
    """Rows [persons * rows, ...], those of one person side by side, and their weights."""
    data, weights = batch
    return jax.tree.map(lambda leaf: jnp.reshape(leaf, (-1, *leaf.shape[2:])), data), weights.reshape(-1)
