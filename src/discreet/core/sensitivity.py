"""How far one unit can move an answer."""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen

from discreet.core.check import named
from discreet.core.exact import exactly
from discreet.errors import InputError

__all__ = ["Sensitivity"]


def _steps(value: int, field: str = "each") -> int:
    number = exactly(value, f"sensitivity.{field}")
    if number.denominator != 1 or number < 1:
        hint = "Real values go through a Lattice first, which gives whole steps."
        raise InputError(f"sensitivity.{field}", value, "a whole number, 1 or more", hint)
    return int(number)


@frozen(field_transformer=named)
class Sensitivity:
    """One unit moves at most `outputs` of the integers released, each by at most `each`.

    Both norms that noise is calibrated to follow: L1 = outputs * each, L2 = sqrt(outputs) * each.

    >>> histogram = Sensitivity(each=1, outputs=2)      # replace one row: one bin up, one bin down
    >>> histogram.l1, histogram.l2_squared
    (2, 2)
    """

    each: int = field(converter=_steps)
    outputs: int = field(default=1, converter=_steps)

    @classmethod
    def of(cls, value: Sensitivity | int) -> Sensitivity:
        """Read a plain integer as the sensitivity of a single output."""
        return value if isinstance(value, Sensitivity) else cls(each=value)

    @property
    def l1(self) -> int:
        """How far one unit moves all outputs together, absolute values added."""
        return self.outputs * self.each

    @property
    def l2_squared(self) -> int:
        """How far one unit moves all outputs together, squares added."""
        return self.outputs * self.each * self.each

    def times(self, factor: int) -> Sensitivity:
        """The sensitivity for a group of `factor` units: each may touch outputs of its own."""
        return Sensitivity(each=self.each * factor, outputs=self.outputs * factor)


def steps(bound: Fraction, step: Fraction) -> int:
    """How many whole lattice steps a change of `bound` can be, rounded up."""
    return -((-bound.numerator * step.denominator) // (bound.denominator * step.numerator))
