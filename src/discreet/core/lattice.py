"""The grid on which real values become integers, declared before the data is seen."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from discreet.core.check import named, plain
from discreet.core.exact import Number, exactly
from discreet.errors import InputError

__all__ = ["Lattice"]

_FINEST, _COARSEST = -60, 60


def _bit_for_bit(value: Number, field: str = "lower") -> Fraction:
    return exactly(value, field)


def _check_exponent(owner: Any, attribute: Any, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not _FINEST <= value <= _COARSEST:
        raise InputError("exponent", value, f"a whole number from {_FINEST} to {_COARSEST}")


@frozen(field_transformer=named)
class Lattice:
    """Reals in [lower, upper] as whole multiples of 2**exponent.

    A value is clamped to the bounds, then rounded to the nearest multiple (halves upward); NaN becomes the multiple
    nearest to the middle of the bounds, so that no single row can raise an error. Sensitivities are computed on the
    rounded bounds, never on the real ones.

    >>> hours = Lattice(lower=0, upper=99.5, exponent=-1)
    >>> hours.encode([38.2, 120, float("nan")]).tolist()
    [76, 199, 100]
    >>> hours.decode(76)
    38.0
    """

    lower: Fraction = field(converter=_bit_for_bit)
    upper: Fraction = field(converter=_bit_for_bit)
    exponent: int = field(default=0, validator=_check_exponent)

    def __attrs_post_init__(self) -> None:
        if self.lower > self.upper:
            raise InputError("upper", plain(self.upper), "at least lower")
        if max(abs(self.lowest), abs(self.highest)) >= 1 << 53:
            hint = "Choose a larger exponent (a coarser grid) or tighter bounds."
            raise InputError(
                "exponent", self.exponent, "such that the bounds are less than 2**53 steps from zero", hint
            )

    @property
    def step(self) -> Fraction:
        """The distance of two neighbouring points."""
        return Fraction(2) ** self.exponent

    @property
    def lowest(self) -> int:
        """The lower bound in steps."""
        return _nearest(self.lower / self.step)

    @property
    def highest(self) -> int:
        """The upper bound in steps."""
        return _nearest(self.upper / self.step)

    @property
    def width(self) -> int:
        """How far one replaced value can move a sum, in steps."""
        return self.highest - self.lowest

    @property
    def magnitude(self) -> int:
        """How far one added or removed value can move a sum, in steps."""
        return max(abs(self.lowest), abs(self.highest))

    def encode(self, values: Iterable[float] | NDArray[Any]) -> NDArray[np.int64]:
        """Clamp and round to whole steps."""
        reals = np.asarray(values, dtype=np.float64)
        middle = (self.lowest + self.highest) / 2
        with np.errstate(all="ignore"):  # what overflows is clamped; a warning would tell that there was one
            scaled = np.ldexp(reals, -self.exponent)
        scaled = np.where(np.isnan(scaled), middle, np.clip(scaled, self.lowest, self.highest))
        # floor(x) + (fraction >= 1/2) rather than floor(x + 1/2): the sum rounds up just below a half.
        whole = np.floor(scaled)
        rounded = (whole + (scaled - whole >= 0.5)).astype(np.int64)
        return np.clip(rounded, self.lowest, self.highest)

    def decode(self, steps: int) -> float:
        """The real value of a number of steps, nearest float."""
        return math.ldexp(float(steps), self.exponent)


def _nearest(value: Fraction) -> int:
    return math.floor(value + Fraction(1, 2))
