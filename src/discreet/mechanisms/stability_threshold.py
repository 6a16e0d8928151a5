"""Publish counts for keys nobody listed in advance, leaving out those too few people share."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from attrs import field, frozen

from discreet.core.check import named
from discreet.core.exact import exp_down, log_up
from discreet.core.loss import Approx, Loss
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase, kind_of
from discreet.mechanisms.inputs import (
    read_confidence,
    read_count,
    read_epsilon,
    read_outputs,
    read_probability_inside,
    read_values,
)
from discreet.noise.laplace import laplace
from discreet.noise.parameters import read_scale
from discreet.noise.spread import laplace_above, laplace_half_width

__all__ = ["StabilityThreshold"]

Key = TypeVar("Key", bound=Hashable)


@frozen(field_transformer=named)
class StabilityThreshold:
    """Noisy counts of the keys found in the data (names, queries, places), above a threshold only.

    The counts are of distinct units; one unit is counted under at most `keys` keys, once under each (bound this before
    counting). A key that occurs in the data of a single unit is published with a chance so small that all of them
    together stay below `delta`; a key that nobody has is never published.

    Guarantee
        (epsilon, delta)-differential privacy when a unit is added or removed.
        Proof: docs/proofs/stability-threshold.md.

    >>> StabilityThreshold(epsilon=1, delta="1e-12").release({"flu": 10**6, "kuru": 1}).keys()
    dict_keys(['flu'])
    """

    epsilon: Fraction = field(converter=read_epsilon)
    delta: Fraction = field(converter=read_probability_inside)
    keys: int = field(default=1, converter=read_count)

    def __attrs_post_init__(self) -> None:
        read_scale(self.scale, "scale")

    @property
    def scale(self) -> Fraction:
        """Of the noise on every count."""
        return self.keys / self.epsilon

    @property
    def threshold(self) -> int:
        """The smallest noisy count that is published: the least T >= 1 with keys * P[1 + noise >= T] <= delta."""
        # P[noise >= m] = r^m / (1 + r) for m >= 0, with r = e^(-1/scale).
        tail = self.keys / (self.delta * (1 + exp_down(-1 / self.scale)))
        return 1 + (math.ceil(self.scale * log_up(tail)) if tail > 1 else 0)

    def loss(self) -> Loss:
        """What one release costs."""
        return Approx(self.epsilon, self.delta)

    def release(self, counts: Mapping[Key, int], *, bits: Bits | None = None) -> dict[Key, int]:
        """The published keys with their noisy counts, in an order that says nothing about the data."""
        if not isinstance(counts, Mapping):
            raise InputError("counts", kind_of(counts), "counts by key, such as {'a': 12, 'b': 3}")
        found = list(counts)
        exact = read_values(list(counts.values()), "counts")
        if exact.size and exact.min() < 0:
            raise InputError("counts", Phrase("negative counts"), "zero or more, a count of distinct units")
        noisy = exact + laplace(self.scale, len(exact), bits=bits)
        published = np.flatnonzero((noisy >= self.threshold) & (exact > 0))
        answer = {found[i]: int(noisy[i]) for i in published}
        try:
            order = sorted(answer, key=_place)
        except TypeError:
            raise InputError(
                "counts",
                Phrase("keys that have no order"),
                "counts by keys that have an order, such as strings, numbers, tuples",
            ) from None
        return {key: answer[key] for key in order}

    def chance(self, count: int) -> float:
        """The probability that a key with this count is published, rounded up."""
        if read_count(count, "count", least=0) == 0:
            return 0.0
        return min(1.0, laplace_above(self.scale, self.threshold - int(count) - 1)[1])

    def error(self, confidence: float = 0.95, k: int = 1) -> int:
        """The half-width that the noise on `k` counts, published or not, stays within with probability `confidence`."""
        return laplace_half_width(self.scale, float(read_confidence(confidence)), read_outputs(k))


def _place(key: Any) -> tuple[str, Any]:
    """Where a key stands: by type, then by value, so that None and text may share a column."""
    if isinstance(key, tuple):
        return "tuple", tuple(_place(part) for part in key)
    if key is None:
        return "NoneType", 0
    if key != key:
        return type(key).__name__ + " NaN", 0
    return type(key).__name__, key
