"""Lots: every example joins each by a coin of its own, and none is ever left out for want of room.

Shuffled batches of a fixed size are not this; to account for them as if they were promises too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.learn.keys import bits_of
from discreet.learn.recipe import Recipe
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform

__all__ = ["Microbatch", "capacity", "microbatches", "sample_lot"]

_LARGEST = 4096  # examples in a microbatch, unless said otherwise
_STEP = 8
_ENTRIES = 2**26  # of gradients held at once with exact noise


def sample_lot(secret: bytes, step: int, count: int, probability: Fraction, bands: int = 1) -> NDArray[np.int64]:
    """The places of the examples in the lot of a step, in rising order; the same whenever it is asked again.

    With several `bands` every example is in one of so many groups for the whole run, by a draw of its own, and a lot
    is of one group, in turn: it takes each of them with `bands` times the probability.

    Guarantee: under a fresh secret each of the `count` examples is in the lot with exactly `probability`,
    independently of all others and of all other steps, up to the strength of HMAC-SHA-512 and AES-256. With `bands` the
    same holds of each group in its steps, groups are uniform and independent, and no example is in two lots that are
    fewer than `bands` steps apart.
    """
    if bands > 1:
        groups = uniform(bands, count, bits=bits_of(secret, "groups"))
        places = np.flatnonzero(groups == step % bands)
        return places[bernoulli(bands * probability, len(places), bits=bits_of(secret, "lot", step))].astype(np.int64)
    heads = bernoulli(probability, count, bits=bits_of(secret, "lot", step))
    return np.flatnonzero(heads).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Microbatch:
    """Places of examples, filled up to a fixed number; `mask` is 1 where there is an example and 0 where there is none.

    A place that only fills up is 0, an example like any other: the mask takes it out again.
    """

    places: NDArray[np.int32]
    mask: NDArray[np.float32]


def microbatches(places: NDArray[np.int64], capacity: int) -> list[Microbatch]:
    """A lot in parts of `capacity`: as many as it takes, none for an empty lot.

    >>> [list(part.mask) for part in microbatches(np.arange(3), 2)]
    [[np.float32(1.0), np.float32(1.0)], [np.float32(1.0), np.float32(0.0)]]
    """
    parts = math.ceil(len(places) / capacity)
    filled = np.zeros(parts * capacity, dtype=np.int32)
    filled[: len(places)] = places
    mask = np.zeros(parts * capacity, dtype=np.float32)
    mask[: len(places)] = 1
    return [Microbatch(filled[i : i + capacity], mask[i : i + capacity]) for i in range(0, len(filled), capacity)]


def capacity(recipe: Recipe, devices: int = 1, parameters: int = 1) -> int:
    """How many examples a microbatch holds: as asked, or most lots whole where they are not too large.

    With exact noise the gradients of a microbatch are all in memory, one by one.
    """
    lot = float(recipe.lot)
    most = recipe.microbatch
    if most is None:
        spread = 2.5 * math.sqrt(lot * (1 - float(recipe.probability)))
        largest = min(_LARGEST, max(_STEP, _ENTRIES // parameters)) if recipe.noise == "exact" else _LARGEST
        most = min(math.ceil((lot + spread) / _STEP) * _STEP, largest)
    return math.ceil(most / devices) * devices
