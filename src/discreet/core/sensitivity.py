"""How far one unit can move an answer."""

from __future__ import annotations

from fractions import Fraction

from attrs import field, frozen
from attrs.converters import optional

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
    """One unit moves at most `outputs` of the integers released, each by at most `each`, all by at most `total`.

    Both norms that noise is calibrated to follow. Without `total`: L1 = outputs * each, L2 = sqrt(outputs) * each. With
    it L1 is at most `total`, and L2 largest where as many as possible move by `each` and one by what is left.

    >>> histogram = Sensitivity(each=1, outputs=2)      # replace one row: one bin up, one bin down
    >>> histogram.l1, histogram.l2_squared
    (2, 2)
    >>> seven = Sensitivity(each=3, outputs=10, total=7)    # at most 7 rows, at most 3 of them in one bin
    >>> seven.l1, seven.l2_squared                          # 3, 3 and 1
    (7, 19)
    """

    each: int = field(converter=_steps)
    outputs: int = field(default=1, converter=_steps)
    # Not in its text, and so in no digest: whatever sets it is in the question.
    total: int | None = field(default=None, converter=optional(_steps), repr=False)

    @classmethod
    def of(cls, value: Sensitivity | int) -> Sensitivity:
        """Read a plain integer as the sensitivity of a single output."""
        return value if isinstance(value, Sensitivity) else cls(each=value)

    @property
    def l1(self) -> int:
        """How far one unit moves all outputs together, absolute values added."""
        every = self.outputs * self.each
        return every if self.total is None else min(every, self.total)

    @property
    def shared(self) -> bool:
        """Whether `total` is what limits them: then not all outputs can move by `each`."""
        return self.l1 < self.outputs * self.each

    @property
    def l2_squared(self) -> int:
        """How far one unit moves all outputs together, squares added."""
        full, rest = divmod(self.l1, self.each)
        return full * self.each * self.each + rest * rest

    def times(self, factor: int) -> Sensitivity:
        """The sensitivity for a group of `factor` units: each may touch outputs of its own."""
        total = None if self.total is None else self.total * factor
        return Sensitivity(each=self.each * factor, outputs=self.outputs * factor, total=total)


def steps(bound: Fraction, step: Fraction) -> int:
    """How many whole lattice steps a change of `bound` can be, rounded up."""
    return -((-bound.numerator * step.denominator) // (bound.denominator * step.numerator))
