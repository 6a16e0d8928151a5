"""How far a number is rounded: the largest of some steps that it is a multiple of.

Each step divides the next (1, 5, 10, 50, 100, ...), so numbers fall into as many classes as there are steps, and one
more for those that are no multiple of the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.data.clock import floored
from discreet.marginals.partition import Partition

__all__ = ["Multiples"]

Expression = Any  # ibis expressions carry no useful static types here


@dataclass(frozen=True, slots=True)
class Multiples:
    """Classes of numbers on the lattice of a partition: code 0 for none of its points, code j for `factors[j - 1]`.

    Zero, which is a multiple of everything, has the last code.
    """

    points: Partition
    factors: tuple[int, ...]

    @classmethod
    def of(cls, partition: Partition, kind: str) -> Multiples | None:
        """1, 5, 10, 50, ... times the unit, as long as twenty multiples lie in the range; None if 1 is the last."""
        offset = partition.origin / partition.unit
        factors = [1]
        while factors[-1] * 20 <= partition.last:
            factors.append(factors[-1] * (5 if len(factors) % 2 else 2))
        if offset.denominator != 1 or len(factors) < 2 or kind == "date":
            return None
        points = Partition.points(partition.origin, partition.unit, partition.last, other=kind == "real")
        return cls(points, tuple(factors))

    @property
    def size(self) -> int:
        """How many classes there are."""
        return len(self.factors) + 2

    def nearest(self, value: Expression, *, whole: bool) -> Expression:
        """The point nearest to a number within the bounds, in an engine: `whole` if it is an integer there."""
        return self.points.nearest(value, whole=whole)

    def code(self, value: Expression, index: Expression) -> Expression:
        """The class of a number in an engine, by the point nearest to it."""
        import ibis

        number = index + int(self.points.origin / self.points.unit)
        code = self._class(number, 0)
        code = (number == 0).ifelse(ibis.literal(self.size - 1, "int64"), code)
        if not self.points.other:
            return code
        return (self.points.code(value, index) == self.points.size - 1).ifelse(ibis.literal(0, "int64"), code)

    def _class(self, number: Expression, place: int) -> Expression:
        """The class of a multiple of `factors[place]`: few numbers are multiples of the larger ones."""
        import ibis

        here = ibis.literal(place + 1, "int64")
        if place + 1 == len(self.factors):
            return here
        factor = self.factors[place + 1]
        return (floored(number, factor) * factor == number).ifelse(self._class(number, place + 1), here)

    def unit(self, code: int) -> Fraction:
        """The step that a class stands for."""
        return self.points.unit * self.factors[code - 1]
