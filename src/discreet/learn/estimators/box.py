"""The declared range of every feature: values are clipped to it and scaled to [-1, 1] before anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.lattice import Lattice
from discreet.errors import InputError, Phrase

__all__ = ["Box", "Floats", "read_box"]

Floats = NDArray[np.float64]

_FARTHEST = 1e100  # squares and sums of squares stay far from overflow
_WIDEST = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Lower and upper bounds and an origin between them, one of each a feature.

    A feature whose bounds are equal is constant: it scales to 0.
    """

    lower: Floats
    upper: Floats
    origin: Floats

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def reach(self) -> Floats:
        """How far each feature can be from its origin."""
        return np.maximum(self.upper - self.origin, self.origin - self.lower)

    def clipped(self, values: Any) -> Floats:
        """Within bounds; NaN becomes the origin. A function of each value alone."""
        clipped = np.clip(np.asarray(values, dtype=np.float64), self.lower, self.upper)
        missing = np.isnan(clipped)
        return np.where(missing, self.origin, clipped) if missing.any() else clipped

    def scaled(self, values: Any) -> Floats:
        """Clipped and scaled so that the origin is 0 and the farther bound 1 or -1."""
        return np.clip((self.clipped(values) - self.origin) / self._unit, -1.0, 1.0)

    def free(self, values: Any) -> Floats:
        """Scaled the same way and not clipped: for predictions, which may be asked outside the bounds."""
        return np.asarray((np.asarray(values, dtype=np.float64) - self.origin) / self._unit)

    @property
    def _unit(self) -> Floats:
        return np.where(self.reach > 0, self.reach, 1.0)

    def steps(self, values: Any, exponent: int) -> NDArray[np.int64]:
        """Whole multiples of 2**exponent in [-1, 1]."""
        return Lattice(-1, 1, exponent).encode(self.scaled(values))

    def unscaled(self, values: Floats) -> Floats:
        """Back from [-1, 1]."""
        return self.origin + self.reach * values

    def told(self) -> list[list[float]]:
        """Plain values, for the record."""
        return [self.lower.tolist(), self.upper.tolist(), self.origin.tolist()]


def read_box(bounds: Any, features: int, field: str = "bounds", origin: Any = None) -> Box:
    """`(lower, upper)`, each one number for all features or one number a feature. Never read off the data.

    The origin is the middle unless another point within bounds is declared (0, where most values are 0).

    >>> read_box((0, [1, 10]), 2).upper.tolist()
    [1.0, 10.0]
    """
    allowed = f"a pair (lower, upper), each a number or {features} numbers of at most 1e100, lower at most upper"
    hint = "Bounds come from what the columns mean, never from the data: their extremes are private."
    if features > _WIDEST:
        raise InputError(
            "X",
            Phrase(f"{features:,} features"),
            f"a table of at most {_WIDEST:,} features: sums of squares are exact up to there",
        )
    if bounds is None:
        raise InputError(field, None, allowed, hint)
    try:
        lower, upper = bounds
        sides = [np.asarray(side, dtype=np.float64) for side in (lower, upper)]
    except (TypeError, ValueError):
        raise InputError(field, bounds, allowed, hint) from None
    for side in sides:
        if side.ndim > 1 or (side.ndim == 1 and len(side) != features) or not (np.abs(side) <= _FARTHEST).all():
            raise InputError(field, bounds, allowed, hint)
    low, high = (np.broadcast_to(side, (features,)).copy() for side in sides)
    if (low > high).any() or not np.isfinite(high - low).all():
        raise InputError(field, bounds, allowed, hint)
    if origin is None:
        return Box(low, high, low + (high - low) / 2)
    try:
        point = np.broadcast_to(np.asarray(origin, dtype=np.float64), (features,)).copy()
    except (TypeError, ValueError):
        point = np.full(features, np.nan)
    if not ((low <= point) & (point <= high)).all():
        raise InputError("origin", origin, f"a number, or {features} numbers, within bounds")
    return Box(low, high, point)
