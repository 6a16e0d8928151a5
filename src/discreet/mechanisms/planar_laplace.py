"""Places with planar Laplace noise: metric privacy on a map, where near places look alike and far ones need not."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named
from discreet.core.exact import Number, as_written, sqrt_up
from discreet.core.loss import Loss, Pure
from discreet.core.mechanism import Bits
from discreet.errors import InputError, Phrase, kind_of
from discreet.mechanisms.inputs import read_confidence, read_epsilon, read_outputs, read_values
from discreet.noise.planar import planar, read_planar_scale

__all__ = ["PlanarLaplace", "lattice_distance"]

_SLACK = 1 + 1e-9  # above every float rounding below
_HALF = math.sqrt(0.5)  # how far a point of a square of side one is from its middle, at most


@frozen(field_transformer=named)
class PlanarLaplace:
    """Move every place of a lattice by noise with P[z] proportional to e^(-|z|/scale), |z| the straight distance.

    Guarantee
        Places that are d steps apart are epsilon-indistinguishable with epsilon = d / scale, exactly, for every d:
        P[M(u) in S] <= e^(|u - v| / scale) P[M(v) in S]. If one person has k of the places and each may be moved by at
        most d steps, a release of all is (k d / scale)-differentially private for that change.
        Proof: docs/proofs/planar-laplace.md.

    >>> noise = PlanarLaplace.for_epsilon(1, distance=200)
    >>> noise.scale, noise.error(confidence=0.95)
    (Fraction(200, 1), 952)
    >>> noise.release([[1200, 340], [0, -17]]).shape
    (2, 2)
    """

    scale: Fraction = field(converter=read_planar_scale)

    @classmethod
    def for_epsilon(cls, epsilon: Number, distance: Number = 1) -> PlanarLaplace:
        """The least noise at which places up to `distance` steps apart cost `epsilon`."""
        return cls(_distance(distance) / read_epsilon(epsilon))

    def loss(self, distance: Number = 1, places: int = 1) -> Loss:
        """What one release costs where `places` places are moved, each by at most `distance` steps."""
        return Pure(_distance(distance) * read_outputs(places, "places") / self.scale)

    def release(self, places: Any, *, bits: Bits | None = None) -> NDArray[np.int64]:
        """The places, each moved: whole steps east and north, one row a place."""
        exact = _pairs(places)
        return exact + planar(self.scale, len(exact), bits=bits)

    @property
    def variance(self) -> float:
        """Of each coordinate: 3 scale^2 where the scale is many steps."""
        scale = float(self.scale)
        if scale > 8:
            return 3 * scale**2  # the lattice changes less than a millionth of it
        reach = np.arange(-math.ceil(60 * scale) - 1, math.ceil(60 * scale) + 2, dtype=float)
        weights = np.exp(-np.hypot(reach[:, None], reach) / scale)
        return float((weights.sum(axis=1) * reach**2).sum() / weights.sum())

    def error(self, confidence: float = 0.95, k: int = 1) -> int:
        """The distance that `k` places stay within, all at once, with probability at least `confidence`."""
        miss = (1 - float(read_confidence(confidence))) / read_outputs(k)
        low, high = 0, 1
        while self._beyond(high) > miss:
            low, high = high, 2 * high
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._beyond(middle) <= miss else (middle + 1, high)
        return low

    def _beyond(self, distance: int) -> float:
        """A bound on the chance of being moved farther: of squares of side one about the points of the lattice."""
        scale = float(self.scale)
        inner = max(distance - _HALF, 0.0) / scale
        tail = 2 * math.pi * scale**2 * (1 + inner) * math.exp(min(_HALF / scale - inner, 700.0))
        whole = max(1.0, 2 * math.pi * scale**2 * math.exp(-_HALF / scale))
        return tail / whole * _SLACK


def lattice_distance(alpha: Number, step: Number) -> Fraction:
    """How many steps apart places may be on a lattice of `step`, if they are at most `alpha` apart on the ground.

    Rounding moves each by half a step in either direction, so by sqrt(1/2) of one at most: together sqrt(2).

    >>> float(lattice_distance(alpha=200, step=10))
    21.414213562373096
    """
    apart, side = as_written(alpha, "alpha"), as_written(step, "step")
    for name, value, given in (("alpha", apart, alpha), ("step", side, step)):
        if value <= 0:
            raise InputError(name, given, "more than zero")
    return apart / side + sqrt_up(Fraction(2))


def _distance(value: Number) -> Fraction:
    distance = as_written(value, "distance")
    if distance <= 0:
        raise InputError("distance", value, "more than zero")
    return distance


def _pairs(places: Any) -> NDArray[np.int64]:
    allowed = "pairs of integers, one a place"
    try:
        array = np.asarray(places)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.size == 0 and array.shape in ((0,), (0, 2)) and isinstance(places, (list, tuple, np.ndarray)):
        return np.zeros((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        given = Phrase(f"an array of shape {array.shape}") if isinstance(places, np.ndarray) else kind_of(places)
        raise InputError("places", given, allowed, "Real coordinates go on a lattice first.")
    return read_values(array.ravel(), "places").reshape(-1, 2)
